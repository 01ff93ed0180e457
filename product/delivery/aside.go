package delivery

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/product/delivery/internal/shape"
	"postrider/product/email"
)

// What a path cannot take goes back to the queue and is set aside there, under the name of what it waits for. When the path can
// take more it is fetched, long before it is due again.

// returning is a recipient that has to go back to the queue.
type returning struct {
	recipient string
	waits     asideName
	due       time.Time
}

// asideName is what mail that was set aside waits for: a path, or the leave of one flow to use it.
type asideName struct {
	path shape.Path
	flow string
}

// key is the name in the queue. No part of it has a tab.
func (n asideName) key() string { return n.path.Source + "\t" + string(n.path.Site) + "\t" + n.flow }

func compareAside(a, b asideName) int {
	return cmp.Or(strings.Compare(a.path.Source, b.path.Source), strings.Compare(string(a.path.Site), string(b.path.Site)), strings.Compare(a.flow, b.flow))
}

const (
	// pullPause keeps mail that a path calls for, and that does not fit for another reason, from being fetched all the time.
	pullPause = time.Second
	// asideFor is when mail that did not fit comes again if its path does not call for it before: never, as a rule.
	asideFor = 15 * time.Minute
	// asideGrain lets much of it go back together.
	asideGrain = 20 * time.Second
	// returnSpread spreads mail that comes back at one moment.
	returnSpread = 30 * time.Second
	// maxPulls bounds the paths for which one step fetches what was set aside.
	maxPulls = 8
	// maxFull bounds the flows that are remembered as full, and maxAside the paths with mail set aside; the mail of others comes
	// when it is due.
	maxFull  = 10_000
	maxAside = 1_000
)

// giveBack has a recipient put back, to come again later. It is no attempt. The caller holds mu.
func (s *Service) giveBack(h *held, back shape.Back) {
	now := s.world.Clock.Now()
	if back.Reason == shape.Moved {
		s.enter(h, h.path, now)
		return
	}
	if s.moves(h, now) {
		return
	}
	due, waits := back.At.Add(s.world.Jitter(returnSpread/2, 1)), asideName{path: h.path}
	if back.Reason == shape.Full || back.Reason == shape.Reason(shape.Slowed) {
		due = now.Add(s.world.Jitter(asideFor, retryJitter)).Truncate(asideGrain)
		if len(s.desk.full) >= maxFull {
			clear(s.desk.full)
		}
		s.desk.full[h.due.Flow] = now.Add(fullPause)
	} else if _, ok := s.shaper.Usable(now, h.path, ""); ok {
		waits.flow = h.due.Flow // others may use the path
	}
	if due.After(h.due.ExpiresAt) {
		due = h.due.ExpiresAt
	}
	s.returning = append(s.returning, returning{h.due.Item.ID, waits, due.Truncate(time.Second)})
}

// moves takes a recipient to another source if its own can no longer be used at the site. The caller holds mu.
func (s *Service) moves(h *held, now time.Time) bool {
	if !h.assigned {
		return false
	}
	source, _, ok := s.sources.choose(h, h.path.Site, now)
	if !ok || source == h.path.Source {
		return false
	}
	s.place(h, h.path.Site, now)
	return true
}

// putBack frees what has to come again later. Those that wait for the same and are due in the same second go together.
func (s *Service) putBack(tx *db.Tx, list []returning) error {
	type group struct {
		waits asideName
		due   time.Time
	}
	groups := map[group][]string{}
	var order []group
	for _, r := range list {
		g := group{r.waits, r.due}
		if groups[g] == nil {
			order = append(order, g)
		}
		groups[g] = append(groups[g], r.recipient)
	}
	for _, g := range order {
		if err := queue.SetAside(tx, s.config.Node, groups[g], g.waits.key(), g.due); err != nil {
			return err
		}
		if owner, ok := g.waits.handedTo(); ok {
			tx.Wake(pileTopic(owner))
		}
	}
	return nil
}

// wasPutBack forgets what is no longer held.
func (s *Service) wasPutBack(list []returning) {
	s.mu.Lock()
	defer s.mu.Unlock()
	from := s.world.Clock.Now().Add(pullPause)
	for _, r := range list {
		s.letGo(r.recipient)
		if _, handed := r.waits.handedTo(); len(s.desk.aside) < maxAside && r.waits.path.Source != tomorrow && !handed {
			s.desk.aside[r.waits] = from
		}
	}
	s.returning = s.returning[len(list):]
}

// orderPulls finds out which paths can take what was set aside for them. The caller holds mu.
func (s *Service) orderPulls(o *order) {
	s.desk.pullAt = time.Time{}
	names := slices.SortedFunc(maps.Keys(s.desk.aside), compareAside)
	for _, name := range names {
		if _, ok := s.shaper.Usable(o.now, name.path, name.flow); !ok {
			continue
		}
		limit, from := s.shaper.Appetite(o.now, name.path), s.desk.aside[name]
		switch {
		case limit == 0 || len(o.pulls) == maxPulls:
		case !from.After(o.now):
			lanes := s.lanes()
			if !s.crew.owns(name.path) {
				lanes = lanes[:1] // the rest is for its owner
			}
			o.pulls = append(o.pulls, pull{name, limit, lanes})
		case s.desk.pullAt.IsZero() || from.Before(s.desk.pullAt):
			s.desk.pullAt = from
		}
	}
}

// restoreAside finds out for what an earlier run has set something aside.
func (s *Service) restoreAside(ctx context.Context) error {
	return s.db.Read(ctx, func(tx *db.Tx) error {
		for _, lane := range s.lanes() {
			keys, err := queue.AsideKeys(tx, lane, maxAside)
			if err != nil {
				return err
			}
			s.mu.Lock()
			for _, key := range keys {
				parts := strings.Split(key, "\t")
				if len(parts) != 3 || parts[0] != s.config.Source && s.sources.state[parts[0]] == nil {
					continue
				}
				name := asideName{shape.Path{Source: parts[0], Site: shape.Site(parts[1])}, parts[2]}
				if lane != email.Lane || s.crew.owns(name.path) {
					s.desk.aside[name] = time.Time{}
				}
			}
			s.mu.Unlock()
		}
		return nil
	})
}

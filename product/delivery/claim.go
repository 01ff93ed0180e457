package delivery

import (
	"context"
	"slices"
	"strings"
	"time"

	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/product/delivery/internal/shape"
	"postrider/product/email"
)

// The first stage: what is due lies in the queue, and as much of it is leased into memory as there is room for.

// held is a recipient that this node has leased.
type held struct {
	due    email.Due
	domain string     // of the recipient, once it was needed
	path   shape.Path // once it is known
}

// returning is a recipient that has to go back to the queue.
type returning struct {
	recipient string
	path      shape.Path
	due       time.Time
}

// claimDesk remembers what the next claim has to know of those before.
type claimDesk struct {
	turns map[queue.Lane]queue.Turn
	// full are the flows of which something had to go back because a path had enough, and until when they are left alone.
	full map[string]time.Time
	// aside are the paths for which something was set aside.
	aside map[shape.Path]bool
	// after is when it is worth looking again, if the last look brought nothing.
	after time.Time
}

func newClaimDesk() claimDesk {
	return claimDesk{turns: map[queue.Lane]queue.Turn{}, full: map[string]time.Time{}, aside: map[shape.Path]bool{}}
}

const (
	// fullPause keeps a flow whose mail does not fit from being claimed and put back all the time.
	fullPause = 250 * time.Millisecond
	// emptyPause is how long nothing is claimed after a claim that brought nothing although something was due.
	emptyPause = 50 * time.Millisecond
	// asideFor is when mail that did not fit comes again if its path does not call for it before: never, as a rule.
	asideFor = 15 * time.Minute
	// returnSpread spreads mail that comes back at one moment.
	returnSpread = 30 * time.Second
	// maxPulls bounds the paths for which one step fetches what was set aside.
	maxPulls = 8
	// maxFull bounds the flows that are remembered as full, and maxAside the paths with mail set aside; the mail of others comes
	// when it is due.
	maxFull  = 10_000
	maxAside = 1_000
)

// lanes are what this node delivers: its own mail first, then that of any.
func (s *Service) lanes() []queue.Lane { return []queue.Lane{email.LaneOf(s.config.Node), email.Lane} }

// order says what a step is to claim.
type order struct {
	room  int
	now   time.Time
	pulls []pull
	// paused leaves alone what is merely due: the last look at it brought nothing, although something was expected.
	paused, expected bool
	turns            map[queue.Lane]queue.Turn
	full             map[string]time.Time
}

type pull struct {
	path  shape.Path
	limit int
}

// orderClaims says what may be claimed now. The caller holds mu.
func (s *Service) orderClaims(now time.Time) order {
	o := order{now: now, paused: now.Before(s.desk.after), room: min(claimBatch, s.config.MaxHeld-len(s.held)), turns: map[queue.Lane]queue.Turn{}, full: map[string]time.Time{}}
	if o.room <= 0 {
		return o
	}
	for flow, until := range s.desk.full {
		if until.After(now) {
			o.full[flow] = until
		} else {
			delete(s.desk.full, flow)
		}
	}
	for _, lane := range s.lanes() {
		o.turns[lane] = s.desk.turns[lane]
	}
	for _, path := range sortedPaths(s.desk.aside) {
		if limit := s.shaper.Appetite(now, path); limit > 0 && len(o.pulls) < maxPulls {
			o.pulls = append(o.pulls, pull{path, limit})
		}
	}
	return o
}

func sortedPaths(set map[shape.Path]bool) []shape.Path {
	paths := make([]shape.Path, 0, len(set))
	for path := range set {
		paths = append(paths, path)
	}
	slices.SortFunc(paths, func(a, b shape.Path) int { return strings.Compare(asideKey(a), asideKey(b)) })
	return paths
}

// asideKey names a path in the queue. The names of sources have no spaces.
func asideKey(p shape.Path) string { return p.Source + " " + string(p.Site) }

// restoreAside finds the paths for which an earlier run has set something aside.
func (s *Service) restoreAside(ctx context.Context) error {
	return s.db.Read(ctx, func(tx *db.Tx) error {
		for _, lane := range s.lanes() {
			keys, err := queue.AsideKeys(tx, lane, maxAside)
			if err != nil {
				return err
			}
			s.mu.Lock()
			for _, key := range keys {
				if site, ours := strings.CutPrefix(key, s.config.Source+" "); ours {
					s.desk.aside[shape.Path{Source: s.config.Source, Site: shape.Site(site)}] = true
				}
			}
			s.mu.Unlock()
		}
		return nil
	})
}

// harvest is what a claim has brought.
type harvest struct {
	due   []email.Due
	turns map[queue.Lane]queue.Turn
	// finished are the paths of which nothing is set aside any more.
	finished []shape.Path
}

// claim leases what the order asks for: first what paths call for, then what is due.
func (s *Service) claim(tx *db.Tx, o order, token int64) (harvest, error) {
	h := harvest{turns: map[queue.Lane]queue.Turn{}}
	var items []queue.Item
	lease := queue.Lease{Owner: s.config.Node, For: leaseFor, Token: token}
	for _, p := range o.pulls {
		before := len(items)
		for _, lane := range s.lanes() {
			more, err := queue.ClaimAside(tx, lane, asideKey(p.path), lease, min(p.limit-(len(items)-before), o.room-len(items)))
			if err != nil {
				return h, err
			}
			items = append(items, more...)
		}
		if len(items) == before && o.room > len(items) {
			h.finished = append(h.finished, p.path)
		}
	}
	for _, lane := range s.lanes() {
		if o.paused {
			break
		}
		more, turn, err := queue.ClaimFairly(tx, lane, queue.Fair{Lease: lease, Limit: o.room - len(items), Turn: o.turns[lane],
			Skip: func(flow string) bool { return !o.full[flow].IsZero() }})
		if err != nil {
			return h, err
		}
		items, h.turns[lane] = append(items, more...), turn
	}
	var err error
	h.due, err = s.emails.Look(tx, items)
	return h, err
}

// noteClaims remembers how a claim went.
func (s *Service) noteClaims(o order, h harvest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for lane, turn := range h.turns {
		s.desk.turns[lane] = turn
	}
	for _, path := range h.finished {
		delete(s.desk.aside, path)
	}
	if o.expected && len(h.due) == 0 {
		s.desk.after = o.now.Add(emptyPause)
	}
}

// giveBack has a recipient put back, to come again later. It is no attempt. The caller holds mu.
func (s *Service) giveBack(h *held, back shape.Back) {
	now := s.world.Clock.Now()
	due := back.At.Add(s.world.Jitter(returnSpread/2, 1))
	if back.Reason == shape.Full || back.Reason == shape.Reason(shape.Slowed) {
		due = now.Add(s.world.Jitter(asideFor, retryJitter))
		if len(s.desk.full) >= maxFull {
			clear(s.desk.full)
		}
		s.desk.full[h.due.Flow] = now.Add(fullPause)
	}
	if due.After(h.due.ExpiresAt) {
		due = h.due.ExpiresAt
	}
	s.returning = append(s.returning, returning{h.due.Item.ID, h.path, due.Truncate(time.Second)})
}

// putBack frees what has to come again later. Those that go the same way and are due in the same second go together.
func (s *Service) putBack(tx *db.Tx, list []returning) error {
	type group struct {
		path shape.Path
		due  time.Time
	}
	groups := map[group][]string{}
	var order []group
	for _, r := range list {
		g := group{r.path, r.due}
		if groups[g] == nil {
			order = append(order, g)
		}
		groups[g] = append(groups[g], r.recipient)
	}
	for _, g := range order {
		if err := queue.SetAside(tx, s.config.Node, groups[g], asideKey(g.path), g.due); err != nil {
			return err
		}
	}
	return nil
}

// wasPutBack forgets what is no longer held.
func (s *Service) wasPutBack(list []returning) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range list {
		delete(s.held, r.recipient)
		if len(s.desk.aside) < maxAside {
			s.desk.aside[r.path] = true
		}
	}
	s.returning = s.returning[len(list):]
}

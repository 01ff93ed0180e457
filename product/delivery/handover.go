package delivery

import (
	"context"
	"maps"
	"slices"
	"time"

	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/product/delivery/internal/shape"
	"postrider/product/email"
	"postrider/product/node"
)

// Mail whose path another node owns is set aside for that node, which fetches it at once. It stays in the queue of all nodes and falls
// due again after a while, so that it waits for nobody who never comes. It is no attempt.

const (
	// handedFor is when mail that was handed over comes again to whoever claims it first, if its owner has not fetched it.
	handedFor = time.Minute
	// handBurst is how much of a flow is handed over before it rests for a moment: its owner needs time to send it.
	handBurst = 100
	// pile begins the names of what was handed over. It has a space, so no source has that name.
	pile = "to node"
)

// pileOf names what was handed to a node, by its urgency.
func pileOf(node string, rank queue.Rank) asideName {
	return asideName{path: shape.Path{Source: pile, Site: shape.Site(node)}, flow: classOf(rank).String()}
}

// pileTopic wakes a node for what was handed to it.
func pileTopic(node string) string { return "delivery/" + node }

// handedTo tells whether mail waits for a node, and for which.
func (n asideName) handedTo() (node string, ok bool) {
	return string(n.path.Site), n.path.Source == pile
}

// handsOver gives a recipient to the owner of its path, if that is another node, and tells whether it did. Mail that only this node may
// deliver stays. What was handed here goes on only to one with a better right: rightTo says why. The caller holds mu.
func (s *Service) handsOver(h *held, now time.Time) bool {
	owner := s.crew.owner(h.path)
	if owner == s.config.Node || h.due.Item.Lane != email.Lane {
		return false
	}
	if h.handed && rightTo(h.path.Site, owner) < rightTo(h.path.Site, s.config.Node) {
		return false
	}
	due := now.Add(handedFor)
	if due.After(h.due.ExpiresAt) {
		due = h.due.ExpiresAt
	}
	s.desk.handed[h.due.Flow]++
	s.returning = append(s.returning, returning{h.due.Item.ID, pileOf(owner, h.due.Item.Rank), due.Truncate(time.Second)})
	return true
}

// restHanded leaves flows alone for a moment of which much was handed over. The caller holds mu.
func (d *claimDesk) restHanded(now time.Time) {
	for flow, count := range d.handed {
		if count >= handBurst {
			d.full[flow] = now.Add(fullPause)
		}
	}
	clear(d.handed)
}

// orderPiles says whose mail is to be fetched: what was handed to this node, and what is left of nodes that are gone. The caller holds mu.
func (s *Service) orderPiles(o *order) {
	o.piles = maps.Clone(s.desk.piles)
}

// claimPiles leases what was handed over, the most urgent first. Half of the room stays for what is due.
func (s *Service) claimPiles(tx *db.Tx, o order, lease queue.Lease, h *harvest) ([]queue.Item, error) {
	var items []queue.Item
	most := (o.room + 1) / 2
	for _, owner := range slices.Sorted(maps.Keys(o.piles)) {
		for _, rank := range []queue.Rank{queue.Urgent, queue.Normal, queue.Bulk} {
			if len(items) == most {
				return items, nil
			}
			more, err := queue.ClaimAside(tx, email.Lane, pileOf(owner, rank).key(), lease, most-len(items))
			if err != nil {
				return nil, err
			}
			for _, item := range more {
				h.handed[item.ID] = owner == s.config.Node
			}
			items = append(items, more...)
		}
		if len(items) < most {
			h.fetched = append(h.fetched, owner)
		}
	}
	return items, nil
}

// fetchHanded has the next step fetch what was handed to this node, if it owns paths already: others leave them to it a little before.
func (s *Service) fetchHanded(context.Context) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.crew.alive) < 2 || !s.crew.mayOwn(s.config.Node) {
		return false, nil
	}
	s.desk.piles[s.config.Node]++
	s.news()
	return false, nil
}

// lookAround finds out who else delivers, and leaves to others what is theirs now.
func (s *Service) lookAround(ctx context.Context) (bool, error) {
	if s.config.Nodes == nil {
		return false, nil
	}
	known, err := s.config.Nodes.Known(ctx)
	if err != nil {
		return false, err
	}
	before, changed := s.meet(known)
	if !changed {
		return false, nil
	}
	defer s.news()
	if err := s.adopt(ctx, before); err != nil {
		return false, err
	}
	return false, s.restoreAside(ctx) // of paths that are this node's now
}

// meet takes note of the others and tells whether anything has changed, and how it was.
func (s *Service) meet(known []node.Node) (before crew, changed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.world.Clock.Now()
	before = s.crew
	me := node.Node{ID: node.ID(s.config.Node), StartedAt: s.config.Nodes.Started(), Sources: s.sources.Sources.Sources}
	s.crew = newCrew(me, known, now)
	if s.crew.equal(before) {
		return before, false
	}
	for _, n := range known { // that left, or have just come back
		if !s.crew.mayOwn(string(n.ID)) && string(n.ID) != s.config.Node {
			s.desk.piles[string(n.ID)]++
		}
	}
	if delete(s.desk.piles, s.config.Node); s.crew.mayOwn(s.config.Node) {
		s.desk.piles[s.config.Node]++
	}
	rank, of := s.crew.share()
	s.shaper.Divide(rank, of)
	for name, state := range s.sources.state {
		state.rank, state.of = s.crew.shareOf(name)
	}
	s.shaper.Yield(now, s.crew.owns)
	s.world.Log.Info("nodes that deliver", "count", of, "rank", rank)
	return before, true
}

// nextMeeting tells when somebody's time has passed.
func (s *Service) nextMeeting(context.Context) (time.Time, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.crew.changeAt, !s.crew.changeAt.IsZero(), nil
}

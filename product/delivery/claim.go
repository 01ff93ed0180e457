package delivery

import (
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
	// handed tells that another node has left it to this one.
	handed bool
	// assigned tells whether it counts among what its source is about to send.
	assigned bool
	// sureUntil is how long no other node can have it: when its lease was last written, and the time of a lease. Guarded by mu.
	sureUntil time.Time
}

// claimDesk remembers what the next claim has to know of those before.
type claimDesk struct {
	turns map[queue.Lane]queue.Turn
	// full are the flows of which something had to go back because a path had enough, and until when they are left alone.
	full map[string]time.Time
	// aside is what was set aside, and from when on it may be fetched; pullAt is the earliest of those that are wanted.
	aside  map[asideName]time.Time
	pullAt time.Time
	// handed counts what was handed over of each flow since the last claim; piles are the nodes whose mail is to be fetched, and how
	// often that was said.
	handed map[string]int
	piles  map[string]int
	// after is when it is worth looking again, if the last look brought nothing.
	after time.Time
}

func newClaimDesk() claimDesk {
	return claimDesk{turns: map[queue.Lane]queue.Turn{}, full: map[string]time.Time{}, aside: map[asideName]time.Time{}, handed: map[string]int{}, piles: map[string]int{}}
}

const (
	// fullPause keeps a flow whose mail does not fit from being claimed and put back all the time.
	fullPause = 250 * time.Millisecond
	// emptyPause is how long nothing is claimed after a claim that brought nothing although something was due.
	emptyPause = 50 * time.Millisecond
)

// lanes are what this node delivers: its own mail first, then that of any.
func (s *Service) lanes() []queue.Lane { return []queue.Lane{email.LaneOf(s.config.Node), email.Lane} }

// order says what a step is to claim.
type order struct {
	room  int
	now   time.Time
	pulls []pull
	piles map[string]int
	// paused leaves alone what is merely due: the last look at it brought nothing, although something was expected.
	paused, expected bool
	turns            map[queue.Lane]queue.Turn
	full             map[string]time.Time
}

type pull struct {
	what  asideName
	limit int
	lanes []queue.Lane
}

// orderClaims says what may be claimed now. The caller holds mu.
func (s *Service) orderClaims(now time.Time) order {
	if s.desk.after.Sub(now) > idleLook {
		s.desk.after = time.Time{} // the clock was set back
	}
	o := order{now: now, paused: now.Before(s.desk.after), room: min(claimBatch, s.config.MaxHeld-len(s.held)), turns: map[queue.Lane]queue.Turn{}, full: map[string]time.Time{}}
	if !s.inTime() { // what this node leased would be free to others, or the other way round
		o.room, s.desk.after = 0, now.Add(idleLook)
	}
	if o.room <= 0 {
		return o
	}
	s.desk.restHanded(now)
	for flow, until := range s.desk.full {
		if left := until.Sub(now); left > 0 && left <= fullPause { // more than that if the clock was set back
			o.full[flow] = until
		} else {
			delete(s.desk.full, flow)
		}
	}
	for _, lane := range s.lanes() {
		o.turns[lane] = s.desk.turns[lane]
	}
	s.orderPulls(&o)
	s.orderPiles(&o)
	return o
}

// harvest is what a claim has brought.
type harvest struct {
	due   []email.Due
	turns map[queue.Lane]queue.Turn
	// finished is that of which nothing is set aside any more.
	finished []asideName
	// handed are the items that others have left to this node; fetched are the nodes of whose mail nothing is left.
	handed  map[string]bool
	fetched []string
}

// claim leases what the order asks for: first what paths call for, then what is due.
func (s *Service) claim(tx *db.Tx, o order, token int64) (harvest, error) {
	h := harvest{turns: map[queue.Lane]queue.Turn{}, handed: map[string]bool{}}
	lease := queue.Lease{Owner: s.config.Node, For: leaseFor, Token: token}
	items, err := s.claimPiles(tx, o, lease, &h)
	if err != nil {
		return h, err
	}
	for _, p := range o.pulls {
		before := len(items)
		for _, lane := range p.lanes {
			more, err := queue.ClaimAside(tx, lane, p.what.key(), lease, min(p.limit-(len(items)-before), o.room-len(items)))
			if err != nil {
				return h, err
			}
			items = append(items, more...)
		}
		if len(items) == before && o.room > len(items) {
			h.finished = append(h.finished, p.what)
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
	for _, name := range h.finished {
		delete(s.desk.aside, name)
	}
	for _, node := range h.fetched {
		if s.desk.piles[node] == o.piles[node] { // there was no news while it was fetched
			delete(s.desk.piles, node)
		}
	}
	if o.expected && len(h.due) == 0 {
		s.desk.after = o.now.Add(emptyPause)
	}
}

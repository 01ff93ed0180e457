package shape

import "time"

// Reason tells why an item cannot be taken now.
type Reason string

// Why items come back, besides the kinds of holds (Reason(Suspended) and so on).
const (
	// Full means that too much waits already, of this tenant or over all.
	Full Reason = "full"
	// Unreachable means that the provider's servers could not be reached.
	Unreachable Reason = "unreachable"
	// Blocked means that the provider blocks too much of our mail.
	Blocked Reason = "blocked"
	// Moved means that another node sends on the path from now on.
	Moved Reason = "moved"
	// Stopping means that the program ends.
	Stopping Reason = "stopping"
)

// Back says when an item should come again, and why not now. It is no attempt. The caller spreads the times a little.
type Back struct {
	At     time.Time
	Reason Reason
	Cause  Cause
}

// Returned is an item that was added and has to wait for longer than is good in memory.
type Returned struct {
	Path Path
	Item Item
	Back Back
}

// greed is how many times the free room one flow may fill, so that the first item of another always finds room: one flow alone
// has four fifths, two have four ninths each.
const greed = 4

// Add puts an item into the queue of a path. If it returns false the item is not in it and should come Back later.
func (s *Shaper) Add(now time.Time, to Path, item Item) (Back, bool) {
	at := s.tick(now)
	item.Class = min(item.Class, Broadcast)
	p := s.know(to)
	if back, ok := s.check(p, item.Tenant, at); !ok {
		s.shelve(p, at)
		return back, false
	}
	p.moved = false
	f := s.flowHere(p, item.Tenant, item.Class)
	mine, mineHere := 0, 0
	if f != nil {
		mine, mineHere = f.account.waiting, f.waiting
	} else if a := s.accounts[accountKey{item.Tenant, item.Class}]; a != nil {
		mine = a.waiting
	}
	room, wait := p.room(s.config.MaxPathItems, at)
	if mine >= greed*(s.config.MaxItems-s.waiting) || mineHere >= greed*(room-p.waiting) {
		s.shelve(p, at)
		return Back{At: at.add(wait).time(), Reason: Full}, false
	}
	newcomer := f == nil
	if newcomer {
		f = s.startFlow(p, item.Tenant, item.Class)
	}
	s.push(f, item)
	switch {
	case p.line != nil && newcomer:
		s.hurry(p, f)
	case newcomer && p.list == nil, p.list == nil && p.timer.place == 0, p.list == &s.idle:
		s.activate(p)
	}
	return Back{}, true
}

// shelve keeps a path that got no mail among the idle ones.
func (s *Shaper) shelve(p *path, at instant) {
	if p.list == nil && p.timer.place == 0 && p.waiting == 0 {
		s.rest(p, at)
	}
}

// room returns how many items may wait for a path, and when to come again if that many do. A slow path has room for what it can
// send soon.
func (p *path) room(most int, at instant) (int, time.Duration) {
	if len(p.holds) == 0 {
		return most, fullWait
	}
	limits := p.limits(at)
	if limits.MessagesPerSecond >= 1 || limits.MessagesPerSecond == 0 {
		return most, fullWait
	}
	room := max(int(limits.MessagesPerSecond*patience.Seconds()), 1)
	return min(room, most), max(newRate(limits.MessagesPerSecond, time.Second).interval, fullWait)
}

// Usable tells whether a path takes mail of a tenant at all now, however full it is. If not, another source may be better.
func (s *Shaper) Usable(now time.Time, path Path, tenant string) (Back, bool) {
	at := s.tick(now)
	p := s.know(path)
	s.shelve(p, at)
	return s.check(p, tenant, at)
}

// Appetite returns how many items it is worth fetching for a path that could not take all it was offered: none as long as it
// stands still or has enough.
func (s *Shaper) Appetite(now time.Time, path Path) int {
	at := s.tick(now)
	p := s.know(path)
	s.shelve(p, at)
	if _, ok := s.check(p, "", at); !ok {
		return 0
	}
	room, _ := p.room(s.config.MaxPathItems, at)
	if p.waiting > room/2 {
		return 0
	}
	// Half of the room, for one flow alone does not get all of it.
	return max(min(room-p.waiting, s.Room())/2, min(1, s.Room()))
}

// check tells what keeps mail of a tenant from a path for longer than it should wait in memory.
func (s *Shaper) check(p *path, tenant string, at instant) (Back, bool) {
	if h := p.stop(at); h != nil && h.until.sub(at) > patience {
		return backFrom(h), false
	}
	if h := s.tenantStop(p, tenant, at); h != nil {
		return backFrom(h), false
	}
	if until, shut := p.circuit.shutUntil(at); shut && until.sub(at) > patience {
		return p.circuit.back(at), false
	}
	return Back{}, true
}

func backFrom(h *hold) Back {
	back := Back{At: h.until.time(), Reason: Reason(h.Kind), Cause: h.Cause}
	if h.Kind == Slowed {
		back.At = h.from.add(fullWait).time()
	}
	return back
}

func (c *circuit) back(at instant) Back {
	until, _ := c.shutUntil(at)
	if c.paused.covers(at) {
		return Back{At: until.time(), Reason: Blocked, Cause: c.blocked}
	}
	return Back{At: until.time(), Reason: Unreachable, Cause: c.cause}
}

// Returned hands out the items that have come back since the last call.
func (s *Shaper) Returned() []Returned {
	returned := s.returned
	s.returned = nil
	return returned
}

// Drain gives back everything that waits, for a program that ends.
func (s *Shaper) Drain(now time.Time) []Returned {
	at := s.tick(now)
	for _, p := range s.sortedPaths() {
		s.returnPath(p, Back{At: at.time(), Reason: Stopping})
		s.activate(p)
	}
	return s.Returned()
}

// returnPath gives back all items of a path.
func (s *Shaper) returnPath(p *path, back Back) {
	for _, f := range p.allFlows() {
		s.returnFlow(f, back)
	}
}

// returnFlow gives back all items of a flow and forgets it.
func (s *Shaper) returnFlow(f *flow, back Back) {
	p := f.owner
	for f.waiting > 0 {
		for _, item := range s.pop(f, f.waiting) {
			s.returned = append(s.returned, Returned{Path: p.key, Item: item, Back: back})
		}
	}
	s.retire(f)
}

// allFlows returns the flows of a path in the order of their turns.
func (p *path) allFlows() []*flow {
	var all []*flow
	for _, head := range p.turns.heads {
		for f := head; f != nil; f = f.next {
			all = append(all, f)
			if f.next == head {
				break
			}
		}
	}
	return append(all, p.parked...)
}

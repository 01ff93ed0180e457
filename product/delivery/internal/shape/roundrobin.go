package shape

// The mail of a path, and the paths that wait for a connection, take turns in two steps.
//
// First the classes. In each round of 20 recipients 14 are for transactional mail, 4 for automations and 2 for broadcasts, in
// this order; what a class does not need goes to the others. So urgent mail waits for at most the 6 of the other classes, and
// broadcasts keep a tenth however much urgent mail there is.
//
// Then the tenants of a class, one transaction each. A transaction may have many recipients; a tenant that had more than one is
// passed over until the others have had as many (deficit round-robin, in which a turn may be overdrawn and is paid off later).
// So a tenant's only message waits for at most one transaction of each other tenant, whatever the length of their queues.
var classShare = [classes]int{Transactional: 14, Automation: 4, Broadcast: 2}

type (
	flowKey struct {
		owner  *path
		gate   *shared
		tenant string
		class  Class
	}
	accountKey struct {
		tenant string
		class  Class
	}
	// account counts what a tenant has waiting in one class, over all paths.
	account struct {
		waiting int
		flows   int
	}
)

// flow is a queue within a queue: what one tenant has waiting in one class, either items of a path or paths at a limit.
type flow struct {
	flowKey
	next, prev *flow // in the ring of its class; nil if it takes no turns
	deficit    int   // recipients that it may still send; below zero is debt

	// Of a path.
	account    *account
	limit      *shared // of the tenant; nil if there is none
	head, tail int32   // groups in the slab
	waiting    int     // recipients
	parked     bool    // waits for its tenant's limit
	queued     bool    // stands in limit.parked
	until      instant // when a parked flow looks again

	// Of a limit.
	paths pathList
}

// schedule gives flows their turns.
type schedule struct {
	heads   [classes]*flow // rings, from the flow whose turn it is
	deficit [classes]int
}

// add puts a flow at the end of its ring.
func (s *schedule) add(f *flow) {
	head := s.heads[f.class]
	if head == nil {
		f.next, f.prev = f, f
		s.heads[f.class] = f
		return
	}
	f.next, f.prev = head, head.prev
	head.prev.next, head.prev = f, f
}

func (s *schedule) remove(f *flow) {
	if f.next == nil {
		return
	}
	if f.next == f {
		s.heads[f.class] = nil
	} else {
		f.prev.next, f.next.prev = f.next, f.prev
		if s.heads[f.class] == f {
			s.heads[f.class] = f.next
		}
	}
	f.next, f.prev = nil, nil
}

func (s *schedule) empty() bool { return s.heads == [classes]*flow{} }

// peek returns the flow whose turn it is, the same until it is served, leaves, or more urgent mail comes.
func (s *schedule) peek() *flow {
	if s.empty() {
		return nil
	}
	for {
		for class, head := range s.heads {
			if head != nil && s.deficit[class] > 0 {
				return s.turn(Class(class))
			}
		}
		for class, share := range classShare {
			s.deficit[class] = min(s.deficit[class]+share, share)
		}
	}
}

// turn returns the first flow of the ring that has paid its debt. Each step of the loop pays for one recipient, so that over time
// it takes no more steps than there are recipients.
func (s *schedule) turn(class Class) *flow {
	for {
		f := s.heads[class]
		if f.deficit <= 0 {
			f.deficit++
		}
		if f.deficit > 0 {
			return f
		}
		s.heads[class] = f.next
	}
}

// served charges a flow for what it has sent, and gives the turn to the next.
func (s *schedule) served(f *flow, cost int) {
	f.deficit -= cost
	s.deficit[f.class] -= cost
	if f.deficit <= 0 && s.heads[f.class] == f {
		s.heads[f.class] = f.next
	}
}

// newFlow returns a flow that is registered but takes no turns yet.
func (s *Shaper) newFlow(key flowKey) *flow {
	var f *flow
	if last := len(s.freeFlows) - 1; last >= 0 {
		f, s.freeFlows = s.freeFlows[last], s.freeFlows[:last]
	} else {
		f = new(flow)
	}
	*f = flow{flowKey: key, head: none, tail: none}
	s.flows[key] = f
	return f
}

// maxFreeFlows bounds the flows kept for another use.
const maxFreeFlows = 1024

func (s *Shaper) freeFlow(f *flow) {
	delete(s.flows, f.flowKey)
	if len(s.freeFlows) < maxFreeFlows && !f.queued { // a queued one is still pointed to
		s.freeFlows = append(s.freeFlows, f)
	}
}

package shape

// timer is a place in the order of what wakes by itself. Exactly one of path, circuit and connection is set.
type timer struct {
	at         instant
	order      uint64 // among those of the same moment
	place      int    // in timers, from 1; 0 is not set
	path       *path
	circuit    *circuit
	connection *connection
}

// timers is a heap, the earliest first; each thing has at most one timer in it.
type timers struct {
	heap  []*timer
	order uint64
}

func (t *timers) set(x *timer, at instant) {
	if x.place != 0 {
		t.stop(x)
	}
	t.order++
	x.at, x.order = at, t.order
	t.heap = append(t.heap, x)
	x.place = len(t.heap)
	t.up(x.place)
}

func (t *timers) stop(x *timer) {
	if x.place == 0 {
		return
	}
	place, last := x.place, len(t.heap)
	t.swap(place, last)
	t.heap[last-1] = nil
	t.heap = t.heap[:last-1]
	x.place = 0
	if place < last {
		t.down(place)
		t.up(place)
	}
}

// due returns the earliest timer if its moment has come, and takes it out.
func (t *timers) due(now instant) *timer {
	if len(t.heap) == 0 || t.heap[0].at > now {
		return nil
	}
	x := t.heap[0]
	t.stop(x)
	return x
}

func (t *timers) less(a, b int) bool {
	x, y := t.heap[a-1], t.heap[b-1]
	return x.at < y.at || x.at == y.at && x.order < y.order
}

func (t *timers) swap(a, b int) {
	x, y := t.heap[a-1], t.heap[b-1]
	t.heap[a-1], t.heap[b-1] = y, x
	x.place, y.place = b, a
}

func (t *timers) up(place int) {
	for place > 1 && t.less(place, place/2) {
		t.swap(place, place/2)
		place /= 2
	}
}

func (t *timers) down(place int) {
	for {
		child := 2 * place
		if child > len(t.heap) {
			return
		}
		if child < len(t.heap) && t.less(child+1, child) {
			child++
		}
		if !t.less(child, place) {
			return
		}
		t.swap(child, place)
		place = child
	}
}

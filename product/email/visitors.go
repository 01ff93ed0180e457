package email

import "sync"

// maxVisitsJoined bounds what goes into one transaction.
const maxVisitsJoined = 64

// visitors is where opens and clicks wait to be written down. The first that comes to a free clerk has it serve whoever waits.
type visitors struct {
	mu      sync.Mutex
	waiting []*visit // guarded by mu
	served  bool     // guarded by mu: the clerk is at work
}

// enter adds one that waits and tells whether the clerk has to be called.
func (q *visitors) enter(v *visit) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, v)
	called := q.served
	q.served = true
	return !called
}

// waits returns how many wait.
func (q *visitors) waits() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}

// next returns those that are written down together. Nobody means that the clerk may go.
func (q *visitors) next() []*visit {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := min(len(q.waiting), maxVisitsJoined)
	joined := q.waiting[:n:n]
	if q.waiting = q.waiting[n:]; n == 0 {
		q.waiting, q.served = nil, false
	}
	return joined
}

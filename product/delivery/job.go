package delivery

import (
	"postrider/product/delivery/internal/shape"
	"postrider/product/email"
)

// job is an attempt that is to be made.
type job struct {
	held *held
	// work says on which connection; it is zero for what never comes to a server.
	work shape.Work
	// noWay is why no server can be spoken to, if that is known already.
	noWay error
	// taken is set once the attempt has been counted.
	taken email.Taken
}

// maxLocals bounds the attempts at once that come to no server.
const maxLocals = 32

// onConnection tells whether the job goes to a server.
func (j *job) onConnection() bool { return len(j.work.Items) > 0 }

// begin starts the attempts that were counted. Those that were not may not be made: they were cancelled, are too old, or belong
// to another node by now.
func (s *Service) begin(jobs []*job, taken []email.Taken) {
	counted := make(map[string]email.Taken, len(taken))
	for _, t := range taken {
		counted[t.Item.ID] = t
	}
	s.mu.Lock()
	s.jobs = s.jobs[len(jobs):]
	ready := make([]func(), 0, len(taken))
	for _, j := range jobs {
		t, ok := counted[j.held.due.Item.ID]
		if !ok {
			s.drop(j)
			continue
		}
		j.taken = t
		ready = append(ready, s.start(j))
		s.talking++
	}
	s.mu.Unlock()
	for _, start := range ready {
		start()
	}
}

// start returns what makes the attempt. The caller holds mu, but calls it without.
func (s *Service) start(j *job) func() {
	if !j.onConnection() {
		if s.config.Inline {
			return func() { s.finish(s.attempt(j, nil)) }
		}
		return func() {
			s.running.Go(func() {
				s.locals <- struct{}{}
				defer func() { <-s.locals }()
				s.finish(s.attempt(j, nil))
			})
		}
	}
	c := s.connections[j.work.Connection]
	if c == nil {
		c = &connection{service: s, id: j.work.Connection, jobs: make(chan *job, 1)}
		s.connections[c.id] = c
		if !s.config.Inline {
			s.running.Go(c.run)
		}
	}
	if s.config.Inline {
		return func() { c.serve(j) }
	}
	return func() { c.jobs <- j } // it carries one job at a time, so there is room
}

// drop gives up a job before it has begun. The caller holds mu.
func (s *Service) drop(j *job) {
	s.letGo(j.held.due.Item.ID)
	if !j.onConnection() {
		return
	}
	s.shaper.Observe(s.world.Clock.Now(), shape.Outcome{Connection: j.work.Connection, Failure: shape.OurOwn, Closed: j.work.Open})
	if j.work.Last {
		s.release(j.work.Connection)
	}
}

// finish notes the end of an attempt, and tells whether its connection is done with.
func (s *Service) finish(t *talk) (over bool) {
	defer s.news()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finished = append(s.finished, t.outcome)
	s.talking--
	s.countAttempt(t.outcome)
	if t.connection == nil {
		return true
	}
	over = t.heard.Closed || t.job.work.Last || t.heard.Failure != shape.NoFailure && t.heard.Failure != shape.OurOwn
	if !over {
		s.shaper.Observe(s.world.Clock.Now(), t.heard)
	}
	return over
}

// leave gives back the place of a connection that is over. It comes after the goodbye, because servers count whoever is still there, and the
// next to come would be one too many; what was sent is recorded without waiting for that.
func (s *Service) leave(t *talk) {
	defer s.news()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shaper.Observe(s.world.Clock.Now(), t.heard)
	delete(s.connections, t.connection.id)
}

// release ends a connection that carries nothing, or will after what it carries. The caller holds mu.
func (s *Service) release(id shape.ConnectionID) {
	c := s.connections[id]
	if c == nil {
		return
	}
	delete(s.connections, id)
	if s.config.Inline {
		c.hangUp()
		return
	}
	close(c.jobs)
}

package delivery

import (
	"context"
	"time"

	"postrider/mail/address"
	"postrider/platform/queue"
	"postrider/product/delivery/internal/shape"
	"postrider/product/email"
)

// maxLookups bounds the domains that are looked up at once.
const maxLookups = 64

// receive takes what was claimed into memory and finds the way of each.
func (s *Service) receive(brought harvest, claimed time.Time) {
	now := s.world.Clock.Now()
	for _, d := range brought.due {
		s.mu.Lock()
		if known := s.held[d.Item.ID]; known != nil { // its lease was lost and won again
			known.due.Item, known.sureUntil = d.Item, claimed.Add(leaseFor)
			s.mu.Unlock()
			continue
		}
		h := &held{due: d, handed: brought.handed[d.Item.ID], sureUntil: claimed.Add(leaseFor)}
		s.held[d.Item.ID] = h
		domain, wait := s.find(h, now)
		s.mu.Unlock()
		if wait {
			s.lookUp(domain)
		}
	}
}

// find puts a recipient on its way if that is known already. If not, it tells which domain has to be looked up first. The caller
// holds mu.
func (s *Service) find(h *held, now time.Time) (domain string, lookUp bool) {
	switch {
	case s.simulated(h.due):
		s.jobs = append(s.jobs, &job{held: h})
		return "", false
	case h.due.Provider == email.Relay:
		s.enter(h, shape.Path{Source: s.config.Source, Site: shape.Site(relaySite + string(h.due.Workspace))}, now)
		return "", false
	}
	to, err := address.Parse(h.due.Address)
	if err != nil {
		s.jobs = append(s.jobs, &job{held: h, noWay: errNoDomain})
		return "", false
	}
	h.domain = to.Domain
	if known, ok := s.routes.remembered(to.Domain); ok {
		s.place(h, known.site, now)
		return "", false
	}
	waiting := s.routing[to.Domain]
	s.routing[to.Domain] = append(waiting, h)
	return to.Domain, len(waiting) == 0
}

// lookUp asks for the servers of a domain and puts on their way all who have waited for the answer.
func (s *Service) lookUp(domain string) {
	if s.config.Inline {
		s.found(domain)
		return
	}
	s.running.Go(func() {
		s.lookups <- struct{}{}
		s.found(domain)
		<-s.lookups
		s.news()
	})
}

func (s *Service) found(domain string) {
	ctx, done := context.WithTimeout(s.life, attemptFor)
	defer done()
	known, err := s.routes.find(ctx, domain)
	s.mu.Lock()
	defer s.mu.Unlock()
	waiting := s.routing[domain]
	delete(s.routing, domain)
	now := s.world.Clock.Now()
	for _, h := range waiting {
		if err != nil {
			s.jobs = append(s.jobs, &job{held: h, noWay: err})
			continue
		}
		s.place(h, known.site, now)
	}
}

// relaySite begins the site of a relay; its workspace follows. It has a space, so no server has that name.
const relaySite = "relay of "

// enter hands a recipient to the shaper, or to the node whose path it is, or has it put back if its path takes no more. The caller
// holds mu.
func (s *Service) enter(h *held, path shape.Path, now time.Time) {
	h.path = path
	if s.handsOver(h, now) {
		return
	}
	// Each recipient has a return path of its own and so a transaction of its own: to the shaper it is an email of its own.
	item := shape.Item{Recipient: h.due.Item.ID, Email: h.due.Item.ID, Domain: h.domain, Tenant: h.due.Flow, Route: h.due.TLS, Class: classOf(h.due.Item.Rank)}
	if back, ok := s.shaper.Add(now, path, item); !ok {
		s.giveBack(h, back)
	}
}

func classOf(rank queue.Rank) shape.Class {
	switch rank {
	case queue.Urgent:
		return shape.Transactional
	case queue.Normal:
		return shape.Automation
	}
	return shape.Broadcast
}

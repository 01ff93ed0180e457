package sandbox

import (
	"sync"

	"postrider/mail/smtp"
)

// provider is a mailbox provider with limits of its own. Zero is no limit.
type provider struct {
	maxConnections int
	maxMessages    int // per connection
	overLimit      *smtp.Reply
}

// providers behave as the large ones do when a sender overdoes it. Every other domain is a provider without limits.
var providers = map[string]provider{
	"google.test": {maxConnections: 5, overLimit: &smtp.Reply{Code: 421, Enhanced: "4.7.28", Lines: []string{
		"An unusual rate of unsolicited mail originating from your IP address has been detected.",
		"To protect our users from spam, mail sent from your IP address has been temporarily rate limited."}}},
	"outlook.test": {maxConnections: 5, overLimit: smtp.NewReply(421, "4.7.500",
		"Server busy. Please try again later from [127.0.0.1]. (S77719)")},
	"yahoo.test": {maxMessages: 20, overLimit: smtp.NewReply(421, "4.7.0",
		"[TSS04] Messages from 127.0.0.1 temporarily deferred due to unexpected volume or user complaints")},
}

// crowds counts the connections at providers that mind.
type crowds struct {
	mu     sync.Mutex
	inside map[string]int // guarded by mu; by provider
}

// enter counts a connection in, unless the provider has its fill.
func (c *crowds) enter(name string, most int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inside[name] >= most {
		return false
	}
	c.inside[name]++
	return true
}

func (c *crowds) leave(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inside[name]--
}

// overLimit returns what a provider says to one connection or message too many, or nil. A connection is at a provider from
// its first recipient there until it ends.
func (s *session) overLimit(name string) *smtp.Reply {
	p, minds := providers[name]
	if !minds {
		return nil
	}
	delivered, inside := s.delivered[name]
	switch {
	case p.maxMessages > 0 && delivered >= p.maxMessages:
		return s.leaving(p.overLimit)
	case p.maxConnections > 0 && !inside && !s.box.crowds.enter(name, p.maxConnections):
		return s.leaving(p.overLimit)
	}
	s.delivered[name] = delivered
	return nil
}

// leaveProviders counts the connection out everywhere.
func (s *session) leaveProviders() {
	for name := range s.delivered {
		if providers[name].maxConnections > 0 {
			s.box.crowds.leave(name)
		}
	}
}

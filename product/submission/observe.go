package submission

import (
	"net/netip"
	"time"

	"postrider/mail/smtp"
	"postrider/platform/api"
	"postrider/product/email"
)

// Submitted is a message that was handed in, and what was said to it. Its receipt is empty if it was refused.
type Submitted struct {
	At         time.Time
	Took       time.Duration
	Caller     api.Principal
	From       netip.Addr
	Recipients int
	Receipt    email.Receipt
	Reply      *smtp.Reply
}

// Observe has observe told of every message from now on. It must not wait, and is set before the first connection.
func (s *Service) Observe(observe func(Submitted)) { s.observe = observe }

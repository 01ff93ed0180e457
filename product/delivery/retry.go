package delivery

import (
	"time"

	"postrider/mail/report"
	"postrider/product/email"
)

// retryAfter is the wait after each temporary failure; the last one repeats until the message is too old. The first is
// short for greylisting and hiccups, the later ones long because a server that has been away for hours stays away.
var retryAfter = []time.Duration{
	time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 4 * time.Hour, 6 * time.Hour, 8 * time.Hour, 12 * time.Hour,
}

const (
	retryJitter = 0.2
	// greylistWait is how long most greylisting servers want to be waited for.
	greylistWait = 5 * time.Minute
	// maxSoftBounces is how often a 5xx that is usually temporary is believed to be so.
	maxSoftBounces = 3
	// unnamedFor is how long a recipient's domain must have been missing before we believe that it is gone.
	unnamedFor = time.Hour
)

// wait returns how long to wait after the given failed attempt.
func (s *Service) wait(attempt int, verdict report.Verdict, reply string) time.Duration {
	delay := retryAfter[min(max(attempt, 1), len(retryAfter))-1]
	if attempt <= 1 && verdict.Category == report.Greylisted {
		delay = greylistWait
	}
	delay = s.world.Jitter(delay, retryJitter)
	if hint, ok := report.RetryHint(reply); ok && hint > delay {
		return hint
	}
	return delay
}

// decide turns a failed attempt into what follows for the recipient.
func (s *Service) decide(o *email.Outcome) {
	r, now := o.Taken.Recipient, o.Attempt.FinishedAt
	switch o.Class.Class {
	case report.Hard, report.Block:
		if o.Class.Category == report.NoDomain && o.Attempt.Outcome == email.AttemptDNSFailed &&
			(r.UnnamedSince.IsZero() || now.Sub(r.UnnamedSince) < unnamedFor) {
			break // registrars and name servers have bad hours; look again
		}
		o.Decision = email.Refused
		return
	case report.Soft:
		if o.Attempt.Code >= 500 && r.SoftBounces+1 >= maxSoftBounces {
			o.Decision = email.Refused
			return
		}
	}
	o.Decision = email.Later
	next := now.Add(s.wait(r.Attempts, o.Class, o.Attempt.Response))
	if next.After(o.Taken.Email.ExpiresAt) {
		next = o.Taken.Email.ExpiresAt // where Take ends it
	}
	o.Attempt.NextAt = next.Truncate(time.Microsecond)
}

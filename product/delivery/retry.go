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

// step tells which of the waits comes next. It goes by the number of attempts, but no further than the age of the message explains:
// attempts that were lost with their process follow each other at once, and say nothing about the server.
func step(attempts int, age time.Duration) int {
	byAge, passed := 0, time.Duration(0)
	for byAge < len(retryAfter)-1 {
		if passed += retryAfter[byAge]; time.Duration(float64(passed)*(1-retryJitter)) > age {
			break
		}
		byAge++
	}
	return min(max(attempts-1, 0), byAge, len(retryAfter)-1)
}

// wait returns how long to wait after the given failed attempt at a message of an age.
func (s *Service) wait(attempt int, age time.Duration, verdict report.Verdict, reply string) time.Duration {
	delay := retryAfter[step(attempt, age)]
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
	o.Attempt.NextAt = time.Time{} // of a server that was tried before
	switch o.Class.Class {
	case report.Hard, report.Block:
		o.Decision = email.Refused
		return
	case report.Soft:
		if o.Attempt.Code >= 500 && r.SoftBounces+1 >= maxSoftBounces {
			o.Decision = email.Refused
			return
		}
	}
	o.Decision = email.Later
	next := now.Add(s.wait(r.Attempts, now.Sub(startedAt(o.Taken.Email)), o.Class, o.Attempt.Response))
	if next.After(o.Taken.Email.ExpiresAt) {
		next = o.Taken.Email.ExpiresAt // where Take ends it
	}
	o.Attempt.NextAt = next.Truncate(time.Microsecond)
}

// startedAt is when an email could first have been sent.
func startedAt(e email.Email) time.Time {
	if e.QueuedAt.IsZero() {
		return e.CreatedAt
	}
	return e.QueuedAt
}

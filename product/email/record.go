package email

import (
	"time"

	"postrider/mail/report"
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/queue"
)

// Outcome is what an attempt means for its recipient.
type Outcome struct {
	Taken    Taken
	Attempt  Attempt
	Decision Decision
	// Class is what kind of refusal it was, for all decisions but Done.
	Class report.Verdict
	// Failure is why the recipient failed, for GivenUp.
	Failure *Failure
	// Headers are the customer's headers, for the events.
	Headers map[string]string
}

// Decision is what follows from an attempt.
type Decision int

const (
	// Done means a server has taken the message.
	Done Decision = iota
	// Later means another attempt at Attempt.NextAt.
	Later
	// Refused means a server has refused for good.
	Refused
	// GivenUp means that we stop trying.
	GivenUp
	// CalledBack means that the sender wanted the message back before a server had it.
	CalledBack
)

// Record writes down what became of recipients that were taken, in one transaction for all of them. An attempt is recorded even
// if its recipient has been decided otherwise in the meantime.
func (s *Service) Record(tx *db.Tx, outcomes []Outcome) error {
	if len(outcomes) == 0 {
		return nil
	}
	items := make([]queue.Item, len(outcomes))
	for i, o := range outcomes {
		items[i] = o.Taken.Item
	}
	b, err := s.loadBatch(tx, items)
	if err != nil {
		return err
	}
	var done []string
	for _, o := range outcomes {
		r, ok := b.recipients[o.Taken.Recipient.ID]
		if !ok {
			done = append(done, o.Taken.Item.ID)
			continue
		}
		if (o.Decision == Later || o.Decision == CalledBack) && o.Attempt.Number < r.Attempts {
			continue // this worker was taken for dead: the attempt is recorded as lost, and another is under way
		}
		b.attempts = append(b.attempts, attemptRow{*r, o.Attempt})
		if o.Headers != nil || o.Decision != GivenUp { // what could not be read is given up
			b.headers[r.Email] = o.Headers
		}
		switch {
		case r.State != Sending:
		case o.Decision == CalledBack:
			r.NextAttemptAt = o.Attempt.FinishedAt // the attempt is known of
			b.recall(r)
		default:
			b.apply(r, o)
		}
		if o.Decision != Later || r.State.Terminal() {
			done = append(done, o.Taken.Item.ID)
			continue
		}
		if _, err := queue.Postpone(tx, o.Taken.Item, o.Attempt.NextAt); err != nil {
			return err
		}
	}
	if err := queue.Finish(tx, done...); err != nil {
		return err
	}
	if err := b.noteRefusals(outcomes); err != nil {
		return err
	}
	return b.save(tx)
}

func (b *batch) apply(r *Recipient, o Outcome) {
	r.SMTPCode, r.Enhanced, r.Response = o.Attempt.Code, o.Attempt.Enhanced, o.Attempt.Response
	r.NextAttemptAt = o.Attempt.NextAt
	b.changed[r.ID], b.touched[r.Email] = true, true
	b.emails[r.Email].SentBy = o.Attempt.Node
	if o.Attempt.MXHost != "" && b.emails[r.Email].Provider != Relay {
		r.ISP = ispBehind(o.Attempt.MXHost, r.ISP)
	}
	if o.Class.Category == report.NoDomain && o.Attempt.Outcome == AttemptDNSFailed {
		if r.UnnamedSince.IsZero() {
			r.UnnamedSince = o.Attempt.FinishedAt
		}
	} else {
		r.UnnamedSince = time.Time{}
	}
	switch o.Decision {
	case Done:
		b.accepted(r, o)
	case Later:
		b.delayed(r, o)
	case Refused:
		was := b.change(r)
		r.Bounce = newBounce(o.Class, o.Attempt.Code, o.Attempt.Enhanced, o.Attempt.Response)
		r.Bounce.Suppressed = o.Class.Suppress && b.service.countsForList(b.emails[r.Email], r.Address)
		b.setState(r, Bounced)
		e := b.emails[r.Email]
		e.Failure = &Failure{Reason: string(o.Class.Category), Message: o.Attempt.Response}
		b.tellOf(r, o, "email.bounced", o.Attempt.FinishedAt, extras{change: was, Bounce: r.Bounce})
	case GivenUp:
		was := b.change(r)
		b.setState(r, Failed)
		b.emails[r.Email].Failure = o.Failure
		b.tellOf(r, o, "email.failed", o.Attempt.FinishedAt, extras{change: was, Failed: o.Failure})
	}
}

// accepted passes through all states of a direct delivery at once; the moments differ by a millisecond to keep their order.
func (b *batch) accepted(r *Recipient, o Outcome) {
	at := o.Attempt.FinishedAt
	facts := &deliveryFacts{SMTPCode: o.Attempt.Code, Enhanced: o.Attempt.Enhanced, Response: o.Attempt.Response, MXHost: o.Attempt.MXHost,
		ISP: r.ISP, Attempt: o.Attempt.Number, TLS: o.Attempt.TLS.Used, WaitedMs: at.Sub(startOf(b.emails[r.Email])).Milliseconds()}
	if b.emails[r.Email].Provider == Relay {
		b.setState(r, Sent) // what becomes of it now, only the relay knows
		return
	}
	was := b.change(r)
	b.setState(r, Accepted)
	b.tellOf(r, o, "email.accepted", at, extras{Delivery: facts})
	b.setState(r, Delivered)
	r.DeliveredAt = at.Add(2 * time.Millisecond)
	b.tellOf(r, o, "email.delivered", r.DeliveredAt, extras{change: was, Delivery: facts})
}

// delayTold is the age at which a recipient that still waits is told of again: at once, after one hour, four hours, a day.
var delayTold = []time.Duration{0, time.Hour, 4 * time.Hour, 24 * time.Hour}

func (b *batch) delayed(r *Recipient, o Outcome) {
	e := b.emails[r.Email]
	b.setState(r, Sending)
	e.Delayed = true
	if o.Attempt.Code >= 500 {
		r.SoftBounces++
	}
	age, told := o.Attempt.FinishedAt.Sub(startOf(e)), r.DelayToldAt.Sub(startOf(e))
	if !r.DelayToldAt.IsZero() && threshold(age) == threshold(told) {
		return
	}
	first := r.DelayToldAt.IsZero()
	r.DelayToldAt = o.Attempt.FinishedAt
	b.tellOf(r, o, "email.delivery_delayed", o.Attempt.FinishedAt, extras{change: change{ISP: r.ISP}, Delay: &delayFacts{
		Message: o.Attempt.Response, SMTPCode: positive(o.Attempt.Code), Enhanced: o.Attempt.Enhanced, Class: string(o.Class.Class),
		Category: string(o.Class.Category), Attempt: o.Attempt.Number, NextAt: api.Time(o.Attempt.NextAt), ExpiresAt: api.Time(e.ExpiresAt), First: first}})
}

// threshold returns how many of the ages in delayTold have passed.
func threshold(age time.Duration) int {
	passed := 0
	for _, at := range delayTold {
		if age >= at {
			passed++
		}
	}
	return passed
}

// tellOf tells what came of an attempt.
func (b *batch) tellOf(r *Recipient, o Outcome, kind string, at time.Time, more extras) {
	more.AttemptID = o.Attempt.ID
	b.tell(b.emails[r.Email], kind, r.Address, at, more)
}

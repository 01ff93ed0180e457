package email

import (
	"errors"
	"time"

	"postrider/mail/report"
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/platform/queue"
	"postrider/product/suppression"
)

// Reported is what the recipient's side told us after the conversation was over. One of Bounce and Complaint is set.
type Reported struct {
	Recipient RecipientID
	At        time.Time
	Bounce    *LateBounce
	Complaint *Complaint
}

// LateBounce is a bounce message: a server that had taken the message could not deliver it.
type LateBounce struct {
	Class report.Verdict
	// Code is what a server answered, or 0 if the message does not say.
	Code     int
	Enhanced string
	Message  string
}

// Complaint is what a provider passes on from a reader.
type Complaint struct {
	Type      string   `json:"type"`
	Source    string   `json:"source"`
	ISP       string   `json:"isp"`
	ArrivedAt api.Time `json:"arrived_at"`
}

// reportFor is how long after the last attempt a report is believed. Servers give up within days; what comes later has been dug out
// by somebody.
const reportFor = 30 * 24 * time.Hour

// ErrUnderWay keeps a report from being taken that has overtaken the record of its message: it must come again when that is written.
var ErrUnderWay = errors.New("what became of the message is not written down yet")

// Report writes down what was told later, and tells whether there is such a recipient. What it says about recipients that are
// past changing is only kept as an event, or not at all. While an attempt is under way it is ErrUnderWay.
func (s *Service) Report(tx *db.Tx, told Reported) (known bool, err error) {
	b, err := s.loadBatch(tx, []queue.Item{{ID: string(told.Recipient)}})
	if err != nil {
		return false, err
	}
	r, ok := b.recipients[told.Recipient]
	if !ok || told.At.Sub(r.TakenAt) > reportFor {
		return false, nil
	}
	if r.underWay() {
		return true, ErrUnderWay
	}
	if told.Bounce != nil {
		err = b.bouncedLater(r, told)
	} else {
		err = b.complained(r, told)
	}
	if err != nil {
		return true, err
	}
	return true, b.save(tx)
}

// bouncedLater believes a bounce of a message that a server had taken. Who has opened a message has it, whatever is said later; that it
// was said is told once.
func (b *batch) bouncedLater(r *Recipient, told Reported) error {
	read := r.State == Opened || r.State == Clicked
	if !read && !r.State.CanBecome(Bounced) || r.State == Queued || r.State == Sending {
		return nil
	}
	e := b.emails[r.Email]
	if read {
		known, err := event.Told(b.tx, r.Workspace, string(e.ID), r.Address, "email.bounced")
		if err != nil || known {
			return err
		}
	}
	bounce := newBounce(told.Bounce.Class, told.Bounce.Code, told.Bounce.Enhanced, told.Bounce.Message)
	bounce.Asynchronous = true
	was := change{ISP: r.ISP}
	if !read {
		was = b.change(r)
		if !r.DeliveredAt.IsZero() {
			delivered := api.Time(r.DeliveredAt)
			was.DeliveredAt = &delivered
		}
		bounce.Suppressed = told.Bounce.Class.Suppress && b.service.countsForList(e, r.Address)
		b.setState(r, Bounced)
		r.Bounce, r.SMTPCode, r.Enhanced, r.Response = bounce, told.Bounce.Code, told.Bounce.Enhanced, told.Bounce.Message
		b.noteFull(r, told.Bounce.Class)
		e.Failure = &Failure{Reason: string(told.Bounce.Class.Category), Message: told.Bounce.Message}
	}
	b.tell(e, "email.bounced", r.Address, told.At, extras{change: was, Bounce: bounce})
	if !bounce.Suppressed {
		return nil
	}
	_, err := b.service.suppressions.AddMany(b.tx, []suppression.Entry{b.entry(r, told.Bounce.Class, told.Bounce.Code, told.Bounce.Enhanced, told.Bounce.Message)})
	return err
}

// complained puts whoever calls a message spam on the list: the next one would only make it worse.
func (b *batch) complained(r *Recipient, told Reported) error {
	if !r.State.CanBecome(Complained) {
		return nil
	}
	e := b.emails[r.Email]
	was := b.change(r)
	b.setState(r, Complained)
	told.Complaint.ISP = r.ISP
	b.tell(e, "email.complained", r.Address, told.At, extras{change: was, Complaint: told.Complaint})
	if !b.service.countsForList(e, r.Address) {
		return nil
	}
	_, err := b.service.suppressions.AddMany(b.tx, []suppression.Entry{{Workspace: r.Workspace, Address: r.Address, Reason: suppression.Complaint,
		EmailID: string(e.ID), DomainID: string(e.Domain), TenantID: e.Tenant, Detail: told.Complaint}})
	return err
}

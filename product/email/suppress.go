package email

import (
	"time"

	"postrider/mail/report"
	"postrider/product/suppression"
)

// suppressedFacts is why a mail was not sent.
type suppressedFacts struct {
	Type       string   `json:"type"`
	Reason     string   `json:"reason"`
	Message    string   `json:"message"`
	Diagnostic []string `json:"diagnosticCode"`
}

// findStops looks which recipients may not be mailed any more. It is asked last of all before a conversation begins: who is put on
// the list while mail waits gets none.
func (b *batch) findStops() error {
	var queries []suppression.Query
	var asked []*Recipient
	b.stops = map[RecipientID]*stop{}
	for _, r := range b.recipients {
		e := b.emails[r.Email]
		switch {
		case r.State.Terminal():
		case b.service.countsForList(e, r.Address):
			asked = append(asked, r)
			queries = append(queries, suppression.Query{Workspace: r.Workspace, Address: r.Address, Bulk: e.ListUnsubscribe || e.Topic != ""})
		case b.service.plays(e, r.Address) == playSuppressed:
			b.stops[r.ID] = &stop{"manual", "The address is on the suppression list of the simulator."}
		}
	}
	found, err := b.service.suppressions.Check(b.tx, queries)
	if err != nil {
		return err
	}
	for i, entry := range found {
		if entry != nil {
			reason, message := entry.Why()
			b.stops[asked[i].ID] = &stop{reason, message}
		}
	}
	if err := b.service.suppressions.Hit(b.tx, found); err != nil {
		return err
	}
	if err := b.findOptOuts(asked); err != nil {
		return err
	}
	return b.findLeavers(asked)
}

// stop is why somebody may not be mailed.
type stop struct{ reason, message string }

// countsForList tells whether the list has to do with a mail: tests and simulations are nobody's business, and mail about an
// account must reach its owner.
func (s *Service) countsForList(e *Email, address string) bool {
	return e.Source != SourceNotice && !s.Simulated(e.Test, address)
}

// suppress ends a recipient who is on the list. What was counted for it is given back.
func (b *batch) suppress(r *Recipient, why *stop) {
	b.recordLost(r)
	b.queue(r)
	was := b.change(r)
	b.setState(r, Suppressed)
	r.NextAttemptAt = time.Time{}
	e := b.emails[r.Email]
	e.Failure = &Failure{Reason: why.reason, Message: why.message}
	b.tell(e, "email.suppressed", r.Address, b.tx.Now(), extras{change: was, Suppressed: &suppressedFacts{"OnAccountSuppressionList", why.reason, why.message, []string{}}})
	b.unsent[useOf(e)]++
}

// UnsubscribeLink is where the recipient of a mail unsubscribes. A message that is only looked at has no recipient yet.
func (s *Service) UnsubscribeLink(t Taken) string {
	return s.suppressions.Link(s.linkBase(t.Domain), suppression.Claims{Workspace: t.Email.Workspace, Address: t.Recipient.Address, Email: string(t.Email.ID), Topic: t.Email.Topic,
		Contact: t.Email.Contact, List: t.Email.List, Broadcast: t.Email.Broadcast})
}

// entry is what the list is told of a refusal.
func (b *batch) entry(r *Recipient, class report.Verdict, code int, enhanced, message string) suppression.Entry {
	e := b.emails[r.Email]
	return suppression.Entry{Workspace: r.Workspace, Address: r.Address, Reason: suppression.Bounce, EmailID: string(e.ID), DomainID: string(e.Domain), TenantID: e.Tenant,
		Detail: suppression.BounceDetail{Class: string(class.Class), Category: string(class.Category), SMTPCode: positive(code), Enhanced: enhanced, Message: message}}
}

// noteRefusals puts addresses on the list that do not exist, and counts full mailboxes.
func (b *batch) noteRefusals(outcomes []Outcome) error {
	var bounced []suppression.Entry
	for _, o := range outcomes {
		r, ok := b.recipients[o.Taken.Recipient.ID]
		if !ok || o.Decision != Refused || r.State != Bounced {
			continue
		}
		if o.Class.Suppress && b.service.countsForList(b.emails[r.Email], r.Address) {
			bounced = append(bounced, b.entry(r, o.Class, o.Attempt.Code, o.Attempt.Enhanced, o.Attempt.Response))
		}
		b.noteFull(r, o.Class)
	}
	_, err := b.service.suppressions.AddMany(b.tx, bounced)
	return err
}

// noteFull counts an email that has failed because a mailbox was full: one that stays full is as good as none.
func (b *batch) noteFull(r *Recipient, class report.Verdict) {
	if class.Category == report.MailboxFull && b.service.countsForList(b.emails[r.Email], r.Address) {
		b.full = append(b.full, b.entry(r, class, r.SMTPCode, r.Enhanced, r.Response))
	}
}

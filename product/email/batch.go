package email

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"postrider/mail/report"
	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/platform/queue"
	"postrider/platform/space"
	"postrider/product/domain"
	"postrider/product/suppression"
	"postrider/product/tenant"
)

// batch changes many recipients in one transaction: it loads them with their emails, collects what happens, and writes each
// changed row once.
type batch struct {
	service    *Service
	tx         *db.Tx
	emails     map[ID]*Email
	recipients map[RecipientID]*Recipient
	domains    map[domain.ID]domain.Domain
	tenants    map[tenant.ID]tenant.Tenant
	// suspended are the workspaces that may not begin to send what was scheduled.
	suspended map[space.ID]bool

	changed  map[RecipientID]bool
	touched  map[ID]bool
	attempts []attemptRow
	told     []telling
	// headers are the customer's headers of the emails whose words were read anyway; see write.
	headers map[ID]map[string]string
	// stops are the recipients who may not be mailed; see findStops.
	stops map[RecipientID]*stop
	// calledBack are the broadcasts whose mail the sender wants back; see findCalledBack.
	calledBack map[string]bool
	// unsent is what was counted for mail that ended before it was sent.
	unsent uses
	// full are emails that have failed because a mailbox was full.
	full []suppression.Entry
}

// telling is an event that is not written yet.
type telling struct {
	email           *Email
	state           State
	kind, recipient string
	at              time.Time
	more            extras
}

type attemptRow struct {
	recipient Recipient
	attempt   Attempt
}

// loadBatch locks the emails of the items, in order of their ids so that two nodes cannot wait for each other.
func (s *Service) loadBatch(tx *db.Tx, items []queue.Item) (*batch, error) {
	ids := make([]string, len(items))
	for i, item := range items {
		ids[i] = item.ID
	}
	b := &batch{service: s, tx: tx, emails: map[ID]*Email{}, recipients: map[RecipientID]*Recipient{},
		changed: map[RecipientID]bool{}, touched: map[ID]bool{}, headers: map[ID]map[string]string{}, unsent: uses{}}
	emails, err := lockEmailsOfRecipients(tx, ids)
	if err != nil {
		return nil, err
	}
	domainIDs := []domain.ID{}
	var scheduled []*Email
	for i := range emails {
		b.emails[emails[i].ID] = &emails[i]
		domainIDs = append(domainIDs, emails[i].Domain)
		if emails[i].QueuedAt.IsZero() {
			scheduled = append(scheduled, &emails[i])
		}
	}
	recipients, err := selectRecipientsByID(tx, ids)
	if err != nil {
		return nil, err
	}
	for i := range recipients {
		b.recipients[recipients[i].ID] = &recipients[i]
	}
	if b.domains, err = s.domains.Load(tx, domainIDs); err != nil || len(scheduled) == 0 {
		return b, err
	}
	return b, b.loadSenders(scheduled)
}

// loadSenders finds out whether those whose mail was scheduled may still send.
func (b *batch) loadSenders(scheduled []*Email) (err error) {
	var workspaces []space.ID
	var tenants []tenant.ID
	for _, e := range scheduled {
		workspaces = append(workspaces, e.Workspace)
		if e.Tenant != "" {
			tenants = append(tenants, tenant.ID(e.Tenant))
		}
	}
	if b.suspended, err = b.service.accounts.Suspended(b.tx, workspaces); err != nil || len(tenants) == 0 {
		return err
	}
	b.tenants, err = b.service.tenants.Load(b.tx, tenants)
	return err
}

// setState moves a recipient along the table of states. Callers check first; a step outside the table is a bug.
func (b *batch) setState(r *Recipient, next State) {
	if !r.State.CanBecome(next) {
		panic(fmt.Sprintf("email: recipient %s cannot go from %s to %s", r.ID, r.State, next))
	}
	r.State = next
	b.changed[r.ID] = true
	b.touched[r.Email] = true
}

// fail ends a recipient without an answer of a server.
func (b *batch) fail(r *Recipient, why *Failure) {
	was := b.change(r)
	b.setState(r, Failed)
	r.NextAttemptAt = time.Time{}
	b.noteFull(r, report.Classify(report.Reply{Code: r.SMTPCode, Enhanced: r.Enhanced, Text: r.Response})) // as the last server said
	e := b.emails[r.Email]
	e.Failure = why
	b.tell(e, "email.failed", r.Address, b.tx.Now(), extras{change: was, Failed: why})
}

// tell says that something happened to an email, or to one of its recipients.
func (b *batch) tell(e *Email, kind, recipient string, at time.Time, more extras) {
	b.told = append(b.told, telling{e, statusOf[kind], kind, recipient, at, more})
}

// write makes events of what is told, each with the customer's headers.
func (b *batch) write(tx *db.Tx, told []telling) ([]event.Event, error) {
	unknown := map[ID]*Email{}
	for _, t := range told {
		if _, known := b.headers[t.email.ID]; !known {
			unknown[t.email.ID] = t.email
		}
	}
	if len(unknown) > 0 {
		found, err := selectHeaders(tx, unknown)
		if err != nil {
			return nil, err
		}
		maps.Copy(b.headers, found)
	}
	events := make([]event.Event, len(told))
	for i, t := range told {
		events[i] = b.service.newEventIn(t.state, t.email, b.headers[t.email.ID], t.kind, t.recipient, t.at, t.more)
	}
	return events, nil
}

// save writes all changes: recipients, attempts, the derived state of every touched email, and the events.
func (b *batch) save(tx *db.Tx) error {
	changed := make([]*Recipient, 0, len(b.changed))
	for id := range b.changed {
		changed = append(changed, b.recipients[id])
	}
	if err := updateRecipients(tx, changed); err != nil {
		return err
	}
	if err := insertAttempts(tx, b.attempts); err != nil {
		return err
	}
	told, err := b.saveEmails(tx)
	if err != nil {
		return err
	}
	events, err := b.write(tx, told)
	if err != nil {
		return err
	}
	if err := b.service.giveBack(tx, b.unsent); err != nil {
		return err
	}
	if _, err := b.service.suppressions.NoteSoftBounces(tx, b.full); err != nil {
		return err
	}
	return event.Append(tx, events...)
}

// saveEmails writes the touched emails and returns all events, with those that tell that an email is sent.
func (b *batch) saveEmails(tx *db.Tx) ([]telling, error) {
	states, err := b.statesOfTouched(tx)
	if err != nil {
		return nil, err
	}
	delivered, before, after := b.lastDelivered(), map[int]telling{}, []telling(nil)
	touched := make([]*Email, 0, len(b.touched))
	for _, id := range slices.Sorted(maps.Keys(b.touched)) { // in one order: events that come from it are told in it
		e := b.emails[id]
		touched = append(touched, e)
		if b.derive(e, states[id]) {
			if last, told := delivered[id]; told {
				e.DeliveredAt = b.told[last].at
				e.SentAt = e.DeliveredAt.Add(-time.Millisecond)
				before[last] = b.sent(e, states[id])
			} else { // the last recipient failed after others were delivered
				e.SentAt = b.tx.Now()
				after = append(after, b.sent(e, states[id]))
			}
		}
	}
	return append(insertBefore(b.told, before), after...), updateEmails(tx, touched...)
}

// lastDelivered tells where among the events the last delivery of each email stands.
func (b *batch) lastDelivered() map[ID]int {
	places := map[ID]int{}
	for i, t := range b.told {
		if t.kind == "email.delivered" {
			places[t.email.ID] = i
		}
	}
	return places
}

// insertBefore returns the events with others before those at some places.
func insertBefore(told []telling, others map[int]telling) []telling {
	all := make([]telling, 0, len(told)+len(others))
	for i, t := range told {
		if other, ok := others[i]; ok {
			all = append(all, other)
		}
		all = append(all, t)
	}
	return all
}

// sent is the event that tells that an email is.
func (b *batch) sent(e *Email, states []State) telling {
	relayed := 0
	for _, s := range states {
		if s == Sent {
			relayed++
		}
	}
	return telling{e, Sent, "email.sent", "", e.SentAt, extras{change: change{Relayed: relayed}}}
}

// statesOfTouched reads the states of all recipients of the touched emails. An email with one recipient needs no reading.
func (b *batch) statesOfTouched(tx *db.Tx) (map[ID][]State, error) {
	states := map[ID][]State{}
	var many []ID
	for id := range b.touched {
		if b.emails[id].Recipients > 1 {
			many = append(many, id)
		}
	}
	for _, r := range b.recipients {
		if b.touched[r.Email] && b.emails[r.Email].Recipients == 1 {
			states[r.Email] = []State{r.State}
		}
	}
	if len(many) == 0 {
		return states, nil
	}
	found, err := selectStates(tx, many)
	for _, row := range found {
		states[row.email] = append(states[row.email], row.state)
	}
	return states, err
}

// derive sets what follows from the states of the recipients, and tells whether the email has just been sent: when the last of them is done
// and one was accepted. That event stands between the acceptance and the delivery of the last recipient.
func (b *batch) derive(e *Email, states []State) (sent bool) {
	e.UpdatedAt = b.tx.Now()
	e.Status = Overall(states)
	delivered, open := false, false
	for _, s := range states {
		delivered = delivered || s == Delivered || s == Sent || s == Opened || s == Clicked || s == Complained
		open = open || !s.Terminal()
	}
	return !open && delivered && e.SentAt.IsZero()
}

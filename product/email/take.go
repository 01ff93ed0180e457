package email

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"postrider/mail/smtp"
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/platform/space"
	"postrider/product/domain"
	"postrider/product/tenant"
)

// Taken is one recipient that is to be mailed now.
type Taken struct {
	Item      queue.Item
	Recipient Recipient
	Email     Email
	Domain    domain.Domain
}

// Take counts an attempt for the recipients of items that are held, marks them as being sent, and returns those that may be. The
// others are settled at once: what was cancelled leaves the queue, what may no longer be sent fails. It runs in the transaction
// before the conversation begins, so a cancel comes before it or after it, never between, and an attempt that is lost with its
// worker is known of.
func (s *Service) Take(tx *db.Tx, items []queue.Item) ([]Taken, error) {
	if len(items) == 0 {
		return nil, nil
	}
	batch, err := s.loadBatch(tx, items)
	if err != nil {
		return nil, err
	}
	if err := batch.findCalledBack(); err != nil {
		return nil, err
	}
	if err := batch.findStops(); err != nil {
		return nil, err
	}
	var taken []Taken
	var done []string
	for _, item := range items {
		r, ok := batch.recipients[RecipientID(item.ID)]
		if ok && batch.isCalledBack(r) {
			batch.recall(r)
		}
		if !ok || batch.settledAlready(r) {
			done = append(done, item.ID)
			continue
		}
		if stop := batch.stops[r.ID]; stop != nil {
			batch.suppress(r, stop)
			done = append(done, item.ID)
			continue
		}
		batch.start(r)
		e := batch.emails[r.Email]
		taken = append(taken, Taken{Item: item, Recipient: *r, Email: *e, Domain: batch.domains[e.Domain]})
	}
	if err := queue.Finish(tx, done...); err != nil {
		return nil, err
	}
	return taken, batch.save(tx)
}

// refusal tells why an email may no longer be sent, or nil. A paused customer and a suspended workspace stop only mail whose time has just
// come; what was queued before goes on, to all its recipients.
func (b *batch) refusal(e *Email, r *Recipient) *Failure {
	starting := r.State == Scheduled || r.State == Queued
	justDue := r.State == Scheduled && e.QueuedAt.IsZero()
	switch {
	case starting && !b.domains[e.Domain].Sendable():
		return &Failure{"domain_auth_broken", fmt.Sprintf("SPF or DKIM of %s no longer passes.", e.FromDomain)}
	case justDue && b.suspended[e.Workspace]:
		return &Failure{"workspace_suspended", "The workspace was suspended when the time to send came."}
	case justDue && b.tenants[tenant.ID(e.Tenant)].Paused():
		return &Failure{"managed_tenant_paused", "The managed customer was paused when the time to send came."}
	case !b.tx.Now().Before(e.ExpiresAt):
		return &Failure{"delivery_expired", fmt.Sprintf("No server accepted the message within %s.", humanDuration(e.ExpiresAt.Sub(startOf(e))))}
	}
	return nil
}

func startOf(e *Email) time.Time {
	if !e.ScheduledAt.IsZero() {
		return e.ScheduledAt
	}
	return e.CreatedAt
}

func humanDuration(d time.Duration) string {
	n, unit := d/time.Minute, "minute"
	if d >= time.Hour && d%time.Hour == 0 {
		n, unit = d/time.Hour, "hour"
	}
	if n != 1 {
		unit += "s"
	}
	return fmt.Sprintf("%d %s", n, unit)
}

// start moves a recipient to sending.
func (b *batch) start(r *Recipient) {
	b.recordLost(r)
	b.queue(r)
	b.setState(r, Sending)
	r.Attempts++
	r.NextAttemptAt = time.Time{}
	r.TakenAt = b.tx.Now()
}

// recordLost records the attempt of a recipient that was being sent already: it was lost with its worker, and the server may
// have taken the message.
func (b *batch) recordLost(r *Recipient) {
	if !r.underWay() {
		return
	}
	now := b.tx.Now()
	b.attempts = append(b.attempts, attemptRow{*r, Attempt{
		ID: b.service.world.NewID(), Number: r.Attempts, Outcome: AttemptConnectionFailed, Stage: smtp.StageEndOfData,
		StartedAt: r.TakenAt, FinishedAt: now, NextAt: now,
		AttemptDetails: AttemptDetails{ISP: r.ISP, Response: "The worker stopped before the outcome was recorded.", Ambiguous: true},
	}})
}

// Peek returns an email and its domain as delivery would take them, and changes nothing. Notices are for their recipients alone.
func (s *Service) Peek(ctx context.Context, ws space.ID, id string) (t Taken, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		if t.Email, err = findEmail(tx, ws, id); err != nil {
			return err
		}
		if t.Email.Source == SourceNotice {
			return api.NotFound("email")
		}
		content, err := selectContent(tx, ws, t.Email.ID)
		if err != nil {
			return err
		}
		if content.forgotten {
			return api.NotFound("message")
		}
		domains, err := s.domains.Load(tx, []domain.ID{t.Email.Domain})
		found, ok := domains[t.Email.Domain]
		if err == nil && !ok {
			return api.NotFound("domain")
		}
		t.Domain = found
		return err
	})
	return t, err
}

// Letter is what an email says.
type Letter struct {
	Content
	Attachments []Attachment
	// Raw is the message itself, if it came ready made; then the header fields in Content are all that is known besides.
	Raw []byte
}

// Letter returns what an email says to a recipient, read outside any transaction that changes something. A message that is only
// looked at has no recipient, and is not tracked.
func (s *Service) Letter(ctx context.Context, t Taken) (l Letter, err error) {
	var stored storedContent
	err = s.db.Glance(ctx, func(tx *db.Tx) (err error) { // what an email says does not change
		if stored, err = selectContent(tx, t.Email.Workspace, t.Email.ID); err != nil {
			return err
		}
		if t.Email.Attachments > 0 && !stored.readyMade() {
			l.Attachments, err = selectAttachments(tx, t.Email.Workspace, t.Email.ID)
		}
		return err
	})
	if err != nil {
		return l, err
	}
	if stored.readyMade() {
		l.Headers = stored.Headers
		l.Raw, err = s.readReadyMade(ctx, stored)
	} else {
		l.Content, err = s.content(ctx, stored)
	}
	if err == nil && t.Email.tracked() && t.Recipient.ID != "" {
		l = s.trackLetter(t, l)
	}
	return l, err
}

// content returns the content with what is not kept in the database.
func (s *Service) content(ctx context.Context, stored storedContent) (Content, error) {
	if stored.blob == "" {
		return stored.Content, nil
	}
	r, err := s.blobs.Open(ctx, stored.blob)
	if err != nil {
		return Content{}, fmt.Errorf("open content: %w", err)
	}
	defer r.Close()
	var content Content
	if err := json.NewDecoder(r).Decode(&content); err != nil {
		return Content{}, fmt.Errorf("read content: %w", err)
	}
	return content, nil
}

// OpenAttachment returns the content of a file.
func (s *Service) OpenAttachment(ctx context.Context, a Attachment) (io.ReadCloser, error) {
	return s.blobs.Open(ctx, a.Blob)
}

// headersOf loads the customer's headers for events told long after acceptance.
func headersOf(tx *db.Tx, e *Email) (map[string]string, error) {
	content, err := selectContent(tx, e.Workspace, e.ID)
	return content.Headers, err
}

package email

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"postrider/mail/address"
	"postrider/mail/blocked"
	"postrider/mail/message"
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/platform/queue"
	"postrider/platform/space"
	"postrider/product/domain"
	"postrider/product/plan"
)

// Sender is on whose behalf an email is sent.
type Sender struct {
	Workspace space.ID
	Plan      plan.Name
	KeyID     string
	Source    Source
	// Test is set for keys whose mail never leaves the machine.
	Test bool
	// MayUse tells whether the key is free to send from the domain. Nil means all domains.
	MayUse func(domain.ID) bool
}

// Receipt is what the sender gets for an email that was accepted. It is remembered with an idempotency key.
type Receipt struct {
	ID          ID        `json:"id"`
	Status      State     `json:"status"`
	MessageID   string    `json:"message_id"`
	CreatedAt   time.Time `json:"created_at"`
	ScheduledAt time.Time `json:"scheduled_at"`

	// Domain and Tenant are whose mail it is. A receipt that is given once more has forgotten them.
	Domain domain.ID `json:"-"`
	Tenant string    `json:"-"`

	quota plan.Quota
}

const (
	// defaultDeliverWithin is how long we try before we give up.
	defaultDeliverWithin = 72 * time.Hour
	// inlineContent is the largest content kept in the database; more goes to the blob store.
	inlineContent = 64 << 10
)

// Accept takes responsibility for an email: when it returns without error, the email is stored and will be tried. replayed
// is true if the idempotency key had been used before; then nothing new was stored.
func (s *Service) Accept(ctx context.Context, sender Sender, draft Draft, request api.Idempotency) (receipt Receipt, replayed bool, err error) {
	rows, err := s.admit(ctx, sender, draft)
	if err != nil {
		return earlier[Receipt](ctx, s, request, err)
	}
	return s.commit(ctx, sender, rows, request)
}

// admit checks that the sender may send the draft, and makes what has to be written for it.
func (s *Service) admit(ctx context.Context, sender Sender, draft Draft) (acceptance, error) {
	from, err := s.permit(ctx, sender, draft.From.Domain)
	if err != nil {
		return acceptance{}, err
	}
	fetching, done := context.WithTimeout(ctx, fetchAll)
	defer done()
	if err := s.fetchFiles(fetching, draft.Files); err != nil {
		return acceptance{}, err
	}
	rows, err := s.prepare(ctx, sender, draft, from)
	if err == nil {
		err = rows.checkMade(draft)
	}
	return rows, err
}

// checkMade looks at what was made of a draft: through a text that was made of a page as through one that came, and at how large the
// message will be. It is for whoever can be told: a broadcast must not stop for everybody over what one of its letters says.
func (a acceptance) checkMade(draft Draft) error {
	if draft.Content.Text == "" {
		if problem := blocked.Text(a.content.Text); problem != "" {
			return api.Invalid("html", problem)
		}
	}
	return a.checkSize(draft)
}

// checkSize refuses what is too large for a message once it is encoded, though each of its parts is not. Few come near to that.
func (a acceptance) checkSize(draft Draft) error {
	if a.email.SizeBytes < message.MaxBytes/2 {
		return nil
	}
	m := message.Message{From: draft.From, To: draft.To, Cc: draft.Cc, ReplyTo: draft.ReplyTo, Subject: draft.Subject, Date: a.email.CreatedAt,
		MessageID: a.email.MessageID, Text: a.content.Text, HTML: a.content.HTML, Seed: string(a.email.ID)}
	for _, file := range draft.Files {
		m.Attachments = append(m.Attachments, message.Attachment{Filename: file.Filename, ContentType: file.ContentType, ContentID: file.ContentID,
			Inline: file.Inline, Content: file.Content})
	}
	if _, err := m.WriteTo(io.Discard); errors.Is(err, message.ErrTooLarge) {
		return api.ErrTooLarge.Saying("With its files and texts encoded, the message would be larger than 40 MB.")
	}
	return nil
}

// Permit tells whether the sender may send from the domain now.
func (s *Service) Permit(ctx context.Context, sender Sender, name string) error {
	_, err := s.permit(ctx, sender, name)
	return err
}

// permit returns the domain if the sender may send from it now, with the way its mail goes out.
func (s *Service) permit(ctx context.Context, sender Sender, name string) (domain.Domain, error) {
	from, err := s.domains.ForSending(ctx, sender.Workspace, name)
	if err != nil {
		return from, err
	}
	if sender.MayUse != nil && !sender.MayUse(from.ID) {
		return from, api.DomainNotAllowed(from.Name)
	}
	customer, err := s.tenants.ForSending(ctx, sender.Workspace, from.TenantID)
	from.Provider = wayOut(from.Provider, string(customer.Provider))
	return from, err
}

// earlier returns what the idempotency key was answered with before, or why the request is refused now. What was accepted once
// stays so for a retry, even if its time has passed or its domain has broken since.
func earlier[T any](ctx context.Context, s *Service, request api.Idempotency, refusal error) (answer T, replayed bool, err error) {
	if request.Key == "" {
		return answer, false, refusal
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		answer, replayed, err = api.Replay[T](tx, request)
		return err
	})
	if err == nil && !replayed {
		err = refusal
	}
	return answer, replayed, err
}

// acceptance is everything that is written for one email.
type acceptance struct {
	email       Email
	content     Content
	contentBlob string
	posted      *readyMade // nil if we shall make the message
	recipients  []Recipient
	attachments []Attachment
	words       []string // by which it is found
	event       event.Event
	items       []queue.Item
}

func (a acceptance) receipt(quota plan.Quota) Receipt {
	return Receipt{ID: a.email.ID, Status: a.email.Status, MessageID: a.email.MessageID, CreatedAt: a.email.CreatedAt, ScheduledAt: a.email.ScheduledAt,
		Domain: a.email.Domain, Tenant: a.email.Tenant, quota: quota}
}

// prepare makes the rows outside the transaction, large contents already stored.
func (s *Service) prepare(ctx context.Context, sender Sender, draft Draft, from domain.Domain) (acceptance, error) {
	if err := s.admitTopic(ctx, sender.Workspace, draft.Topic); err != nil {
		return acceptance{}, err
	}
	now := s.world.Clock.Now().Truncate(time.Microsecond)
	a := acceptance{content: draft.Content, posted: draft.posted}
	id := ID(s.world.NewID())
	if draft.posted != nil {
		id = draft.posted.id
	} else if draft.id != "" {
		id = draft.id
	}
	a.email = newEmail(id, sender, draft, from, now)
	if a.content.Text == "" && a.content.HTML != "" && !draft.skipTextFromHTML {
		a.content.Text = message.TextFromHTML(a.content.HTML)
	}
	due := now
	if !draft.ScheduledAt.IsZero() {
		due = draft.ScheduledAt
	}
	if s.delay != nil && !sender.Test {
		if earliest := now.Add(s.delay(ctx, sender.Workspace, from.TenantID, len(draft.To)+len(draft.Cc)+len(draft.Bcc))); earliest.After(due) {
			due = earliest // a schedule is no way around it
		}
	}
	for _, group := range []struct {
		kind Kind
		list []address.Address
	}{{To, draft.To}, {Cc, draft.Cc}, {Bcc, draft.Bcc}} {
		for _, to := range group.list {
			r := Recipient{ID: RecipientID(s.world.NewID()), Workspace: sender.Workspace, Email: a.email.ID, Position: len(a.recipients),
				Kind: group.kind, Address: to.Addr(), State: a.email.Status, ISP: isp(to)}
			a.recipients = append(a.recipients, r)
			a.items = append(a.items, queue.Item{ID: string(r.ID), Lane: LaneOf(a.email.Node()), Rank: rankOf(sender.Source), Flow: a.email.flow(), Due: due})
		}
	}
	a.email.Recipients = len(a.recipients)
	if err := s.storeFiles(ctx, draft.Files, &a); err != nil {
		return a, err
	}
	if err := s.storeLargeContent(ctx, &a); err != nil {
		return a, err
	}
	kind := "email.queued"
	if a.email.Status == Scheduled {
		kind = "email.scheduled"
	}
	a.event = s.newEvent(&a.email, a.content.Headers, kind, "", now, extras{})
	a.words = wordsOf(a.email)
	return a, nil
}

func newEmail(id ID, sender Sender, draft Draft, from domain.Domain, now time.Time) Email {
	e := Email{
		ID: id, Workspace: sender.Workspace, Domain: from.ID, Tenant: from.TenantID, KeyID: sender.KeyID, Source: sender.Source, Test: sender.Test, Provider: from.Provider,
		MessageID: draft.MessageID, Status: Queued, From: draft.From.String(), FromDomain: draft.From.Domain, Subject: draft.Subject,
		Addresses: Addresses{To: display(draft.To), Cc: display(draft.Cc), Bcc: display(draft.Bcc), ReplyTo: display(draft.ReplyTo)},
		Tags:      draft.Tags, Metadata: draft.Metadata, IdempotencyKey: draft.IdempotencyKey,
		TrackOpens: from.OpenTracking, TrackClicks: from.ClickTracking, ListUnsubscribe: draft.ListUnsubscribe, Topic: draft.Topic,
		Template: draft.Template, TemplateVersion: draft.TemplateVersion, Contact: draft.Contact, Run: draft.Run, CreatedAt: now, UpdatedAt: now, QueuedAt: now,
	}
	if e.MessageID == "" {
		e.MessageID = message.NewMessageID(string(id), draft.From.Domain)
	}
	if draft.TrackOpens != nil {
		e.TrackOpens = *draft.TrackOpens
	}
	if draft.TrackClicks != nil {
		e.TrackClicks = *draft.TrackClicks
	}
	if sender.Source == SourceNotice || sender.Source == SourceForward { // links for its recipient alone, and somebody else's mail
		e.TrackOpens, e.TrackClicks = false, false
	}
	within := draft.DeliverWithin
	if within == 0 {
		within = defaultDeliverWithin
	}
	e.ExpiresAt = now.Add(within)
	if !draft.ScheduledAt.IsZero() {
		e.Status, e.ScheduledAt, e.QueuedAt = Scheduled, draft.ScheduledAt, time.Time{}
		e.ExpiresAt = draft.ScheduledAt.Add(within)
	}
	e.SizeBytes = int64(len(draft.Content.HTML) + len(draft.Content.Text))
	if draft.posted != nil {
		e.SizeBytes = draft.posted.size
	}
	return e
}

// wayOut resolves how mail goes out: as the domain says, else as its customer does, else directly.
func wayOut(wishes ...string) string {
	for _, wish := range wishes {
		if wish == Direct || wish == Relay || strings.HasPrefix(wish, nodePrefix) {
			return wish
		}
	}
	return Direct
}

func display(list []address.Address) []string {
	texts := make([]string, len(list))
	for i, a := range list {
		texts[i] = a.String()
	}
	return texts
}

// storeFiles puts contents into the blob store before the transaction: a row never points at nothing.
func (s *Service) storeFiles(ctx context.Context, files []File, a *acceptance) error {
	for _, file := range files {
		info, err := s.blobs.Put(ctx, bytes.NewReader(file.Content), maxFileBytes)
		if err != nil {
			return api.ErrUnavailable.Because(fmt.Errorf("store attachment: %w", err))
		}
		a.attachments = append(a.attachments, Attachment{ID: s.world.NewID(), Filename: file.Filename, ContentType: file.ContentType,
			ContentID: file.ContentID, Inline: file.Inline, SizeBytes: info.Size, Blob: info.Ref})
		a.email.SizeBytes += info.Size
	}
	a.email.Attachments = len(files)
	return nil
}

func (s *Service) storeLargeContent(ctx context.Context, a *acceptance) error {
	if len(a.content.HTML)+len(a.content.Text) <= inlineContent {
		return nil
	}
	raw, err := json.Marshal(a.content)
	if err != nil {
		return fmt.Errorf("encode content of %s: %w", a.email.ID, err)
	}
	info, err := s.blobs.Put(ctx, bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return api.ErrUnavailable.Because(fmt.Errorf("store content: %w", err))
	}
	a.contentBlob = string(info.Ref)
	return nil
}

// store writes everything of one or many emails, with few statements. Quotas have been used by then.
func (s *Service) store(tx *db.Tx, all ...acceptance) error {
	var recipients []Recipient
	var events []event.Event
	var items []queue.Item
	if err := s.useTenants(tx, all); err != nil {
		return err
	}
	for _, a := range all {
		if err := insertAttachments(tx, a.email, a.attachments); err != nil {
			return err
		}
		recipients, events, items = append(recipients, a.recipients...), append(events, a.event), append(items, a.items...)
	}
	if err := insertEmails(tx, all); err != nil {
		return err
	}
	if err := insertContents(tx, all); err != nil {
		return err
	}
	if err := insertRecipients(tx, recipients); err != nil {
		return err
	}
	if err := event.Append(tx, events...); err != nil {
		return err
	}
	if err := queue.Add(tx, items...); err != nil {
		return err
	}
	return indexEmails(tx, all) // last: SQLite writes the word index out before whatever follows
}

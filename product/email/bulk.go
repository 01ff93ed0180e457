package email

import (
	"context"
	"time"

	"postrider/mail/address"
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/product/domain"
	"postrider/product/suppression"
)

// SourceBroadcast is mail to many people at once.
const SourceBroadcast Source = "broadcast"

// rankOf lets mail that somebody waits for pass mail to many.
func rankOf(source Source) queue.Rank {
	switch source {
	case SourceBroadcast:
		return queue.Bulk
	case SourceAutomation:
		return queue.Normal
	}
	return queue.Urgent
}

// Bulk is what many mails have in common that are sent together, each to one person.
type Bulk struct {
	Sender                  Sender
	From                    address.Address
	ReplyTo                 []address.Address
	Tags                    []Tag
	TrackOpens, TrackClicks *bool
	Template                string
	TemplateVersion         int64
	// Broadcast, Topic and List are ids; the last two may be empty.
	Broadcast, Topic, List string

	domain domain.Domain
}

// BulkLetter is one of many mails.
type BulkLetter struct {
	// ID is chosen by whoever sends: the same mail cannot be accepted twice.
	ID                  ID
	To                  address.Address
	Contact             string
	Subject, HTML, Text string
}

// BulkWaits tells whether so many mails to many people wait to be sent that it is of no use to add to them.
func (s *Service) BulkWaits(tx *db.Tx) (bool, error) {
	return queue.AtLeast(tx, Lane, queue.Bulk, enoughBulk)
}

// enoughBulk is what the nodes of an installation send within seconds.
const enoughBulk = 20_000

// OpenBulk returns mails that can be prepared, or the error of a sender that may not send them now.
func (s *Service) OpenBulk(ctx context.Context, b Bulk) (Bulk, error) {
	from, err := s.permit(ctx, b.Sender, b.From.Domain)
	b.domain = from
	return b, err
}

// BulkLink is where the recipient of one of many mails unsubscribes. It stands for the same as the one in the header.
func (s *Service) BulkLink(b Bulk, l BulkLetter) string {
	return s.suppressions.Link(s.linkBase(b.domain), suppression.Claims{Workspace: b.Sender.Workspace, Address: l.To.Addr(), Email: string(l.ID),
		Contact: l.Contact, Topic: b.Topic, List: b.List, Broadcast: b.Broadcast})
}

// PreparedBulk are mails that can be stored, in the order in which they came.
type PreparedBulk struct {
	sender Sender
	rows   []acceptance
}

// PrepareBulk makes what has to be written for the mails, large contents already stored.
func (s *Service) PrepareBulk(ctx context.Context, b Bulk, letters []BulkLetter) (PreparedBulk, error) {
	p := PreparedBulk{sender: b.Sender, rows: make([]acceptance, 0, len(letters))}
	for _, l := range letters {
		draft := Draft{id: l.ID, From: b.From, To: []address.Address{l.To}, ReplyTo: b.ReplyTo, Subject: l.Subject, Content: Content{HTML: l.HTML, Text: l.Text},
			Tags: b.Tags, TrackOpens: b.TrackOpens, TrackClicks: b.TrackClicks, ListUnsubscribe: true, Template: b.Template, TemplateVersion: b.TemplateVersion}
		rows, err := s.prepare(ctx, b.Sender, draft, b.domain)
		if err != nil {
			return p, err
		}
		// The topic was there when the first of them was made; asking for each would cost more than the rest.
		rows.email.Broadcast, rows.email.Contact, rows.email.Topic, rows.email.List = b.Broadcast, l.Contact, b.Topic, b.List
		rows.event = s.newEvent(&rows.email, rows.content.Headers, "email.queued", "", rows.email.CreatedAt, extras{})
		p.rows = append(p.rows, rows)
	}
	return p, nil
}

// StoreBulk accepts those of the mails that are to be kept, as far as the plan has room. It returns which it accepted, and the
// refusal of the plan if it did not accept all.
func (s *Service) StoreBulk(tx *db.Tx, p PreparedBulk, keep map[ID]bool) (accepted []ID, refusal, err error) {
	var kept []acceptance
	for _, rows := range p.rows {
		if keep[rows.email.ID] {
			kept = append(kept, rows)
		}
	}
	if len(kept) == 0 {
		return nil, nil, nil
	}
	room, refusal, err := s.useAsMany(tx, p.sender, kept)
	if err != nil {
		return nil, nil, err
	}
	for _, rows := range kept[:room] {
		accepted = append(accepted, rows.email.ID)
	}
	if room == 0 {
		return nil, refusal, nil
	}
	return accepted, refusal, s.store(tx, kept[:room]...)
}

// useAsMany counts as many mails against the plan as it has room for. Those that were made before midnight count for the day before.
func (s *Service) useAsMany(tx *db.Tx, sender Sender, wanted []acceptance) (room int, refusal, err error) {
	for room < len(wanted) {
		day := useOf(&wanted[room].email).day
		var each []int64
		for _, a := range wanted[room:] {
			if !useOf(&a.email).day.Equal(day) {
				break
			}
			each = append(each, 1)
		}
		_, refusals, err := s.plans.UseEmailsOfMany(tx, sender.Workspace, sender.Plan, day, each)
		if err != nil {
			return 0, nil, err
		}
		for _, refused := range refusals {
			if refused != nil {
				return room, refused, nil
			}
			room++
		}
	}
	return room, nil, nil
}

// CheckTags notes what is wrong with the tags of mail.
func CheckTags(wrong *api.Fields, tags []Tag) []Tag { return checkTags(wrong, tags) }

// CheckSchedule reads a time to send at, as a send does. The zero time means now.
func CheckSchedule(wrong *api.Fields, text string, now time.Time) time.Time {
	return checkSchedule(wrong, text, now)
}

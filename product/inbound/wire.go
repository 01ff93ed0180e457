package inbound

import (
	"time"

	"postrider/platform/api"
	"postrider/product/domain"
	"postrider/product/email"
)

// Row is a received message in a list.
type Row struct {
	Object         string          `json:"object" example:"email"`
	ID             ID              `json:"id" example:"0193a1f2-0000-7000-8000-000000000101"`
	Direction      string          `json:"direction" example:"inbound"`
	MessageID      api.Ref         `json:"message_id" example:"<CAF123@mail.gmail.com>"`
	From           string          `json:"from" example:"Ann <ann@example.net>"`
	To             api.Strings     `json:"to" example:"[\"support@acme.test\"]"`
	Cc             api.Strings     `json:"cc"`
	Bcc            api.Strings     `json:"bcc"`
	ReplyTo        api.Strings     `json:"reply_to"`
	ReceivedFor    api.Strings     `json:"received_for" example:"[\"support@acme.test\"]"`
	Subject        string          `json:"subject" example:"Re: Welcome"`
	InReplyTo      api.Ref         `json:"in_reply_to" example:"<0193a1ef0d5c7c338e0a2b7c1d9e4f00@acme.test>"`
	References     api.Strings     `json:"references"`
	AnswersEmail   api.Ref         `json:"in_reply_to_email_id" doc:"The email of yours that it answers."`
	Thread         string          `json:"thread_id" doc:"Shared by all that answer each other." example:"0193a1ef-0d5c-7c33-8e0a-2b7c1d9e4f00"`
	CreatedAt      api.Time        `json:"created_at"`
	Read           bool            `json:"read" example:"false"`
	Starred        bool            `json:"starred" example:"false"`
	ReadAt         api.Time        `json:"read_at"`
	DomainID       domain.ID       `json:"domain_id" example:"0193a1e0-2222-7000-8000-0000000000d1"`
	TenantID       api.Ref         `json:"managed_tenant_id"`
	SizeBytes      int64           `json:"size_bytes" example:"5120"`
	Authentication *authentication `json:"authentication" doc:"Null until the message has been checked, which takes a moment."`
	Spam           *Spam           `json:"spam" doc:"Null until the message has been checked."`
	Automatic      bool            `json:"auto_submitted" example:"false" doc:"Whether a program sent it by itself."`
	Bulk           bool            `json:"bulk" example:"false" doc:"Whether it went to many at once, by a mailing list or as a newsletter. Automations do not answer it."`
	Truncated      bool            `json:"truncated" doc:"The message has more than is shown; raw has all of it." example:"false"`
	Source         Source          `json:"source" example:"smtp"`
	Forwarded      []forwarded     `json:"forwarded"`
	Attachments    []fileRecord    `json:"attachments"`
}

// Record is a received message with what it says.
type Record struct {
	Row
	HTML         api.Ref           `json:"html" example:"<p>Thanks!</p>"`
	Text         api.Ref           `json:"text" example:"Thanks!"`
	StrippedText api.Ref           `json:"stripped_text" doc:"The text without what it quotes." example:"Thanks!"`
	Headers      map[string]string `json:"headers" example:"{\"from\":\"Ann <ann@example.net>\"}"`
	HeaderLines  []headerLine      `json:"header_lines"`
	Envelope     Envelope          `json:"envelope"`
	Raw          rawLink           `json:"raw"`
}

type authentication struct {
	SPF        string  `json:"spf" example:"pass"`
	DKIM       string  `json:"dkim" example:"pass"`
	DMARC      string  `json:"dmarc" example:"pass"`
	ARC        string  `json:"arc" example:"none"`
	DKIMDomain api.Ref `json:"dkim_domain" example:"example.net"`
}

type forwarded struct {
	RuleID  string      `json:"rule_id" example:"0193a1f2-0000-7000-8000-0000000000a1"`
	EmailID email.ID    `json:"email_id" example:"0193a1f2-0000-7000-8000-000000000102"`
	To      api.Strings `json:"to" example:"[\"team@acme.test\"]"`
}

type fileRecord struct {
	ID          string  `json:"id" example:"0193a1f2-0000-7000-8000-0000000000c1"`
	Filename    string  `json:"filename" example:"photo.jpg"`
	ContentType string  `json:"content_type" example:"image/jpeg"`
	Disposition string  `json:"content_disposition" example:"attachment"`
	ContentID   api.Ref `json:"content_id"`
	Size        int64   `json:"size" example:"10240"`
}

type headerLine struct {
	Name  string `json:"name" example:"From"`
	Value string `json:"value" example:"Ann <ann@example.net>"`
}

type rawLink struct {
	DownloadURL string   `json:"download_url" example:"https://mail.example.org/files/r1.eyJyIjoi"`
	ExpiresAt   api.Time `json:"expires_at"`
}

func newRow(m Message, passedOn []forwarded) Row {
	row := Row{
		Object: "email", ID: m.ID, Direction: "inbound", MessageID: api.Ref(m.MessageID), From: m.From, To: m.Addresses.To, Cc: m.Addresses.Cc,
		Bcc: m.Addresses.Bcc, ReplyTo: m.Addresses.ReplyTo, ReceivedFor: m.Addresses.ReceivedFor, Subject: m.Subject,
		InReplyTo: api.Ref(m.Ancestors.InReplyTo), References: m.Ancestors.References, AnswersEmail: api.Ref(m.AnswersEmail), Thread: m.Thread,
		CreatedAt: api.Time(m.CreatedAt), Read: !m.ReadAt.IsZero(), Starred: m.Starred, ReadAt: api.Time(m.ReadAt), DomainID: m.Domain,
		TenantID: api.Ref(m.Tenant), SizeBytes: m.SizeBytes, Spam: m.Spam, Automatic: m.Automatic, Bulk: m.Bulk, Truncated: m.Truncated, Source: m.Source,
		Forwarded: passedOn, Attachments: fileRecords(m.Files),
	}
	if row.Forwarded == nil {
		row.Forwarded = []forwarded{}
	}
	if a := m.Authentication; a != nil {
		row.Authentication = &authentication{SPF: a.SPF, DKIM: a.DKIM, DMARC: a.DMARC, ARC: a.ARC, DKIMDomain: api.Ref(a.DKIMDomain)}
	}
	return row
}

// place is where a page after the message begins.
func (r Row) place() api.Cursor { return api.Cursor{ID: string(r.ID), At: time.Time(r.CreatedAt)} }

func fileRecords(files []File) []fileRecord {
	records := make([]fileRecord, len(files))
	for i, f := range files {
		records[i] = fileRecord{ID: f.ID, Filename: f.Filename, ContentType: f.ContentType, Disposition: f.Disposition, ContentID: api.Ref(f.ContentID), Size: f.Size}
	}
	return records
}

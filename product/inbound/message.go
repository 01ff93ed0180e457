package inbound

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"postrider/mail/spam"
	"postrider/platform/space"
	"postrider/product/domain"
	"postrider/product/email"
)

// ID names a received message.
type ID string

// Message is mail that came for people of one domain.
type Message struct {
	ID        ID
	Workspace space.ID
	Domain    domain.ID
	Tenant    string
	Source    Source
	MessageID string
	From      string
	Addresses Addresses
	Subject   string
	Envelope  Envelope
	// Ancestors are the message ids it answers, the nearest last. AnswersEmail is the email of ours that it answers.
	Ancestors    Ancestors
	AnswersEmail email.ID
	// Thread is shared by all that answer each other: the id of the email or message that began it.
	Thread string
	// Authentication and Spam are nil until the message has been checked.
	Authentication *Authentication
	Spam           *Spam
	// Automatic tells that a program sent it by itself.
	Automatic bool
	// Bulk tells that it went to many at once: by a mailing list, or as a newsletter.
	Bulk bool
	// Truncated tells that it has more parts than are listed.
	Truncated bool
	Files     []File
	SizeBytes int64
	Starred   bool
	// Kept is false for mail that is only passed on.
	Kept bool
	// test is set while mail is taken from a test key.
	test bool

	CreatedAt, ReadAt time.Time
}

// Source is how a message came.
type Source string

// Sources of messages.
const (
	SourceSMTP Source = "smtp"
	// SourceIngest is mail that a program of the customer handed in, to try its own handling.
	SourceIngest Source = "ingest"
)

// Addresses are the address lists of a message, in display form.
type Addresses struct {
	To      []string `json:"to,omitempty"`
	Cc      []string `json:"cc,omitempty"`
	Bcc     []string `json:"bcc,omitempty"`
	ReplyTo []string `json:"reply_to,omitempty"`
	// ReceivedFor are the recipients that made us take it.
	ReceivedFor []string `json:"received_for"`
}

// Envelope is what the other server said before the message.
type Envelope struct {
	MailFrom string   `json:"mail_from" example:"ann@example.net"`
	RcptTo   []string `json:"rcpt_to" example:"[\"support@acme.test\"]"`
	RemoteIP string   `json:"remote_ip" example:"209.85.128.41"`
	Helo     string   `json:"helo" example:"mail-wm1-f41.google.com"`
	TLS      bool     `json:"tls" example:"true"`

	extended bool // it said EHLO
}

// Ancestors are what a message answers.
type Ancestors struct {
	InReplyTo  string   `json:"in_reply_to,omitempty"`
	References []string `json:"references,omitempty"`
}

// Authentication is what was found out about the origin of a message, in the words of RFC 8601.
type Authentication struct {
	SPF        string `json:"spf" example:"pass"`
	DKIM       string `json:"dkim" example:"pass"`
	DMARC      string `json:"dmarc" example:"pass"`
	ARC        string `json:"arc" example:"none"`
	DKIMDomain string `json:"dkim_domain" example:"example.net"`
}

// Spam is how much a message looks like spam.
type Spam struct {
	Score   float64      `json:"score" example:"0.4"`
	Verdict spam.Verdict `json:"verdict" example:"ok"`
}

// File is something in a message that is not its text. Its content is read off the message when someone asks.
type File struct {
	ID          string `json:"id" example:"0193a1f2-0000-7000-8000-0000000000c1"`
	Filename    string `json:"filename" example:"photo.jpg"`
	ContentType string `json:"content_type" example:"image/jpeg"`
	Disposition string `json:"content_disposition" example:"attachment"`
	ContentID   string `json:"content_id,omitempty"`
	Size        int64  `json:"size" example:"10240"`
}

// derivedID makes an id of what it stands for: always the same, and of the form of all ids (RFC 9562 §5.8).
func derivedID(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "/")))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[0:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

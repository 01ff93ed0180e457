package report

import (
	"bytes"
	"net/netip"
	"strings"
	"time"

	"postrider/mail/message"
)

// Feedback is what a provider passes on from its readers (RFC 5965).
type Feedback struct {
	// Type is abuse, fraud, virus, opt-out, not-spam, auth-failure or other, in lower case.
	Type string
	// UserAgent is the program that made the report.
	UserAgent string
	// OriginalRecipient is who complained. Providers often leave it out or blur it.
	OriginalRecipient string
	OriginalMailFrom  string
	// ReportedDomain is the one the complaint is about, or empty.
	ReportedDomain string
	// ArrivalDate is when the message came to the provider, or zero.
	ArrivalDate time.Time
	// SourceIP is where it came from, or invalid.
	SourceIP netip.Addr
	// OriginalMessageID is with its brackets, or empty.
	OriginalMessageID string
}

// Complaint tells that a reader did not want the message, rather than that it was wanted after all or failed a check.
func (f Feedback) Complaint() bool {
	switch f.Type {
	case "not-spam", "auth-failure", "dmarc", "dkim":
		return false
	}
	return true
}

// parseFeedback reads the part for machines. The first of fields that are given twice counts.
func parseFeedback(body []byte) *Feedback {
	f := &Feedback{Type: "other"}
	fields, _, err := message.ReadHeader(bytes.TrimLeft(body, "\r\n"))
	if err != nil {
		return f
	}
	seen := map[string]bool{}
	for _, field := range fields {
		name := strings.ToLower(field.Name)
		if seen[name] {
			continue
		}
		seen[name] = true
		switch name {
		case "feedback-type":
			f.Type = strings.ToLower(clean(field.Value, maxValue))
		case "user-agent":
			f.UserAgent = clean(field.Value, maxValue)
		case "original-rcpt-to":
			f.OriginalRecipient = addressIn(field.Value)
		case "original-mail-from":
			f.OriginalMailFrom = addressIn(field.Value)
		case "reported-domain":
			f.ReportedDomain = clean(field.Value, maxValue)
		case "arrival-date", "received-date":
			if at := parseDate(field.Value); f.ArrivalDate.IsZero() {
				f.ArrivalDate = at
			}
		case "source-ip":
			f.SourceIP, _ = netip.ParseAddr(strings.Trim(strings.TrimSpace(field.Value), "[]"))
		}
	}
	return f
}

// hotmailRecipient is what Microsoft adds to the messages it returns for its readers, without any report around them.
const hotmailRecipient = "X-HmXmrOriginalRecipient"

// bareComplaint reads a complaint that is only the message itself.
func (l *letter) bareComplaint() *Feedback {
	recipient := addressIn(fieldOf(l.original, hotmailRecipient))
	if recipient == "" {
		return nil
	}
	return &Feedback{Type: "abuse", OriginalRecipient: recipient, OriginalMessageID: l.originalID()}
}

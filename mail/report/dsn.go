package report

import (
	"bytes"
	"net/mail"
	"regexp"
	"strconv"
	"strings"
	"time"

	"postrider/mail/message"
	"postrider/mail/smtp"
)

const (
	// maxRecipients is how many recipients of one report are told apart.
	maxRecipients = 100
	// maxGroups bounds the groups of fields in the part for machines.
	maxGroups = 2 * maxRecipients
	// maxValue bounds addresses, names and ids.
	maxValue = 998
	// maxDiagnostic bounds what a server said; longer stories repeat themselves.
	maxDiagnostic = 2 << 10
)

// DSN is a delivery status notification: what a server says became of a message (RFC 3464).
type DSN struct {
	// ReportingMTA is the name of the server that says so, or empty.
	ReportingMTA string
	// EnvelopeID is what the sender called the message (RFC 3461), or empty.
	EnvelopeID string
	// ArrivalDate is when the message reached that server, or zero.
	ArrivalDate time.Time
	Recipients  []Recipient
	// OriginalMessageID is with its brackets, or empty.
	OriginalMessageID string
	// OriginalHeaders are the header of the message as it came back, as far as it did.
	OriginalHeaders []message.Field
}

// Action is what a server did about a recipient.
type Action string

// The actions of RFC 3464 §2.3.3.
const (
	Failed    Action = "failed"
	Delayed   Action = "delayed"
	Delivered Action = "delivered"
	Relayed   Action = "relayed"
	Expanded  Action = "expanded"
)

// Recipient is what became of the message for one recipient.
type Recipient struct {
	// Final is the address as the reporting server knows it, Original as we wrote it. Either may be empty.
	Final    string
	Original string
	Action   Action
	// Status is an enhanced status code (RFC 3463). If none was given it is made from what was said.
	Status string
	// Diagnostic is what the last server said.
	Diagnostic string
	// RemoteMTA is the name of that server, or empty.
	RemoteMTA string
	// Stage is where in the dialogue it was said, if that is known.
	Stage smtp.Stage
}

// Address is the one to look for in what was sent: the original if there is one.
func (r Recipient) Address() string {
	if r.Original != "" {
		return r.Original
	}
	return r.Final
}

// Code is what the last server answered with, or 0 if nobody says.
func (r Recipient) Code() int {
	said, _ := findReply(r.Diagnostic)
	return said.code
}

// Verdict tells what a failure or a delay means.
func (r Recipient) Verdict() Verdict {
	reply := Reply{Enhanced: r.Status, Text: r.Diagnostic, Stage: r.Stage}
	said, found := findReply(r.Diagnostic)
	if found {
		reply.Code = said.code
	}
	if said.enhanced != "" && (r.Status == "" || strings.HasSuffix(r.Status, ".0")) { // the server itself was more exact
		reply.Enhanced = said.enhanced
	}
	if r.Action == Delayed { // whatever was said, the server will try again
		reply.Code = 0
		if !strings.HasPrefix(reply.Enhanced, "4.") {
			reply.Enhanced = "4.0.0"
		}
	}
	return Classify(reply)
}

// parseStatus reads the part for machines: groups of fields, the first about the message and one for each recipient. Groups are
// told apart by what is in them, because programs forget the first one or put blank lines where none belong.
func parseStatus(body []byte) *DSN {
	d := &DSN{}
	for range maxGroups {
		body = bytes.TrimLeft(body, "\r\n")
		fields, rest, err := message.ReadHeader(body)
		if err != nil || len(fields) == 0 {
			break
		}
		body = rest
		d.message(fields)
		d.recipient(fields)
	}
	return d
}

func (d *DSN) message(fields []message.Field) {
	for _, f := range fields {
		switch strings.ToLower(f.Name) {
		case "reporting-mta":
			d.ReportingMTA = untyped(f.Value, maxValue)
		case "original-envelope-id":
			d.EnvelopeID = clean(f.Value, maxValue)
		case "arrival-date":
			d.ArrivalDate = parseDate(f.Value)
		}
	}
}

func (d *DSN) recipient(fields []message.Field) {
	var r Recipient
	for _, f := range fields {
		switch strings.ToLower(f.Name) {
		case "final-recipient":
			r.Final = addressIn(f.Value)
		case "original-recipient", "x-actual-recipient":
			if r.Original == "" || f.Is("Original-Recipient") {
				r.Original = addressIn(f.Value)
			}
		case "action":
			r.Action = parseAction(f.Value)
		case "status":
			r.Status = statusCode.FindString(f.Value)
		case "diagnostic-code":
			r.Diagnostic = untyped(f.Value, maxDiagnostic)
		case "remote-mta":
			r.RemoteMTA = untyped(f.Value, maxValue)
		}
	}
	last := len(d.Recipients) - 1
	switch {
	case r == Recipient{}:
	case r.Final+r.Original != "" && len(d.Recipients) < maxRecipients:
		d.Recipients = append(d.Recipients, r)
	case r.Final+r.Original == "" && last >= 0:
		d.Recipients[last].fill(r) // a blank line too many has cut the group in two
	}
}

// fill takes what is not known yet from another account of the same failure.
func (r *Recipient) fill(other Recipient) {
	for _, field := range []struct{ into, from *string }{
		{&r.Status, &other.Status}, {&r.Diagnostic, &other.Diagnostic}, {&r.RemoteMTA, &other.RemoteMTA},
		{(*string)(&r.Action), (*string)(&other.Action)}, {(*string)(&r.Stage), (*string)(&other.Stage)},
	} {
		if *field.into == "" {
			*field.into = *field.from
		}
	}
}

// typeBefore is a word before a semicolon. A value that has one of its own begins with a number, a name with dots or an address.
var typeBefore = regexp.MustCompile(`^\s*(?i:rfc822|utf-8|x\.?400|[a-z][a-z-]{0,19})\s*;`)

var statusCode = regexp.MustCompile(`\b[245]\.\d{1,3}\.\d{1,3}\b`)

// untyped drops the type before a value, as in "dns; mx.example.test" or "smtp; 550 no".
func untyped(value string, limit int) string {
	if m := typeBefore.FindString(value[:min(len(value), maxValue)]); m != "" {
		value = value[len(m):]
	}
	return clean(value, limit)
}

// addressIn returns the address in a field, without its type and brackets. It need not be a valid one: servers have users whose
// names are none.
func addressIn(value string) string {
	value = untyped(value, maxValue)
	if start, end := strings.LastIndexByte(value, '<'), strings.LastIndexByte(value, '>'); start >= 0 && end > start {
		value = value[start+1 : end]
	}
	return strings.Trim(value, " <>\"")
}

func parseAction(value string) Action {
	word, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(value)), " ")
	switch a := Action(strings.TrimRight(word, ";,.(")); a {
	case Failed, Delayed, Delivered, Relayed, Expanded:
		return a
	case "failure", "fail":
		return Failed
	case "delay":
		return Delayed
	}
	return ""
}

// parseDate reads a date, or returns zero.
func parseDate(value string) time.Time {
	at, err := mail.ParseDate(strings.TrimSpace(value))
	if err != nil {
		return time.Time{}
	}
	return storable(at)
}

// complete fills in what the part for machines left open from the text for people and the message that came back.
func (l *letter) complete(d *DSN) {
	d.OriginalMessageID, d.OriginalHeaders = l.originalID(), l.original
	for i := range d.Recipients {
		r := &d.Recipients[i]
		if r.Diagnostic == "" || r.Stage == "" {
			r.fill(l.notice.account(r.Final))
		}
		if r.Action == "" {
			r.Action = Failed
			if strings.HasPrefix(r.Status, "4.") {
				r.Action = Delayed
			}
		}
		if r.Status == "" {
			r.Status = r.Action.status()
		}
	}
}

// status is the code for an action of which nothing else is known.
func (a Action) status() string {
	class := 2
	switch a {
	case Failed:
		class = 5
	case Delayed:
		class = 4
	}
	return strconv.Itoa(class) + ".0.0"
}

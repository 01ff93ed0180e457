package email

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"postrider/mail/address"
	"postrider/mail/blocked"
	"postrider/mail/message"
	"postrider/platform/api"
)

// Draft is an email that has been checked as far as it can be without looking anything up.
type Draft struct {
	From            address.Address
	To, Cc, Bcc     []address.Address
	ReplyTo         []address.Address
	Subject         string
	Content         Content
	Tags            []Tag
	Metadata        json.RawMessage
	Files           []File
	ScheduledAt     time.Time
	scheduledAs     string // as the message says it: "in an hour" is another time at every try
	DeliverWithin   time.Duration
	TrackOpens      *bool
	TrackClicks     *bool
	ListUnsubscribe bool
	// Topic is what the mail is about, if recipients can choose that.
	Topic string
	// Template and TemplateVersion are what the content was made from, if it was.
	Template        string
	TemplateVersion int64
	// Contact is whom the mail is for, and Run the run of an automation that sends it, if there are any.
	Contact, Run     string
	IdempotencyKey   string
	MessageID        string
	skipTextFromHTML bool
	// id is that of the email, if it was chosen before.
	id ID
	// posted is the message itself, if it came ready made.
	posted *readyMade
}

// Limits of a send. Where the field's services agree on a number, it is theirs.
const (
	maxRecipients    = 50
	maxReplyTo       = 10
	maxSubject       = 998
	maxBodyBytes     = 5 << 20
	maxHeaders       = 50
	maxHeaderValue   = 8 << 10
	maxTags          = 20
	maxMetadataKeys  = 50
	maxMetadataBytes = 4 << 10
	maxScheduleAhead = 30 * 24 * time.Hour
	// lateSchedule is how far in the past a scheduled time may be and still mean "now": clocks differ.
	lateSchedule     = 5 * time.Minute
	minDeliverWithin = 300 * time.Second
	maxDeliverWithin = 72 * time.Hour
)

// draft turns the request into a draft and notes everything that is wrong with it.
func (r sendBody) draft(wrong *api.Fields, now time.Time) Draft {
	d := Draft{IdempotencyKey: r.IdempotencyKey, Template: r.madeFrom, TemplateVersion: r.madeVersion}
	r.checkAddresses(wrong, &d)
	r.checkWords(wrong, &d)
	d.Content.Headers = checkHeaders(wrong, r.Headers, d.ReplyTo)
	d.Tags = checkTags(wrong, r.Tags)
	d.Metadata = checkMetadata(wrong, r.Metadata)
	d.Files = checkFiles(wrong, r.Attachments)
	d.ScheduledAt = checkSchedule(wrong, first(r.ScheduledAt, r.ScheduledAtCamel), now)
	if r.DeliverWithinSec != nil {
		seconds := *r.DeliverWithinSec
		d.DeliverWithin = time.Duration(seconds) * time.Second
		if seconds < int64(minDeliverWithin/time.Second) || seconds > int64(maxDeliverWithin/time.Second) {
			wrong.Add("deliver_within_sec", "Must be between 300 and 259200.")
		}
	}
	d.Topic = checkTopic(wrong, "topic_id", r.TopicID)
	if d.ListUnsubscribe = r.ListUnsubscribe; d.ListUnsubscribe && hasHeader(d.Content.Headers, "List-Unsubscribe") {
		wrong.Add("list_unsubscribe", "Give it as list_unsubscribe or as a header, not as both.")
	}
	if r.Tracking != nil {
		d.TrackOpens, d.TrackClicks = r.Tracking.Opens, r.Tracking.Clicks
	}
	d.MessageID = checkMessageID(wrong, r.MessageID, d.From.Domain)
	return d
}

func first[T ~string](values ...T) T {
	for _, value := range values {
		if value != "" {
			return value
		}
	}
	return ""
}

func (r sendBody) checkAddresses(wrong *api.Fields, d *Draft) {
	if strings.TrimSpace(r.From) == "" {
		wrong.Add("from", "A sender is required.")
	} else if from, err := address.Parse(r.From); err != nil {
		wrong.Add("from", invalidAddress(err))
	} else {
		d.From = from
	}
	seen := map[string]bool{}
	d.To = checkList(wrong, "to", r.To, seen)
	d.Cc = checkList(wrong, "cc", r.Cc, seen)
	d.Bcc = checkList(wrong, "bcc", r.Bcc, seen)
	replyTo := r.ReplyTo
	if len(replyTo) == 0 {
		replyTo = r.ReplyToCamel
	}
	d.ReplyTo = checkList(wrong, "reply_to", replyTo, map[string]bool{})
	if len(d.ReplyTo) > maxReplyTo {
		wrong.Add("reply_to", fmt.Sprintf("At most %d addresses are allowed.", maxReplyTo))
	}
	if len(r.To) == 0 {
		wrong.Add("to", "At least one recipient is required.")
	}
	if len(d.To)+len(d.Cc)+len(d.Bcc) > maxRecipients {
		wrong.Add("to", fmt.Sprintf("At most %d recipients are allowed in to, cc and bcc together.", maxRecipients))
	}
}

// checkList parses a list of addresses; a mailbox that was named before is left out, so nobody gets a message twice.
func checkList(wrong *api.Fields, field string, texts []string, seen map[string]bool) []address.Address {
	var list []address.Address
	for i, text := range texts {
		parsed, err := address.ParseList(text)
		if err != nil {
			wrong.Add(fmt.Sprintf("%s[%d]", field, i), invalidAddress(err))
			continue
		}
		for _, a := range parsed {
			if !seen[a.Key()] {
				seen[a.Key()] = true
				list = append(list, a)
			}
		}
		if len(list) > 2*maxRecipients {
			break // enough to know that it is too many
		}
	}
	return list
}

func invalidAddress(err error) string {
	return "Invalid email address: " + strings.TrimSuffix(err.Error(), ".") + "."
}

func (r sendBody) checkWords(wrong *api.Fields, d *Draft) {
	d.Subject = strings.TrimSpace(r.Subject)
	switch {
	case d.Subject == "":
		wrong.Add("subject", "A subject is required.")
	case len([]rune(d.Subject)) > maxSubject:
		wrong.Add("subject", fmt.Sprintf("Must have at most %d characters.", maxSubject))
	case !isOneLine(d.Subject):
		wrong.Add("subject", "Must not contain line breaks or control characters.")
	}
	d.Content.HTML = r.HTML
	if r.Text != nil {
		d.Content.Text = *r.Text
		d.skipTextFromHTML = true
	}
	if d.Content.HTML == "" && d.Content.Text == "" {
		wrong.Add("html", "One of html and text is required.")
	}
	if problem := blocked.Text(d.Content.Text); problem != "" {
		wrong.Add("text", problem)
	}
	checkSize(wrong, map[string]string{"html": d.Content.HTML, "text": d.Content.Text})
}

func checkSize(wrong *api.Fields, bodies map[string]string) {
	for field, body := range bodies {
		if len(body) > maxBodyBytes {
			wrong.Add(field, "Must have at most 5 MB.")
		}
	}
}

// isOneLine is what a subject must be. Unlike the value of a header it may be one long word, which is encoded where it has to be.
func isOneLine(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\t' || r == '\u2028' || r == '\u2029' }) < 0
}

// checkHeaders refuses what is not the sender's to give, and a second header of a name: of most a message has one (RFC 5322 §3.6). One
// without a value is none, as some programs send those they have no value for.
func checkHeaders(wrong *api.Fields, headers map[string]string, replyTo []address.Address) map[string]string {
	maps.DeleteFunc(headers, func(_, value string) bool { return strings.Trim(value, " \t") == "" })
	if len(headers) > maxHeaders {
		wrong.Add("headers", fmt.Sprintf("At most %d headers are allowed.", maxHeaders))
	}
	spelled := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		lower := strings.ToLower(name)
		switch {
		case !message.ValidHeaderName(name):
			wrong.Add("headers."+name, "Not a valid header name.")
		case message.Reserved(name):
			wrong.Add("headers."+name, "This header is set by the service and cannot be given.")
		case len(replyTo) > 0 && lower == "reply-to":
			wrong.Add("headers."+name, "Give it as reply_to or as a header, not as both.")
		case spelled[lower] != "":
			wrong.Add("headers."+name, fmt.Sprintf("It is given as %s, too. Give it once.", spelled[lower]))
		default:
			if problem := message.HeaderProblem(name, headers[name]); problem != "" {
				wrong.Add("headers."+name, problem)
			}
		}
		spelled[lower] = name
	}
	return headers
}

func hasHeader(headers map[string]string, name string) bool {
	for given := range headers {
		if strings.EqualFold(given, name) || strings.EqualFold(given, name+"-Post") {
			return true
		}
	}
	return false
}

var tagWord = regexp.MustCompile(`^[A-Za-z0-9_-]{1,256}$`)

func checkTags(wrong *api.Fields, tags []Tag) []Tag {
	if len(tags) > maxTags {
		wrong.Add("tags", fmt.Sprintf("At most %d tags are allowed.", maxTags))
	}
	for i, tag := range tags {
		if !tagWord.MatchString(tag.Name) {
			wrong.Add(fmt.Sprintf("tags[%d].name", i), "Must be 1 to 256 letters, digits, underscores or hyphens.")
		}
		if !tagWord.MatchString(tag.Value) {
			wrong.Add(fmt.Sprintf("tags[%d].value", i), "Must be 1 to 256 letters, digits, underscores or hyphens.")
		}
	}
	return tags
}

// metadata is what a customer wants to find again with an email. Its numbers are kept as they are written: ids have more
// digits than a float64.
type metadata map[string]any

// UnmarshalJSON reads an object.
func (m *metadata) UnmarshalJSON(raw []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var values map[string]any
	if err := decoder.Decode(&values); err != nil {
		return errors.New("must be an object")
	}
	*m = values
	return nil
}

func checkMetadata(wrong *api.Fields, values metadata) json.RawMessage {
	if len(values) == 0 {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if !isPlainValue(values[key]) {
			wrong.Add("metadata."+key, "Must be a string, a number, or true or false.")
		}
	}
	raw, err := json.Marshal(values)
	if err != nil || len(values) > maxMetadataKeys || len(raw) > maxMetadataBytes {
		wrong.Add("metadata", "Must have at most 50 keys and 4 KB.")
	}
	return raw
}

func isPlainValue(value any) bool {
	switch value := value.(type) {
	case string, bool:
		return true
	case json.Number:
		_, err := value.Float64() // 1e999 is a number for nobody else
		return err == nil
	}
	return false
}

func checkMessageID(wrong *api.Fields, id, fromDomain string) string {
	if id == "" {
		return ""
	}
	left, right, ok := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(id, "<"), ">"), "@")
	if _, err := address.Parse(left + "@" + right); !ok || err != nil || !message.ValidMessageID(id) {
		wrong.Add("message_id", "Must have the form <local@domain>.")
		return ""
	}
	if right != fromDomain {
		wrong.Add("message_id", "Its domain must be the domain of the sender.")
	}
	return id
}

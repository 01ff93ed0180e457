package report

import (
	"regexp"
	"slices"
	"strings"

	"postrider/mail/message"
)

// bounce reads a message without a part for machines as a delivery report, if it has the marks of one: who writes, under which
// subject, and what is said. One mark alone is too little; people talk about bounces too.
func (l *letter) bounce() (*DSN, string) {
	named := fieldOf(l.header, "X-Failed-Recipients")
	subject := strings.ToLower(message.DecodeHeader(fieldOf(l.header, "Subject")))
	lower := strings.ToLower(l.notice.text)
	_, replied := findReply(l.notice.text)

	daemon := isDaemon(fieldOf(l.header, "From"))
	titled := containsAny(subject, bounceSubjects)
	told := replied || l.status != nil || containsAny(lower, bouncePhrases)
	reason := ""
	switch {
	case named != "":
		reason = "failed recipients are named"
	case hasPrefixAny(subject, replySubjects):
		return nil, ""
	case daemon && titled:
		reason = "sender and subject"
	case daemon && told:
		reason = "sender and text"
	case titled && told:
		reason = "subject and text"
	default:
		return nil, ""
	}
	if l.original == nil {
		l.original, _, _ = message.ReadHeader(l.notice.copied)
	}
	d := &DSN{OriginalMessageID: l.originalID(), OriginalHeaders: l.original}
	if at := machineLine.FindStringIndex(l.notice.text); at != nil {
		d = parseStatus([]byte(l.notice.text[at[0]:])) // the part for machines, without its type
		l.complete(d)
		return d, reason
	}
	action := Failed
	if containsAny(subject, delayPhrases) || containsAny(lower, delayPhrases) {
		action = Delayed
	}
	for _, address := range l.failedRecipients(named) {
		r := l.notice.account(address)
		r.Final, r.Action = address, action
		if r.Status == "" {
			r.Status = action.status()
		}
		d.Recipients = append(d.Recipients, r)
	}
	return d, reason
}

// machineLine begins the part for machines.
var machineLine = regexp.MustCompile(`(?im)^(?:original|final)-recipient:`)

// failedRecipients returns those named in the header, or else found in the text.
func (l *letter) failedRecipients(named string) []string {
	var list []string
	add := func(address string) {
		if address != "" && len(list) < maxRecipients && !slices.Contains(list, address) {
			list = append(list, address)
		}
	}
	for address := range strings.SplitSeq(named, ",") {
		add(addressIn(address))
	}
	if len(list) > 0 {
		return list
	}
	for _, b := range l.notice.blocks {
		add(b.address)
	}
	if len(list) == 0 {
		add(l.notice.first)
	}
	if to := addressIn(fieldOf(l.original, "To")); len(list) == 0 && strings.Contains(to, "@") {
		add(to)
	}
	return list
}

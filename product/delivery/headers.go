package delivery

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"postrider/mail/message"
	"postrider/product/email"
)

// headersOf returns the headers that the sender gave, and those that we add: how to unsubscribe, whose mail it is, and that a program wrote it.
func (s *Service) headersOf(t email.Taken, given map[string]string) []message.Header {
	var headers []message.Header
	for _, name := range slices.Sorted(maps.Keys(given)) {
		headers = append(headers, message.Header{Name: name, Value: given[name]})
	}
	add := func(name, value string) {
		if !slices.ContainsFunc(headers, func(h message.Header) bool { return strings.EqualFold(h.Name, name) }) {
			headers = append(headers, message.Header{Name: name, Value: value})
		}
	}
	if t.Email.ListUnsubscribe {
		add("List-Unsubscribe", "<"+s.emails.UnsubscribeLink(t)+">")
		add("List-Unsubscribe-Post", "List-Unsubscribe=One-Click")
	}
	if t.Email.Source == email.SourceNotice || t.Email.Source == email.SourceConfirmation {
		add("Auto-Submitted", "auto-generated")
	}
	add("Feedback-ID", feedbackID(t.Email))
	return headers
}

// feedbackID is what Gmail counts complaints by: the campaign, the customer, the kind of mail, and who sends. Without it an operator sees
// that somebody's mail is unwanted, and not whose.
func feedbackID(e email.Email) string {
	kind := "transactional"
	switch e.Source {
	case email.SourceBroadcast, email.SourceAutomation:
		kind = string(e.Source)
	}
	return strings.Join([]string{cmp.Or(e.Broadcast, e.Template), cmp.Or(e.Tenant, string(e.Workspace)), kind, "postrider"}, ":")
}

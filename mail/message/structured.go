package message

import (
	"slices"
	"strings"

	"postrider/mail/address"
)

// HeaderProblem says what is wrong with the value of a sender's own header, or nothing.
func HeaderProblem(name, value string) (problem string) {
	_, problem = writtenValue(name, value)
	return problem
}

// writtenValue returns a value as it stands in a header. One that is ASCII stays as it is: it may have a structure of its own, or be
// encoded already. In others words are encoded, but no addresses, ids and links (RFC 2047 §5).
func writtenValue(name, value string) (written, problem string) {
	if !ValidHeaderValue(value) {
		return "", "Must be at most 8 KB of text without line breaks or control characters, and without endless words."
	}
	value = strings.Trim(value, " \t")
	if isPlainText(value) {
		return value, ""
	}
	switch lower := strings.ToLower(name); {
	case holdsAddresses(lower):
		return writtenAddresses(value)
	case lower == "list-id":
		return writtenListID(value)
	case lower == "references" || lower == "in-reply-to" || strings.HasPrefix(lower, "list-"):
		return "", "Must be ASCII: ids as <local@domain>, and links with everything else percent-encoded."
	}
	return address.EncodeWords(value), ""
}

// holdsAddresses tells whether a header, in lower case, is a list of addresses.
func holdsAddresses(name string) bool {
	return slices.Contains([]string{"reply-to", "mail-reply-to", "mail-followup-to", "disposition-notification-to", "return-receipt-to", "errors-to",
		"x-confirm-reading-to"}, name)
}

func writtenAddresses(value string) (written, problem string) {
	list, err := address.ParseList(value)
	if err != nil {
		return "", "Must be a list of email addresses: " + err.Error() + "."
	}
	if slices.ContainsFunc(list, address.Address.NeedsUTF8) {
		return "", "The part of an address before the @ sign must be ASCII here."
	}
	return writtenList(list), ""
}

// writtenListID encodes the description before the id (RFC 2919 §3).
func writtenListID(value string) (written, problem string) {
	at := strings.LastIndexByte(value, '<')
	if at < 0 || !isPlainText(value[at:]) {
		return "", "Must be an id in ASCII, as in: Our news <news.example.com>."
	}
	return address.EncodeWords(strings.Trim(value[:at], " \t\"")) + " " + value[at:], ""
}

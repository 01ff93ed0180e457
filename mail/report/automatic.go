package report

import (
	"strings"

	"postrider/mail/message"
)

// IsAutomatic tells whether a program sent a message by itself, as far as its header says (RFC 3834): it answers for a person, or
// reports what became of other mail.
func IsAutomatic(header []message.Field) bool {
	if _, found := autoReply(header); found {
		return true
	}
	for _, f := range header {
		value := strings.ToLower(strings.TrimSpace(f.Value))
		switch strings.ToLower(f.Name) {
		case "return-path":
			if value == "<>" {
				return true
			}
		case "content-type":
			if strings.HasPrefix(value, "multipart/report") {
				return true
			}
		case "x-failed-recipients":
			return true
		}
	}
	return false
}

// IsBulk tells whether a message went to many at once, by a mailing list or as a newsletter, as far as its header says. Whoever answers
// by a program leaves it alone (RFC 3834 §2): the answer would go to people who asked nothing.
func IsBulk(header []message.Field) bool {
	for _, f := range header {
		name, value := strings.ToLower(f.Name), strings.ToLower(strings.TrimSpace(f.Value))
		switch {
		case strings.HasPrefix(name, "list-"): // RFC 2369, RFC 2919
			return true
		case (name == "precedence" || name == "x-precedence") && (value == "bulk" || value == "list" || value == "junk"):
			return true
		}
	}
	return false
}

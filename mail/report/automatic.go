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

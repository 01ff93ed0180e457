package report

import "postrider/mail/message"

// IsAutomatic tells whether a program sent a message by itself, as far as its header says (RFC 3834).
func IsAutomatic(header []message.Field) bool {
	_, found := autoReply(header)
	return found
}

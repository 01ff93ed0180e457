package smtp

import (
	"slices"
	"strconv"
	"strings"
)

// Extensions is what a server offers beyond plain SMTP. It is zero for a server that only knows HELO.
type Extensions struct {
	StartTLS            bool
	Pipelining          bool
	Chunking            bool
	EightBitMIME        bool
	SMTPUTF8            bool
	EnhancedStatusCodes bool
	// AuthPlain and AuthLogin tell that the server takes a name and a password in these ways.
	AuthPlain bool
	AuthLogin bool
	// SizeBytes is the largest message the server takes; zero if it does not say.
	SizeBytes int64
	// Size tells that MAIL may announce the size of a message.
	Size bool
	// MaxRecipients and MaxMessages are the LIMITS RCPTMAX and MAILMAX of RFC 9422; zero if it does not say.
	MaxRecipients int
	MaxMessages   int
}

func parseExtensions(reply Reply) Extensions {
	var e Extensions
	for _, line := range reply.Lines[1:] {
		keyword, arguments, _ := strings.Cut(line, " ")
		switch strings.ToUpper(keyword) {
		case "STARTTLS":
			e.StartTLS = true
		case "PIPELINING":
			e.Pipelining = true
		case "CHUNKING":
			e.Chunking = true
		case "8BITMIME":
			e.EightBitMIME = true
		case "SMTPUTF8":
			e.SMTPUTF8 = true
		case "ENHANCEDSTATUSCODES":
			e.EnhancedStatusCodes = true
		case "AUTH":
			mechanisms := strings.Fields(strings.ToUpper(arguments))
			e.AuthPlain, e.AuthLogin = slices.Contains(mechanisms, "PLAIN"), slices.Contains(mechanisms, "LOGIN")
		case "SIZE":
			e.Size = true
			e.SizeBytes, _ = parseSize(strings.TrimSpace(arguments))
		case "LIMITS":
			e.readLimits(arguments)
		}
	}
	return e
}

func (e *Extensions) readLimits(arguments string) {
	for field := range strings.FieldsSeq(arguments) {
		name, value, _ := strings.Cut(field, "=")
		limit, err := strconv.Atoi(value)
		if err != nil || limit <= 0 {
			continue
		}
		switch strings.ToUpper(name) {
		case "RCPTMAX":
			e.MaxRecipients = limit
		case "MAILMAX":
			e.MaxMessages = limit
		}
	}
}

package smtp

import (
	"strconv"
	"strings"
)

// MailParams are the parameters of MAIL FROM. Delivery reports are not offered, but what a client asks of them is read
// and handed on rather than refused.
type MailParams struct {
	// Size is what the client says the message will measure; zero if it does not say.
	Size int64
	// EightBit is BODY=8BITMIME.
	EightBit bool
	// SMTPUTF8 asks for international addresses and headers.
	SMTPUTF8 bool
	// Return is FULL or HDRS (RFC 3461 §4.3), or empty.
	Return string
	// EnvelopeID is the client's name for this transaction (RFC 3461 §4.4), decoded.
	EnvelopeID string
}

// RcptParams are the parameters of RCPT TO (RFC 3461 §4.1 and §4.2).
type RcptParams struct {
	Notify Notify
	// OriginalRecipient is the address the sender first wrote, decoded, with its type ("rfc822;ann@example.org").
	OriginalRecipient string
}

// Notify says on which outcomes a client wants to hear; the zero value leaves it to the server.
type Notify struct {
	Never, Success, Failure, Delay bool
}

// maxEnvelopeIDBytes is the limit of RFC 3461 §4.4; maxOriginalRecipientBytes that of §4.2.
const (
	maxEnvelopeIDBytes        = 100
	maxOriginalRecipientBytes = 500
)

// eachParam calls take with every parameter of s, keyword in upper case. It stops at the first that is malformed, repeated
// or refused by take, and returns the reply for it.
func eachParam(s string, take func(keyword, value string) *Reply) *Reply {
	var seen []string
	for field := range strings.SplitSeq(s, " ") {
		if field == "" {
			continue
		}
		keyword, value, hasValue := strings.Cut(field, "=")
		keyword = strings.ToUpper(keyword)
		if keyword == "" || hasValue && (value == "" || strings.Contains(value, "=")) {
			return replyBadParam
		}
		for _, other := range seen {
			if other == keyword {
				return replyBadParam
			}
		}
		seen = append(seen, keyword)
		if refusal := take(keyword, value); refusal != nil {
			return refusal
		}
	}
	return nil
}

func parseMailParams(s string) (p MailParams, refusal *Reply) {
	refusal = eachParam(s, func(keyword, value string) *Reply {
		ok := true
		switch keyword {
		case "SIZE":
			p.Size, ok = parseSize(value)
		case "BODY":
			p.EightBit = strings.EqualFold(value, "8BITMIME")
			ok = p.EightBit || strings.EqualFold(value, "7BIT")
		case "SMTPUTF8":
			p.SMTPUTF8, ok = true, value == ""
		case "RET":
			p.Return = strings.ToUpper(value)
			ok = p.Return == "FULL" || p.Return == "HDRS"
		case "ENVID":
			p.EnvelopeID, ok = decodeXtext(value, maxEnvelopeIDBytes)
		case "AUTH":
			ok = value != "" // whom a relay vouches for (RFC 4954 §5): we vouch for nobody, so it is read as <>
		default:
			return replyUnknownParam
		}
		if !ok {
			return replyBadParam
		}
		return nil
	})
	return p, refusal
}

func parseRcptParams(s string) (p RcptParams, refusal *Reply) {
	refusal = eachParam(s, func(keyword, value string) *Reply {
		ok := true
		switch keyword {
		case "NOTIFY":
			p.Notify, ok = parseNotify(value)
		case "ORCPT":
			p.OriginalRecipient, ok = decodeXtext(value, maxOriginalRecipientBytes)
			ok = ok && strings.Contains(p.OriginalRecipient, ";")
		default:
			return replyUnknownParam
		}
		if !ok {
			return replyBadParam
		}
		return nil
	})
	return p, refusal
}

// maxSizeDigits is the limit of RFC 1870 §3; a number that long but too large for us is as good as infinite.
const maxSizeDigits = 20

func parseSize(s string) (int64, bool) {
	if len(s) == 0 || len(s) > maxSizeDigits {
		return 0, false
	}
	for i := range len(s) {
		if !isDigit(s[i]) {
			return 0, false
		}
	}
	n, _ := strconv.ParseInt(s, 10, 64) // out of range yields the largest number, which is what is meant
	return n, true
}

func parseNotify(s string) (n Notify, ok bool) {
	for word := range strings.SplitSeq(strings.ToUpper(s), ",") {
		switch word {
		case "NEVER":
			n.Never = true
		case "SUCCESS":
			n.Success = true
		case "FAILURE":
			n.Failure = true
		case "DELAY":
			n.Delay = true
		default:
			return Notify{}, false
		}
	}
	return n, !n.Never || n == Notify{Never: true}
}

// decodeXtext undoes the encoding of RFC 3461 §4. It refuses what decodes to anything but visible text.
func decodeXtext(s string, limit int) (string, bool) {
	if len(s) == 0 || len(s) > limit {
		return "", false
	}
	decoded := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '+' {
			decoded = append(decoded, s[i])
			continue
		}
		if i+2 >= len(s) {
			return "", false
		}
		c, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
		if err != nil {
			return "", false
		}
		decoded = append(decoded, byte(c))
		i += 2
	}
	return string(decoded), isText(string(decoded))
}

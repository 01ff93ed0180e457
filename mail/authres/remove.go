package authres

import (
	"strings"

	"postrider/mail/message"
)

// Remove returns the fields without those Authentication-Results that claim to be of the given server (RFC 8601 §5). A field that
// cannot be read but has the name in it is taken for one: another reader may be more lenient than we are.
func Remove(header []message.Field, server string) []message.Field {
	kept := make([]message.Field, 0, len(header))
	for _, f := range header {
		if !f.Is("Authentication-Results") || !claims(f.Value, server) {
			kept = append(kept, f)
		}
	}
	return kept
}

func claims(text, server string) bool {
	h, err := Parse(text)
	if err != nil {
		return strings.Contains(strings.ToLower(text), strings.ToLower(server))
	}
	// Other readers may begin the name later than we do, or end it earlier.
	for _, name := range strings.FieldsFunc(h.Server, func(r rune) bool { return !isToken(r) }) {
		if strings.EqualFold(strings.TrimSuffix(name, "."), strings.TrimSuffix(server, ".")) {
			return true
		}
	}
	return false
}

package spam

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"postrider/mail/address"
	"postrider/mail/message"
)

// maxRecipients is how many recipients a daemon is told; more change no score.
const maxRecipients = 100

// rfc5322 returns the raw message, or one composed of the other fields as it would be sent.
func (m Message) rfc5322(now time.Time) ([]byte, error) {
	if len(m.Raw) > message.MaxBytes {
		return nil, message.ErrTooLarge
	}
	if len(m.Raw) > 0 {
		return m.Raw, nil
	}
	from, err := address.Parse(m.From)
	if err != nil {
		return nil, fmt.Errorf("compose from %.100q: %w", m.From, err)
	}
	composed := message.Message{
		From: from, To: m.recipients(), Subject: m.Subject, Date: now, MessageID: message.NewMessageID("spam-check", from.Domain),
		Text: m.Text, HTML: m.HTML, Seed: "spam-check",
	}
	for _, name := range slices.Sorted(maps.Keys(m.Headers)) {
		value := m.Headers[name]
		if message.ValidHeaderName(name) && message.ValidHeaderValue(value) && !message.Reserved(name) && len(composed.Headers) < maxHeaders {
			composed.Headers = append(composed.Headers, message.Header{Name: name, Value: value})
		}
	}
	return composed.Bytes()
}

// recipients returns the first valid recipients.
func (m Message) recipients() []address.Address {
	var found []address.Address
	for _, to := range m.To[:min(len(m.To), maxRecipients)] {
		if a, err := address.Parse(to); err == nil {
			found = append(found, a)
		}
	}
	return found
}

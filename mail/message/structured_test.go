package message_test

import (
	"strings"
	"testing"

	"postrider/mail/message"
)

func TestOnlyWordsOfAHeaderAreEncoded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, value, want string }{
		{"X-Note", "Grüße", "=?utf-8?B?R3LDvMOfZQ==?="},
		{"Reply-To", "Jürgen Müller <j@example.net>, b@example.net", "=?utf-8?B?SsO8cmdlbiBNw7xsbGVy?= <j@example.net>, b@example.net"},
		{"disposition-notification-to", "Jörg <j@acme.test>", "=?utf-8?B?SsO2cmc=?= <j@acme.test>"},
		{"Reply-To", "a@bücher.example, Zoë <z@example.net>", "a@xn--bcher-kva.example, =?utf-8?Q?Zo=C3=AB?= <z@example.net>"},
		{"List-ID", "\"Zürich\" <news.acme.test>", "=?utf-8?Q?Z=C3=BCrich?= <news.acme.test>"},
		{"List-Unsubscribe", "<https://acme.test/%C3%BC>", "<https://acme.test/%C3%BC>"},
	} {
		m := letter()
		m.Headers = []message.Header{{Name: c.name, Value: c.value}}
		raw := strings.ReplaceAll(string(compose(t, m)), "\r\n ", " ")
		if !strings.Contains(raw, "\r\n"+c.name+": "+c.want+"\r\n") {
			t.Errorf("%s: %s became\n%s", c.name, c.value, raw)
		}
	}
}

func TestWhatCannotBeWrittenIsRefusedWithAReason(t *testing.T) {
	t.Parallel()
	for _, h := range []message.Header{
		{Name: "Reply-To", Value: "Jürgen"},
		{Name: "Reply-To", Value: "jürgen@example.net"},
		{Name: "List-Unsubscribe", Value: "<https://acme.test/ü>"},
		{Name: "References", Value: "<ü@acme.test> <b@acme.test>"},
		{Name: "List-Id", Value: "Zürich"},
		{Name: "X-Long", Value: "a" + strings.Repeat(" ", 1500) + "b"},
		{Name: "X-Long", Value: "a" + strings.Repeat(" ", 100) + strings.Repeat("x", 899)},
	} {
		m := letter()
		m.Headers = []message.Header{h}
		if _, err := m.Bytes(); err == nil || message.HeaderProblem(h.Name, h.Value) == "" {
			t.Errorf("%s: %.40s was written, %v", h.Name, h.Value, err)
		}
	}
}

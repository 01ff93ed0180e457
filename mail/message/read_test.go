package message_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"postrider/mail/message"
)

func TestHeaderFieldsAreReadAsTheyStand(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]struct {
		fields string // name=value, joined by |
		body   string
	}{
		"":                                    {"", ""},
		"\r\n":                                {"", ""},
		"\r\nbody":                            {"", "body"},
		"A: b\r\n\r\nbody\r\n":                {"A=b", "body\r\n"},
		"A: b\n\nbody\n":                      {"A=b", "body\n"},
		"A: b":                                {"A=b", ""},
		"A:b\r\nC:\r\n\r\n":                   {"A=b|C=", ""},
		"A: b\r\n c\r\n\td  \r\nE: f\r\n\r\n": {"A=b c\td|E=f", ""},
		"A : b\r\n\r\n":                       {"A=b", ""},
		"A: b: c\r\n\r\n":                     {"A=b: c", ""},
		"From x@y Mon\r\nA: b\r\n\r\n":        {"=|A=b", ""},
		" lost\r\nA: b\r\n\r\n":               {"=|A=b", ""},
		"no colon\r\nA: b\r\n\r\nx":           {"=|A=b", "x"},
		"__proto__: x\r\n: y\r\n\r\n":         {"__proto__=x|=", ""},
		"A: \xff\x00\r\n\r\n":                 {"A=\xff\x00", ""},
		"A: b\r\n\r\n\r\nbody":                {"A=b", "\r\nbody"},
	} {
		fields, body, err := message.ReadHeader([]byte(raw))
		if err != nil {
			t.Errorf("ReadHeader(%q): %v", raw, err)
			continue
		}
		var got []string
		for _, f := range fields {
			got = append(got, f.Name+"="+f.Value)
		}
		if strings.Join(got, "|") != want.fields || string(body) != want.body {
			t.Errorf("ReadHeader(%q) = %q, %q; want %q, %q", raw, got, body, want.fields, want.body)
		}
	}
}

func TestHeadersWithoutEndAreRefused(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string]string{
		"many fields":    strings.Repeat("A: b\r\n", 5001),
		"long field":     "A: " + strings.Repeat("x", 2<<20) + "\r\n\r\n",
		"many foldings":  "A: b\r\n" + strings.Repeat(" x\r\n", 1<<19),
		"no line at all": strings.Repeat("x", 2<<20),
	} {
		if _, _, err := message.ReadHeader([]byte(raw)); !errors.Is(err, message.ErrHeaderTooLarge) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestFieldNamesIgnoreCase(t *testing.T) {
	t.Parallel()
	f := message.Field{Name: "Message-ID"}
	if !f.Is("message-id") || f.Is("message") {
		t.Error("names compare without case")
	}
}

func FuzzReadHeader(f *testing.F) {
	f.Add([]byte("A: b\r\n c\r\n\r\nbody"))
	f.Add([]byte("\n\n"))
	f.Add([]byte("x\r\n: \r\n y\n\r\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		fields, body, err := message.ReadHeader(raw)
		if err != nil {
			return
		}
		var header []byte
		for _, f := range fields {
			header = append(header, f.Raw...)
			if strings.Contains(f.Value, "\n") || strings.ContainsAny(f.Name, " \t\r\n:") {
				t.Fatalf("field %q", f)
			}
		}
		if !bytes.HasPrefix(raw, header) || !bytes.HasSuffix(raw, body) {
			t.Fatal("fields and body are not those of the message")
		}
		if between := raw[len(header) : len(raw)-len(body)]; len(bytes.Trim(between, "\r\n")) != 0 || bytes.Count(between, []byte("\n")) > 1 {
			t.Fatalf("lost %q", between)
		}
	})
}

func TestReservedHeadersBelongToTheService(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"From", "to", "CC", "Bcc", "Subject", "Date", "Message-ID", "DKIM-Signature", "Received", "Return-Path", "Content-Type",
		"content-transfer-encoding", "MIME-Version", "Sender", "Resent-From", "ARC-Seal", "Authentication-Results",
	} {
		m := letter()
		m.Headers = []message.Header{{Name: name, Value: "x"}}
		if _, err := m.Bytes(); !message.Reserved(name) || !errors.Is(err, message.ErrHeader) {
			t.Errorf("%s is not reserved (%v)", name, err)
		}
	}
	for _, name := range []string{"Reply-To", "List-Unsubscribe", "List-Unsubscribe-Post", "In-Reply-To", "References", "X-From", "Contents"} {
		if message.Reserved(name) {
			t.Errorf("%s is reserved", name)
		}
	}
}

func TestHeaderNamesAndValuesAreChecked(t *testing.T) {
	t.Parallel()
	for name, ok := range map[string]bool{
		"X-A": true, "__proto__": true, "a": true, strings.Repeat("a", 76): true, strings.Repeat("a", 77): false,
		"": false, "A B": false, "A:": false, "Ä": false, "A\r": false, "A\x00": false, "A\x7f": false,
	} {
		if message.ValidHeaderName(name) != ok {
			t.Errorf("ValidHeaderName(%q) = %t", name, !ok)
		}
	}
	for value, ok := range map[string]bool{
		"": true, "a b\tc": true, "é 😀": true, strings.Repeat("a", 900): true, strings.Repeat("ab ", 2000): true,
		strings.Repeat("a", 901): false, strings.Repeat("ab ", 3000): false, "a\r\nb": false, "a\nb": false, "a\rb": false, "a\x00": false,
		"a\x1b[31m": false, "\xff": false, "a\u2028b": false, "a\u0085b": false,
	} {
		if message.ValidHeaderValue(value) != ok {
			t.Errorf("ValidHeaderValue(%.40q) = %t", value, !ok)
		}
	}
}

func TestLongHeadersFoldAtSpaces(t *testing.T) {
	t.Parallel()
	m := letter()
	m.Headers = []message.Header{
		{Name: "X-Long", Value: strings.Repeat("0123456789 ", 40)},
		{Name: "X-Gap", Value: "a" + strings.Repeat(" ", 200) + "b"},
		{Name: "X-Word", Value: fmt.Sprintf("a %s b", strings.Repeat("w", 300))},
	}
	fields, _, err := message.ReadHeader(compose(t, m))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fields {
		for line := range strings.Lines(string(f.Raw)) {
			if strings.TrimSpace(line) == "" {
				t.Errorf("%s has a blank line", f.Name)
			}
			if f.Name == "X-Long" && len(line) > 80 {
				t.Errorf("line %q is too long", line)
			}
		}
		for _, h := range m.Headers {
			if f.Is(h.Name) && f.Value != strings.TrimSpace(h.Value) {
				t.Errorf("%s unfolds to %q", f.Name, f.Value)
			}
		}
	}
}

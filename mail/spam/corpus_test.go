package spam_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/emersion/go-message/mail"

	"postrider/mail/address"
	"postrider/mail/spam"
)

// readSample reads a message the way a caller would take it apart. Its domain is verified and passes everything, so that only the
// message itself speaks against it.
func readSample(t *testing.T, path string) spam.Message {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	reader, err := mail.CreateReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	m := spam.Message{Raw: raw, Headers: map[string]string{}}
	m.From, _ = reader.Header.Text("From")
	m.Subject, _ = reader.Header.Subject()
	to, _ := reader.Header.Text("To")
	m.To = []string{to}
	for {
		part, err := reader.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(part.Body)
		if err != nil {
			t.Fatal(err)
		}
		switch kind, _, _ := part.Header.(*mail.InlineHeader).ContentType(); kind {
		case "text/plain":
			m.Text = string(body)
		case "text/html":
			m.HTML = string(body)
		}
	}
	from, err := address.Parse(m.From)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	m.Authentication = spam.Authentication{Domain: from.Domain, Verified: true, SPF: "pass", DKIM: "pass", DMARC: "pass"}
	return m
}

func samples(t *testing.T, kind string, atLeast int) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", kind, "*.eml"))
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) < atLeast {
		t.Fatalf("%d samples of %s, want at least %d", len(paths), kind, atLeast)
	}
	return paths
}

// told lists the rules of a result for a failure message.
func told(r spam.Result) string {
	var b strings.Builder
	for _, h := range r.Rules {
		b.WriteString("\n\t")
		b.WriteString(strings.Join([]string{string(h.Category), string(h.Severity), h.ID, h.Description}, " "))
	}
	return b.String()
}

func TestHonestMailIsOK(t *testing.T) {
	t.Parallel()
	for _, path := range samples(t, "good", 10) {
		result := spam.Check(readSample(t, path))
		if result.Verdict != spam.OK || result.Score >= 2 || !result.Sendable {
			t.Errorf("%s: %s with %.1f%s", path, result.Verdict, result.Score, told(result))
		}
	}
}

func TestHonestMailIsOKWithoutItsRawForm(t *testing.T) {
	t.Parallel()
	for _, path := range samples(t, "good", 10) {
		m := readSample(t, path)
		if strings.Contains(string(m.Raw), "In-Reply-To") || strings.Contains(string(m.Raw), "List-Unsubscribe") {
			continue // these headers are what makes the message honest
		}
		m.Raw = nil
		if result := spam.Check(m); result.Score >= 2 {
			t.Errorf("%s: %.1f%s", path, result.Score, told(result))
		}
	}
}

func TestSpamIsSpamEvenFromAVerifiedDomain(t *testing.T) {
	t.Parallel()
	for _, path := range samples(t, "spam", 8) {
		result := spam.Check(readSample(t, path))
		if result.Verdict != spam.Spam || result.Score < spam.Threshold || result.Sendable {
			t.Errorf("%s: %s with %.1f%s", path, result.Verdict, result.Score, told(result))
		}
	}
}

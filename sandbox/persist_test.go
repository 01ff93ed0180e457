package sandbox_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"postrider/sandbox"
	"postrider/world"
)

// tear appends half a line to a file, as a killed process does.
func tear(t *testing.T, path string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString(`{"message":{"id":"half","to":["bob@exa`); err != nil {
		t.Fatal(err)
	}
}

func TestARestartChangesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	clock := newHandClock()
	first := openBoxIn(t, dir, clock)
	signer := first.publishAcme()
	first.put("gone.test", "TXT", "x")
	first.mustCall("DELETE", "/sandbox/dns?name=gone.test", "")
	first.mustSend(mailTo("bob@example.test"), first.sign(signer, letter, clock.Now()))
	first.mustSend(mailTo("eve@example.test"), letter)
	records, messages := first.mustCall("GET", "/sandbox/dns", ""), first.mustCall("GET", "/sandbox/messages", "")
	if !strings.Contains(messages, `"dkim":"pass"`) || strings.Contains(records, "gone.test") {
		t.Fatalf("before: %s %s", records, messages)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	tear(t, filepath.Join(dir, "zone.jsonl"))
	tear(t, filepath.Join(dir, "mailbox", "00000001.jsonl"))

	second := openBoxIn(t, dir, clock)

	if got := second.mustCall("GET", "/sandbox/dns", ""); got != records {
		t.Errorf("records\n%s, want\n%s", got, records)
	}
	if got := second.mustCall("GET", "/sandbox/messages", ""); got != messages {
		t.Errorf("messages\n%s, want\n%s", got, messages)
	}
	second.mustSend(mailTo("ann@example.test"), letter)
	second.put("new.test", "TXT", "y")
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	third := openBoxIn(t, dir, clock)
	if got := third.messages(""); len(got) != 3 || got[0].Envelope.RcptTo[0] != "ann@example.test" {
		t.Errorf("what came after the torn line: %+v", got)
	}
	if got := third.mustCall("GET", "/sandbox/dns", ""); !strings.Contains(got, "new.test") {
		t.Errorf("what was published after the torn line: %s", got)
	}
}

func TestAVerdictIsKeptOverARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	clock := newHandClock()
	first := openBoxIn(t, dir, clock)
	signer := first.publishAcme()
	first.mustSend(mailTo("read@example.test"), first.sign(signer, letter, clock.Now()))
	first.messages("read")
	first.mustSend(mailTo("unread@example.test"), first.sign(signer, letter, clock.Now()))
	first.mustCall("DELETE", "/sandbox/dns?name=s1._domainkey.acme.test", "")
	first.Close()

	second := openBoxIn(t, dir, clock)

	list := second.messages("")
	if list[1].Authentication.DKIM != "pass" {
		t.Errorf("judged before: %+v", list[1].Authentication)
	}
	if list[0].Authentication.DKIM != "permerror" { // the past of the zone is forgotten
		t.Errorf("judged after: %+v", list[0].Authentication)
	}
}

func TestAnEmptiedMailboxStaysEmpty(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := openBoxIn(t, dir, newHandClock())
	first.mustSend(mailTo("bob@example.test"), letter)
	first.mustCall("DELETE", "/sandbox/messages", "")
	first.Close()

	second := openBoxIn(t, dir, newHandClock())

	if got := second.messages(""); len(got) != 0 {
		t.Fatalf("%d messages", len(got))
	}
}

func TestOpeningFailsWithAReason(t *testing.T) {
	t.Parallel()
	taken := openBox(t)
	w := world.New(slog.New(slog.DiscardHandler))
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, config := range map[string]sandbox.Config{
		"no service domain": {},
		"bad domain":        {ServiceDomain: "a b"},
		"DNS port taken":    {ServiceDomain: serviceDomain, DNSAddr: taken.DNSAddr()},
		"SMTP port taken":   {ServiceDomain: serviceDomain, SMTPAddr: taken.SMTPAddr()},
		"no directory":      {ServiceDomain: serviceDomain, Dir: filepath.Join(file, "sub")},
	} {
		if s, err := sandbox.Open(context.Background(), w, config); err == nil {
			s.Close()
			t.Errorf("%s: no error", name)
		}
	}
}

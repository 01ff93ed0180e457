package report_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"postrider/mail/report"
)

// corpus returns the messages of the corpus, by name.
func corpus(t testing.TB) map[string]string {
	t.Helper()
	files, err := filepath.Glob("testdata/messages/*.eml")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d messages, %v", len(files), err)
	}
	messages := map[string]string{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		messages[strings.TrimSuffix(filepath.Base(file), ".eml")] = string(raw)
	}
	return messages
}

// summary tells of a report what the corpus states.
func summary(r report.Report) []string {
	orNothing := func(s string) string {
		if s == "" {
			return "-"
		}
		return s
	}
	columns := []string{string(r.Kind)}
	switch {
	case r.DSN != nil:
		columns = append(columns, r.DSN.OriginalMessageID)
		for _, to := range r.DSN.Recipients {
			verdict := report.Verdict{Class: "-", Category: "-"}
			if to.Action == report.Failed || to.Action == report.Delayed {
				verdict = to.Verdict()
			}
			columns = append(columns, fmt.Sprint(to.Address(), " ", to.Action, " ", to.Status, " ", verdict.Class, " ", verdict.Category))
		}
	case r.Feedback != nil:
		f, wanted, source := r.Feedback, "wanted", "-"
		if f.Complaint() {
			wanted = "complaint"
		}
		if f.SourceIP.IsValid() {
			source = f.SourceIP.String()
		}
		columns = append(columns, f.OriginalMessageID,
			strings.Join([]string{f.Type, orNothing(f.OriginalRecipient), orNothing(f.OriginalMailFrom), source, wanted}, " "))
	}
	return columns
}

func TestMessagesAreWhatTheCorpusSays(t *testing.T) {
	t.Parallel()
	messages := corpus(t)
	raw, err := os.ReadFile("testdata/messages/want.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		name, want := columns[0], strings.Join(columns[1:], "\n\t")
		text, exists := messages[name]
		if !exists {
			t.Fatalf("%s is missing", name)
		}
		delete(messages, name)
		for form, message := range map[string]string{"LF": text, "CRLF": strings.ReplaceAll(text, "\n", "\r\n")} {
			r, err := report.Read(iotest.OneByteReader(strings.NewReader(message)))
			if got := strings.Join(summary(r), "\n\t"); err != nil || got != want {
				t.Errorf("%s with %s: %v, by %s\n\t%s\nwant\n\t%s\n%+v", name, form, err, r.Reason, got, want, r.DSN)
			}
		}
	}
	for name := range messages {
		t.Errorf("nobody says what %s is", name)
	}
}

func TestTheServersAreNamed(t *testing.T) {
	t.Parallel()
	r, err := report.Read(strings.NewReader(corpus(t)["postfix-user-unknown"]))
	if err != nil {
		t.Fatal(err)
	}
	to := r.DSN.Recipients[0]
	if r.DSN.ReportingMTA != "mail.recipient.test" || to.RemoteMTA != "mx.recipient.test" || to.Stage != "rcpt_to" ||
		r.DSN.ArrivalDate.UTC().Format("2006-01-02 15:04:05") != "2026-11-15 02:13:00" || len(r.DSN.OriginalHeaders) < 5 ||
		to.Diagnostic != "550 5.1.1 <gone@recipient.test>: Recipient address rejected: User unknown in virtual mailbox table" {
		t.Fatalf("%+v", r.DSN)
	}
}

func TestAReportThatBreaksOffIsAnError(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, text := range corpus(t) {
		in := io.MultiReader(strings.NewReader(text[:len(text)/2]), iotest.ErrReader(broken))
		if _, err := report.Read(in); !errors.Is(err, broken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

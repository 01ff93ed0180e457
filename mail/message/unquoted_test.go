package message_test

import (
	"strings"
	"testing"
	"time"

	"postrider/mail/message"
)

func TestWhatIsQuotedIsNotWhatWasWritten(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"plain":          {"Thanks!", "Thanks!"},
		"top":            {"Thanks!\r\n\r\nOn Mon, 2 Nov 2026 at 10:00, Ann <ann@example.net> wrote:\r\n> Hi\r\n> there\r\n", "Thanks!"},
		"folded":         {"Thanks!\n\nOn Mon, 2 Nov 2026 at 10:00, Ann\n<ann@example.net> wrote:\n\n> Hi\n", "Thanks!"},
		"between":        {"On Monday Ann wrote:\n> one?\nYes.\n> two?\nNo.\n", "Yes.\nNo."},
		"outlook":        {"Thanks!\n\n-----Original Message-----\nFrom: Ann\nSent: Monday\n\nHi\n", "Thanks!"},
		"copied head":    {"Thanks!\n\nFrom: Ann <ann@example.net>\nSent: Monday\nTo: Bob\nSubject: Hi\n\nHi\n", "Thanks!"},
		"line of dashes": {"Thanks!\n________________________________\nFrom: Ann\n", "Thanks!"},
		"German":         {"Danke!\n\nAm 02.11.26 um 10:00 schrieb Ann:\n> Hallo\n", "Danke!"},
		"French":         {"Merci !\n\nLe 2 nov. 2026 à 10:00, Ann a écrit :\n> Bonjour\n", "Merci !"},
		"signature":      {"Thanks!\n-- \nAnn\nAcme Inc.\n", "Thanks!"},
		"no signature":   {"one\n--\ntwo\n", "one\n--\ntwo"},
		"no quotation":   {"On Monday Ann wrote:\nnothing at all\n", "On Monday Ann wrote:\nnothing at all"},
		"own words":      {"From: my heart\nThanks\n", "From: my heart\nThanks"},
		"all quotation":  {"> Hi\n> there\n", "> Hi\n> there"},
		"empty":          {"", ""},
	} {
		if got := message.Unquoted(c.text); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestNoTextTakesLongToReadWithoutItsQuotations(t *testing.T) {
	t.Parallel()
	for _, text := range []string{strings.Repeat("On ", 300_000), strings.Repeat("on a wrote:\n", 100_000), strings.Repeat("on a wrote:\n> b\n", 50_000), strings.Repeat("a:\n"+strings.Repeat("\n", 1000), 1000), strings.Repeat("a", 1<<20) + ":", strings.Repeat("From: a\n", 100_000), strings.Repeat(">", 1<<20)} {
		start := time.Now()
		message.Unquoted(text)
		if took := time.Since(start); took > 20*time.Second { // quadratic work at this size takes minutes
			t.Errorf("%.20q took %s", text, took)
		}
	}
}

package message_test

import (
	"strings"
	"testing"

	"postrider/mail/message"
)

func TestPagesBecomeReadableText(t *testing.T) {
	t.Parallel()
	page := `<html><head><title>T</title><style>p{color:red}</style></head><body><h1>Welcome</h1>
		<p>Hello&nbsp;Ann, <a href="https://example.test/x">confirm</a> &amp; enjoy.</p><script>alert(1)</script><ul><li>one</li><li>two</li></ul></body></html>`
	text := message.TextFromHTML(page)
	for _, want := range []string{"Welcome", "confirm", "https://example.test/x", "& enjoy", "one", "two"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	for _, bad := range []string{"<", "alert", "color"} {
		if strings.Contains(text, bad) {
			t.Errorf("%q is left in\n%s", bad, text)
		}
	}
}

func TestPagesThatCannotBeLaidOutLoseTheirTagsOnly(t *testing.T) {
	t.Parallel()
	for name, page := range map[string]string{
		"too deep":  strings.Repeat("<div>", 2000) + "Hello &amp; welcome" + strings.Repeat("</div>", 2000),
		"too wide":  strings.Repeat("<blockquote>", 400) + strings.Repeat("<br>\u200b", 5000) + "<br>Hello &amp; welcome",
		"too large": strings.Repeat("<p></p>", 200_000) + "<script>evil()</script><STYLE>evil</STYLE><p>Hello &amp; welcome</p>",
	} {
		if got := strings.Trim(message.TextFromHTML(page), "\u200b\n"); got != "Hello & welcome" {
			t.Errorf("%s: %.80q", name, got)
		}
	}
	for _, broken := range []string{"", "<", "<script", "<script>", "<style>x", "a<b", "<<<>>>"} {
		page := strings.Repeat(" ", 1<<20) + broken + "<"
		if got := message.TextFromHTML(page); len(got) > len(broken) {
			t.Errorf("%q became %q", broken, got)
		}
	}
}

func BenchmarkTextFromHTML(b *testing.B) {
	page := strings.Repeat(`<p style="color:#333">The quick brown fox <a href="https://example.test/">jumps</a>.</p>`, 12)
	for b.Loop() {
		message.TextFromHTML(page)
	}
}

func BenchmarkTextFromHostileHTML(b *testing.B) {
	for name, page := range map[string]string{
		"formatting": strings.Repeat(`<b a><i b><font c>x`, 50_000),
		"tables":     strings.Repeat(`<table><tr><td>x<a>`, 50_000),
		"flat":       strings.Repeat(`<p>x `, 200_000),
		"entities":   strings.Repeat(`&amp;`, 200_000),
		"blockquote": strings.Repeat(`<blockquote>x`, 80_000),
		"deep":       strings.Repeat("<blockquote>", 500) + strings.Repeat("word ", 200_000),
		"deep links": strings.Repeat("<td><div><span>", 160) + strings.Repeat("<a href=x>y</a> ", 60_000),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				message.TextFromHTML(page)
			}
		})
	}
}

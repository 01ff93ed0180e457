package spam_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"postrider/mail/spam"
)

// hostile are pieces that are hard on readers when they are repeated for megabytes.
var hostile = map[string]string{
	"nested elements":     "<div>",
	"nested and styled":   `<span style="color:red;font-size:2em">`,
	"stray end tags":      "</span>",
	"misnested":           "<b><i></b></i>",
	"open tags":           "<",
	"open attributes":     "<a href='",
	"attributes":          " a=b",
	"open comments":       "<!--",
	"comments":            "<!-- -->a",
	"links":               `<a href="https://bank.com/">https://other.com/</a>`,
	"addresses":           "https://a.example/ ",
	"addresses unbroken":  "http://",
	"colons":              "://",
	"references":          "&#118;",
	"broken references":   "&#",
	"phrases":             "your account will be ",
	"begun phrases":       "you you have you have been ",
	"merge fields begun":  "{{",
	"merge fields":        "{{ a }} ",
	"one word":            "a",
	"one token":           "aB3",
	"disguised words":     "pаypal ",
	"invisible":           "a\u200b",
	"fancy letters":       "𝐅",
	"outcries":            "!?",
	"Japanese":            "今すぐ",
	"invalid UTF-8":       "\xff\xfe",
	"scripts":             "<script>",
	"unclosed raw text":   "<title>",
	"table rows":          "<tr><td>",
	"brackets of address": "(",
	"encoded words":       "=?x?",
	"quotes":              `"`,
	"data links":          `<a href="data:text/html;base64,AAAA">`,
	"spaced letters":      "a b ",
	"style sheets":        "<style>@media{.a1,.b}</style><p class='a1 b c' style='display:none'>",
}

// hostileMessage puts a text everywhere.
func hostileMessage(piece string, size int) spam.Message {
	long := strings.Repeat(piece, size/len(piece))
	short := long[:min(len(long), 64<<10)]
	return spam.Message{
		From: short, Subject: short, HTML: long, Text: long[:min(len(long), 1<<20)], To: []string{short}, Raw: []byte(long),
		Headers: map[string]string{"Reply-To": short, "List-Unsubscribe": short, short: short},
	}
}

func TestHostileMessagesOfMegabytesAreCheckedInTime(t *testing.T) {
	t.Parallel()
	// Each takes a fraction of a second. Anything that grew with the square of the size would take an hour, so the bound can be
	// generous to slow machines.
	const bound = time.Minute
	for name, piece := range hostile {
		size := 1 << 20
		if name == "nested elements" || name == "links" || name == "attributes" || name == "one token" {
			size = 5 << 20
		}
		begun := time.Now()
		result := spam.Check(hostileMessage(piece, size))
		if took := time.Since(begun); took > bound {
			t.Errorf("%s: %v", name, took)
		}
		if result.Score < 0 || result.Score > spam.MaxScore {
			t.Errorf("%s: score %v", name, result.Score)
		}
	}
}

func TestLinksToEndlessHostsAreCheckedInTime(t *testing.T) {
	t.Parallel()
	var host strings.Builder
	for r := rune(0x4e00); host.Len() < 8000; r++ { // no letter twice
		host.WriteRune(r)
	}
	m := ordinary()
	m.HTML = strings.Repeat(`<a href="https://`+host.String()+`.example/">x</a>`, 250)
	begun := time.Now()
	spam.Check(m)
	if took := time.Since(begun); took > 20*time.Second { // it takes a fraction of one
		t.Fatal(took)
	}
}

// Allocations are counted for the whole process, so this test does not run beside others.
func TestAllocationsGrowNoFasterThanTheMessage(t *testing.T) {
	for name, piece := range hostile {
		count := func(size int) float64 {
			m := hostileMessage(piece, size)
			return testing.AllocsPerRun(1, func() { spam.Check(m) })
		}
		const small, factor = 16 << 10, 4
		few, many := count(small), count(small*factor)
		if many > factor*few*1.5+500 {
			t.Errorf("%s: %.0f allocations at %d bytes, %.0f at %d times as many", name, few, small, many, factor)
		}
	}
}

func TestLinksBeyondTheLimitAreCountedButNotKept(t *testing.T) {
	t.Parallel()
	m := ordinary()
	html(numbered(`<a href="https://acme.com/%d">x</a>`, 100_000) + `<a href="javascript:x">y</a>`)(&m)
	if !applies(m, "LINK_TOO_MANY") || applies(m, "LINK_SCRIPT") {
		t.Fatal(told(spam.Check(m)))
	}
}

func TestAnyMessageHasAScoreInRange(t *testing.T) {
	t.Parallel()
	pieces := []string{" ", "\n", "<p>", "</p>", "<!--", "-->", "FREE", "viagra", "act now", "!!!", "{{x}}", "ё", "\u202e", "<a href=", "https://", "'", ">", "@", "<",
		"ann@acme.com", "bank.com", "\xff", "style=\"display:none\"", "<div ", "今", "Re:", "=?utf-8?q?", "a", "&#118;", "0", "$", ":", "[", "]", "%"}
	soup := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 40).Draw(t, "pieces"), "")
	})
	rapid.Check(t, func(t *rapid.T) {
		m := spam.Message{
			From: soup.Draw(t, "from"), Subject: soup.Draw(t, "subject"), HTML: soup.Draw(t, "html"), Text: soup.Draw(t, "text"),
			Raw: []byte(soup.Draw(t, "raw")), To: []string{soup.Draw(t, "to")},
			Headers:        map[string]string{"Reply-To": soup.Draw(t, "reply"), "List-Unsubscribe": soup.Draw(t, "unsubscribe")},
			Authentication: spam.Authentication{Domain: soup.Draw(t, "domain"), Verified: rapid.Bool().Draw(t, "verified")},
		}
		checkInvariants(t, m)
	})
}

// checkInvariants is what holds for every message whatsoever.
func checkInvariants(t interface{ Fatalf(string, ...any) }, m spam.Message) {
	result := spam.Check(m)
	if again := spam.Check(m); again.Score != result.Score || len(again.Rules) != len(result.Rules) {
		t.Fatalf("%v, then %v", result, again)
	}
	sum := 0.0
	for i, h := range result.Rules {
		sum += h.Score
		if i > 0 && h.Score > result.Rules[i-1].Score {
			t.Fatalf("%s is out of order", h.ID)
		}
	}
	if want := math.Round(min(sum, spam.MaxScore)*10) / 10; result.Score != want {
		t.Fatalf("score %v, rules sum up to %v", result.Score, sum)
	}
	if result.Sendable != (result.Score < spam.Threshold && m.Authentication.Verified) {
		t.Fatalf("score %v, verified %t, sendable %t", result.Score, m.Authentication.Verified, result.Sendable)
	}
	var advised []string
	for _, r := range result.Recommendations {
		advised = append(advised, r.RuleIDs...)
	}
	if len(advised) != len(result.Rules) {
		t.Fatalf("%d rules, advice for %v", len(result.Rules), advised)
	}
	for _, h := range result.Rules {
		if !slices.Contains(advised, h.ID) {
			t.Fatalf("no advice for %s", h.ID)
		}
	}
}

func FuzzCheck(f *testing.F) {
	for name, piece := range hostile {
		f.Add(name, piece+piece, piece+piece+piece, "Ann <ann@acme.com>", "a@b.example", []byte("Subject: "+piece+"\r\n\r\n"+piece))
	}
	f.Fuzz(func(t *testing.T, subject, html, text, from, replyTo string, raw []byte) {
		checkInvariants(t, spam.Message{
			From: from, Subject: subject, HTML: html, Text: text, Raw: raw, Headers: map[string]string{"Reply-To": replyTo, "References": text},
		})
	})
}

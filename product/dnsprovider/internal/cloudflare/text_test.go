package cloudflare_test

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"postrider/product/dnsprovider/internal/cloudflare"
)

func TestContentIsReadAsItsReadersDo(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		`v=spf1 mx -all`:             `v=spf1 mx -all`,
		`"v=spf1 mx -all"`:           `v=spf1 mx -all`,
		`  "v=DKIM1; p=AAA"  "BBB" `: `v=DKIM1; p=AAABBB`,
		`"a""b"`:                     `ab`,
		`"say \"yes\" \\ \065\300"`:  `say "yes" \ A300`,
		`""`:                         ``,
		`"never closed`:              `never closed`,
		`a "b" c`:                    `a "b" c`,
	} {
		if got := cloudflare.ReadText(content); got != want {
			t.Errorf("%s means %q, want %q", content, got, want)
		}
	}
}

var quoted = regexp.MustCompile(`(?s)^"(\\.|[^"\\])*"( "(\\.|[^"\\])*")*$`)

func TestWhatIsWrittenIsReadBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(0, 700, 2000).Draw(t, "text")

		content := cloudflare.WriteText(text)

		if got := cloudflare.ReadText(content); got != text {
			t.Fatalf("%q came back as %q", text, got)
		}
		if !quoted.MatchString(content) {
			t.Fatalf("not a list of quoted strings: %s", content)
		}
	})
}

func TestALongTextIsCutIntoStringsOf255Bytes(t *testing.T) {
	t.Parallel()
	content := cloudflare.WriteText(strings.Repeat("x", 600))

	var lengths []int
	for part := range strings.SplitSeq(content, " ") {
		lengths = append(lengths, len(part)-len(`""`))
	}
	if len(lengths) != 3 || lengths[0] != 255 || lengths[1] != 255 || lengths[2] != 90 {
		t.Fatalf("strings of %v bytes", lengths)
	}
}

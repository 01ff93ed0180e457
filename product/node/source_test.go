package node_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"postrider/product/node"
)

func read(t *testing.T, text string) (node.Sources, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sources.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return node.ReadSources(path)
}

func TestAFileOfSourcesSaysWhatIsWrongWithIt(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                           "1 to 1000 sources",
		"[[source]":                  "line 1",
		"[[source]]\nname = \"A b\"": "lower-case letters",
		"[[source]]\nname = \"a\"\n[[source]]\nname = \"a\"":                     "must be unique",
		"[[source]]\nname = \"a\"\nspeed = 3":                                    `"source.speed" is not a known setting`,
		"[[source]]\nname = \"a\"\npool = \"bulk\"":                              `in the pool "main"`,
		"[[source]]\nname = \"a\"\nipv4 = \"2001:db8::1\"":                       "must be an IPv4 address",
		"[[source]]\nname = \"a\"\nweight = -1":                                  "weight must be",
		"[[source]]\nname = \"a\"\nhello = \"no host\"":                          "name of a host",
		"[[source]]\nname = \"a\"\nsocks5 = \"10.0.0.1:1080\"":                   "socks5 must be like",
		"[[source]]\nname = \"a\"\nwarmup = {caps = [1]}":                        "needs the first day",
		"[[source]]\nname = \"a\"\nwarmup = {started = 2026-01-01, caps = [-1]}": "numbers of messages",
		"[[source]]\nname = \"a\"\n[[use]]\npool = \"b\"\nclass = \"broadcast\"": `no source is in the pool "b"`,
		"[[source]]\nname = \"a\"\n[[use]]\npool = \"main\"":                     "either class or tenant",
		"[[source]]\nname = \"a\"\n[[use]]\npool = \"main\"\nclass = \"urgent\"": "transactional, automation or broadcast",
	} {
		if _, err := read(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestATenantGoesBeforeAClass(t *testing.T) {
	t.Parallel()
	s, err := read(t, `
source = [{name = "a"}, {name = "b", pool = "bulk"}, {name = "c", pool = "vip"}]
use = [{class = "broadcast", pool = "bulk"}, {tenant = "acme", pool = "vip"}]`)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][3]string{{"acme", "broadcast", "vip"}, {"other", "broadcast", "bulk"}, {"other", "transactional", "main"}} {
		if got := s.PoolOf(c[0], c[1]); got != c[2] {
			t.Errorf("%s mail of %s leaves from %s", c[1], c[0], got)
		}
	}
}

func TestAWarmUpGrowsFromDayToDayAndEnds(t *testing.T) {
	t.Parallel()
	s, err := read(t, `source = [{name = "a", warmup = {started = 2026-11-15, caps = [5, 50]}}, {name = "b", warmup = {started = 2026-11-15}}]`)
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string][3]int{"2026-11-14T23:59:59Z": {0, 0, 1}, "2026-11-15T00:00:00Z": {1, 5, 1}, "2026-11-16T12:00:00Z": {2, 50, 1}, "2026-11-17T00:00:00Z": {0, 0, 0}} {
		now, _ := time.Parse(time.RFC3339, at)
		day, most, capped := s.Sources[0].Cap(now)
		if day != want[0] || most != want[1] || capped != (want[2] == 1) {
			t.Errorf("%s: day %d, %d, %v", at, day, most, capped)
		}
	}
	before := 0
	for d := range 14 {
		_, most, capped := s.Sources[1].Cap(time.Date(2026, 11, 15+d, 12, 0, 0, 0, time.UTC))
		if !capped || most <= before {
			t.Errorf("day %d: %d after %d", d+1, most, before)
		}
		before = most
	}
}

func TestTheFileInTheDocumentationIsRead(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../docs/delivery.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(raw), "```toml\n")
	text, _, _ := strings.Cut(rest, "```")
	if s, err := read(t, text); err != nil || len(s.Sources) != 3 {
		t.Errorf("%d sources: %v", len(s.Sources), err)
	}
}

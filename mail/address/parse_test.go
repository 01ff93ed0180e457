package address_test

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"postrider/mail/address"
)

type parseCase struct {
	In      string `json:"in"`
	Name    string `json:"name"`
	Addr    string `json:"addr"`
	Unicode string `json:"unicode"`
	Display string `json:"display"`
	Header  string `json:"header"`
}

func TestAddressesPeopleWriteAreRead(t *testing.T) {
	t.Parallel()
	for _, c := range readJSON[[]parseCase](t, "testdata/accepted.json") {
		a, err := address.Parse(c.In)
		if err != nil {
			t.Errorf("Parse(%q): %v", c.In, err)
			continue
		}
		got := parseCase{In: c.In, Name: a.Name, Addr: a.Addr(), Unicode: a.Unicode(), Display: a.String(), Header: a.Header()}
		if c.Unicode == "" {
			c.Unicode = c.Addr
		}
		if c.Display == "" {
			c.Display = c.In
		}
		if c.Header == "" {
			c.Header = c.Display
		}
		if got != c {
			t.Errorf("Parse(%q)\n got %+v\nwant %+v", c.In, got, c)
		}
	}
}

func TestAmbiguousOrBrokenAddressesAreRefusedWithAReason(t *testing.T) {
	t.Parallel()
	for _, in := range readJSON[[]string](t, "testdata/refused.json") {
		a, err := address.Parse(in)
		if err == nil {
			t.Errorf("Parse(%q) = %+v, want an error", in, a)
			continue
		}
		var invalid *address.InvalidError
		if !errors.As(err, &invalid) || invalid.Reason == "" || strings.ContainsAny(invalid.Reason, "\r\n\"") {
			t.Errorf("Parse(%q): error %#v is not a phrase for people", in, err)
		}
	}
}

func TestFieldsAreSplitAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	for value, want := range map[string][]string{
		"":                                    nil,
		"undisclosed-recipients:;":            nil,
		"a@x.test, B <b@x.test>":              {"a@x.test", "B <b@x.test>"},
		`"Doe, J\", (x" <a@x.test>,b@x.test`:  {`"Doe, J\", (x" <a@x.test>`, "b@x.test"},
		"Team: a@x.test, b@x.test;, c@x.test": {"a@x.test", "b@x.test", "c@x.test"},
		"a@x.test (Ann (at \\) work)), (none) b@x.test": {"a@x.test", "b@x.test"},
		"a@x.test; b@x.test;":                           {"a@x.test", "b@x.test"},
		"=?utf-8?Q?Lee,_Ann:?= <a@x.test>, b@x.test":    {"=?utf-8?Q?Lee,_Ann:?= <a@x.test>", "b@x.test"},
		"=?odd, b@x.test":                               {"=?odd", "b@x.test"},
		"junk, <a@x.test>":                              {"junk", "<a@x.test>"},
		"<@r.test:a@x.test>, b@[IPv6:::1]":              {"<@r.test:a@x.test>", "b@[IPv6:::1]"},
		`O"Neil <a@x.test>, b@x.test`:                   {`O"Neil <a@x.test>, b@x.test`},
		"a@x.test, (b@x.test":                           {"a@x.test, (b@x.test"},
	} {
		if got := address.Split(value); !slices.Equal(got, want) {
			t.Errorf("Split(%q) = %q, want %q", value, got, want)
		}
	}
}

func TestListsSplitAtCommasOutsideQuotes(t *testing.T) {
	t.Parallel()
	list, err := address.ParseList(` a@x.test, "Doe, Jane" <b@y.test>,Zoë <c@z.test> `)
	if err != nil {
		t.Fatal(err)
	}
	want := []address.Address{
		{Local: "a", Domain: "x.test"},
		{Name: "Doe, Jane", Local: "b", Domain: "y.test"},
		{Name: "Zoë", Local: "c", Domain: "z.test"},
	}
	if len(list) != len(want) {
		t.Fatalf("got %d addresses, want %d", len(list), len(want))
	}
	for i := range want {
		if list[i] != want[i] {
			t.Errorf("address %d = %+v, want %+v", i, list[i], want[i])
		}
	}
	for _, bad := range []string{"", " ", ",", "a@x.test,", ",a@x.test", "a@x.test,,b@y.test", "a@x.test;b@y.test", "a@x.test b@y.test"} {
		if list, err := address.ParseList(bad); err == nil {
			t.Errorf("ParseList(%q) = %v, want an error", bad, list)
		}
	}
}

func TestLengthsEndWhereTheProtocolEnds(t *testing.T) {
	t.Parallel()
	local64 := strings.Repeat("l", 64)
	label63 := strings.Repeat("d", 63)
	domain189 := label63 + "." + label63 + "." + strings.Repeat("e", 61)
	for in, ok := range map[string]bool{
		local64 + "@x.test":                                      true,
		local64 + "l@x.test":                                     false,
		"é" + strings.Repeat("l", 63) + "@x.test":                false, // bytes count, not letters
		"a@" + label63 + ".test":                                 true,
		"a@" + label63 + "d.test":                                false,
		local64 + "@" + domain189:                                true,
		local64 + "@" + domain189 + "e":                          false,
		strings.Repeat("n", 900) + " <a@x.test>":                 true,
		strings.Repeat("n", 1100) + " <a@x.test>":                false,
		"a@" + strings.Repeat("a.", 130) + "test":                false,
		"<" + local64 + "@" + label63 + "." + label63 + ".test>": true,
	} {
		if _, err := address.Parse(in); (err == nil) != ok {
			t.Errorf("Parse(%d bytes %.20q…): error %v, want accepted %t", len(in), in, err, ok)
		}
	}
}

func TestHostileListsAreAnsweredInLinearTime(t *testing.T) {
	t.Parallel()
	const size = 60_000
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	for _, in := range []string{
		fill("("), fill("a:"), fill(`"`), fill(`\`), fill("<"), fill("@"), fill("=?x?"), fill("=?utf-8?q?a?= "), fill("a "),
		fill("g:a@b.c;"), fill("x <"), `"` + fill("a"), fill("a@b.c,"), fill("=?utf-8?b?YQ==?= ") + "<a@b.c>",
		"a@" + fill("xn--a."), "a@" + fill("ü."), fill("é"), fill("a@xn--,"),
	} {
		began := time.Now()
		if _, err := address.ParseList(in); err == nil {
			t.Errorf("ParseList(%.20q…) accepted junk", in)
		}
		if _, err := address.ParseList(fill(in) + in); err == nil {
			t.Errorf("ParseList(%.20q…) accepted more than its limit", in)
		}
		if took := time.Since(began); took > 20*time.Second { // quadratic work at this size takes minutes
			t.Errorf("ParseList(%.20q…) took %s", in, took)
		}
	}
}

func readJSON[T any](t *testing.T, path string) T {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return v
}

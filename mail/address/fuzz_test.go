package address_test

import (
	"strings"
	"testing"

	"postrider/mail/address"
)

// The one form of a domain is its own one form, and safe in DNS and in SMTP.
func FuzzParseDomain(f *testing.F) {
	for _, seed := range []string{"example.net", "EXAMPLE.net.", "bücher.example", "xn--bcher-kva.example", "a..b", "[1.2.3.4]", "1.2.3.4", "a_b.test", "\u2024test.net", "-a.net", strings.Repeat("a.", 130)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		name, err := address.ParseDomain(text)
		if err != nil {
			return
		}
		if again, err := address.ParseDomain(name); err != nil || again != name || strings.ContainsAny(name, " \r\n<>@\x00") {
			t.Fatalf("%q is %q, and that %q, %v", text, name, again, err)
		}
	})
}

// A list that was read is written as a list of as many.
func FuzzParseList(f *testing.F) {
	for _, seed := range []string{"a@b.test", "A <a@b.test>, c@d.test", "group: a@b.test, c@d.test;", `"a, b" <a@b.test>`, ",,", "<a@b.test", "=?utf-8?q?x?= <a@b.test>"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := address.ParseList(text)
		if err != nil {
			return
		}
		for _, a := range list {
			if a.Domain == "" || strings.ContainsAny(a.String(), "\r\n\x00") {
				t.Fatalf("%q has %q", text, a.String())
			}
		}
	})
}

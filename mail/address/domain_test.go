package address_test

import (
	"strings"
	"testing"

	"postrider/mail/address"
)

func TestDomainsHaveOneForm(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"example.test":                    "example.test",
		"EXAMPLE.Test":                    "example.test",
		"example.test.":                   "example.test",
		"bücher.test":                     "xn--bcher-kva.test",
		"BÜCHER.test":                     "xn--bcher-kva.test",
		"xn--bcher-kva.test":              "xn--bcher-kva.test",
		"faß.test":                        "xn--fa-hia.test",
		"apple。test":                      "apple.test",
		"apple．test｡":                     "apple.test",
		"аpple.test":                      "xn--pple-43d.test",
		"1.2.3.test":                      "1.2.3.test",
		"a--b.test":                       "a--b.test",
		"a.xn--jxalpdlp":                  "a.xn--jxalpdlp",
		strings.Repeat("a", 63) + ".test": strings.Repeat("a", 63) + ".test",
	} {
		got, err := address.ParseDomain(in)
		if err != nil || got != want {
			t.Errorf("ParseDomain(%q) = %q, %v; want %q", in, got, err, want)
		}
	}
}

func TestNamesThatCannotReceiveMailAreRefused(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		"", ".", "..", "test", "localhost", "test.", ".test", "a..test", "a.test..", "-a.test", "a-.test", "_dmarc.a.test",
		"a_b.test", "*.a.test", "a b.test", " a.test", "a.test ", "a.test\n", "a\x00.test", "a/b.test", "a@b.test", "a:b.test",
		"127.0.0.1", "[127.0.0.1]", "::1", "[::1]", "1.2", "0x7f.1", "a.123", "１２７.0.0.1",
		"xn--a.test", "xn--example-.test", "ab--cd.test", "\xff.test", "a\u200b\u200b.", "a\u202e.test",
		strings.Repeat("a", 64) + ".test", strings.Repeat("ü", 63) + ".test", strings.Repeat("a.", 125) + "test",
		strings.Repeat("a", 5000) + ".test",
	} {
		if got, err := address.ParseDomain(in); err == nil {
			t.Errorf("ParseDomain(%q) = %q, want an error", in, got)
		}
	}
}

func TestWhoLooksForADomainMayWriteItAnyWay(t *testing.T) {
	t.Parallel()
	for asked, want := range map[string]string{"Acme.TEST.": "acme.test", "BÜCHER.example": "xn--bcher-kva.example", "xn--bcher-kva.example": "xn--bcher-kva.example",
		"No Domain": "no domain", "": ""} {
		if got := address.AskedDomain(asked); got != want {
			t.Errorf("%q is looked for as %q, want %q", asked, got, want)
		}
	}
}

func TestUnicodeDomainUndoesParseDomain(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"example.test", "bücher.test", "例子.test", "παράδειγμα.δοκιμή", "مثال.test"} {
		ascii, err := address.ParseDomain(name)
		if err != nil {
			t.Errorf("ParseDomain(%q): %v", name, err)
			continue
		}
		if got := address.UnicodeDomain(ascii); got != name {
			t.Errorf("UnicodeDomain(%q) = %q, want %q", ascii, got, name)
		}
	}
}

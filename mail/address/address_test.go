package address_test

import (
	"mime"
	"net/mail"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"postrider/mail/address"
)

func TestKeysOfOneMailboxAreEqual(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{
		{"Jane@Example.test", "jane@example.TEST"},
		{"Jane <jane@example.test>", `"J" <JANE@example.test>`},
		{`"jane"@example.test`, "jane@example.test"},
		{"É@example.test", "e\u0301@example.test"},
		{"a@bücher.test", "a@xn--bcher-kva.test"},
	} {
		first, second := mustParse(t, pair[0]), mustParse(t, pair[1])
		if first.Key() != second.Key() {
			t.Errorf("keys of %q and %q differ: %q, %q", pair[0], pair[1], first.Key(), second.Key())
		}
	}
	if a, b := mustParse(t, "jane+a@x.test"), mustParse(t, "jane@x.test"); a.Key() == b.Key() {
		t.Error("a tagged address is a mailbox of its own")
	}
}

func TestOnlyUTF8LocalPartsNeedSMTPUTF8(t *testing.T) {
	t.Parallel()
	if mustParse(t, "Zoë <zoe@bücher.test>").NeedsUTF8() {
		t.Error("a name and a domain can be encoded")
	}
	if !mustParse(t, "zoë@bücher.test").NeedsUTF8() {
		t.Error("a local part cannot be encoded")
	}
}

func TestHeaderIsOneLineThatOthersReadTheSameWay(t *testing.T) {
	t.Parallel()
	parser := mail.AddressParser{WordDecoder: new(mime.WordDecoder)}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.String().Draw(t, "name")
		a := address.Address{Name: name, Local: "jane.doe", Domain: "example.test"}

		header := a.Header()

		if strings.ContainsFunc(header, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Fatalf("header %q is not one line of ASCII", header)
		}
		for word := range strings.FieldsSeq(header) {
			if strings.HasPrefix(word, "=?") && len(word) > 75 {
				t.Fatalf("encoded word %q is longer than 75", word)
			}
		}
		theirs, err := parser.Parse(header)
		if err != nil {
			t.Fatalf("net/mail refuses %q: %v", header, err)
		}
		ours, err := address.Parse(header)
		if len(header) <= 1024 && err != nil {
			t.Fatalf("Parse(%q): %v", header, err)
		}
		if theirs.Address != a.Addr() || err == nil && (ours.Addr() != a.Addr() || ours.Name != theirs.Name) {
			t.Fatalf("readers of %q disagree: %+v and %+v", header, ours, theirs)
		}
	})
}

func TestEncodedWordsSurviveAnyText(t *testing.T) {
	t.Parallel()
	decoder := new(mime.WordDecoder)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		encoded := address.EncodeWords(text)
		decoded, err := decoder.DecodeHeader(encoded)
		if err != nil || decoded != text {
			t.Fatalf("%q became %q (%v) by way of %q", text, decoded, err, encoded)
		}
		for word := range strings.SplitSeq(encoded, " ") {
			if len(word) > 62 {
				t.Fatalf("encoded word %q has %d characters", word, len(word))
			}
			if part, _ := decoder.Decode(word); !utf8.ValidString(part) {
				t.Fatalf("word %q cuts a character", word)
			}
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"a@b.test", "Jane <a@b.test>", `"a \"b\"" <a@b.test>`, "=?utf-8?q?Zo=C3=AB?= <a@b.test>", "用户@例子.test",
		"g: a@b.test;", "(c)a@b.test", "<@x:a@b.test>", "a@xn--bcher-kva.test", "A\tB <a@b。test>", `"" <a@b.test>`, "=?a?= <a@b.test>",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		a, err := address.Parse(in)
		if err != nil {
			return
		}
		again, err := address.Parse(a.String())
		if err != nil || again != a {
			t.Fatalf("%q: %+v reads back as %+v (%v)", in, a, again, err)
		}
		if strings.Trim(a.Domain, "abcdefghijklmnopqrstuvwxyz0123456789-.") != "" || strings.Contains(a.Domain, "..") {
			t.Fatalf("%q: domain %q", in, a.Domain)
		}
		if strings.ContainsAny(a.Local, "@<>,;:()[]\\\" \t\r\n\x00") {
			t.Fatalf("%q: local part %q", in, a.Local)
		}
		if strings.ContainsAny(a.Header(), "\r\n\x00") {
			t.Fatalf("%q: header %q", in, a.Header())
		}
		if list, err := address.ParseList(in); err != nil || len(list) != 1 || list[0] != a {
			t.Fatalf("%q: as a list %v (%v)", in, list, err)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := address.Parse("Jane Doe <jane.doe@mail.example.test>"); err != nil {
			b.Fatal(err)
		}
	}
}

func mustParse(t *testing.T, s string) address.Address {
	t.Helper()
	a, err := address.Parse(s)
	if err != nil {
		t.Fatalf("Parse(%q): %v", s, err)
	}
	return a
}

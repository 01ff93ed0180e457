package smtp_test

import (
	"strings"
	"testing"

	"postrider/mail/smtp"
)

func TestPathsAreTakenApartStrictly(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 64)
	cases := []struct {
		in, local, domain, rest string
		ok                      bool
	}{
		{in: "<>", ok: true},
		{in: "<a@b.test>", local: "a", domain: "b.test", ok: true},
		{in: "<a@b.test> SIZE=1", local: "a", domain: "b.test", rest: " SIZE=1", ok: true},
		{in: "<Postmaster>", local: "Postmaster", ok: true},
		{in: "<a+b.c@x_y.test>", local: "a+b.c", domain: "x_y.test", ok: true},
		{in: `<"a b"@c.test>`, local: "a b", domain: "c.test", ok: true},
		{in: `<"a@evil.test"@c.test>`, local: "a@evil.test", domain: "c.test", ok: true},
		{in: `<"a\"\\b>"@c.test>`, local: `a"\b>`, domain: "c.test", ok: true},
		{in: "<a@[192.0.2.1]>", local: "a", domain: "[192.0.2.1]", ok: true},
		{in: "<a@[IPv6:2001:db8::1]>", local: "a", domain: "[IPv6:2001:db8::1]", ok: true},
		{in: "<ü@bücher.test>", local: "ü", domain: "bücher.test", ok: true},
		{in: "<" + long + "@b.test>", local: long, domain: "b.test", ok: true},
		{in: "<" + long + "a@b.test>"},
		{in: "<a@" + long + ".test>"},
		{in: "<a@" + strings.Repeat("a.", 128) + "b>"},
		{in: "a@b.test"},
		{in: "<a@b.test"},
		{in: "<a>"},
		{in: "<@b.test:a@c.test>"},
		{in: "<a@b@c.test>"},
		{in: "<.a@b.test>"},
		{in: "<a.@b.test>"},
		{in: "<a..b@c.test>"},
		{in: "<a b@c.test>"},
		{in: "<a@b.test.>"},
		{in: "<a@.b.test>"},
		{in: "<a@-b.test>"},
		{in: "<a@b-.test>"},
		{in: "<a@>"},
		{in: "<@>"},
		{in: `<""@b.test>`},
		{in: `<"a@b.test>`},
		{in: `<"a\`},
		{in: `<"a"b@c.test>`},
		{in: "<a@[300.0.2.1]>"},
		{in: "<a@[2001:db8::1]>"},
		{in: "<a@[IPv6:fe80::1%eth0]>"},
		{in: "<a@[>"},
		{in: "<a\u202e@b.test>"},
		{in: "<a@b\u2028.test>"},
		{in: "<a\u00a0b@c.test>"},
		{in: "<a\xff@b.test>"},
		{in: "<a\x1b@b.test>"},
		{in: ""},
	}
	for _, c := range cases {
		path, rest, problem := smtp.ParsePath(c.in)
		if (problem == "") != c.ok {
			t.Errorf("%q: problem %q, want ok %v", c.in, problem, c.ok)
			continue
		}
		if want := (smtp.Path{Local: c.local, Domain: c.domain}); path != want || rest != c.rest {
			t.Errorf("%q: got %+v rest %q, want %+v rest %q", c.in, path, rest, want, c.rest)
		}
	}
}

func FuzzPathsSurviveBeingWrittenAndReadAgain(f *testing.F) {
	f.Add(`<"a b\"c"@d.test>`)
	f.Add("<ü@[IPv6:::1]>")
	f.Add("<Postmaster>")
	f.Add("<>")
	f.Fuzz(func(t *testing.T, in string) {
		path, _, problem := smtp.ParsePath(in)
		if problem != "" {
			return
		}
		again, rest, problem := smtp.ParsePath("<" + path.String() + ">")
		if problem != "" || again != path || rest != "" {
			t.Fatalf("%q became %+v, then %+v (%s)", in, path, again, problem)
		}
		if strings.ContainsAny(path.String(), "\r\n\x00") {
			t.Fatalf("%q holds control characters", path)
		}
	})
}

func TestMailParametersAreReadOrRefused(t *testing.T) {
	t.Parallel()
	cases := []struct {
		in   string
		want smtp.MailParams
		code int
	}{
		{in: ""},
		{in: " size=10 body=8bitmime SMTPUTF8", want: smtp.MailParams{Size: 10, EightBit: true, SMTPUTF8: true}},
		{in: " BODY=7BIT RET=hdrs ENVID=a+2Bb", want: smtp.MailParams{Return: "HDRS", EnvelopeID: "a+b"}},
		{in: " AUTH=<>"},
		{in: " SIZE=99999999999999999999", want: smtp.MailParams{Size: 1<<63 - 1}},
		{in: " SIZE=-1", code: 501},
		{in: " SIZE=", code: 501},
		{in: " SIZE=1 SIZE=2", code: 501},
		{in: " SIZE=100000000000000000000", code: 501},
		{in: " BODY=BINARYMIME", code: 501},
		{in: " SMTPUTF8=yes", code: 501},
		{in: " RET=ALL", code: 501},
		{in: " ENVID=a+0Ab", code: 501},
		{in: " ENVID=a+2", code: 501},
		{in: " ENVID=a+ZZ", code: 501},
		{in: " ENVID=" + strings.Repeat("a", 101), code: 501},
		{in: " =1", code: 501},
		{in: " NOTIFY=NEVER", code: 555},
		{in: " XFOO=1", code: 555},
	}
	for _, c := range cases {
		got, refusal := smtp.ParseMailParams(c.in)
		if refusal != nil {
			if refusal.Code != c.code {
				t.Errorf("%q: refused with %s, want %d", c.in, refusal, c.code)
			}
		} else if c.code != 0 || got != c.want {
			t.Errorf("%q: got %+v, want %+v or code %d", c.in, got, c.want, c.code)
		}
	}
}

func TestRecipientParametersAreReadOrRefused(t *testing.T) {
	t.Parallel()
	cases := []struct {
		in   string
		want smtp.RcptParams
		code int
	}{
		{in: " NOTIFY=NEVER", want: smtp.RcptParams{Notify: smtp.Notify{Never: true}}},
		{in: " NOTIFY=success,DELAY,failure", want: smtp.RcptParams{Notify: smtp.Notify{Success: true, Delay: true, Failure: true}}},
		{in: " ORCPT=rfc822;a+2Bb@c.test", want: smtp.RcptParams{OriginalRecipient: "rfc822;a+b@c.test"}},
		{in: " NOTIFY=NEVER,DELAY", code: 501},
		{in: " NOTIFY=SOMETIMES", code: 501},
		{in: " ORCPT=a@c.test", code: 501},
		{in: " SIZE=1", code: 555},
	}
	for _, c := range cases {
		got, refusal := smtp.ParseRcptParams(c.in)
		if refusal != nil {
			if refusal.Code != c.code {
				t.Errorf("%q: refused with %s, want %d", c.in, refusal, c.code)
			}
		} else if c.code != 0 || got != c.want {
			t.Errorf("%q: got %+v, want %+v or code %d", c.in, got, c.want, c.code)
		}
	}
}

package authres_test

import (
	"reflect"
	"strings"
	"testing"

	stranger "github.com/emersion/go-msgauth/authres"
	"pgregory.net/rapid"

	"postrider/mail/arc"
	"postrider/mail/authres"
	"postrider/mail/dkim"
	"postrider/mail/dmarc"
	"postrider/mail/message"
	"postrider/mail/spf"
)

func TestWhatWasFoundOutIsWritten(t *testing.T) {
	t.Parallel()
	session := spf.Session{Hello: "mail.example.test", From: "ann@example.test"}
	h := authres.Header{Server: "mx.us.test", Results: []authres.Result{authres.SPF(spf.Verification{Result: spf.Pass, Domain: "example.test"}, session)}}
	h.Results = append(h.Results, authres.DKIM([]dkim.Verification{
		{Result: dkim.Pass, Domain: "example.test", Selector: "s1", Algorithm: "rsa-sha256", Mark: "dGVzdA+/"},
		{Result: dkim.Fail, Domain: "list.test", Reason: "signature does not match: body was changed"},
	})...)
	h.Results = append(h.Results,
		authres.DMARC(dmarc.Evaluation{Result: dmarc.Pass, Author: "example.test", Policy: dmarc.PolicyReject}),
		authres.ARC(arc.Chain{Result: arc.None}, "192.0.2.1"))
	want := "Authentication-Results: mx.us.test;\r\n" +
		" spf=pass smtp.mailfrom=ann@example.test;\r\n" +
		" dkim=pass header.d=example.test header.s=s1 header.a=rsa-sha256\r\n" +
		"  header.b=\"dGVzdA+/\";\r\n" +
		" dkim=fail reason=\"signature does not match: body was changed\"\r\n" +
		"  header.d=list.test;\r\n" +
		" dmarc=pass header.from=example.test policy.dmarc=reject;\r\n" +
		" arc=none smtp.remote-ip=192.0.2.1\r\n"
	if got := string(h.Field()); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	for name, c := range map[string]struct{ got, want string }{
		"nothing checked": {authres.Header{Server: "mx.us.test"}.String(), "mx.us.test; none"},
		"no signature":    {authres.Header{Server: "mx", Results: authres.DKIM(nil)}.String(), "mx;\r\n dkim=none"},
		"null sender":     {authres.Header{Server: "mx", Results: []authres.Result{authres.SPF(spf.Verification{Result: spf.Fail}, spf.Session{Hello: "[192.0.2.1]"})}}.String(), "mx;\r\n spf=fail smtp.helo=\"[192.0.2.1]\""},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", name, c.got, c.want)
		}
	}
}

func TestWhatIsWrittenIsReadAgainByUsAndByOthers(t *testing.T) {
	t.Parallel()
	text := rapid.OneOf(rapid.StringMatching(`[ -~]{1,40}`), rapid.StringN(1, 30, 90), rapid.SampledFrom([]string{"a@b.test", "@b.test", "\"x y\"@b.test", "\r\nFrom: eve@x.test", "a;b=c"}))
	word := rapid.StringMatching(`[a-z][a-z0-9-]{0,10}[a-z]`)
	rapid.Check(t, func(t *rapid.T) {
		h := authres.Header{Server: rapid.OneOf(rapid.Just("mx.us.test"), text).Draw(t, "server")}
		for range rapid.IntRange(0, 4).Draw(t, "results") {
			r := authres.Result{Method: "x-" + word.Draw(t, "method"), Value: word.Draw(t, "value"), Reason: rapid.OneOf(rapid.Just(""), text).Draw(t, "reason")}
			for range rapid.IntRange(0, 3).Draw(t, "properties") {
				r.Properties = append(r.Properties, authres.Property{Type: "smtp", Name: word.Draw(t, "name"), Value: text.Draw(t, "value")})
			}
			h.Results = append(h.Results, r)
		}
		field := string(h.Field())
		fields, body, err := message.ReadHeader([]byte(field + "\r\n"))
		if err != nil || len(fields) != 1 || len(body) > 0 {
			t.Fatalf("not one field: %q", field)
		}
		for line := range strings.Lines(field) {
			if len(line) > 1000 {
				t.Fatalf("line of %d bytes", len(line))
			}
		}
		got, err := authres.Parse(fields[0].Value)
		if err != nil || len(got.Results) != len(h.Results) {
			t.Fatalf("%v: %+v became %+v by %q", err, h, got, field)
		}
		once := got.String()
		if again, err := authres.Parse(once); err != nil || !reflect.DeepEqual(again, got) {
			t.Fatalf("%v: %+v became %+v by %q", err, got, again, once)
		}
		for i, r := range h.Results {
			if got.Results[i].Method != r.Method || got.Results[i].Value != r.Value || len(got.Results[i].Properties) != len(r.Properties) {
				t.Fatalf("%+v became %+v", r, got.Results[i])
			}
		}
	})
}

func TestOthersReadTheSame(t *testing.T) {
	t.Parallel()
	h := authres.Header{Server: "mx.us.test", Results: []authres.Result{
		authres.SPF(spf.Verification{Result: spf.SoftFail}, spf.Session{From: "ann@example.test"}),
		authres.DKIM([]dkim.Verification{{Result: dkim.Pass, Domain: "example.test", Selector: "s1"}})[0],
		authres.DMARC(dmarc.Evaluation{Result: dmarc.Fail, Author: "example.test"}),
	}}
	server, results, err := stranger.Parse(h.String())
	if err != nil || server != "mx.us.test" || len(results) != 3 {
		t.Fatalf("%s %v %v", server, results, err)
	}
	if r := results[0].(*stranger.SPFResult); r.Value != stranger.ResultSoftFail || r.From != "ann@example.test" {
		t.Errorf("%+v", r)
	}
	if r := results[1].(*stranger.DKIMResult); r.Value != stranger.ResultPass || r.Domain != "example.test" {
		t.Errorf("%+v", r)
	}
	if r := results[2].(*stranger.DMARCResult); r.Value != stranger.ResultFail || r.From != "example.test" {
		t.Errorf("%+v", r)
	}
}

func TestFieldsOfOtherServersAreRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"mx.google.test;       dkim=pass header.i=@example.test header.s=s1 header.b=AbCdEf12;       spf=pass (google.test: domain of ann@example.test designates 192.0.2.1 as permitted sender) smtp.mailfrom=ann@example.test;       dmarc=pass (p=REJECT sp=REJECT dis=NONE) header.from=example.test": "dkim=pass spf=pass dmarc=pass",
		"spf=pass (sender IP is 192.0.2.1) smtp.mailfrom=example.test; dkim=pass": "-",
		"mx.test 1; none": "",
		"mx.test/1; none": "-",
		"mx.test; dkim/1=pass reason=\"good; really\"":                                      "dkim=pass",
		"mx.test; dmarc=pass action=none header.from=example.test;compauth=pass reason=100": "dmarc=pass compauth=pass",
		"mx.test;":                            "",
		"mx.test":                             "",
		"(a (nested) comment) mx.test; spf=x": "spf=x",
		"\"mx.test\"; iprev=pass policy.iprev=2001:db8::1": "iprev=pass",
		"mx.test; dkim=":       "-",
		"mx.test; =pass":       "-",
		"mx.test; dkim=pass x": "-",
		"":                     "-",
		";":                    "-",
		"(never ends":          "-",
	} {
		h, err := authres.Parse(text)
		var got []string
		for _, r := range h.Results {
			got = append(got, r.Method+"="+r.Value)
		}
		if err != nil {
			got = []string{"-"}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	h, _ := authres.Parse("mx.test; spf=pass smtp.mailfrom=\"a b\"@x.test; dkim=pass header.D=x.test")
	if h.Results[0].Get("smtp.mailfrom") != "a b@x.test" || h.Results[1].Get("header.d") != "x.test" || h.Results[1].Get("header.s") != "" {
		t.Errorf("%+v", h)
	}
}

func TestFieldsBeyondReasonAreNotRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"mx.test" + strings.Repeat("; dkim=pass", 100):                     true,
		"mx.test" + strings.Repeat("; dkim=pass", 101):                     false,
		"mx.test; dkim=pass" + strings.Repeat(" header.d=x.test", 20):      true,
		"mx.test; dkim=pass" + strings.Repeat(" header.d=x.test", 21):      false,
		"mx.test; dkim=pass header.d=" + strings.Repeat("x", 32<<10) + ";": false,
	} {
		if _, err := authres.Parse(text); (err == nil) != want {
			t.Errorf("%.50q of %d bytes: %v", text, len(text), err)
		}
	}
}

func TestForgedFieldsOfOurNameGo(t *testing.T) {
	t.Parallel()
	for field, forged := range map[string]bool{
		"Authentication-Results: mx.us.test; spf=pass":                true,
		"authentication-results: MX.US.TEST; spf=pass":                true,
		"Authentication-Results : mx.us.test; spf=pass":               true,
		"Authentication-Results:\r\n mx.us.test\r\n ; spf=pass":       true,
		"Authentication-Results: (hello) mx.us.test; spf=pass":        true,
		"Authentication-Results: \"mx.us.test\"; spf=pass":            true,
		"Authentication-Results: \"mx.\\us.test\"; spf=pass":          true,
		"Authentication-Results: mx.us.test.; spf=pass":               true,
		"Authentication-Results: mx.us.test 1; spf=pass":              true,
		"Authentication-Results: mx.us.test":                          true,
		"Authentication-Results: mx.us.test spf=pass dkim":            true,
		"Authentication-Results: ;mx.us.test; spf=pass":               true,
		"Authentication-Results: mx.us.test\x00; spf=pass":            true,
		"Authentication-Results: mx.us.test:25; spf=pass":             true,
		"Authentication-Results: mx.us.test, x.test; spf=pass":        true,
		"Authentication-Results: \" mx.us.test\"; spf=pass":           true,
		"Authentication-Results: <mx.us.test>; spf=pass":              true,
		"Authentication-Results: \xc2\xa0mx.us.test; spf=pass":        true,
		"Authentication-Results: other.test; spf=pass":                false,
		"Authentication-Results: mx.us.test.evil.test; spf=pass":      false,
		"ARC-Authentication-Results: i=1; mx.us.test; spf=pass":       false,
		"X-Authentication-Results: mx.us.test; spf=pass":              false,
		"Subject: Authentication-Results: mx.us.test; spf=pass":       false,
		"Authentication-Results: other.test; x=y policy.z=mx.us.test": false,
	} {
		header, _, err := message.ReadHeader([]byte("From: a@x.test\r\n" + field + "\r\nTo: b@x.test\r\n\r\n"))
		if err != nil {
			t.Fatal(err)
		}
		kept := authres.Remove(header, "mx.us.test")
		if (len(kept) == 2) != forged || len(header) != 3 || kept[0].Name != "From" || kept[len(kept)-1].Name != "To" {
			t.Errorf("%q: %d fields kept", field, len(kept))
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("mx.test 1; dkim/1=pass (c (d)) reason=\"x\\\"y\" header.d=a.test header.i=@a.test; spf=none")
	f.Add("\"a\" ; none")
	f.Fuzz(func(t *testing.T, text string) {
		h, err := authres.Parse(text)
		if err != nil {
			return
		}
		if h.Server == "" {
			t.Fatal("nobody says so")
		}
		written := h.String()
		if strings.Contains(strings.ReplaceAll(written, "\r\n ", ""), "\n") {
			t.Fatalf("%q", written)
		}
	})
}

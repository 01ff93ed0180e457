package dmarc_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	moxdkim "github.com/mjl-/mox/dkim"
	moxdmarc "github.com/mjl-/mox/dmarc"
	moxdns "github.com/mjl-/mox/dns"
	moxspf "github.com/mjl-/mox/spf"
	"pgregory.net/rapid"

	"postrider/mail/dkim"
	"postrider/mail/dmarc"
	"postrider/mail/message"
	"postrider/mail/spf"
	"postrider/world"
)

// zone holds policies. Names with servfail in them do not answer, those with nodata in them have none, those with missing in them do
// not exist.
type zone struct {
	world.Resolver
	texts map[string][]string
}

func (z zone) TXT(_ context.Context, name string) ([]string, world.Answer, error) {
	switch texts, found := z.texts[name]; {
	case strings.Contains(name, "servfail"):
		return nil, world.Answer{}, world.ErrUnanswered
	case strings.Contains(name, "nodata"):
		return nil, world.Answer{}, world.ErrNoData
	case !found:
		return nil, world.Answer{}, world.ErrNoName
	default:
		return texts, world.Answer{}, nil
	}
}

func (z zone) MX(_ context.Context, name string) ([]world.MX, world.Answer, error) {
	if strings.Contains(name, "missing") {
		return nil, world.Answer{}, world.ErrNoName
	}
	return nil, world.Answer{}, world.ErrNoData
}

func policy(text string) zone {
	return zone{texts: map[string][]string{"_dmarc.example.test": {"unrelated", text}}}
}

func header(t interface{ Fatal(...any) }, raw string) []message.Field {
	fields, _, err := message.ReadHeader([]byte(raw + "\r\n\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	return fields
}

func TestTheAuthorIsProvenByEither(t *testing.T) {
	t.Parallel()
	type proofs struct {
		spf  spf.Result
		from string
		dkim dkim.Result
		sign string
	}
	for name, c := range map[string]struct {
		record string
		proofs proofs
		want   dmarc.Result
	}{
		"spf, same":               {"v=DMARC1; p=reject", proofs{spf: spf.Pass, from: "example.test"}, dmarc.Pass},
		"spf, capitals":           {"v=DMARC1; p=reject", proofs{spf: spf.Pass, from: "Example.TEST."}, dmarc.Pass},
		"spf, below":              {"v=DMARC1; p=reject", proofs{spf: spf.Pass, from: "bounce.example.test"}, dmarc.Pass},
		"spf, below but strict":   {"v=DMARC1; p=reject; aspf=s", proofs{spf: spf.Pass, from: "bounce.example.test"}, dmarc.Fail},
		"spf, other":              {"v=DMARC1; p=reject", proofs{spf: spf.Pass, from: "other.test"}, dmarc.Fail},
		"spf, ends alike":         {"v=DMARC1; p=reject", proofs{spf: spf.Pass, from: "notexample.test"}, dmarc.Fail},
		"spf fails":               {"v=DMARC1; p=reject", proofs{spf: spf.Fail, from: "example.test"}, dmarc.Fail},
		"spf soft":                {"v=DMARC1; p=reject", proofs{spf: spf.SoftFail, from: "example.test"}, dmarc.Fail},
		"spf unsure":              {"v=DMARC1; p=reject", proofs{spf: spf.TempError, from: "example.test"}, dmarc.TempError},
		"spf of others unsure":    {"v=DMARC1; p=reject", proofs{spf: spf.TempError, from: "other.test"}, dmarc.Fail},
		"dkim, same":              {"v=DMARC1; p=reject", proofs{dkim: dkim.Pass, sign: "example.test"}, dmarc.Pass},
		"dkim, above":             {"v=DMARC1; p=reject", proofs{dkim: dkim.Pass, sign: "mail.example.test"}, dmarc.Pass},
		"dkim, strict":            {"v=DMARC1; p=reject; adkim=S", proofs{dkim: dkim.Pass, sign: "mail.example.test"}, dmarc.Fail},
		"dkim, suffix":            {"v=DMARC1; p=reject", proofs{dkim: dkim.Pass, sign: "test"}, dmarc.Fail},
		"dkim fails":              {"v=DMARC1; p=reject", proofs{dkim: dkim.Fail, sign: "example.test"}, dmarc.Fail},
		"dkim by policy":          {"v=DMARC1; p=reject", proofs{dkim: dkim.Policy, sign: "example.test"}, dmarc.Fail},
		"dkim unsure":             {"v=DMARC1; p=reject", proofs{dkim: dkim.TempError, sign: "example.test"}, dmarc.TempError},
		"dkim unsure but spf":     {"v=DMARC1; p=reject", proofs{spf.Pass, "example.test", dkim.TempError, "example.test"}, dmarc.Pass},
		"nothing":                 {"v=DMARC1; p=none", proofs{}, dmarc.Fail},
		"no policy":               {"v=spf1 -all", proofs{spf: spf.Pass, from: "example.test"}, dmarc.None},
		"policy makes no sense":   {"v=DMARC1; p=maybe", proofs{spf: spf.Pass, from: "example.test"}, dmarc.PermError},
		"no sense but reports":    {"v=DMARC1; p=maybe; rua=mailto:a@x.test", proofs{spf: spf.Pass, from: "example.test"}, dmarc.Pass},
		"version is not first":    {"p=none; v=DMARC1", proofs{}, dmarc.None},
		"version is another":      {"v=DMARC2; p=none", proofs{}, dmarc.None},
		"values that are nothing": {"v=DMARC1; p=reject; aspf=x; adkim; pct=abc; =; ;;", proofs{spf: spf.Pass, from: "bounce.example.test"}, dmarc.Pass},
	} {
		e := dmarc.Evaluate(t.Context(), policy(c.record), header(t, "From: Ann <ann@example.test>"),
			spf.Verification{Result: c.proofs.spf, Domain: c.proofs.from}, []dkim.Verification{{Result: dkim.Fail}, {Result: c.proofs.dkim, Domain: c.proofs.sign}})
		if e.Result != c.want || e.Author != "example.test" {
			t.Errorf("%s: %+v, want %s", name, e, c.want)
		}
	}
}

func TestOneOfSeveralSignaturesIsEnough(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		results []dkim.Result
		want    dmarc.Result
	}{
		{[]dkim.Result{dkim.Pass, dkim.Fail}, dmarc.Pass},
		{[]dkim.Result{dkim.Fail, dkim.Pass}, dmarc.Pass},
		{[]dkim.Result{dkim.TempError, dkim.Fail}, dmarc.TempError},
		{[]dkim.Result{dkim.TempError, dkim.Pass, dkim.Fail}, dmarc.Pass},
		{[]dkim.Result{dkim.Fail, dkim.PermError}, dmarc.Fail},
	} {
		var list []dkim.Verification
		for _, result := range c.results {
			list = append(list, dkim.Verification{Result: result, Domain: "example.test"})
		}
		if e := dmarc.Evaluate(t.Context(), policy("v=DMARC1; p=reject"), header(t, "From: a@example.test"), spf.Verification{}, list); e.Result != c.want {
			t.Errorf("%v: %+v, want %s", c.results, e, c.want)
		}
	}
}

func TestValuesThatMakeNoSenseAreNotThere(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		policy, subdomains dmarc.Policy
		percent            int
	}{
		"v=DMARC1; p=reject; pct=30":                          {dmarc.PolicyReject, dmarc.PolicyReject, 30},
		"v=DMARC1; p=reject; pct=101":                         {dmarc.PolicyReject, dmarc.PolicyReject, 100},
		"v=DMARC1; p=reject; pct=-1":                          {dmarc.PolicyReject, dmarc.PolicyReject, 100},
		"v=DMARC1; p=reject; p=none; pct=30; pct=0":           {dmarc.PolicyReject, dmarc.PolicyReject, 30},
		"v=DMARC1; p=reject; sp=maybe; rua=mailto:a@x.test":   {dmarc.PolicyNone, dmarc.PolicyNone, 100},
		"v=DMARC1; p=reject; sp=maybe":                        {},
		"v=DMARC1; p=reject; x=" + strings.Repeat("y", 4<<10): {},
	} {
		r, err := dmarc.ParseRecord(text)
		if r.Policy != want.policy || r.Subdomains != want.subdomains || r.Percent != want.percent || (err != nil) != (want.policy == "") {
			t.Errorf("%.60q: %+v, %v", text, r, err)
		}
	}
	e := dmarc.Evaluate(t.Context(), policy("v=DMARC1; p=reject; pct=30"), header(t, "From: a@example.test"), spf.Verification{}, nil)
	if e.Disposition(29) != dmarc.PolicyReject || e.Disposition(30) != dmarc.PolicyQuarantine {
		t.Errorf("%+v", e)
	}
}

func TestTheRightPolicyIsFound(t *testing.T) {
	t.Parallel()
	names := zone{texts: map[string][]string{
		"_dmarc.example.test":       {"v=DMARC1; p=reject; sp=quarantine; np=none; pct=30"},
		"_dmarc.own.example.test":   {"v=DMARC1;p=none"},
		"_dmarc.two.example.test":   {"v=DMARC1; p=none", "v=DMARC1; p=reject"},
		"_dmarc.other.co.uk":        {"v=DMARC1; p=quarantine"},
		"_dmarc.servfail.test":      {"v=DMARC1; p=none"},
		"_dmarc.xn--bcher-kva.test": {"v=DMARC1; p=reject; sp=none"},
	}}
	for from, want := range map[string]struct {
		result dmarc.Result
		domain string
		policy dmarc.Policy
	}{
		"a@example.test":            {dmarc.Fail, "example.test", dmarc.PolicyReject},
		"a@sub.example.test":        {dmarc.Fail, "example.test", dmarc.PolicyQuarantine},
		"a@a.b.c.example.test":      {dmarc.Fail, "example.test", dmarc.PolicyQuarantine},
		"a@missing.example.test":    {dmarc.Fail, "example.test", dmarc.PolicyNone},
		"a@own.example.test":        {dmarc.Fail, "own.example.test", dmarc.PolicyNone},
		"a@two.example.test":        {dmarc.Fail, "example.test", dmarc.PolicyQuarantine},
		"a@sub.other.co.uk":         {dmarc.Fail, "other.co.uk", dmarc.PolicyQuarantine},
		"a@co.uk":                   {dmarc.None, "", ""},
		"a@nodata.test":             {dmarc.None, "", ""},
		"a@nodata.example.test":     {dmarc.Fail, "example.test", dmarc.PolicyQuarantine},
		"a@nothing.test":            {dmarc.None, "", ""},
		"a@servfail.test":           {dmarc.TempError, "", ""},
		"a@bücher.test":             {dmarc.Fail, "xn--bcher-kva.test", dmarc.PolicyReject},
		"a@mail.xn--bcher-kva.TEST": {dmarc.Fail, "xn--bcher-kva.test", dmarc.PolicyNone},
	} {
		e := dmarc.Evaluate(t.Context(), names, header(t, "From: "+from), spf.Verification{}, nil)
		if e.Result != want.result || e.PolicyDomain != want.domain || e.Policy != want.policy {
			t.Errorf("%s: %+v, want %+v", from, e, want)
		}
	}
}

func TestAMessageHasOneAuthor(t *testing.T) {
	t.Parallel()
	for from, want := range map[string]string{
		"From: ann@example.test":                                "example.test",
		"From: Ann <ann@Example.TEST>":                          "example.test",
		"From: Ann <ann@example.test>, Bob <bob@example.test>":  "example.test",
		"From: Shop, Inc. <ann@example.test>":                   "example.test",
		"From: \xe4nn <ann@example.test>":                       "example.test",
		"From: =?utf-8?q?=C3=A4nn?= <ann@example.test>":         "example.test",
		"From: \"eve@evil.test\" <ann@example.test>":            "example.test",
		"From: Ann <ann@example.test>, Eve <eve@evil.test>":     "",
		"From: a@example.test\r\nFrom: eve@evil.test":           "",
		"From: a@example.test\r\nfrom : a@example.test":         "",
		"From: Eve, eve@evil.test <ann@example.test>":           "",
		"From: Eve, <eve@evil.test> <ann@example.test>":         "",
		"From: ann@example.test <eve":                           "",
		"From: ann":                                             "",
		"From:":                                                 "",
		"From: <>":                                              "",
		"From: group: ann@example.test;":                        "",
		"To: ann@example.test":                                  "",
		"From: ann@[192.0.2.1]":                                 "",
		"From: Ann <ann@example.test>\r\nSender: eve@evil.test": "example.test",
	} {
		e := dmarc.Evaluate(t.Context(), policy("v=DMARC1; p=reject"), header(t, from), spf.Verification{Result: spf.Pass, Domain: "example.test"}, nil)
		wantResult := dmarc.Pass
		if want == "" {
			wantResult = dmarc.PermError
		}
		if e.Author != want || e.Result != wantResult {
			t.Errorf("%q: %+v, want %q", from, e, want)
		}
	}
}

func TestThePercentageIsKindByOneStep(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		evaluation dmarc.Evaluation
		roll       int
		want       dmarc.Policy
	}{
		{dmarc.Evaluation{Result: dmarc.Fail, Policy: dmarc.PolicyReject, Percent: 30}, 29, dmarc.PolicyReject},
		{dmarc.Evaluation{Result: dmarc.Fail, Policy: dmarc.PolicyReject, Percent: 30}, 30, dmarc.PolicyQuarantine},
		{dmarc.Evaluation{Result: dmarc.Fail, Policy: dmarc.PolicyQuarantine, Percent: 0}, 0, dmarc.PolicyNone},
		{dmarc.Evaluation{Result: dmarc.Fail, Policy: dmarc.PolicyQuarantine, Percent: 100}, 99, dmarc.PolicyQuarantine},
		{dmarc.Evaluation{Result: dmarc.Pass, Policy: dmarc.PolicyReject, Percent: 100}, 0, dmarc.PolicyNone},
		{dmarc.Evaluation{Result: dmarc.TempError, Policy: dmarc.PolicyReject, Percent: 100}, 0, dmarc.PolicyNone},
	} {
		if got := c.evaluation.Disposition(c.roll); got != c.want {
			t.Errorf("%+v, %d: %s", c.evaluation, c.roll, got)
		}
	}
}

func TestAStrangerComesToTheSameResult(t *testing.T) {
	t.Parallel()
	domain := rapid.SampledFrom([]string{"example.test", "sub.example.test", "a.sub.example.test", "other.test", "x.co.uk", "y.x.co.uk", "co.uk"})
	tag := rapid.SampledFrom([]string{"", "; sp=none", "; sp=reject", "; adkim=s", "; aspf=s", "; adkim=r; aspf=r", "; pct=10", "; rua=mailto:a@x.test"})
	rapid.Check(t, func(t *rapid.T) {
		author, sender, signed := domain.Draw(t, "author"), domain.Draw(t, "sender"), domain.Draw(t, "signed")
		texts := map[string][]string{}
		mock := moxdns.MockResolver{TXT: map[string][]string{}}
		for _, at := range []string{"example.test", "sub.example.test", "x.co.uk"} {
			if rapid.Bool().Draw(t, "published") {
				text := "v=DMARC1; p=" + rapid.SampledFrom([]string{"none", "quarantine", "reject"}).Draw(t, "p") + tag.Draw(t, "tag")
				texts["_dmarc."+at], mock.TXT["_dmarc."+at+"."] = []string{text}, []string{text}
			}
		}
		senderResult := rapid.SampledFrom([]spf.Result{spf.Pass, spf.Fail, spf.None}).Draw(t, "spf")
		signedResult := rapid.SampledFrom([]dkim.Result{dkim.Pass, dkim.Fail, dkim.PermError}).Draw(t, "dkim")

		ours := dmarc.Evaluate(t.Context(), zone{texts: texts}, header(t, "From: a@"+author), spf.Verification{Result: senderResult, Domain: sender},
			[]dkim.Verification{{Result: signedResult, Domain: signed}})
		identity := moxdns.Domain{ASCII: sender}
		_, theirs := moxdmarc.Verify(t.Context(), slog.New(slog.DiscardHandler), mock, moxdns.Domain{ASCII: author},
			[]moxdkim.Result{{Status: moxdkim.Status(signedResult), Sig: &moxdkim.Sig{Domain: moxdns.Domain{ASCII: signed}}}}, moxspf.Status(senderResult), &identity, false)

		if string(ours.Result) != string(theirs.Status) || ours.AlignedSPF != theirs.AlignedSPFPass || ours.AlignedDKIM != theirs.AlignedDKIMPass ||
			(ours.Disposition(0) != dmarc.PolicyNone && ours.Percent > 0) != theirs.Reject {
			t.Fatalf("%v: %s from %s signed %s\nours %+v\ntheirs %+v", texts, author, sender, signed, ours, theirs)
		}
	})
}

func FuzzParseRecord(f *testing.F) {
	f.Add("v=DMARC1; p=reject; sp=none; np=quarantine; pct=50; adkim=s; aspf=r; rua=mailto:a@x.test,mailto:b@x.test!10m; ruf=; fo=1")
	f.Add("v = DMARC1 ;p=none;p=reject")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := dmarc.ParseRecord(text)
		if err == nil && (!dmarc.IsRecord(text) || r.Policy == "" || r.Subdomains == "" || r.Missing == "" || r.Percent < 0 || r.Percent > 100 || r.DKIM == "" || r.SPF == "") {
			t.Fatalf("%+v", r)
		}
	})
}

func FuzzEvaluate(f *testing.F) {
	f.Add("Ann <ann@example.test>")
	f.Add("\"a@b\" <c@d.test>, (x) e@f.test")
	f.Fuzz(func(t *testing.T, from string) {
		fields, _, err := message.ReadHeader([]byte("From: " + from))
		if err != nil {
			return
		}
		e := dmarc.Evaluate(t.Context(), policy("v=DMARC1; p=reject"), fields, spf.Verification{}, nil)
		if (e.Result == dmarc.PermError) != (e.Author == "") || e.Result == dmarc.Pass {
			t.Fatalf("%+v", e)
		}
	})
}

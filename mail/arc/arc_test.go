package arc_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"postrider/mail/arc"
	"postrider/mail/dkim"
	"postrider/mail/message"
)

func TestAChainGrowsFromServerToServer(t *testing.T) {
	t.Parallel()
	s := newSealers(t)
	raw := original
	if chain := s.verify(t, raw); chain.Result != arc.None {
		t.Fatalf("%+v", chain)
	}
	var sealed []string
	for i, domain := range []string{"rsa.test", "ed.test", "rsa.test", "ed.test"} {
		raw = s.pass(t, domain, "Received: by mx."+domain+"\r\n"+raw)
		sealed = append(sealed, domain)
		chain := s.verify(t, raw)
		if chain.Result != arc.Pass || !slices.Equal(chain.Sealers, sealed) || len(chain.Results) != i+1 ||
			!strings.HasPrefix(chain.Results[i], "mx."+domain+"; spf=pass smtp.mailfrom=ann@example.test;") {
			t.Fatalf("%d: %+v", i+1, chain)
		}
	}
}

func TestAnySealVerifies(t *testing.T) {
	t.Parallel()
	s := newSealers(t)
	line := rapid.OneOf(rapid.StringMatching(`[ \ta-z.=]{0,12}`), rapid.SampledFrom([]string{"", " ", "\t", "é \xff", strings.Repeat("y", 1200)}))
	value := rapid.StringMatching(`[ \t]{0,3}[a-z@;=.]{1,9}(\r\n[ \t]{1,3}[a-z ]{0,5}[a-z]){0,3}[ \t]{0,2}`)
	rapid.Check(t, func(t *rapid.T) {
		var raw strings.Builder
		for range rapid.IntRange(0, 5).Draw(t, "fields") {
			raw.WriteString(rapid.SampledFrom([]string{"From", "To", "cc", "SUBJECT", "Received", "X-Y", "DKIM-Signature"}).Draw(t, "name") + ":" + value.Draw(t, "value") + "\r\n")
		}
		raw.WriteString("\r\n" + strings.Join(rapid.SliceOfN(line, 0, 8).Draw(t, "lines"), "\r\n"))
		passed := raw.String()
		for range rapid.IntRange(1, 3).Draw(t, "servers") {
			passed = s.pass(t, rapid.SampledFrom([]string{"rsa.test", "ed.test"}).Draw(t, "domain"), passed)
		}
		if chain := s.verify(t, passed); chain.Result != arc.Pass {
			t.Fatalf("%+v\n%q", chain, passed)
		}
		if chain := s.verify(t, strings.ReplaceAll(passed, "\r\n", "\n")); chain.Result != arc.Pass {
			t.Fatalf("with LF: %+v\n%q", chain, passed)
		}
	})
}

var folds = regexp.MustCompile(`\r\n[ \t]`)

func TestEveryByteOfAChainCounts(t *testing.T) {
	t.Parallel()
	s := newSealers(t)
	raw := s.pass(t, "rsa.test", s.pass(t, "ed.test", original))
	header, _, err := message.ReadHeader([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	text := folds.ReplaceAllString(raw, " ") // so that blanks in folds, which do not count, are few
	if s.verify(t, text).Result != arc.Pass {
		t.Fatal("folds must not matter")
	}
	end := strings.Index(text, "From: ")
	changed := 0
	for i := 0; i < end; i += 3 {
		if text[i] == ' ' || text[i] == '\r' || text[i] == '\n' {
			continue
		}
		forged := []byte(text)
		if forged[i] ^= 1; forged[i] == ' ' || forged[i] == '\n' {
			continue
		}
		changed++
		// A field whose name was changed is no part of the chain, which is incomplete then.
		if chain := s.verify(t, string(forged)); chain.Result != arc.Fail {
			t.Errorf("byte %d of %q: %+v", i, text[max(0, i-20):i+20], chain)
		}
	}
	if changed < 300 || len(header) != 13 {
		t.Fatalf("%d changes of %d fields", changed, len(header))
	}
}

func TestAChangedMessageBreaksTheChain(t *testing.T) {
	t.Parallel()
	s := newSealers(t)
	once := s.pass(t, "rsa.test", original)
	for name, edit := range map[string]func(string) string{
		"body":      func(m string) string { return strings.Replace(m, "Hello  you", "Hello me", 1) },
		"more body": func(m string) string { return m + "more\r\n" },
		"subject":   func(m string) string { return strings.Replace(m, "Subject: Hello", "Subject: [list] Hello", 1) },
		"from":      func(m string) string { return strings.Replace(m, "ann@", "eve@", 1) },
		"second from": func(m string) string {
			return strings.Replace(m, "From: Ann", "From: Eve <eve@example.test>\r\nFrom: Ann", 1)
		},
		"from is gone":   func(m string) string { return strings.Replace(m, "From: Ann <ann@example.test>\r\n", "", 1) },
		"results edited": func(m string) string { return strings.Replace(m, "spf=pass", "spf=fail", 1) },
	} {
		chain := s.verify(t, edit(once))
		if chain.Result != arc.Fail || chain.Reason == "" || chain.Temporary {
			t.Errorf("%s: %+v", name, chain)
		}
		// The next server may say so, and nobody can say anything else after it.
		failed := s.pass(t, "ed.test", edit(once))
		if chain := s.verify(t, failed); chain.Result != arc.Fail {
			t.Errorf("%s, sealed: %+v", name, chain)
		}
		if _, err := s.seal(t, "rsa.test", failed); !errors.Is(err, arc.ErrEnded) {
			t.Errorf("%s, sealed again: %v", name, err)
		}
	}
	for name, harmless := range map[string]string{
		"trace":          "Received: by relay\r\n" + once,
		"trailing lines": once + "\r\n\r\n",
		"blanks":         strings.Replace(once, "Hello  you", "Hello \t you", 1),
	} {
		if chain := s.verify(t, harmless); chain.Result != arc.Pass {
			t.Errorf("%s: %+v", name, chain)
		}
	}
}

func TestAServerThatChangesTheMessageKeepsTheChain(t *testing.T) {
	t.Parallel()
	s := newSealers(t)
	arrived := s.pass(t, "rsa.test", original)
	chain := s.verify(t, arrived)
	changed := strings.Replace(arrived, "Subject: Hello", "Subject: [list] Hello", 1) + "-- \r\nfooter\r\n"
	header, body, err := message.ReadHeader([]byte(changed))
	if err != nil {
		t.Fatal(err)
	}
	fields, err := chain.Seal(s.signer("ed.test"), header, bytes.NewReader(body), "mx.ed.test; arc=pass", now)
	if err != nil {
		t.Fatal(err)
	}
	if chain := s.verify(t, string(fields)+changed); chain.Result != arc.Pass {
		t.Fatalf("%+v", chain)
	}
}

func TestChainsInDisorderFail(t *testing.T) {
	t.Parallel()
	s := newSealers(t)
	raw := s.pass(t, "rsa.test", s.pass(t, "ed.test", original))
	header, _, err := message.ReadHeader([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range header[:6] {
		for name, forged := range map[string]string{
			"missing":       strings.Replace(raw, string(f.Raw), "", 1),
			"twice":         string(f.Raw) + raw,
			"other number":  strings.Replace(raw, string(f.Raw), regexp.MustCompile(`i=\d`).ReplaceAllString(string(f.Raw), "i=7"), 1),
			"zero":          strings.Replace(raw, string(f.Raw), regexp.MustCompile(`i=\d`).ReplaceAllString(string(f.Raw), "i=0"), 1),
			"no number":     strings.Replace(raw, string(f.Raw), regexp.MustCompile(`i=\d;`).ReplaceAllString(string(f.Raw), ""), 1),
			"too many":      strings.Replace(raw, string(f.Raw), regexp.MustCompile(`i=\d`).ReplaceAllString(string(f.Raw), "i=51"), 1),
			"huge":          strings.Replace(raw, string(f.Raw), regexp.MustCompile(`i=\d`).ReplaceAllString(string(f.Raw), "i=99999999999999999999"), 1),
			"negative":      strings.Replace(raw, string(f.Raw), regexp.MustCompile(`i=\d`).ReplaceAllString(string(f.Raw), "i=-1"), 1),
			"another empty": f.Name + ":\r\n" + raw,
			"another twice": strings.Replace(raw, string(f.Raw), string(header[(i+1)%6].Raw), 1),
		} {
			if chain := s.verify(t, forged); chain.Result != arc.Fail || chain.Reason == "" {
				t.Errorf("%s of field %d: %+v", name, i, chain)
			}
			if _, err := s.seal(t, "rsa.test", forged); !errors.Is(err, arc.ErrEnded) {
				t.Errorf("%s of field %d can be sealed: %v", name, i, err)
			}
		}
	}
	middle := strings.Index(raw, "ARC-Seal: i=1") // without the first set
	if chain := s.verify(t, raw[:middle]+original); chain.Result != arc.Fail {
		t.Errorf("a gap: %+v", chain)
	}
	shuffled := string(header[5].Raw) + string(header[2].Raw) + string(header[0].Raw) + string(header[4].Raw) + string(header[1].Raw) + string(header[3].Raw) + original
	if chain := s.verify(t, shuffled); chain.Result != arc.Pass {
		t.Errorf("the order of fields says nothing: %+v", chain)
	}
}

func TestTagsThatMustNotBeAreRefusedHoweverWellSigned(t *testing.T) {
	t.Parallel()
	s := newSealers(t)
	honest := forgery{instance: 1, cv: "none", names: "from:to"}
	if chain := s.verify(t, s.forge(t, original, honest)); chain.Result != arc.Pass {
		t.Fatalf("%+v", chain)
	}
	for name, edit := range map[string]func(*forgery){
		"seal names fields":   func(f *forgery) { f.sealTags = "h=from; " },
		"tag twice":           func(f *forgery) { f.sealTags = "t=1; t=1; " },
		"no cv":               func(f *forgery) { f.cv = "" },
		"unknown cv":          func(f *forgery) { f.cv = "maybe" },
		"first cv passes":     func(f *forgery) { f.cv = "pass" },
		"first cv fails":      func(f *forgery) { f.cv = "fail" },
		"signature over seal": func(f *forgery) { f.names = "from:arc-seal" },
		"from not signed":     func(f *forgery) { f.names = "to" },
		"nothing signed":      func(f *forgery) { f.names = "" },
		"part of the body":    func(f *forgery) { f.signatureTags = "l=11; " },
		"expired":             func(f *forgery) { f.signatureTags = "t=1; x=1799999999; " },
		"odd time":            func(f *forgery) { f.signatureTags = "t=yesterday; " },
		"not the first":       func(f *forgery) { f.instance = 2 },
	} {
		forged := honest
		edit(&forged)
		if chain := s.verify(t, s.forge(t, original, forged)); chain.Result != arc.Fail {
			t.Errorf("%s: %+v", name, chain)
		}
	}
	once := s.forge(t, original, honest)
	for cv, want := range map[string]arc.Result{"pass": arc.Pass, "none": arc.Fail, "fail": arc.Fail, "": arc.Fail} {
		if chain := s.verify(t, s.forge(t, once, forgery{instance: 2, cv: cv, names: "from"})); chain.Result != want {
			t.Errorf("second with cv=%s: %+v", cv, chain)
		}
	}
}

func TestASealThatSaysFailCoversOnlyItsOwnSet(t *testing.T) {
	t.Parallel()
	s := newSealers(t)
	broken := strings.Replace(s.pass(t, "rsa.test", original), "Hello  you", "Hello me", 1)
	header, _, err := message.ReadHeader([]byte(s.pass(t, "ed.test", broken)))
	if err != nil {
		t.Fatal(err)
	}
	tags, err := dkim.ParseTags(header[0].Value)
	if err != nil || tags["cv"] != "fail" || tags["i"] != "2" {
		t.Fatalf("%v, %v", tags, err)
	}
	signature, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(tags["b"], " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	text := append(dkim.AppendRelaxed(nil, header[2].Raw), "\r\n"...)
	text = append(dkim.AppendRelaxed(text, header[1].Raw), "\r\n"...)
	digest := sha256.Sum256(dkim.AppendUnsigned(text, header[0].Raw))
	record, err := dkim.ParseRecord(dkim.PublicRecord(s.keys["ed.test"].Public()))
	if err != nil {
		t.Fatal(err)
	}
	if err := record.Verify("ed25519-sha256", digest[:], signature); err != nil {
		t.Fatal(err)
	}
}

func TestAKeyThatCannotBeAskedForIsNoFault(t *testing.T) {
	t.Parallel()
	s := newSealers(t)
	raw := s.pass(t, "rsa.test", s.pass(t, "ed.test", original))
	s.silent["ed.test"] = true
	if chain := s.verify(t, raw); chain.Result != arc.Fail || !chain.Temporary {
		t.Fatalf("%+v", chain)
	}
	if _, err := s.seal(t, "rsa.test", raw); !errors.Is(err, arc.ErrUnjudged) {
		t.Fatal(err)
	}
	delete(s.keys, "ed.test")
	s.silent["ed.test"] = false
	if chain := s.verify(t, raw); chain.Result != arc.Fail || chain.Temporary {
		t.Fatalf("%+v", chain)
	}
}

func TestAChainEndsAtFifty(t *testing.T) {
	t.Parallel()
	s := newSealers(t)
	raw := original
	for range arc.MaxInstances {
		raw = s.pass(t, "ed.test", raw)
	}
	if chain := s.verify(t, raw); chain.Result != arc.Pass || len(chain.Sealers) != 50 {
		t.Fatalf("%+v", chain)
	}
	if _, err := s.seal(t, "ed.test", raw); !errors.Is(err, arc.ErrEnded) {
		t.Fatal(err)
	}
	if chain := s.verify(t, s.forge(t, raw, forgery{instance: 51, cv: "pass", names: "from"})); chain.Result != arc.Fail {
		t.Fatalf("fifty-one: %+v", chain)
	}
}

func TestResultsCannotBecomeAnotherField(t *testing.T) {
	t.Parallel()
	s := newSealers(t)
	header, body, _ := message.ReadHeader([]byte(original))
	for _, results := range []string{"x\r\nFrom: eve@x.test", "x\nFrom: eve@x.test", "x\r\n\r\nbody", "x\r\n\r\n y"} {
		_, err := s.verify(t, original).Seal(s.signer("ed.test"), header, bytes.NewReader(body), results, now)
		if !errors.Is(err, arc.ErrResults) {
			t.Errorf("%q: %v", results, err)
		}
	}
}

func TestAMessageThatBeginsWithTheRestOfAFieldIsNotSealed(t *testing.T) {
	t.Parallel()
	s := newSealers(t)
	for _, raw := range []string{" ; dkim=pass\r\n" + original, "\tx\r\n" + original} {
		if _, err := s.seal(t, "ed.test", raw); !errors.Is(err, arc.ErrFolded) {
			t.Errorf("%.20q: %v", raw, err)
		}
	}
}

func TestABodyThatBreaksOffIsAnError(t *testing.T) {
	t.Parallel()
	s := newSealers(t)
	header, _, _ := message.ReadHeader([]byte(s.pass(t, "ed.test", original)))
	broken := errors.New("broken")
	body := func() io.Reader { return io.MultiReader(strings.NewReader("Hel"), iotest.ErrReader(broken)) }
	if _, err := arc.Verify(t.Context(), s, header, body(), now); !errors.Is(err, broken) {
		t.Errorf("verify: %v", err)
	}
	if _, err := (arc.Chain{Result: arc.None}).Seal(s.signer("ed.test"), header, body(), "x", now); !errors.Is(err, broken) {
		t.Errorf("seal: %v", err)
	}
}

func FuzzVerify(f *testing.F) {
	s := newSealers(f)
	once := s.pass(f, "ed.test", original)
	f.Add([]byte(once))
	f.Add([]byte(s.pass(f, "ed.test", once)))
	f.Add([]byte("ARC-Seal: i=1\nARC-Message-Signature: i=1\nARC-Authentication-Results: i=1\n\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		header, body, err := message.ReadHeader(raw)
		if err != nil {
			return
		}
		chain, err := arc.Verify(t.Context(), s, header, bytes.NewReader(body), now)
		if err != nil || (chain.Result == arc.Fail) != (chain.Reason != "") {
			t.Fatalf("%+v, %v", chain, err)
		}
		fields, err := chain.Seal(s.signer("ed.test"), header, bytes.NewReader(body), "mx.ed.test; none", now)
		if err != nil {
			return
		}
		again := s.verify(t, fmt.Sprintf("%s%s", fields, raw))
		if (again.Result == arc.Pass) != (chain.Result != arc.Fail) && bytes.Count(raw, []byte("\r")) == bytes.Count(raw, []byte("\r\n")) {
			t.Fatalf("%+v became %+v\n%q", chain, again, raw)
		}
	})
}

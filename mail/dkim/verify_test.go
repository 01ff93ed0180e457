package dkim_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/big"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	msgauth "github.com/emersion/go-msgauth/dkim"
	"pgregory.net/rapid"

	"postrider/mail/dkim"
	"postrider/mail/message"
	"postrider/world"
)

// zone answers for text records only. Names under servfail.test are never answered, those under nodata.test have none.
type zone struct {
	world.Resolver
	texts map[string][]string
}

func (z zone) TXT(_ context.Context, name string) ([]string, world.Answer, error) {
	switch texts, found := z.texts[name]; {
	case strings.HasSuffix(name, "servfail.test"):
		return nil, world.Answer{}, world.ErrUnanswered
	case strings.HasSuffix(name, "nodata.test"):
		return nil, world.Answer{}, world.ErrNoData
	case !found:
		return nil, world.Answer{}, world.ErrNoName
	default:
		return texts, world.Answer{}, nil
	}
}

func zoneOf(key crypto.Signer) zone {
	return zone{texts: map[string][]string{"s1._domainkey.example.test": {"other text", dkim.PublicRecord(key.Public())}}}
}

// check verifies a message with our own verifier.
func check(t fataler, z zone, signed []byte, at time.Time) []dkim.Verification {
	t.Helper()
	header, body, err := message.ReadHeader(signed)
	if err != nil {
		t.Fatalf("%v", err)
	}
	list, err := dkim.Verify(context.Background(), z, header, bytes.NewReader(body), at)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return list
}

func TestWhatStrangersSignVerifiesHere(t *testing.T) {
	t.Parallel()
	all := keys(t)
	line := rapid.OneOf(rapid.StringMatching(`[ \ta-z.=]{0,12}`), rapid.SampledFrom([]string{"", " ", "\t", "é \xff", strings.Repeat("y ", 10_000)}))
	rapid.Check(t, func(t *rapid.T) {
		key := all[rapid.SampledFrom([]string{"rsa", "ed25519"}).Draw(t, "key")]
		form := rapid.SampledFrom([]msgauth.Canonicalization{msgauth.CanonicalizationSimple, msgauth.CanonicalizationRelaxed})
		value := rapid.StringMatching(`[ \t]{0,3}[a-z@;=.]{1,9}(\r\n[ \t]{1,3}[a-z ]{0,5}[a-z]){0,3}[ \t]{0,2}`)
		raw := "From: a@example.test\r\nSubject:" + value.Draw(t, "subject") + "\r\nTO:" + value.Draw(t, "to") + "\r\nto:" + value.Draw(t, "to") +
			"\r\n\r\n" + strings.Join(rapid.SliceOfN(line, 0, 8).Draw(t, "lines"), "\r\n")
		if !strings.HasSuffix(raw, "\r\n") {
			raw += "\r\n"
		}
		var signed bytes.Buffer
		if err := msgauth.Sign(&signed, strings.NewReader(raw), &msgauth.SignOptions{Domain: "Example.test", Selector: "s1", Signer: key,
			HeaderCanonicalization: form.Draw(t, "header"), BodyCanonicalization: form.Draw(t, "body"),
			HeaderKeys: []string{"From", "Subject", "To", "To", "To", "Cc"}}); err != nil {
			t.Fatalf("%v", err)
		}
		for name, variant := range map[string][]byte{"CRLF": signed.Bytes(), "LF": bytes.ReplaceAll(signed.Bytes(), []byte("\r\n"), []byte("\n"))} {
			list := check(t, zoneOf(key), variant, time.Now())
			if len(list) != 1 || list[0].Result != dkim.Pass || list[0].Domain != "example.test" || list[0].Selector != "s1" {
				t.Fatalf("%s: %+v\n%q", name, list, signed.String())
			}
		}
	})
}

var (
	blankRuns  = regexp.MustCompile(`[ \t]+`)
	blankEnds  = regexp.MustCompile(`[ \t]+\n`)
	emptyLines = regexp.MustCompile(`\n+$`)
)

// canonical makes the form of a body from the words of the rules, without a thought for its size.
func canonical(body string, relaxed bool) string {
	body = strings.ReplaceAll(body, "\r\n", "\n")
	if !strings.HasSuffix(body, "\n") {
		body += "\n"
	}
	if relaxed {
		body = blankRuns.ReplaceAllString(blankEnds.ReplaceAllString(body, "\n"), " ")
	}
	body = emptyLines.ReplaceAllString(body, "") + "\n"
	if relaxed && body == "\n" {
		return ""
	}
	return strings.ReplaceAll(body, "\n", "\r\n")
}

func TestBodiesAreHashedByTheRulesHoweverTheyAreRead(t *testing.T) {
	t.Parallel()
	piece := rapid.SampledFrom([]string{"a", " ", "\t", "\r\n", "\n", "\r", "b c", strings.Repeat("x", 16<<10-1), strings.Repeat("x ", 9_000), strings.Repeat("\r\n", 20_000)})
	rapid.Check(t, func(t *rapid.T) {
		body := strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces"), "")
		for _, relaxed := range []bool{true, false} {
			form := dkim.BodyForm{Relaxed: relaxed, Limit: -1}
			whole, err := dkim.HashBody(strings.NewReader(body), form)
			if err != nil {
				t.Fatalf("%v", err)
			}
			if want := canonical(body, relaxed); !bytes.Equal(whole[form].SHA256, digest([]byte(want))) || whole[form].Length != int64(len(want)) {
				t.Fatalf("relaxed %t: %d bytes, want %q", relaxed, whole[form].Length, want)
			}
			slow, err := dkim.HashBody(iotest.HalfReader(strings.NewReader(body)), form, form)
			if err != nil || !bytes.Equal(slow[form].SHA256, whole[form].SHA256) || slow[form].Length != whole[form].Length {
				t.Fatalf("%+v and %+v, %v", whole, slow, err)
			}
			limited := dkim.BodyForm{Relaxed: relaxed, Limit: whole[form].Length}
			cut, err := dkim.HashBody(strings.NewReader(body+"\r\nmore"), limited)
			if again, _ := dkim.HashBody(strings.NewReader(body), limited); err != nil || !bytes.Equal(again[limited].SHA256, whole[form].SHA256) || cut[limited].Length < limited.Limit {
				t.Fatalf("%+v, %v", again, err)
			}
		}
	})
}

func TestAChangedMessageFails(t *testing.T) {
	t.Parallel()
	for kind, key := range keys(t) {
		signed := sign(t, key, []byte(plainHeader+"Hello you\r\n"))
		for name, forged := range map[string]string{
			"body":             strings.Replace(string(signed), "Hello you", "Hello me", 1),
			"more body":        string(signed) + "more\r\n",
			"subject":          strings.Replace(string(signed), "Subject: Hello", "Subject: Hullo", 1),
			"second subject":   "Subject: forged\r\n" + string(signed),
			"second from":      "From: forged@x.test\r\n" + string(signed),
			"signature itself": strings.Replace(string(signed), " t=", " t=1", 1),
		} {
			list := check(t, zoneOf(key), []byte(forged), time.Now())
			if len(list) != 1 || list[0].Result == dkim.Pass {
				t.Errorf("%s, %s: %+v", kind, name, list)
			}
		}
		if list := check(t, zoneOf(key), append([]byte("Received: by relay\r\n"), signed...), time.Now()); dkim.Best(list) != dkim.Pass {
			t.Errorf("%s: a trace field must not matter: %+v", kind, list)
		}
	}
}

func TestSignaturesThatProveNothingAreToldApart(t *testing.T) {
	t.Parallel()
	key := keys(t)["ed25519"]
	signed := string(sign(t, key, []byte(plainHeader+"Hello\r\n")))
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	good := dkim.PublicRecord(key.Public())
	for name, c := range map[string]struct {
		edit   func(string) string
		record string
		want   dkim.Result
	}{
		"as it is":       {record: good, want: dkim.Pass},
		"no key":         {want: dkim.PermError},
		"revoked":        {record: "v=DKIM1; k=ed25519; p=", want: dkim.PermError},
		"other key type": {record: dkim.PublicRecord(small.Public()), want: dkim.PermError},
		"other hash":     {record: strings.Replace(good, "; k=", "; h=sha1; k=", 1), want: dkim.PermError},
		"not for mail":   {record: strings.Replace(good, "; k=", "; s=tlsrpt; k=", 1), want: dkim.PermError},
		"for mail":       {record: strings.Replace(good, "; k=", "; s=email:x; t=s:y; k=", 1), want: dkim.Pass},
		"other key":      {record: "v=DKIM1; k=ed25519; p=" + strings.Repeat("A", 43) + "=", want: dkim.Fail},
		"short key":      {record: "v=DKIM1; k=ed25519; p=AAAA", want: dkim.PermError},
		"sha1":           {edit: replace("a=ed25519-sha256", "a=rsa-sha1"), record: good, want: dkim.PermError},
		"no version":     {edit: replace("v=1;", ""), record: good, want: dkim.Neutral},
		"tag twice":      {edit: replace("v=1;", "v=1; v=1;"), record: good, want: dkim.Neutral},
		"odd domain":     {edit: replace("d=example.test", "d=exa mple"), record: good, want: dkim.Neutral},
		"odd selector":   {edit: replace("s=s1", "s=../x"), record: good, want: dkim.Neutral},
		"identity alike": {edit: replace("v=1;", "v=1; i=@notexample.test;"), record: good, want: dkim.PermError},
		"other version":  {edit: replace("v=1;", "v=2;"), record: good, want: dkim.Neutral},
		"other question": {edit: replace("v=1;", "v=1; q=http/get;"), record: good, want: dkim.PermError},
		"no data":        {edit: replace("d=example.test", "d=nodata.test"), record: good, want: dkim.PermError},
		"before it was":  {edit: replace(" x=", " x=1; z="), record: good, want: dkim.Neutral},
		"many tags":      {edit: replace("v=1;", "v=1; "+manyTags()), record: good, want: dkim.Neutral},
		"other identity": {edit: replace("v=1;", "v=1; i=@other.test;"), record: good, want: dkim.PermError},
		"from unsigned":  {edit: replace("h=from:from:", "h="), record: good, want: dkim.PermError},
		"unanswered":     {edit: replace("d=example.test", "d=servfail.test"), record: good, want: dkim.TempError},
		"odd form":       {edit: replace("c=relaxed/relaxed", "c=nofws"), record: good, want: dkim.Neutral},
		"bad length":     {edit: replace("v=1;", "v=1; l=-1;"), record: good, want: dkim.Neutral},
		"too long":       {edit: replace("v=1;", "v=1; l=9999;"), record: good, want: dkim.Fail},
	} {
		text, z := signed, zone{texts: map[string][]string{}}
		if c.edit != nil {
			text = c.edit(signed)
			if text == signed {
				t.Fatalf("%s changes nothing", name)
			}
		}
		if c.record != "" {
			z.texts["s1._domainkey.example.test"] = []string{c.record}
		}
		list := check(t, z, []byte(text), time.Now())
		if len(list) != 1 || list[0].Result != c.want || (list[0].Reason == "") != (c.want == dkim.Pass) {
			t.Errorf("%s: %+v, want %s", name, list, c.want)
		}
	}
}

func TestAStrictKeyIsForItsOwnDomain(t *testing.T) {
	t.Parallel()
	key := keys(t)["ed25519"]
	for identity, want := range map[string]dkim.Result{"@example.test": dkim.Pass, "ann@example.test": dkim.Pass, "@sub.example.test": dkim.PermError} {
		signed := signWith(t, key, "i="+identity+"; ", "Hello\r\n", "Hello\r\n")
		z := zone{texts: map[string][]string{"s1._domainkey.example.test": {dkim.PublicRecord(key.Public()) + "; t=s"}}}
		if list := check(t, z, signed, time.Now()); dkim.Best(list) != want {
			t.Errorf("%s: %+v", identity, list)
		}
		if list := check(t, zoneOf(key), signed, time.Now()); dkim.Best(list) != dkim.Pass {
			t.Errorf("%s, not strict: %+v", identity, list)
		}
	}
}

func TestKeysOfOddSizesAreUnusable(t *testing.T) {
	t.Parallel()
	for _, bits := range []uint{512, 1023, 8193, 16384} {
		modulus := new(big.Int).Add(new(big.Int).Lsh(big.NewInt(1), bits-1), big.NewInt(1))
		der, err := x509.MarshalPKIXPublicKey(&rsa.PublicKey{N: modulus, E: 65537})
		if err != nil {
			t.Fatal(err)
		}
		err = dkim.Record{KeyType: "rsa", Key: der}.Verify("rsa-sha256", digest(nil), make([]byte, bits/8))
		if !errors.Is(err, dkim.ErrUnusable) {
			t.Errorf("%d bits: %v", bits, err)
		}
	}
}

func replace(old, with string) func(string) string {
	return func(s string) string { return strings.Replace(s, old, with, 1) }
}

// manyTags are more than a signature may have.
func manyTags() string {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "z%d=; ", i)
	}
	return b.String()
}

func TestASignatureExpires(t *testing.T) {
	t.Parallel()
	key := keys(t)["ed25519"]
	const week = 7 * 24 * time.Hour
	signed, at := sign(t, key, []byte(plainHeader+"Hello\r\n")), time.Now()
	for after, want := range map[time.Duration]dkim.Result{0: dkim.Pass, week - time.Minute: dkim.Pass, week + time.Minute: dkim.PermError} {
		if list := check(t, zoneOf(key), signed, at.Add(after)); dkim.Best(list) != want {
			t.Errorf("after %s: %+v", after, list)
		}
	}
}

// signWith signs a body with tags that our signer never writes, and puts another body below.
func signWith(t fataler, key crypto.Signer, tags, signed, body string) []byte {
	t.Helper()
	header := "From: a@example.test\r\n"
	form := dkim.BodyForm{Relaxed: true, Limit: -1}
	hashes, err := dkim.HashBody(strings.NewReader(signed), form)
	if err != nil {
		t.Fatalf("%v", err)
	}
	field := "DKIM-Signature: v=1; a=ed25519-sha256; c=relaxed/relaxed; d=example.test; s=s1; h=from; " + tags + "bh=" + encode(hashes[form].SHA256) + "; b="
	buf := append(dkim.AppendRelaxed(nil, []byte(header)), "\r\n"...)
	signature, err := dkim.NewSigner("example.test", "s1", key).SignDigest(digest(dkim.AppendUnsigned(buf, []byte(field+"\r\n"))))
	if err != nil {
		t.Fatalf("%v", err)
	}
	return []byte(field + encode(signature) + "\r\n" + header + "\r\n" + body)
}

func TestABodyThatIsSignedInPartIsNotAccepted(t *testing.T) {
	t.Parallel()
	key := keys(t)["ed25519"]
	for body, want := range map[string]dkim.Result{"Hello\r\n": dkim.Pass, "Hello\r\nand buy this\r\n": dkim.Policy, "Hell": dkim.Fail} {
		signed := signWith(t, key, "l=7; ", "Hello\r\n", body)
		if list := check(t, zoneOf(key), signed, time.Now()); dkim.Best(list) != want {
			t.Errorf("%q: %+v", body, list)
		}
	}
}

func TestOnlySomeSignaturesAreLookedAt(t *testing.T) {
	t.Parallel()
	key := keys(t)["ed25519"]
	signed := sign(t, key, []byte(plainHeader+"Hello\r\n"))
	field, _, _ := strings.Cut(string(signed), "From:")
	list := check(t, zoneOf(key), []byte(strings.Repeat(field, 30)+string(signed)), time.Now())
	if len(list) != 10 || dkim.Best(list) != dkim.Pass {
		t.Fatalf("%d results, best %s", len(list), dkim.Best(list))
	}
}

func TestABodyThatBreaksOffIsAnError(t *testing.T) {
	t.Parallel()
	key := keys(t)["ed25519"]
	header, _, _ := message.ReadHeader(sign(t, key, []byte(plainHeader+"Hello\r\n")))
	broken := errors.New("broken")
	_, err := dkim.Verify(t.Context(), zoneOf(key), header, io.MultiReader(strings.NewReader("Hel"), iotest.ErrReader(broken)), time.Now())
	if !errors.Is(err, broken) {
		t.Fatal(err)
	}
}

func FuzzVerify(f *testing.F) {
	key := keys(f)["ed25519"]
	f.Add(sign(f, key, []byte(plainHeader+"Hello\r\n")))
	f.Add(signWith(f, key, "l=3; ", "Hello\r\n", "Hello\r\n"))
	f.Add([]byte("DKIM-Signature: v=1; a=rsa-sha256; d=a.test; s=x; h=from; bh=AA==; b=AA==\nfrom:\n\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		header, body, err := message.ReadHeader(raw)
		if err != nil {
			return
		}
		list, err := dkim.Verify(t.Context(), zoneOf(key), header, bytes.NewReader(body), time.Unix(1_800_000_000, 0))
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range list {
			if v.Result == "" || (v.Result == dkim.Pass) != (v.Reason == "") {
				t.Fatalf("%+v", v)
			}
		}
	})
}

func BenchmarkVerify(b *testing.B) {
	for kind, key := range keys(b) {
		header, body, _ := message.ReadHeader(sign(b, key, []byte(plainHeader+strings.Repeat("A line of text with some words in it, as people write it.\r\n", 70))))
		b.Run(kind, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if list, err := dkim.Verify(b.Context(), zoneOf(key), header, bytes.NewReader(body), time.Now()); err != nil || dkim.Best(list) != dkim.Pass {
					b.Fatal(err)
				}
			}
		})
	}
}

func encode(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

func digest(b []byte) []byte {
	sum := sha256.Sum256(b)
	return sum[:]
}

package sandbox_test

import (
	"crypto/rand"
	"fmt"
	"strings"
	"testing"
	"time"

	"postrider/mail/dkim"
	"postrider/mail/smtp"
)

// publishAcme sets up acme.test as a customer would and returns a signer for it.
func (b *box) publishAcme() *dkim.Signer {
	b.t.Helper()
	key, err := dkim.GenerateEd25519(rand.Reader)
	if err != nil {
		b.t.Fatal(err)
	}
	b.put("s1._domainkey.acme.test", "TXT", dkim.PublicRecord(key.Public()))
	b.put("acme.test", "TXT", "v=spf1 include:spf."+serviceDomain+" ~all", "some other text")
	b.put("_dmarc.acme.test", "TXT", "v=DMARC1; p=reject")
	b.put("bounce.acme.test", "CNAME", "bounces."+serviceDomain)
	return dkim.NewSigner("acme.test", "s1", key)
}

func (b *box) sign(signer *dkim.Signer, raw string, at time.Time) string {
	b.t.Helper()
	signature, err := signer.Sign([]byte(raw), at)
	if err != nil {
		b.t.Fatal(err)
	}
	return string(signature) + raw
}

// verdictOn sends a message and returns what the provider makes of it.
func (b *box) verdictOn(from, raw string) verdict {
	b.t.Helper()
	b.mustSend(smtp.Envelope{From: from, To: []string{"bob@example.test"}}, raw)
	return b.messages("bob@example.test")[0].Authentication
}

func TestVerdictsFollowFromDNSAndTheBytes(t *testing.T) {
	t.Parallel()
	b := openBox(t)
	signer := b.publishAcme()
	b.put("strict.test", "TXT", "v=spf1 ip4:192.0.2.1 -all")
	b.put("twice.test", "TXT", "v=spf1 -all", "v=spf1 ~all")
	signed := b.sign(signer, letter, b.clock.Now())
	for name, test := range map[string]struct {
		from, raw string
		want      verdict
	}{
		"signed and sent by the service": {"x@bounce.acme.test", signed, verdict{SPF: "pass", DKIM: "pass", DMARC: "pass"}},
		"sent by the domain itself":      {"x@acme.test", letter, verdict{SPF: "pass", DKIM: "none", DMARC: "pass"}},
		"return path of the service":     {sender, signed, verdict{SPF: "pass", DKIM: "pass", DMARC: "pass"}},
		"unsigned, not aligned":          {sender, letter, verdict{SPF: "pass", DKIM: "none", DMARC: "fail"}},
		"changed body":                   {sender, strings.Replace(signed, "Hello, Bob", "Hello, Rob", 1), verdict{SPF: "pass", DKIM: "fail", DMARC: "fail"}},
		"changed subject":                {sender, strings.Replace(signed, "Subject: Hello", "Subject: Hallo", 1), verdict{SPF: "pass", DKIM: "fail", DMARC: "fail"}},
		"second subject":                 {sender, "Subject: Buy\r\n" + signed, verdict{SPF: "pass", DKIM: "fail", DMARC: "fail"}},
		"wrong sender":                   {"x@strict.test", signed, verdict{SPF: "fail", DKIM: "pass", DMARC: "pass"}},
		"broken SPF":                     {"x@twice.test", signed, verdict{SPF: "permerror", DKIM: "pass", DMARC: "pass"}},
		"no SPF":                         {"x@example.test", letter, verdict{SPF: "none", DKIM: "none", DMARC: "fail"}},
		"SPF cannot be looked up":        {"x@servfail.test", letter, verdict{SPF: "temperror", DKIM: "none", DMARC: "temperror"}},
		"domain without DMARC": {sender, strings.Replace(letter, "ann@acme.test", "ann@example.test", 1),
			verdict{SPF: "pass", DKIM: "none", DMARC: "none"}},
		"unknown key": {sender, strings.Replace(signed, "s=s1", "s=s2", 1), verdict{SPF: "pass", DKIM: "permerror", DMARC: "fail"}},
		"two authors": {sender, "From: <ann@other.test>\r\n" + letter, verdict{SPF: "pass", DKIM: "none", DMARC: "permerror"}},
		"no author":   {sender, "Subject: x\r\n\r\nx\r\n", verdict{SPF: "pass", DKIM: "none", DMARC: "permerror"}},
		"expired":     {sender, b.sign(signer, letter, b.clock.Now().Add(-30*24*time.Hour)), verdict{SPF: "pass", DKIM: "permerror", DMARC: "fail"}},
		"a bounce":    {"", letter, verdict{SPF: "none", DKIM: "none", DMARC: "fail"}},
	} {
		if got := b.verdictOn(test.from, test.raw); got != test.want {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

func TestSignaturesExpireByTheClockOfTheSandbox(t *testing.T) {
	t.Parallel()
	b := openBox(t)
	signed := b.sign(b.publishAcme(), letter, b.clock.Now())
	b.clock.move(8 * 24 * time.Hour)

	if got := b.verdictOn(sender, signed); got.DKIM != "permerror" {
		t.Fatalf("%+v", got)
	}
}

func TestALateVerdictIsThatOfTheMomentOfDelivery(t *testing.T) {
	t.Parallel()
	b := openBox(t)
	signer := b.publishAcme()
	signed := b.sign(signer, letter, b.clock.Now())
	b.mustSend(mailTo("before@example.test"), signed)
	b.mustCall("DELETE", "/sandbox/dns?name=s1._domainkey.acme.test&type=TXT", "")
	b.mustSend(mailTo("without@example.test"), signed)
	for i := range 3 {
		b.put("s1._domainkey.acme.test", "TXT", fmt.Sprintf("v=DKIM1; k=ed25519; p=%d", i))
	}
	b.mustSend(mailTo("after@example.test"), signed)

	for to, want := range map[string]string{"before": "pass", "without": "permerror", "after": "permerror"} {
		if got := b.messages(to)[0].Authentication.DKIM; got != want {
			t.Errorf("%s: %s, want %s", to, got, want)
		}
	}
}

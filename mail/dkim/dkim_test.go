package dkim_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	msgauth "github.com/emersion/go-msgauth/dkim"
	moxdkim "github.com/mjl-/mox/dkim"
	moxdns "github.com/mjl-/mox/dns"
	"pgregory.net/rapid"

	"postrider/mail/dkim"
)

// fataler is what *testing.T and *rapid.T have in common.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

const plainHeader = "From: a@example.test\r\nTo: b@example.test\r\nSubject: Hello\r\nDate: Sun, 15 Nov 2026 02:13:00 +0000\r\nMessage-ID: <x@example.test>\r\n\r\n"

func TestOddMessagesVerifyEverywhere(t *testing.T) {
	t.Parallel()
	for name, message := range map[string]string{
		"plain":                 plainHeader + "Hello\r\n",
		"no body":               plainHeader,
		"empty lines only":      plainHeader + "\r\n\r\n\r\n",
		"blanks only":           plainHeader + " \t \r\n  ",
		"trailing empty lines":  plainHeader + "Hello\r\n\r\n\r\n",
		"trailing blank lines":  plainHeader + "Hello\r\n \t\r\n  \r\n",
		"no final line end":     plainHeader + "Hello",
		"trailing spaces":       plainHeader + "Hello  \t \r\nx \r\n",
		"leading spaces":        plainHeader + "   Hello\r\n\tx\r\n",
		"runs of blanks":        plainHeader + "a  b\t\tc \t d\r\n",
		"empty lines between":   plainHeader + "a\r\n\r\n\r\n\r\nb\r\n",
		"long line":             plainHeader + strings.Repeat("x", 100_000) + "\r\n",
		"many empty lines":      plainHeader + strings.Repeat("\r\n", 50_000) + "x\r\n",
		"many lines":            plainHeader + strings.Repeat("a line of text\r\n", 10_000),
		"eight bits":            plainHeader + "Gr\xc3\xbc\xc3\x9fe \xff\xfe\r\n",
		"dots":                  plainHeader + ".\r\n..\r\n.\r\n",
		"folded":                "From: A\r\n <a@example.test>\r\nSubject: a\r\n\tb  c \r\n   d\r\nTo:\r\n b@example.test\r\n\r\nx\r\n",
		"odd spacing":           "FROM:a@example.test\r\nsubject:   a   b   \r\nTO:\tb@example.test\r\n\r\nx\r\n",
		"empty value":           "From: a@example.test\r\nSubject:\r\nTo: \r\nCc:  \t\r\n\r\nx\r\n",
		"repeated":              "To: 1@x.test\r\nFrom: a@example.test\r\nTo: 2@x.test\r\nReceived: x\r\nTo: 3@x.test\r\nSubject: s\r\nSubject: t\r\n\r\nx\r\n",
		"everything":            "From: a@example.test\r\nTo: b@x.test\r\nCc: c@x.test\r\nReply-To: d@x.test\r\nSubject: s\r\nDate: d\r\nMessage-ID: <m@x>\r\nIn-Reply-To: <n@x>\r\nReferences: <n@x>\r\nMIME-Version: 1.0\r\nContent-Type: text/plain\r\nList-Unsubscribe: <https://x.test>\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n\r\nx\r\n",
		"signature on the line": "From: a@example.test\r\nSubject: b=abc; bh=def; DKIM-Signature: v=1\r\n\r\nb=\r\n",
	} {
		for kind, key := range keys(t) {
			t.Run(name+" "+kind, func(t *testing.T) {
				t.Parallel()
				verify(t, key, []byte(message))
			})
		}
	}
}

func TestAnyBodyAndSubjectVerifies(t *testing.T) {
	t.Parallel()
	key := keys(t)["ed25519"]
	line := rapid.OneOf(rapid.StringMatching(`[ \ta-z.=]{0,12}`), rapid.SampledFrom([]string{"", " ", "\t", "é \xff", strings.Repeat("y", 1200)}))
	rapid.Check(t, func(t *rapid.T) {
		body := strings.Join(rapid.SliceOfN(line, 0, 8).Draw(t, "lines"), "\r\n")
		var header strings.Builder
		header.WriteString("From: a@example.test\r\n")
		for range rapid.IntRange(0, 4).Draw(t, "fields") {
			header.WriteString(rapid.SampledFrom([]string{"To", "cc", "SUBJECT", "Received", "X-Y", "Reply-To", "Content-Type"}).Draw(t, "name") + ":")
			header.WriteString(rapid.StringMatching(`[ \t]{0,3}[a-z@;=.]{1,9}(\r\n[ \t]{1,3}[a-z ]{0,5}[a-z]){0,3}[ \t]{0,2}`).Draw(t, "value") + "\r\n")
		}
		verify(t, key, []byte(header.String()+"\r\n"+body))
	})
}

func TestASecondHeaderOnTopBreaksTheSignature(t *testing.T) {
	t.Parallel()
	key := keys(t)["ed25519"]
	signed := sign(t, key, []byte(plainHeader+"Hello\r\n"))
	for _, name := range []string{
		"From", "To", "Cc", "Subject", "Date", "Reply-To", "Content-Type", "MIME-Version", "Message-ID", "List-Unsubscribe",
		"List-Unsubscribe-Post", "In-Reply-To", "References",
	} {
		forged := append([]byte(name+": forged\r\n"), signed...)
		if err := verifyMsgauth(key, forged); err == nil {
			t.Errorf("go-msgauth accepts a second %s", name)
		}
		if err := verifyMox(key, forged); err == nil {
			t.Errorf("mox accepts a second %s", name)
		}
	}
	if err := verifyMsgauth(key, append([]byte("Received: by relay\r\n"), signed...)); err != nil {
		t.Errorf("a trace header must not matter: %v", err)
	}
}

func TestHowABodyIsEncodedIsSigned(t *testing.T) {
	t.Parallel()
	key := keys(t)["ed25519"]
	const mine, other = "Content-Transfer-Encoding: 7bit\r\n", "Content-Transfer-Encoding: base64\r\n"
	signed := sign(t, key, []byte(mine+plainHeader+"SGVsbG8=\r\n"))
	for name, forged := range map[string][]byte{
		"another": bytes.Replace(signed, []byte(mine), []byte(other), 1),
		"none":    bytes.Replace(signed, []byte(mine), nil, 1),
		"two":     append([]byte(other), signed...),
	} {
		for verifier, err := range map[string]error{"go-msgauth": verifyMsgauth(key, forged), "mox": verifyMox(key, forged)} {
			if err == nil {
				t.Errorf("%s accepts %s", verifier, name)
			}
		}
	}
	given := append([]byte(mine), sign(t, key, []byte(plainHeader+"Hello\r\n"))...)
	if err := verifyMsgauth(key, given); err != nil {
		t.Errorf("a relay that names what it was breaks the signature: %v", err)
	}
}

func TestWhatListsAddIsSignedOnlyWhereItIs(t *testing.T) {
	t.Parallel()
	key := keys(t)["ed25519"]
	for _, name := range []string{"Sender", "Auto-Submitted", "List-Id", "List-Help", "List-Subscribe", "List-Post", "List-Owner", "List-Archive", "Feedback-ID"} {
		for _, changed := range []bool{true, false} {
			raw := sign(t, key, []byte(name+": mine\r\n"+plainHeader+"Hello\r\n"))
			if changed {
				raw = bytes.Replace(raw, []byte(name+": mine"), []byte(name+": another"), 1)
			} else {
				raw = append([]byte(name+": added\r\n"), raw...)
			}
			for verifier, err := range map[string]error{"go-msgauth": verifyMsgauth(key, raw), "mox": verifyMox(key, raw)} {
				if (err != nil) != changed {
					t.Errorf("%s of %s, changed %t: %v", verifier, name, changed, err)
				}
			}
		}
	}
}

func TestSignatureHasTheTagsItShould(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_800_000_000, 0)
	for kind, key := range keys(t) {
		field, err := dkim.NewSigner("example.test", "s1", key).Sign([]byte(plainHeader+"Hello\r\n"), at)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := dkim.NewSigner("example.test", "s1", key).Sign([]byte(plainHeader+"Hello\r\n"), at)
		if !bytes.Equal(field, again) {
			t.Errorf("%s: two signatures of one message differ", kind)
		}
		text := string(field)
		for _, want := range []string{"v=1;", "a=" + kind + "-sha256;", "c=relaxed/relaxed;", "d=example.test;", "s=s1;", "t=1800000000;", "x=1800604800;", "h=from:from:to:to:cc:subject:subject:"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is missing in\n%s", kind, want, text)
			}
		}
		if strings.Contains(text, " l=") {
			t.Errorf("%s: the body is signed in part:\n%s", kind, text)
		}
		for line := range strings.Lines(text) {
			if !strings.HasSuffix(line, "\r\n") || len(line) > 80 {
				t.Errorf("%s: line %q", kind, line)
			}
		}
	}
}

func TestMessagesThatRelaysWouldChangeAreRefused(t *testing.T) {
	t.Parallel()
	signer := dkim.NewSigner("example.test", "s1", keys(t)["ed25519"])
	for message, want := range map[string]error{
		"To: b@x.test\r\n\r\nx\r\n":             dkim.ErrNoFrom,
		"":                                      dkim.ErrNoFrom,
		"From: a@example.test\n\nx\n":           dkim.ErrLineEnds,
		"From: a@example.test\r\n\r\na\nb\r\n":  dkim.ErrLineEnds,
		"From: a@example.test\r\n\r\na\rb\r\n":  dkim.ErrLineEnds,
		"From: a@example.test\r\n\r\na\r":       dkim.ErrLineEnds,
		"From: a\rb\r\n\r\nx\r\n":               dkim.ErrLineEnds,
		"From: a@example.test\r\nTo: b\n\r\nx":  dkim.ErrLineEnds,
		"From: a@example.test":                  dkim.ErrLineEnds,
		"From: a@example.test\r\n\r\n\r\n\nx\r": dkim.ErrLineEnds,
	} {
		if _, err := signer.Sign([]byte(message), time.Unix(0, 0)); !errors.Is(err, want) {
			t.Errorf("Sign(%q): %v, want %v", message, err, want)
		}
	}
}

func BenchmarkSign(b *testing.B) {
	message := []byte(plainHeader + strings.Repeat("A line of text with some words in it, as people write it.\r\n", 190))
	for kind, key := range keys(b) {
		signer := dkim.NewSigner("example.test", "s1", key)
		b.Run(kind, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := signer.Sign(message, time.Unix(1, 0)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("go-msgauth", func(b *testing.B) {
		options := &msgauth.SignOptions{Domain: "example.test", Selector: "s1", Signer: keys(b)["ed25519"], HeaderCanonicalization: "relaxed", BodyCanonicalization: "relaxed"}
		for b.Loop() {
			if err := msgauth.Sign(io.Discard, bytes.NewReader(message), options); err != nil {
				b.Fatal(err)
			}
		}
	})
	silent := dkim.NewSigner("example.test", "s1", silentKey{keys(b)["rsa"].Public()})
	for name, message := range map[string][]byte{
		"all but the signature":                      message,
		"all but the signature, with runs of blanks": bytes.ReplaceAll(message, []byte(" with"), []byte("  with")),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := silent.Sign(message, time.Unix(1, 0)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// silentKey takes no time, to measure everything else.
type silentKey struct{ public crypto.PublicKey }

func (k silentKey) Public() crypto.PublicKey { return k.public }
func (k silentKey) Sign(io.Reader, []byte, crypto.SignerOpts) ([]byte, error) {
	return make([]byte, 256), nil
}

func sign(t fataler, key crypto.Signer, message []byte) []byte {
	t.Helper()
	field, err := dkim.NewSigner("example.test", "s1", key).Sign(message, time.Now())
	if err != nil {
		t.Fatalf("sign %.200q: %v", message, err)
	}
	return append(field, message...)
}

// verify signs a message and asks two strangers.
func verify(t fataler, key crypto.Signer, message []byte) {
	t.Helper()
	signed := sign(t, key, message)
	if !bytes.HasSuffix(signed, []byte("\r\n")) { // SMTP cannot carry a line without its end
		signed = append(signed, "\r\n"...)
	}
	if err := verifyMsgauth(key, signed); err != nil {
		t.Fatalf("go-msgauth: %v\n%.600q", err, signed)
	}
	if err := verifyMox(key, signed); err != nil {
		t.Fatalf("mox: %v\n%.600q", err, signed)
	}
}

func verifyMsgauth(key crypto.Signer, signed []byte) error {
	results, err := msgauth.VerifyWithOptions(bytes.NewReader(signed), &msgauth.VerifyOptions{
		LookupTXT: func(name string) ([]string, error) {
			if name != "s1._domainkey.example.test" {
				return nil, errors.New("asked for " + name)
			}
			return []string{dkim.PublicRecord(key.Public())}, nil
		},
	})
	if err != nil {
		return err
	}
	if len(results) != 1 {
		return errors.New("no signature found")
	}
	return results[0].Err
}

func verifyMox(key crypto.Signer, signed []byte) error {
	resolver := moxdns.MockResolver{TXT: map[string][]string{"s1._domainkey.example.test.": {dkim.PublicRecord(key.Public())}}}
	accept := func(*moxdkim.Sig) error { return nil }
	results, err := moxdkim.Verify(context.Background(), slog.New(slog.DiscardHandler), resolver, true, accept, bytes.NewReader(signed), false)
	if err != nil {
		return err
	}
	if len(results) != 1 {
		return errors.New("no signature found")
	}
	if results[0].Status != moxdkim.StatusPass && results[0].Err == nil {
		return errors.New(string(results[0].Status))
	}
	return results[0].Err
}

// keys returns one key of each kind.
func keys(t testing.TB) map[string]crypto.Signer {
	t.Helper()
	rsaKey, err := dkim.GenerateRSA(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	edKey, err := dkim.GenerateEd25519(bytes.NewReader(bytes.Repeat([]byte{7}, 32)))
	if err != nil {
		t.Fatal(err)
	}
	return map[string]crypto.Signer{"rsa": rsaKey, "ed25519": edKey}
}

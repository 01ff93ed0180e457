package seal_test

import (
	"encoding/base64"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"postrider/platform/seal"
)

var (
	noon    = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	urlSafe = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
)

func TestATokenCarriesItsPayload(t *testing.T) {
	t.Parallel()
	k := seal.NewKeyring(secretA)
	for _, payload := range []string{"", "x", "ada@acme.test", strings.Repeat("long", 1000)} {
		token := k.Sign("unsubscribe", []byte(payload), noon.Add(time.Hour))
		got, err := k.Verify("unsubscribe", token, noon)

		if err != nil || string(got) != payload {
			t.Errorf("payload %.20q came back as %.20q, %v", payload, got, err)
		}
		if !urlSafe.MatchString(token) {
			t.Errorf("token %q is not safe in a URL", token)
		}
	}
}

func TestATokenDoesNotShowItsPayload(t *testing.T) {
	t.Parallel()
	token := seal.NewKeyring(secretA).Sign("open", []byte("ada@acme.test"), time.Time{})

	raw, err := base64.RawURLEncoding.DecodeString(token)

	if err != nil || strings.Contains(string(raw), "acme") {
		t.Fatalf("payload readable in %q (%v)", raw, err)
	}
}

func TestATokenExpiresOnItsSecond(t *testing.T) {
	t.Parallel()
	k := seal.NewKeyring(secretA)
	token := k.Sign("confirm", []byte("c"), noon)

	if _, err := k.Verify("confirm", token, noon.Add(-time.Microsecond)); err != nil {
		t.Errorf("just before: err = %v", err)
	}
	for _, late := range []time.Duration{0, time.Microsecond, 1000 * time.Hour} {
		if payload, err := k.Verify("confirm", token, noon.Add(late)); !errors.Is(err, seal.ErrExpired) || payload != nil {
			t.Errorf("%s later: %q, %v; want ErrExpired", late, payload, err)
		}
	}
}

func TestATokenWithoutExpiryLastsForever(t *testing.T) {
	t.Parallel()
	k := seal.NewKeyring(secretA)

	_, err := k.Verify("unsubscribe", k.Sign("unsubscribe", nil, time.Time{}), noon.AddDate(200, 0, 0))

	if err != nil {
		t.Fatal(err)
	}
}

func TestATokenServesOnlyItsPurpose(t *testing.T) {
	t.Parallel()
	k := seal.NewKeyring(secretA)
	token := k.Sign("confirm", []byte("c"), noon)

	// The expired moment is asked on purpose: a foreign token must not even be told from an old one.
	_, err := k.Verify("reset", token, noon.Add(time.Hour))

	if !errors.Is(err, seal.ErrInvalid) {
		t.Fatalf("err = %v, want ErrInvalid", err)
	}
}

func TestSealedDataIsNoToken(t *testing.T) {
	t.Parallel()
	k := seal.NewKeyring(secretA)
	sealed := k.Seal([]byte("0123456789"), "")

	_, err := k.Verify("", base64.RawURLEncoding.EncodeToString(sealed), noon)

	if !errors.Is(err, seal.ErrInvalid) {
		t.Fatalf("err = %v, want ErrInvalid", err)
	}
}

func TestEveryChangedCharacterOfATokenIsNoticed(t *testing.T) {
	t.Parallel()
	k := seal.NewKeyring(secretA)
	// Payloads of three lengths, so that the last character carries two, four or six bits.
	for _, payload := range []string{"a", "ab", "abc"} {
		token := k.Sign("click", []byte(payload), time.Time{})
		for i := range len(token) {
			for _, c := range "AQgw_-z9 \n.=é" {
				changed := token[:i] + string(c) + token[i+1:]
				if changed == token {
					continue
				}
				if _, err := k.Verify("click", changed, noon); !errors.Is(err, seal.ErrInvalid) {
					t.Errorf("%q at %d: err = %v, want ErrInvalid", c, i, err)
				}
			}
		}
	}
}

func TestAddedCharactersInATokenAreNoticed(t *testing.T) {
	t.Parallel()
	k := seal.NewKeyring(secretA)
	token := k.Sign("click", []byte("abc"), time.Time{})
	for _, changed := range []string{"", "A", token + "\n", "\r\n" + token, token[:9] + "\n" + token[9:], token + "A", token + "=", token + token, token[:len(token)-1]} {
		if _, err := k.Verify("click", changed, noon); !errors.Is(err, seal.ErrInvalid) {
			t.Errorf("%q: err = %v, want ErrInvalid", changed, err)
		}
	}
}

func TestATokenOfAPreviousSecretIsVerified(t *testing.T) {
	t.Parallel()
	token := seal.NewKeyring(secretA).Sign("unsubscribe", []byte("c"), time.Time{})

	payload, err := seal.NewKeyring(secretB, secretA).Verify("unsubscribe", token, noon)
	_, foreign := seal.NewKeyring(secretB).Verify("unsubscribe", token, noon)

	if err != nil || string(payload) != "c" {
		t.Errorf("previous secret: %q, %v", payload, err)
	}
	if !errors.Is(foreign, seal.ErrInvalid) {
		t.Errorf("unknown secret: err = %v, want ErrInvalid", foreign)
	}
}

func FuzzVerifyNeverTakesAStrangersToken(f *testing.F) {
	k, other := seal.NewKeyring(secretA), seal.NewKeyring(secretB)
	f.Add(other.Sign("click", []byte("abc"), time.Time{}))
	f.Add("")
	f.Fuzz(func(t *testing.T, token string) {
		if payload, err := k.Verify("click", token, noon); err == nil {
			t.Fatalf("%q verified as %q", token, payload)
		}
	})
}

func BenchmarkSign(b *testing.B) {
	k, payload := seal.NewKeyring(secretA), make([]byte, 40)
	for b.Loop() {
		k.Sign("click", payload, noon)
	}
}

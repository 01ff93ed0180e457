package account_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"postrider/product/account"
	"postrider/product/account/accounttest"
)

// device is one that holds a single passkey and does not look at which ones it is told to leave out.
type device struct {
	t      *testing.T
	id     []byte
	key    *ecdsa.PrivateKey
	public []byte // 0x04, x and y
}

func newDevice(t *testing.T) device {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	public, err := key.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return device{t, []byte(rand.Text()), key, public}
}

// register begins to add a passkey and returns the body that a browser would post.
func (d device) register(b *accounttest.Browser) map[string]any {
	d.t.Helper()
	begun := b.Must(200, "POST", "/account/passkeys/begin", nil)
	said := d.heard("webauthn.create", begun)
	const presentAndVerifiedWithKey = 0x45
	proof := slices.Concat(site(), []byte{presentAndVerifiedWithKey}, make([]byte, 4+16), []byte{0, byte(len(d.id))}, d.id,
		[]byte{0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 32}, d.public[1:33], []byte{0x22, 0x58, 32}, d.public[33:]) // an ES256 key in CBOR (RFC 9053)
	attested := slices.Concat([]byte("\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x58"), []byte{byte(len(proof))}, proof)
	text := base64.RawURLEncoding.EncodeToString
	return map[string]any{"ceremony": begun.Text("ceremony"), "name": "Olga's laptop", "response": map[string]any{
		"id": text(d.id), "rawId": text(d.id), "type": "public-key", "response": map[string]any{"clientDataJSON": text(said), "attestationObject": text(attested)}}}
}

// heard is what the browser tells a device of the question.
func (d device) heard(kind string, asked accounttest.Answer) []byte {
	d.t.Helper()
	said, err := json.Marshal(map[string]any{"type": kind, "challenge": asked.Text("options.publicKey.challenge"), "origin": accounttest.BaseURL})
	if err != nil {
		d.t.Fatal(err)
	}
	return said
}

// site is the installation as devices know it.
func site() []byte {
	sum := sha256.Sum256([]byte(strings.TrimPrefix(accounttest.BaseURL, "https://")))
	return sum[:]
}

// answer lets the device of a user answer a question, having counted so many answers.
func (d device) answer(asked accounttest.Answer, user string, count byte) map[string]any {
	d.t.Helper()
	said := d.heard("webauthn.get", asked)
	const presentAndVerified = 0x05
	proof := slices.Concat(site(), []byte{presentAndVerified, 0, 0, 0, count})
	heard := sha256.Sum256(said)
	digest := sha256.Sum256(slices.Concat(proof, heard[:]))
	signature, err := ecdsa.SignASN1(rand.Reader, d.key, digest[:])
	if err != nil {
		d.t.Fatal(err)
	}
	text := base64.RawURLEncoding.EncodeToString
	return map[string]any{"ceremony": asked.Text("ceremony"), "response": map[string]any{"id": text(d.id), "rawId": text(d.id), "type": "public-key",
		"response": map[string]any{"clientDataJSON": text(said), "authenticatorData": text(proof), "signature": text(signature), "userHandle": text([]byte(user))}}}
}

// withPasskey signs somebody up who has a passkey, and returns their id.
func withPasskey(h *accounttest.House, d device, email string) (b *accounttest.Browser, user string) {
	d.t.Helper()
	b = h.SignUp(email)
	b.Must(201, "POST", "/account/passkeys", d.register(b))
	return b, b.Must(200, "GET", "/auth/session", nil).Text("user.id")
}

func TestAPasskeySignsItsOwnerInOnceForEveryQuestion(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		d, stranger := newDevice(t), newDevice(t)
		_, olga := withPasskey(h, d, "olga@acme.test")
		b := h.Browser()
		ask := func() accounttest.Answer { return b.Must(200, "POST", "/auth/passkey/begin", nil) }

		stranger.id = d.id // who knows the name of a key does not have it
		b.Refused(401, "invalid_credentials", "POST", "/auth/passkey", stranger.answer(ask(), olga, 1))
		answer := d.answer(ask(), olga, 2)
		if in := b.Must(200, "POST", "/auth/passkey", answer); in.Text("user.email") != "olga@acme.test" {
			t.Errorf("signed in: %s", in.Body)
		}
		b.Must(200, "GET", "/account/passkeys", nil)

		h.Browser().Refused(410, "token_expired", "POST", "/auth/passkey", answer)
		late := d.answer(ask(), olga, 3)
		h.Clock.Move(5 * time.Minute)
		h.Browser().Refused(410, "token_expired", "POST", "/auth/passkey", late)
	})
}

func TestACopyOfAPasskeyIsRefused(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		d := newDevice(t)
		_, olga := withPasskey(h, d, "olga@acme.test")
		b := h.Browser()
		b.Must(200, "POST", "/auth/passkey", d.answer(b.Must(200, "POST", "/auth/passkey/begin", nil), olga, 7))

		copied := h.Browser() // has counted fewer answers than we have seen
		copied.Refused(401, "invalid_credentials", "POST", "/auth/passkey", d.answer(copied.Must(200, "POST", "/auth/passkey/begin", nil), olga, 6))
	})
}

func TestAPasskeyProvesNobodyElse(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		hers, his := newDevice(t), newDevice(t)
		b, olga := withPasskey(h, hers, "olga@acme.test")
		_, paul := withPasskey(h, his, "paul@acme.test")
		ask := func() accounttest.Answer { return b.Must(200, "POST", "/auth/passkey/begin", nil) }

		b.Refused(401, "invalid_credentials", "POST", "/auth/2fa/passkey", his.answer(ask(), paul, 1))
		b.Must(200, "POST", "/auth/2fa/passkey", hers.answer(ask(), olga, 1))
	})
}

func TestAPasskeyIsRegisteredOnce(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		d := newDevice(t)
		olga := h.SignUp("olga@acme.test")
		olga.Must(201, "POST", "/account/passkeys", d.register(olga))

		again := olga.Refused(409, "already_exists", "POST", "/account/passkeys", d.register(olga))
		if again.Text("error.details.resource") != "passkey" || !strings.Contains(again.Text("error.message"), "use another device") {
			t.Errorf("%s", again.Body)
		}
		paul := h.SignUp("paul@acme.test")
		paul.Refused(409, "already_exists", "POST", "/account/passkeys", d.register(paul))
		if keys, _ := olga.Must(200, "GET", "/account/passkeys", nil).Value("data").([]any); len(keys) != 1 {
			t.Errorf("%d passkeys", len(keys))
		}
	})
}

func TestAnAccountHasTwentyPasskeysHoweverManyWereBegunBefore(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		olga := h.SignUp("olga@acme.test")
		begunEarly := newDevice(t).register(olga)
		for range 20 {
			olga.Must(201, "POST", "/account/passkeys", newDevice(t).register(olga))
		}

		refused := olga.Refused(409, "invalid_state", "POST", "/account/passkeys", begunEarly)
		if !strings.Contains(refused.Text("error.message"), "Remove one first") {
			t.Errorf("%s", refused.Body)
		}
		olga.Refused(409, "invalid_state", "POST", "/account/passkeys/begin", nil)
	})
}

func TestWhatIsNoIDIsNoPasskeyNoQuestionAndNobody(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		d := newDevice(t)
		b, olga := withPasskey(h, d, "olga@acme.test")
		ask := func() accounttest.Answer { return b.Must(200, "POST", "/auth/passkey/begin", nil) }

		b.Refused(404, "not_found", "DELETE", "/account/passkeys/x", nil)
		answer := d.answer(ask(), olga, 1)
		answer["ceremony"] = "x"
		h.Browser().Refused(410, "token_expired", "POST", "/auth/passkey", answer)
		b.Refused(401, "invalid_credentials", "POST", "/auth/2fa/passkey", d.answer(ask(), "x", 1))
	})
}

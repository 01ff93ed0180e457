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

	"postrider/product/account"
	"postrider/product/account/accounttest"
)

// device is one that holds a single passkey and does not look at which ones it is told to leave out.
type device struct {
	t      *testing.T
	id     []byte
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
	return device{t, []byte(rand.Text()), public}
}

// register begins to add a passkey and returns the body that a browser would post.
func (d device) register(b *accounttest.Browser) map[string]any {
	d.t.Helper()
	begun := b.Must(200, "POST", "/account/passkeys/begin", nil)
	said, err := json.Marshal(map[string]any{"type": "webauthn.create", "challenge": begun.Text("options.publicKey.challenge"), "origin": accounttest.BaseURL})
	if err != nil {
		d.t.Fatal(err)
	}
	site := sha256.Sum256([]byte(strings.TrimPrefix(accounttest.BaseURL, "https://")))
	const presentAndVerifiedWithKey = 0x45
	proof := slices.Concat(site[:], []byte{presentAndVerifiedWithKey}, make([]byte, 4+16), []byte{0, byte(len(d.id))}, d.id,
		[]byte{0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 32}, d.public[1:33], []byte{0x22, 0x58, 32}, d.public[33:]) // an ES256 key in CBOR (RFC 9053)
	attested := slices.Concat([]byte("\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x58"), []byte{byte(len(proof))}, proof)
	text := base64.RawURLEncoding.EncodeToString
	return map[string]any{"ceremony": begun.Text("ceremony"), "name": "Olga's laptop", "response": map[string]any{
		"id": text(d.id), "rawId": text(d.id), "type": "public-key", "response": map[string]any{"clientDataJSON": text(said), "attestationObject": text(attested)}}}
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

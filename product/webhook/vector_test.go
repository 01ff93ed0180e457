package webhook

import (
	"bytes"
	"net/http"
	"testing"
	"time"
)

func sequence(from byte) secret {
	key := make(secret, secretBytes)
	for i := range key {
		key[i] = from + byte(i)
	}
	return key
}

// The numbers were computed by another program.
func TestSignaturesAreThoseOfTheTestVector(t *testing.T) {
	t.Parallel()
	const body = `{"id":"0193a1f0-6c1e-7b7a-9a0e-3f1f6d2b9c11","type":"email.delivered","created_at":"2024-11-15T02:13:00.000Z","data":{"email_id":"0193a1ef-0d5c-7c33-8e0a-2b7c1d9e4f00"}}`
	current, previous := sequence(0x00), sequence(0x20)
	if current.String() != "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=" || current.prefix() != "whsec_AAEC" {
		t.Errorf("secret %s, prefix %s", current, current.prefix())
	}

	header := http.Header{}
	sign(header, []secret{current, previous}, "0193a1f0-6c1e-7b7a-9a0e-3f1f6d2b9c11", time.Unix(1731636780, 999_000_000), body)

	for name, want := range map[string]string{
		"webhook-id":        "0193a1f0-6c1e-7b7a-9a0e-3f1f6d2b9c11",
		"webhook-timestamp": "1731636780",
		"webhook-signature": "v1,g00rQX0PyJNhBLMLzLxhvSeKlt9mzYtHzmmvFge6+c8= v1,2twXLOxdLHYLlqSIauCgNiJrAgZG+9hdw80xPIQjJFc=",
		"X-Service-Signature": "t=1731636780,v1=253802c11c7cd4ba143df0caa0928c5cb5ef2c84eb6877c541d4c03a9db5852d," +
			"v1=ac6aad866c8f275bfe3ef084feb5408ad464ad58ee21c23b2eae891e6c2ef3bd",
	} {
		if got := header.Get(name); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	if bytes.Equal(current, previous) {
		t.Error("the vector proves nothing")
	}
}

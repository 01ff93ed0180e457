package seal

import (
	"bytes"
	"encoding/hex"
	"testing"
)

func TestTheCipherAgreesWithThePublishedVectors(t *testing.T) {
	t.Parallel()
	for _, vector := range []struct {
		key       byte
		context   string
		encrypted string
	}{
		{0x01, "", "ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271"},
		{0x03, "c2sp.org/XAES-256-GCM", "986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d"},
	} {
		aead, nonce := newAEAD(bytes.Repeat([]byte{vector.key}, keyLength), []byte("ABCDEFGHIJKLMNOPQRSTUVWX"))

		got := hex.EncodeToString(aead.Seal(nil, nonce, []byte("XAES-256-GCM"), []byte(vector.context)))

		if got != vector.encrypted {
			t.Errorf("key %#x: got %s, want %s", vector.key, got, vector.encrypted)
		}
	}
}

package api_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"testing"
	"time"

	"postrider/platform/api"
	"postrider/platform/space"
)

func cursors() api.Cursors {
	return api.NewCursors(signer{})
}

// signer signs with a key that everybody knows.
type signer struct{}

func (signer) Sign(data []byte) []byte {
	mac := hmac.New(sha256.New, []byte("secret"))
	mac.Write(data)
	return mac.Sum(nil)
}

func (s signer) Check(data, mac []byte) bool { return hmac.Equal(mac, s.Sign(data)[:len(mac)]) }

func TestCursorReturnsItsPlace(t *testing.T) {
	t.Parallel()
	place := api.Cursor{ID: "0193a1ef-0d5c-7c33-8e0a-2b7c1d9e4f00", At: time.Date(2026, 11, 15, 2, 13, 0, 123456000, time.UTC)}
	text := cursors().Write(place, "w1", "emails?status=sent")
	got, err := cursors().Read(text, "w1", "emails?status=sent")
	if err != nil || got != place {
		t.Fatalf("%+v, %v", got, err)
	}
}

func TestCursorIsRefusedElsewhereAndWhenTouched(t *testing.T) {
	t.Parallel()
	text := cursors().Write(api.Cursor{ID: "x", At: time.UnixMicro(1)}, "w1", "q")
	refused := func(what, text string, ws space.ID, query string) {
		t.Helper()
		if _, err := cursors().Read(text, ws, query); !errors.Is(err, api.ErrInvalidCursor) {
			t.Errorf("%s: %v", what, err)
		}
	}
	refused("other workspace", text, "w2", "q")
	refused("other filters", text, "w1", "p")
	refused("nothing", "", "w1", "q")
	refused("SQL", "' OR 1=1 --", "w1", "q")
	for i := range text {
		touched := []byte(text)
		touched[i] ^= 1
		refused("touched", string(touched), "w1", "q")
	}
}

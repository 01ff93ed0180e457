package seal

import (
	"encoding/base64"
	"encoding/binary"
	"strings"
	"time"
)

// tokenText has no characters that a URL or a mail client would change. Strict, so that no two texts are one token.
var tokenText = base64.RawURLEncoding.Strict()

// expiryLength is a count of microseconds since 1970; zero means never.
const expiryLength = 8

// Sign returns a token that carries payload until it expires, for links that leave the house. The payload is encrypted, so
// no address can be read from the token; only Verify with the same purpose returns it. A zero expires means never.
func (k *Keyring) Sign(purpose string, payload []byte, expires time.Time) string {
	inside := make([]byte, expiryLength, expiryLength+len(payload))
	if !expires.IsZero() {
		binary.BigEndian.PutUint64(inside, uint64(expires.UnixMicro()))
	}
	inside = append(inside, payload...)
	return tokenText.EncodeToString(encrypt(k.current, useToken+purpose, inside, ""))
}

// Verify returns the payload of a token that was signed for the same purpose. A foreign or changed token is ErrInvalid, a
// genuine one whose time is over ErrExpired.
func (k *Keyring) Verify(purpose, token string, now time.Time) ([]byte, error) {
	if strings.ContainsAny(token, "\r\n") {
		return nil, ErrInvalid // the decoder would skip them, and one token would have many texts
	}
	sealed, err := tokenText.DecodeString(token)
	if err != nil {
		return nil, ErrInvalid
	}
	inside, err := k.decrypt(useToken+purpose, sealed, "")
	if err != nil {
		return nil, err
	}
	if len(inside) < expiryLength {
		return nil, ErrInvalid
	}
	expires := int64(binary.BigEndian.Uint64(inside))
	if expires != 0 && now.UnixMicro() >= expires {
		return nil, ErrExpired
	}
	return inside[expiryLength:], nil
}

package seal

import (
	"crypto/hmac"
	"crypto/sha256"
)

// minMACLength is the shortest truncated MAC that CheckMAC takes: 64 bits leave no hope to somebody who must try each guess
// over the network. Return-path addresses have no room for more than a few bytes above it.
const minMACLength = 8

// MAC returns the 32 byte HMAC-SHA256 of data for one purpose, for texts that may be read but not made by others, such as
// cursors and return paths. A caller short of room keeps a prefix of at least 8 bytes.
func (k *Keyring) MAC(purpose string, data []byte) []byte {
	return sum(k.current, purpose, data)
}

// CheckMAC reports whether mac, whole or shortened to a prefix, was made for data and purpose by this keyring, with the
// current secret or a previous one. It takes the same time wherever a wrong one differs.
func (k *Keyring) CheckMAC(purpose string, data, mac []byte) bool {
	if len(mac) < minMACLength || len(mac) > sha256.Size {
		return false
	}
	return k.masters(func(m master) bool {
		return hmac.Equal(mac, sum(m, purpose, data)[:len(mac)])
	})
}

func sum(m master, purpose string, data []byte) []byte {
	h := hmac.New(sha256.New, m.derive(useMAC+purpose))
	h.Write(data)
	return h.Sum(nil)
}

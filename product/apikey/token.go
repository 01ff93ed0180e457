package apikey

import (
	"crypto/sha256"
	"hash/crc32"

	"postrider/world"
)

// A key reads pr_live_<public id>_<secret><checksum>. The word names us to secret scanners, which match
// pr_(live|test)_[0-9A-Za-z]{10}_[0-9A-Za-z]{38}.
const (
	word           = "pr"
	publicLength   = 10
	secretLength   = 32
	checksumLength = 6

	headLength  = len("pr_live_")
	tokenLength = headLength + publicLength + 1 + secretLength + checksumLength

	base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// newToken returns a whole key for a public id.
func newToken(w world.World, mode Mode, publicID string) string {
	body := word + "_" + string(mode) + "_" + publicID + "_" + randomText(w, secretLength)
	return body + checksum(body)
}

// randomText returns characters of base62, all equally likely.
func randomText(w world.World, length int) string {
	text := make([]byte, 0, length)
	for len(text) < length {
		for _, b := range w.Bytes(length) {
			const fair = 256 - 256%len(base62) // bytes above would favour the first characters
			if int(b) < fair && len(text) < length {
				text = append(text, base62[int(b)%len(base62)])
			}
		}
	}
	return string(text)
}

// checksum is the CRC-32 of a text in six digits of base62: it finds typing errors without asking the database, and guards
// nothing else.
func checksum(text string) string {
	sum := crc32.ChecksumIEEE([]byte(text))
	var digits [checksumLength]byte
	for i := len(digits) - 1; i >= 0; i-- {
		digits[i] = base62[sum%uint32(len(base62))]
		sum /= uint32(len(base62))
	}
	return string(digits[:])
}

// digestOf returns what is stored of a whole key.
func digestOf(token string) digest { return sha256.Sum256([]byte(token)) }

// readToken returns the public id and the hash of a key that is well formed.
func readToken(token string) (publicID string, hash digest, ok bool) {
	if len(token) != tokenLength || token[headLength+publicLength] != '_' {
		return "", hash, false
	}
	if head := token[:headLength]; head != word+"_live_" && head != word+"_test_" {
		return "", hash, false
	}
	publicID = token[headLength : headLength+publicLength]
	secret := token[headLength+publicLength+1:]
	if !isBase62(publicID) || !isBase62(secret) {
		return "", hash, false
	}
	if body := token[:tokenLength-checksumLength]; checksum(body) != token[len(body):] {
		return "", hash, false
	}
	return publicID, digestOf(token), true
}

func isBase62(text string) bool {
	for i := range len(text) {
		c := text[i]
		if !(c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z') {
			return false
		}
	}
	return true
}

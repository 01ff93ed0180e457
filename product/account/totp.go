package account

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/subtle"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"net/url"
	"strings"
	"time"
)

const (
	// totpPeriod and totpDigits are what every authenticator app assumes (RFC 6238 §4).
	totpPeriod = 30 * time.Second
	totpDigits = 6
	// totpSkew is how many steps a phone's clock may be off (RFC 6238 §5.2).
	totpSkew = 1
	// totpSecretBytes is the length of HMAC-SHA-1, as RFC 4226 §4 recommends.
	totpSecretBytes = 20
	totpIssuer      = "Postrider"
)

// totpStep returns the number of the step at a moment.
func totpStep(at time.Time) int64 { return at.Unix() / int64(totpPeriod/time.Second) }

// totpCode returns the one-time code of a step (RFC 4226 §5.3).
func totpCode(secret []byte, step int64) string {
	mac := hmac.New(sha1.New, secret)
	var counter [8]byte
	binary.BigEndian.PutUint64(counter[:], uint64(step))
	mac.Write(counter[:])
	sum := mac.Sum(nil)
	offset := sum[len(sum)-1] & 0x0f
	number := binary.BigEndian.Uint32(sum[offset:]) & 0x7fffffff
	return fmt.Sprintf("%0*d", totpDigits, number%1_000_000)
}

// matchTOTP returns the step whose code was given, if it lies near now. Apps show a code with a space in the middle.
func matchTOTP(secret []byte, code string, now time.Time) (step int64, ok bool) {
	code = strings.ReplaceAll(code, " ", "")
	for skew := -totpSkew; skew <= totpSkew; skew++ {
		candidate := totpStep(now) + int64(skew)
		if subtle.ConstantTimeCompare([]byte(totpCode(secret, candidate)), []byte(code)) == 1 {
			step, ok = candidate, true
		}
	}
	return step, ok
}

var totpText = base32.StdEncoding.WithPadding(base32.NoPadding)

// otpauthURL is what an authenticator app scans.
func otpauthURL(email string, secret []byte) string {
	query := url.Values{"secret": {totpText.EncodeToString(secret)}, "issuer": {totpIssuer}}
	return "otpauth://totp/" + url.PathEscape(totpIssuer+":"+email) + "?" + query.Encode()
}

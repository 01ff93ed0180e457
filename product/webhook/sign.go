package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	secretMark = "whsec_"
	// secretBytes is the length of an HMAC-SHA256 key that wastes nothing; Standard Webhooks allows 24 to 64.
	secretBytes = 32
	// prefixLength is how much of a secret is shown after the first time: enough to tell two apart, of no use to anyone else.
	prefixLength = 10
)

// secret is the key an endpoint's requests are signed with.
type secret []byte

// String returns the form that customers put into their programs.
func (s secret) String() string { return secretMark + base64.StdEncoding.EncodeToString(s) }

func (s secret) prefix() string { return s.String()[:prefixLength] }

func (s secret) mac(parts ...string) []byte {
	mac := hmac.New(sha256.New, s)
	for _, part := range parts {
		mac.Write([]byte(part))
	}
	return mac.Sum(nil)
}

// sign puts the signatures of a body into a header: that of Standard Webhooks in webhook-*, and one that needs no second header
// in X-Service-Signature. The secrets are the current one and, while it still counts, the one before.
func sign(header http.Header, secrets []secret, id string, at time.Time, body string) {
	stamp := strconv.FormatInt(at.Unix(), 10)
	var standard, own []string
	for _, s := range secrets {
		standard = append(standard, "v1,"+base64.StdEncoding.EncodeToString(s.mac(id, ".", stamp, ".", body)))
		own = append(own, "v1="+hex.EncodeToString(s.mac(stamp, ".", body)))
	}
	header.Set("Webhook-Id", id)
	header.Set("Webhook-Timestamp", stamp)
	header.Set("Webhook-Signature", strings.Join(standard, " "))
	header.Set("X-Service-Signature", "t="+stamp+","+strings.Join(own, ","))
}

// secrets are those that sign at a moment, the current one first.
func (e *Endpoint) secrets(at time.Time) []secret {
	if e.rotating(at) {
		return []secret{e.secret, e.previous}
	}
	return []secret{e.secret}
}

// rotating tells whether the secret before still signs.
func (e *Endpoint) rotating(at time.Time) bool {
	return len(e.previous) > 0 && at.Before(e.previousExpiresAt)
}

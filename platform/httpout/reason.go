package httpout

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"strings"

	"postrider/world"
)

// Reason is why a request got no answer, in a word for whoever chose the target.
type Reason string

// Reasons, from the decision to ask to the answer.
const (
	Blocked     Reason = "blocked_address"
	Unresolved  Reason = "dns_error"
	Unreachable Reason = "connection_refused"
	Insecure    Reason = "tls_error"
	TooLarge    Reason = "response_too_large"
	TooSlow     Reason = "timeout"
)

// ReasonOf returns the reason of an error of Do. What cannot be told apart is a connection that failed.
func ReasonOf(err error) Reason {
	var refusal *Refusal
	var slow net.Error
	switch {
	case errors.As(err, &refusal):
		return Blocked
	case errors.Is(err, world.ErrNoName), errors.Is(err, world.ErrNoData), errors.Is(err, world.ErrUnanswered):
		return Unresolved
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &slow) && slow.Timeout():
		return TooSlow
	case isInsecure(err):
		return Insecure
	case strings.Contains(err.Error(), "response headers exceeded"): // the standard library has no name for it
		return TooLarge
	}
	return Unreachable
}

func isInsecure(err error) bool {
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	var authority x509.UnknownAuthorityError
	return errors.As(err, &certificate) || errors.As(err, &record) || errors.As(err, &alert) || errors.As(err, &authority) ||
		strings.Contains(err.Error(), "tls: ") // most failures of a handshake are plain text
}

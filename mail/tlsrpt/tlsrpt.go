// Package tlsrpt keeps count of how well the connections to a domain were encrypted, and reports it to those who asked
// (SMTP TLS Reporting, RFC 8460).
//
// Every connection is one Session. Sessions are added to the Day of their policy's domain; a day is a plain value that can be stored
// as JSON and merged with the same day of another node. When it is over, its report is made from it.
//
// Pure: no clock, no network, no state.
package tlsrpt

import (
	"slices"
	"strings"
	"time"

	moxtlsrpt "github.com/mjl-/mox/tlsrpt"
)

// PolicyType is the kind of promise a session was held against.
type PolicyType string

const (
	// STS is a policy of the recipient's domain (MTA-STS).
	STS PolicyType = "sts"
	// TLSA is a promise of the mail server (DANE).
	TLSA PolicyType = "tlsa"
	// NoPolicy means that there was none.
	NoPolicy PolicyType = "no-policy-found"
)

// Result is the way in which a session failed.
type Result string

// The ways in which a session can fail (RFC 8460 §4.3).
const (
	NotOffered         Result = "starttls-not-supported"
	HostMismatch       Result = "certificate-host-mismatch"
	CertificateExpired Result = "certificate-expired"
	NotTrusted         Result = "certificate-not-trusted"
	ValidationFailure  Result = "validation-failure"
	TLSAInvalid        Result = "tlsa-invalid"
	DNSSECInvalid      Result = "dnssec-invalid"
	DANERequired       Result = "dane-required"
	STSFetchError      Result = "sts-policy-fetch-error"
	STSPolicyInvalid   Result = "sts-policy-invalid"
	STSWebPKIInvalid   Result = "sts-webpki-invalid"
)

// Policy is what a session was held against.
type Policy struct {
	Type PolicyType `json:"type"`
	// Domain is the recipient's, or for TLSA the name under which the records were found.
	Domain string `json:"domain"`
	// Lines are the policy as it was published.
	Lines []string `json:"lines,omitempty"`
	// Hosts are the mail servers that an STS policy names.
	Hosts []string `json:"hosts,omitempty"`
}

// Failure is one way in which sessions failed.
type Failure struct {
	Result Result `json:"result"`
	// Reason is a short code that says more, or empty.
	Reason string `json:"reason,omitempty"`
	// SendingIP, MXHost, MXHello and MXIP are as far as they were known.
	SendingIP string `json:"sending_ip,omitempty"`
	MXHost    string `json:"mx_host,omitempty"`
	MXHello   string `json:"mx_hello,omitempty"`
	MXIP      string `json:"mx_ip,omitempty"`
}

// Session is one connection that was to be encrypted.
type Session struct {
	Policy Policy
	// Failure is nil if all went well.
	Failure *Failure
}

// Key is the day, in UTC, and the domain that a session counts for.
func (s Session) Key(at time.Time) Key {
	return Key{Domain: strings.ToLower(s.Policy.Domain), Date: at.UTC().Format(time.DateOnly)}
}

// Key names a day of a domain.
type Key struct {
	Domain string `json:"domain"`
	// Date is such as 2026-11-15; the day begins and ends in UTC (RFC 8460 §4.1).
	Date string `json:"date"`
}

// Reason finds the result and the reason that fit an error of a handshake.
func Reason(err error) (Result, string) {
	result, reason := moxtlsrpt.TLSFailureDetails(err)
	return Result(result), reason
}

// Equal tells whether two policies are the same, word for word.
func (p Policy) Equal(other Policy) bool {
	return p.Type == other.Type && strings.EqualFold(p.Domain, other.Domain) && slices.Equal(p.Lines, other.Lines) && slices.Equal(p.Hosts, other.Hosts)
}

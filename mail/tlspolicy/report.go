package tlspolicy

import (
	"crypto/tls"
	"errors"

	"postrider/mail/dane"
	"postrider/mail/mtasts"
	"postrider/mail/tlsrpt"
	"postrider/world"
)

// Connection is what became of an attempt to encrypt, for reporting.
type Connection struct {
	// State is nil if the connection is in clear text or was given up.
	State *tls.ConnectionState
	// Err is why the handshake failed; nil without State means that encryption was not offered.
	Err error
	// SendingIP, MXHost, MXHello and MXIP are as far as they are known.
	SendingIP string
	MXHost    string
	MXHello   string
	MXIP      string
}

// Sessions returns what to count about a connection under the decision: one session for each policy that it was held against, or
// one without a policy.
func (d Decision) Sessions(c Connection) []tlsrpt.Session {
	var sessions []tlsrpt.Session
	for _, check := range d.checks {
		known, err := c.outcome(check)
		if !known || check.policy.Type == "" {
			continue
		}
		session := tlsrpt.Session{Policy: check.policy}
		if err != nil {
			result, reason := Result(err)
			session.Failure = &tlsrpt.Failure{Result: result, Reason: reason, SendingIP: c.SendingIP, MXHost: c.MXHost, MXHello: c.MXHello, MXIP: c.MXIP}
		}
		sessions = append(sessions, session)
	}
	return sessions
}

// outcome tells what a connection was to one check. If another check has ended the handshake, this one has seen nothing.
func (c Connection) outcome(by check) (known bool, err error) {
	if c.State != nil {
		return true, by.verify(*c.State)
	}
	if c.Err == nil {
		return true, ErrNotEncrypted
	}
	failed := checkErrors(c.Err)
	for _, f := range failed {
		if f.Policy == by.policy.Type {
			return true, f.Err
		}
	}
	return len(failed) == 0, c.Err
}

// checkErrors returns all reasons for which Verify ended a handshake.
func checkErrors(err error) []*CheckError {
	var found []*CheckError
	switch e := err.(type) {
	case *CheckError:
		return []*CheckError{e}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			found = append(found, checkErrors(inner)...)
		}
	case interface{ Unwrap() error }:
		return checkErrors(e.Unwrap())
	}
	return found
}

// Refused returns what to count about a server that the policy of the recipient's domain does not list.
func (d Decision) Refused(host string) []tlsrpt.Session {
	return d.Sessions(Connection{Err: &CheckError{Policy: tlsrpt.STS, Err: d.Refusal}, MXHost: host})
}

// PolicyProblem returns what to count if the announced policy of a domain could not be learned (mtasts.Finding.Problem).
func PolicyProblem(domain string, err error) tlsrpt.Session {
	result, reason := Result(err)
	return tlsrpt.Session{Policy: tlsrpt.Policy{Type: tlsrpt.STS, Domain: domain}, Failure: &tlsrpt.Failure{Result: result, Reason: reason}}
}

// PromiseProblem returns what to count if it could not be found out what a server promises (dane.Lookup).
func PromiseProblem(host string, err error) tlsrpt.Session {
	result, reason := Result(err)
	return tlsrpt.Session{Policy: tlsrpt.Policy{Type: tlsrpt.TLSA, Domain: host}, Failure: &tlsrpt.Failure{Result: result, Reason: reason, MXHost: host}}
}

// Result finds the words of a report for anything that can go wrong with encryption, here and in the packages below.
func Result(err error) (tlsrpt.Result, string) {
	result, reason := tlsrpt.Reason(err)
	switch {
	case errors.Is(err, ErrNotEncrypted):
		return tlsrpt.NotOffered, ""
	case errors.Is(err, ErrHostNotListed):
		return tlsrpt.ValidationFailure, "mx-not-in-sts-policy"
	case errors.Is(err, errUnusable):
		return tlsrpt.TLSAInvalid, "no-usable-record"
	case errors.Is(err, dane.ErrMismatch) && result == tlsrpt.ValidationFailure:
		return result, "dane-no-match"
	case errors.Is(err, mtasts.ErrPolicy), errors.Is(err, mtasts.ErrRecord):
		return tlsrpt.STSPolicyInvalid, ""
	case errors.Is(err, mtasts.ErrFetch) && result != tlsrpt.ValidationFailure:
		return tlsrpt.STSWebPKIInvalid, string(result)
	case errors.Is(err, mtasts.ErrFetch):
		return tlsrpt.STSFetchError, reason
	case errors.Is(err, world.ErrUnanswered): // to a validating resolver, a wrong signature is no answer
		return tlsrpt.DNSSECInvalid, ""
	}
	return result, reason
}

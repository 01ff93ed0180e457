// Package mtasts reads the policies by which domains demand encryption for their mail (MTA-STS, RFC 8461), and decides how long a
// policy that was read once stays in force.
//
// A policy is announced in the DNS, which anybody on the path can forge, and fetched over HTTPS, which nobody can. So whoever
// attacks can only keep us from learning a policy. Once learned it is kept until it runs out or its own domain replaces it: no
// missing record, failed look-up or failed fetch ever weakens it.
//
// Pure but for what it is handed: a resolver, a clock, and a function that fetches a page.
package mtasts

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	moxmtasts "github.com/mjl-/mox/mtasts"
)

// Mode says what to do when a server does not live up to the policy.
type Mode string

const (
	// Enforce means that mail must not be handed to such a server.
	Enforce Mode = "enforce"
	// Testing means that mail is delivered anyway and the failure reported.
	Testing Mode = "testing"
	// None means that the domain has no wish, or no longer.
	None Mode = "none"
)

const (
	// MaxPolicyBytes bounds the text of a policy (RFC 8461 §3.3 suggests it); a fetch need not read further than one byte past it.
	MaxPolicyBytes = 64 << 10
	// maxAge is the longest a policy may ask to be kept (RFC 8461 §3.2), about a year.
	maxAge = 31557600 * time.Second
	// minAge keeps a policy at least until it may be fetched again, or there would be times without one.
	minAge = retryAfter
)

// Errors about what a domain publishes.
var (
	// ErrNoRecord means that the domain does not announce a policy.
	ErrNoRecord = errors.New("no MTA-STS record")
	// ErrRecord means that the announcement cannot be read, or that there are several.
	ErrRecord = errors.New("MTA-STS record is not valid")
	// ErrPolicy means that the policy itself cannot be read.
	ErrPolicy = errors.New("MTA-STS policy is not valid")
	// ErrFetch means that the policy could not be fetched.
	ErrFetch = errors.New("MTA-STS policy could not be fetched")
)

// Policy is what a domain wishes. The zero value is no policy.
type Policy struct {
	Mode Mode `json:"mode"`
	// MX are the names its mail servers may have, in lower case; "*." stands for exactly one label.
	MX []string `json:"mx"`
	// MaxAgeSeconds is how long the policy may be kept, brought within bounds.
	MaxAgeSeconds int64 `json:"max_age"`
}

// ParsePolicy reads the text of a policy. The error is ErrPolicy.
func ParsePolicy(text []byte) (Policy, error) {
	if len(text) > MaxPolicyBytes {
		return Policy{}, fmt.Errorf("%w: longer than %d bytes", ErrPolicy, MaxPolicyBytes)
	}
	// Editors leave empty lines at the end, which the grammar does not know but every other reader forgives.
	read, err := moxmtasts.ParsePolicy(strings.TrimRight(string(text), "\r\n\t "))
	if err != nil {
		return Policy{}, fmt.Errorf("%w: %s", ErrPolicy, bounded(err))
	}
	p := Policy{Mode: Mode(read.Mode)}
	for _, mx := range read.MX {
		name := mx.Domain.ASCII
		if mx.Wildcard {
			name = "*." + name
		}
		p.MX = append(p.MX, name)
	}
	age := time.Duration(read.MaxAgeSeconds) * time.Second
	p.MaxAgeSeconds = int64(min(max(age, minAge), maxAge) / time.Second)
	return p, nil
}

// ParseRecord finds the announcement among the texts of _mta-sts.<domain> and returns its id, which changes with the policy. The
// error is ErrNoRecord or ErrRecord.
func ParseRecord(texts []string) (id string, err error) {
	for _, text := range texts {
		record, announces, err := moxmtasts.ParseRecord(text)
		switch {
		case !announces:
			continue
		case err != nil:
			return "", fmt.Errorf("%w: %s", ErrRecord, bounded(err))
		case id != "":
			return "", fmt.Errorf("%w: there are several", ErrRecord) // RFC 8461 §3.1
		}
		id = record.ID
	}
	if id == "" {
		return "", ErrNoRecord
	}
	return id, nil
}

// Allows tells whether a mail server of this name may be used.
func (p Policy) Allows(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	_, parent, _ := strings.Cut(host, ".")
	for _, pattern := range p.MX {
		if suffix, wild := strings.CutPrefix(pattern, "*."); wild && parent == suffix || pattern == host {
			return true
		}
	}
	return false
}

// Lines returns the policy as a domain would publish it, line by line, as reports quote it.
func (p Policy) Lines() []string {
	lines := []string{"version: STSv1", "mode: " + string(p.Mode)}
	for _, mx := range p.MX {
		lines = append(lines, "mx: "+mx)
	}
	return append(lines, "max_age: "+strconv.FormatInt(p.MaxAgeSeconds, 10))
}

// RecordName is where a domain announces its policy.
func RecordName(domain string) string { return "_mta-sts." + domain }

// PolicyURL is the page of a policy host, such as mta-sts.example.com. It must be fetched without following redirects and with the
// host's certificate checked (RFC 8461 §3.3).
func PolicyURL(host string) string { return "https://" + host + "/.well-known/mta-sts.txt" }

// bounded shortens an error that quotes what it could not read.
func bounded(err error) string {
	const enough = 200
	text := err.Error()
	return strings.ToValidUTF8(text[:min(len(text), enough)], "")
}

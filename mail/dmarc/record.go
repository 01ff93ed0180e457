package dmarc

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"postrider/world"
)

// maxRecordBytes bounds a record; those with a dozen addresses for reports have under 1,000.
const maxRecordBytes = 4 << 10

// ErrRecord means a record that makes no sense, so that nothing can be asked for.
var ErrRecord = errors.New("not a DMARC record")

// Policy is what a domain asks to be done with mail that fails.
type Policy string

// The policies.
const (
	PolicyNone       Policy = "none"
	PolicyQuarantine Policy = "quarantine"
	PolicyReject     Policy = "reject"
)

// Alignment is how near a proven domain must be to the author's.
type Alignment string

// The alignments.
const (
	Relaxed Alignment = "r" // of the same organisation
	Strict  Alignment = "s" // the very same
)

// Record is what a domain publishes (RFC 7489 §6.3).
type Record struct {
	// Policy is for the domain itself.
	Policy Policy
	// Subdomains is for the names below it, and Missing for those of them that do not exist (RFC 9091). Both are filled in if
	// they were not given.
	Subdomains Policy
	Missing    Policy
	Percent    int
	// DKIM and SPF tell how near the proven domain must be to the author's.
	DKIM Alignment
	SPF  Alignment
	// Aggregate and Failures are where reports are wanted, as URIs.
	Aggregate []string
	Failures  []string
}

// IsRecord tells whether a text claims to be a DMARC record.
func IsRecord(text string) bool {
	version, _, _ := strings.Cut(text, ";")
	name, value, _ := strings.Cut(version, "=")
	return strings.TrimSpace(name) == "v" && strings.TrimSpace(value) == "DMARC1"
}

// ParseRecord reads a record. Unknown tags and values that make no sense are as if they were not there; without a usable policy
// the record is read as asking for reports only, or is none (RFC 7489 §6.6.3).
func ParseRecord(text string) (Record, error) {
	if len(text) > maxRecordBytes || !IsRecord(text) {
		return Record{}, ErrRecord
	}
	r := Record{Percent: 100, DKIM: Relaxed, SPF: Relaxed}
	valid := map[string]bool{}
	_, rest, _ := strings.Cut(text, ";")
	for tag := range strings.SplitSeq(rest, ";") {
		name, value, _ := strings.Cut(tag, "=")
		name, value = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)
		if _, twice := valid[name]; twice {
			continue
		}
		valid[name] = r.set(name, value)
	}
	sub, subGiven := valid["sp"]
	if !valid["p"] || subGiven && !sub {
		if len(r.Aggregate) == 0 {
			return Record{}, ErrRecord
		}
		r.Policy, r.Subdomains, r.Missing = PolicyNone, PolicyNone, PolicyNone
		return r, nil
	}
	if r.Subdomains == "" {
		r.Subdomains = r.Policy
	}
	if r.Missing == "" {
		r.Missing = r.Subdomains
	}
	return r, nil
}

// set takes one tag and tells whether it makes sense.
func (r *Record) set(name, value string) bool {
	lower := strings.ToLower(value)
	switch name {
	case "p":
		return setPolicy(&r.Policy, lower)
	case "sp":
		return setPolicy(&r.Subdomains, lower)
	case "np":
		return setPolicy(&r.Missing, lower)
	case "pct":
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 || n > 100 {
			return false
		}
		r.Percent = n
	case "adkim":
		return setAlignment(&r.DKIM, lower)
	case "aspf":
		return setAlignment(&r.SPF, lower)
	case "rua":
		r.Aggregate = addresses(value)
	case "ruf":
		r.Failures = addresses(value)
	}
	return true
}

func setPolicy(p *Policy, value string) bool {
	switch Policy(value) {
	case PolicyNone, PolicyQuarantine, PolicyReject:
		*p = Policy(value)
		return true
	}
	return false
}

func setAlignment(a *Alignment, value string) bool {
	switch Alignment(value) {
	case Relaxed, Strict:
		*a = Alignment(value)
		return true
	}
	return false
}

// addresses splits a list of URIs and keeps those that could be used.
func addresses(value string) []string {
	var list []string
	for uri := range strings.SplitSeq(value, ",") {
		uri = strings.TrimSpace(uri)
		if scheme, rest, found := strings.Cut(uri, ":"); found && scheme != "" && rest != "" {
			list = append(list, uri)
		}
	}
	return list
}

// policyFor chooses among the policies of a record that was found at domain.
func (r Record) policyFor(ctx context.Context, names world.Resolver, author, domain string) Policy {
	if author == domain {
		return r.Policy
	}
	if r.Missing != r.Subdomains {
		if _, _, err := names.MX(ctx, author); errors.Is(err, world.ErrNoName) {
			return r.Missing
		}
	}
	return r.Subdomains
}

// Package arc verifies and extends authenticated received chains (RFC 8617): what each server on the way of a forwarded message
// found out about it, sealed so that the next one can tell who says so.
//
// A chain tells who handled a message, not whether to believe them: a spammer's chain passes as well as anybody's.
//
// Pure: no clock, no state, and no network but the resolver it is handed.
package arc

import (
	"errors"
	"strings"

	"postrider/mail/dkim"
	"postrider/mail/message"
)

const (
	// MaxInstances is how long a chain may get (RFC 8617 §4.2.1).
	MaxInstances = 50

	resultsName   = "ARC-Authentication-Results"
	signatureName = "ARC-Message-Signature"
	sealName      = "ARC-Seal"
)

// Result is what verifying a chain gave, and what a seal says about the chain before it.
type Result string

// The results of RFC 8617 §4.4.
const (
	None Result = "none" // there is no chain
	Pass Result = "pass"
	Fail Result = "fail"
)

// Chain is what is known of the chain of a message.
type Chain struct {
	Result Result
	// Reason says why a chain fails.
	Reason string
	// Temporary is set if it fails only because a key could not be asked for.
	Temporary bool
	// Sealers are the domains that sealed the chain, in the order in which they did. They mean something only if it passes.
	Sealers []string
	// Results are the authentication results of the sealers, in their order and as they wrote them.
	Results []string

	sets []set
	// ended is set if nobody may add to the chain: its newest seal says that it failed, or it is full or in disorder.
	ended bool
}

// set is what one server added.
type set struct {
	results, signature, seal message.Field
	sealTags                 dkim.Tags
}

var (
	errStructure = errors.New("chain is in disorder")
	errSeal      = errors.New("seal is malformed")
)

// collect sorts the fields of a chain into its sets. There must be one of each kind for every instance from 1 on.
func collect(header []message.Field) ([]set, error) {
	var sets []set
	found := 0
	for _, f := range header {
		if !f.Is(resultsName) && !f.Is(signatureName) && !f.Is(sealName) {
			continue
		}
		found++
		instance := instanceOf(f)
		if instance == 0 {
			return nil, errStructure
		}
		for len(sets) < instance {
			sets = append(sets, set{})
		}
		place := sets[instance-1].place(f)
		if place.Raw != nil {
			return nil, errStructure
		}
		*place = f
	}
	if found != 3*len(sets) {
		return nil, errStructure
	}
	return sets, nil
}

// place is where a field belongs in its set.
func (s *set) place(f message.Field) *message.Field {
	switch {
	case f.Is(resultsName):
		return &s.results
	case f.Is(signatureName):
		return &s.signature
	}
	return &s.seal
}

// instanceOf reads the i= tag, or returns 0. Authentication results are no list of tags, but begin with one (RFC 8617 §4.1.1).
func instanceOf(f message.Field) int {
	if f.Is(resultsName) {
		first, _, _ := strings.Cut(f.Value, ";")
		name, value, _ := strings.Cut(first, "=")
		if strings.TrimSpace(name) != "i" {
			return 0
		}
		return instanceNumber(strings.TrimSpace(value))
	}
	tags, err := dkim.ParseTags(f.Value)
	if err != nil {
		return 0
	}
	return instanceNumber(tags["i"])
}

// instanceNumber reads a number between 1 and MaxInstances, or returns 0.
func instanceNumber(s string) int {
	n := 0
	for _, c := range s {
		if c < '0' || c > '9' || len(s) > 2 {
			return 0
		}
		n = n*10 + int(c-'0')
	}
	if n > MaxInstances {
		return 0
	}
	return n
}

// Package spf reads and extends SPF policies (RFC 7208) as their owners write them: what a record includes, how many look-ups it
// costs, and how to add an include without losing anything. Verify evaluates a sender of mail against the policy of its domain.
package spf

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// MaxLookups is how many look-ups a receiver makes for one policy before it gives up with an error (RFC 7208 §4.6.4).
const MaxLookups = 10

// ErrTooManyLookups means that receivers will not evaluate the policy to its end.
var ErrTooManyLookups = errors.New("policy needs more than 10 look-ups")

// IsRecord tells whether a TXT record is an SPF policy.
func IsRecord(text string) bool {
	version, _, _ := strings.Cut(text, " ")
	return strings.EqualFold(version, "v=spf1")
}

// Merge returns the policy with an include of host, and whether it had to be added. Nothing that was there is lost or moved.
func Merge(record, host string) (string, bool) {
	terms := strings.Fields(record)
	for _, term := range evaluated(terms) {
		if name, target := mechanism(term); name == "include" && passes(term) && strings.EqualFold(strings.TrimSuffix(target, "."), strings.TrimSuffix(host, ".")) {
			return record, false
		}
	}
	// After the version: an include that stands behind "all" would never be reached.
	merged := append([]string{terms[0], "include:" + host}, terms[1:]...)
	return strings.Join(merged, " "), true
}

// Policy is what a record leads to.
type Policy struct {
	// Includes are all policies whose senders are let in, directly or through others, in lower case.
	Includes map[string]bool
	// Lookups is how many look-ups a receiver makes at most.
	Lookups int
}

// TXT returns the TXT records of a name.
type TXT func(ctx context.Context, name string) ([]string, error)

// Walk follows the includes and redirects of a record. It returns ErrTooManyLookups as soon as there are, and the error of txt if
// a name did not answer; what it has found until then is returned with it.
func Walk(ctx context.Context, record string, txt TXT) (Policy, error) {
	p := Policy{Includes: map[string]bool{}}
	return p, p.walk(ctx, record, txt)
}

func (p *Policy) walk(ctx context.Context, record string, txt TXT) error {
	for _, term := range evaluated(strings.Fields(record)) {
		name, target := mechanism(term)
		if !asksDNS(name) {
			continue
		}
		if p.Lookups++; p.Lookups > MaxLookups {
			return ErrTooManyLookups
		}
		// A macro stands for something only the mail knows; it costs its look-up and leads nowhere from here.
		if name != "include" && name != "redirect" || target == "" || strings.Contains(target, "%") {
			continue
		}
		target = strings.ToLower(strings.TrimSuffix(target, "."))
		if name == "include" && passes(term) {
			p.Includes[target] = true
		}
		if err := p.follow(ctx, target, txt); err != nil {
			return err
		}
	}
	return nil
}

func (p *Policy) follow(ctx context.Context, name string, txt TXT) error {
	texts, err := txt(ctx, name)
	if err != nil {
		return fmt.Errorf("policy of %s: %w", name, err)
	}
	for _, text := range texts {
		if IsRecord(text) {
			return p.walk(ctx, text, txt)
		}
	}
	return nil
}

// evaluated returns the terms that a receiver looks at: those up to "all", which always matches, so that a redirect has no meaning
// wherever it stands (RFC 7208 §6.1).
func evaluated(terms []string) []string {
	for i, term := range terms {
		if name, _ := mechanism(term); i > 0 && name == "all" {
			return slices.DeleteFunc(slices.Clone(terms[1:i]), func(term string) bool {
				name, _ := mechanism(term)
				return name == "redirect"
			})
		}
	}
	return terms[1:]
}

// mechanism splits a term into its name and what follows the colon or equals sign, without qualifier and prefix length.
func mechanism(term string) (name, target string) {
	term = strings.TrimLeft(term, "+-~?")
	at := strings.IndexAny(term, ":=/")
	if at < 0 {
		return strings.ToLower(term), ""
	}
	name = strings.ToLower(term[:at])
	if term[at] == '/' {
		return name, ""
	}
	target, _, _ = strings.Cut(term[at+1:], "/")
	return name, target
}

// passes tells whether a match of the term lets mail in, rather than keeping it out.
func passes(term string) bool { return !strings.ContainsAny(term[:1], "-~?") }

// asksDNS tells whether a term counts against the limit (RFC 7208 §4.6.4).
func asksDNS(name string) bool {
	switch name {
	case "include", "a", "mx", "ptr", "exists", "redirect":
		return true
	}
	return false
}

// Package dmarc tells whether the author whom a message shows is the one who sent it (RFC 7489), and what the author's domain asks
// to be done if not.
//
// Evaluating only reads: whether to follow the wish of a domain is for the caller. Domains are found by the public suffix list.
//
// Pure: no clock, no chance, no state, and no network but the resolver it is handed.
package dmarc

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/net/publicsuffix"

	"postrider/mail/dkim"
	"postrider/mail/message"
	"postrider/mail/spf"
	"postrider/world"
)

// Result is what an evaluation gave (RFC 7489 §11.2).
type Result string

// The results.
const (
	Pass      Result = "pass"
	Fail      Result = "fail"
	None      Result = "none"      // the domain has no policy
	TempError Result = "temperror" // something could not be asked for
	PermError Result = "permerror" // there is no one author, or the policy makes no sense
)

// Evaluation is what is known of a message's author.
type Evaluation struct {
	Result Result
	// Author is the domain of the From field, or empty if there is not exactly one.
	Author string
	// PolicyDomain is where the policy was found: the author's domain or the organisation's above it. Empty if there is none.
	PolicyDomain string
	// Policy is what the domain asks for mail that fails: that for itself, for its subdomains or for names that do not exist.
	Policy Policy
	// Percent is how much of the failing mail the policy is for.
	Percent int
	// AlignedSPF and AlignedDKIM tell which of the two spoke for the author.
	AlignedSPF  bool
	AlignedDKIM bool
	// Reason says why the result is not Pass or Fail.
	Reason string
}

// Disposition returns what to do with the message if the wish of the domain is followed. The roll is a number from 0 to 99 by
// chance: mail beyond the percentage is treated one step more kindly (RFC 7489 §6.6.4).
func (e Evaluation) Disposition(roll int) Policy {
	switch {
	case e.Result != Fail:
		return PolicyNone
	case roll < e.Percent:
		return e.Policy
	case e.Policy == PolicyReject:
		return PolicyQuarantine
	}
	return PolicyNone
}

// Evaluate judges a message by its header and by what SPF and DKIM said about it.
func Evaluate(ctx context.Context, names world.Resolver, header []message.Field, sender spf.Verification, signatures []dkim.Verification) Evaluation {
	author, err := authorDomain(header)
	if err != nil {
		return Evaluation{Result: PermError, Reason: err.Error()}
	}
	record, domain, err := find(ctx, names, author)
	switch {
	case errors.Is(err, errNoPolicy):
		return Evaluation{Result: None, Author: author, Reason: err.Error()}
	case errors.Is(err, ErrRecord):
		return Evaluation{Result: PermError, Author: author, PolicyDomain: domain, Reason: err.Error()}
	case err != nil:
		return Evaluation{Result: TempError, Author: author, Reason: err.Error()}
	}
	e := Evaluation{Result: Fail, Author: author, PolicyDomain: domain, Percent: record.Percent}
	e.Policy = record.policyFor(ctx, names, author, domain)
	e.align(record, sender, signatures)
	return e
}

// align looks for an identity that was proven and is the author's.
func (e *Evaluation) align(record Record, sender spf.Verification, signatures []dkim.Verification) {
	unsure := false
	if aligned(e.Author, sender.Domain, record.SPF) {
		e.AlignedSPF = sender.Result == spf.Pass
		unsure = sender.Result == spf.TempError
	}
	for _, s := range signatures {
		if aligned(e.Author, s.Domain, record.DKIM) {
			e.AlignedDKIM = e.AlignedDKIM || s.Result == dkim.Pass
			unsure = unsure || s.Result == dkim.TempError
		}
	}
	switch {
	case e.AlignedSPF || e.AlignedDKIM:
		e.Result = Pass
	case unsure:
		e.Result, e.Reason = TempError, "what could have passed could not be asked for"
	}
}

// aligned tells whether a proven domain speaks for the author: it is the same one, or of the same organisation (RFC 7489 §3.1).
func aligned(author, proven string, how Alignment) bool {
	proven = strings.ToLower(strings.TrimSuffix(proven, "."))
	if author == proven {
		return true
	}
	return how != Strict && proven != "" && organisation(author) == organisation(proven)
}

// organisation is the domain that somebody registered, which is the name itself for names under which people register.
func organisation(domain string) string {
	if registered, err := publicsuffix.EffectiveTLDPlusOne(domain); err == nil {
		return registered
	}
	return domain
}

var errNoPolicy = errors.New("domain has no policy")

// find looks for the policy of a domain, and then for that of its organisation (RFC 7489 §6.6.3).
func find(ctx context.Context, names world.Resolver, author string) (Record, string, error) {
	domain := author
	record, err := lookup(ctx, names, domain)
	if above := organisation(author); errors.Is(err, errNoPolicy) && above != author {
		domain = above
		record, err = lookup(ctx, names, domain)
	}
	return record, domain, err
}

func lookup(ctx context.Context, names world.Resolver, domain string) (Record, error) {
	texts, _, err := names.TXT(ctx, "_dmarc."+domain)
	switch {
	case errors.Is(err, world.ErrNoName), errors.Is(err, world.ErrNoData):
		return Record{}, errNoPolicy
	case err != nil:
		return Record{}, fmt.Errorf("policy of %s: %w", domain, err)
	}
	var policies []string
	for _, text := range texts {
		if IsRecord(text) {
			policies = append(policies, text)
		}
	}
	if len(policies) != 1 {
		return Record{}, errNoPolicy // several are as good as none (RFC 7489 §6.6.3)
	}
	return ParseRecord(policies[0])
}

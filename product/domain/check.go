package domain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/net/publicsuffix"

	"postrider/mail/dkim"
	"postrider/mail/dmarc"
	"postrider/mail/spf"
	"postrider/world"
)

// CheckStatus is what a look at DNS has shown.
type CheckStatus string

// Results of checks.
const (
	CheckPass       CheckStatus = "pass"
	CheckMissing    CheckStatus = "missing"
	CheckMismatch   CheckStatus = "mismatch"
	CheckMultiple   CheckStatus = "multiple"
	CheckTooMany    CheckStatus = "too_many_lookups"
	CheckDNSError   CheckStatus = "dns_error"
	CheckNotChecked CheckStatus = "not_checked"
)

// Check is the result for one record, with a sentence for people and what was found.
type Check struct {
	Status  CheckStatus `json:"status" example:"pass"`
	Message string      `json:"message"`
	Found   []string    `json:"found,omitempty"`
	// Above tells that it was found at the organisation that the domain belongs to, and not at the domain itself.
	Above bool `json:"above,omitempty"`
}

// fails tells that DNS has answered, and not as it should.
func (c Check) fails() bool {
	return c.Status != CheckPass && c.Status != CheckDNSError && c.Status != CheckNotChecked
}

// Checks are the results for all records of a domain.
type Checks struct {
	SPF        Check `json:"spf"`
	DKIM       Check `json:"dkim"`
	DMARC      Check `json:"dmarc"`
	ReturnPath Check `json:"return_path"`
	Tracking   Check `json:"tracking"`
	MX         Check `json:"mx"`
	// Keys are the results for the records of all keys, by selector; DKIM is that of the current RSA key.
	Keys map[string]Check `json:"keys,omitempty"`
	// Former are the results for the hosts that tracking links led to before, by label.
	Former map[string]Check `json:"former,omitempty"`
}

func uncheckedAll() Checks {
	none := Check{Status: CheckNotChecked}
	return Checks{SPF: none, DKIM: none, DMARC: none, ReturnPath: none, Tracking: none, MX: none}
}

// inspect looks at all records of a domain at once. It asks only DNS, and takes no longer than the context allows.
func (s *Service) inspect(ctx context.Context, d Domain) Checks {
	checks := Checks{Keys: map[string]Check{}}
	keys, former := make([]Check, len(d.Keys)), make([]Check, len(d.FormerLabels))
	var all sync.WaitGroup
	all.Go(func() { checks.SPF = s.checkSPF(ctx, d) })
	for i, key := range d.Keys {
		all.Go(func() { keys[i] = s.checkKey(ctx, d, key) })
	}
	all.Go(func() { checks.DMARC = s.checkDMARC(ctx, d) })
	all.Go(func() { checks.ReturnPath = s.checkAlias(ctx, d.ReturnHost(), s.hosts.Bounces()) })
	all.Go(func() { checks.Tracking = s.checkAlias(ctx, d.TrackingLabel+"."+d.Name, s.hosts.Tracking()) })
	for i, label := range d.FormerLabels {
		all.Go(func() { former[i] = s.checkAlias(ctx, label+"."+d.Name, s.hosts.Tracking()) })
	}
	all.Go(func() { checks.MX = s.checkMX(ctx, d) })
	all.Wait()
	for i, key := range d.Keys {
		checks.Keys[key.Selector] = keys[i]
	}
	checks.Former = make(map[string]Check, len(former))
	for i, label := range d.FormerLabels {
		checks.Former[label] = former[i]
	}
	checks.DKIM = checks.key(d.selector())
	return checks
}

// of returns the checks as far as they are about the domain as it is now: while it was looked at, labels may have changed, and keys.
func (c Checks) of(seen, now Domain) Checks {
	if seen.ReturnLabel != now.ReturnLabel {
		c.ReturnPath = now.Checks.ReturnPath
	}
	if seen.TrackingLabel != now.TrackingLabel {
		c.Tracking = now.Checks.Tracking
	}
	looked := c.Former
	c.Former = make(map[string]Check, len(now.FormerLabels))
	for _, label := range now.FormerLabels {
		check, known := looked[label]
		if !known {
			check = now.Checks.Former[label]
		}
		c.Former[label] = check
	}
	return c
}

// key is the result for the record of a key.
func (c Checks) key(selector string) Check {
	if check, looked := c.Keys[selector]; looked {
		return check
	}
	return Check{Status: CheckNotChecked}
}

// absent turns a failed look-up into a check. An answer that did not come says nothing about the record.
func absent(err error, missing string) Check {
	if errors.Is(err, world.ErrNoName) || errors.Is(err, world.ErrNoData) {
		return Check{Status: CheckMissing, Message: missing}
	}
	return Check{Status: CheckDNSError, Message: "The name servers of the domain did not answer. The next check may succeed."}
}

func (s *Service) checkSPF(ctx context.Context, d Domain) Check {
	texts, _, err := s.world.Resolver.TXT(ctx, d.Name)
	if err != nil {
		return absent(err, "No SPF record found.")
	}
	policies := slices.DeleteFunc(texts, func(text string) bool { return !spf.IsRecord(text) })
	switch {
	case len(policies) == 0:
		return Check{Status: CheckMissing, Message: "No SPF record found."}
	case len(policies) > 1:
		return Check{Status: CheckMultiple, Message: "There is more than one SPF record; receivers then use none. Merge them into one.", Found: policies}
	}
	return s.judgeSPF(ctx, policies[0])
}

// judgeSPF follows the policy: ours may be included through another one, and past ten look-ups receivers give up.
func (s *Service) judgeSPF(ctx context.Context, record string) Check {
	found := []string{record}
	policy, err := spf.Walk(ctx, record, func(ctx context.Context, name string) ([]string, error) {
		if name == s.hosts.SPF() {
			return nil, nil // ours; what it costs is known and small
		}
		texts, _, err := s.world.Resolver.TXT(ctx, name)
		if errors.Is(err, world.ErrNoName) || errors.Is(err, world.ErrNoData) {
			return nil, nil
		}
		return texts, err
	})
	switch {
	case errors.Is(err, spf.ErrTooManyLookups):
		return Check{Status: CheckTooMany, Message: "The SPF record needs more than 10 DNS look-ups; receivers then treat it as broken. Remove includes that are not needed.", Found: found}
	case policy.Includes[s.hosts.SPF()]:
		return Check{Status: CheckPass, Found: found}
	case err != nil:
		return Check{Status: CheckDNSError, Message: "A policy that the SPF record includes did not answer. The next check may succeed.", Found: found}
	}
	return Check{Status: CheckMismatch, Message: fmt.Sprintf("The SPF record does not contain include:%s. The value shown is yours with it added.", s.hosts.SPF()), Found: found}
}

func (s *Service) checkKey(ctx context.Context, d Domain, key Key) Check {
	name := key.Selector + "._domainkey." + d.Name
	texts, _, err := s.world.Resolver.TXT(ctx, name)
	if err != nil {
		return absent(err, fmt.Sprintf("No TXT record at %s.", name))
	}
	if len(texts) > 1 {
		return Check{Status: CheckMultiple, Message: fmt.Sprintf("There is more than one TXT record at %s; keep only ours.", name), Found: texts}
	}
	ours, err := dkim.ParseRecord(key.PublicRecord)
	if err != nil {
		panic(fmt.Sprintf("domain: stored record of key %s: %v", key.Selector, err))
	}
	record, err := dkim.ParseRecord(texts[0])
	if err != nil || !record.Publishes(ours) {
		return Check{Status: CheckMismatch, Message: fmt.Sprintf("The record at %s holds another key. Copy the value exactly.", name), Found: texts}
	}
	return Check{Status: CheckPass, Found: texts}
}

const noDMARC = "No DMARC record found. It is recommended."

// checkDMARC looks where receivers do: at the domain, and if it says nothing, at the organisation that it belongs to (RFC 7489 §6.6.3).
func (s *Service) checkDMARC(ctx context.Context, d Domain) Check {
	check := s.checkDMARCAt(ctx, d.Name)
	organisation, err := publicsuffix.EffectiveTLDPlusOne(d.Name)
	if check.Status != CheckMissing || err != nil || organisation == d.Name {
		return check
	}
	above := s.checkDMARCAt(ctx, organisation)
	if above.Status == CheckPass {
		above.Above = true
		above.Message = fmt.Sprintf("The policy of %s holds for this domain, too.", organisation)
	}
	return above
}

func (s *Service) checkDMARCAt(ctx context.Context, name string) Check {
	texts, _, err := s.world.Resolver.TXT(ctx, "_dmarc."+name)
	if err != nil {
		return absent(err, noDMARC)
	}
	policies := slices.DeleteFunc(texts, func(text string) bool { return !dmarc.IsRecord(text) })
	switch len(policies) {
	case 0:
		return Check{Status: CheckMissing, Message: noDMARC}
	case 1:
		return Check{Status: CheckPass, Found: policies}
	}
	return Check{Status: CheckMultiple, Message: "There is more than one DMARC record; receivers then use none.", Found: policies}
}

func (s *Service) checkAlias(ctx context.Context, name, want string) Check {
	target, _, err := s.world.Resolver.CNAME(ctx, name)
	switch {
	case err != nil:
		return absent(err, fmt.Sprintf("No CNAME record at %s.", name))
	case target != want:
		return Check{Status: CheckMismatch, Message: fmt.Sprintf("%s points to %s instead of %s.", name, target, want), Found: []string{target}}
	}
	return Check{Status: CheckPass, Found: []string{target}}
}

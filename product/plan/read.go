package plan

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/BurntSushi/toml"

	"postrider/platform/api"
)

// unlimited is how a file says that there is no limit.
const unlimited = -1

// planFile is what an operator may say of a plan.
type planFile struct {
	Limits map[string]int64 `toml:"limits"`
	Rates  map[string]Rate  `toml:"rates"`
}

// Read returns the shipped plans as an operator's TOML file changes them. A plan the file adds starts as a copy of free. A limit of
// -1 means without limit.
//
//	[pro.limits]
//	emails_per_month = 100000
//	[pro.rates.email_send]
//	per_sec = 100
//	burst = 200
func Read(r io.Reader) (map[Name]Plan, error) {
	var file map[string]planFile
	if meta, err := toml.NewDecoder(r).Decode(&file); err != nil {
		return nil, fmt.Errorf("plans: %w", err)
	} else if unknown := meta.Undecoded(); len(unknown) > 0 {
		return nil, fmt.Errorf("plans: %s is not something a plan has", unknown[0])
	}
	plans := Shipped()
	for _, name := range slices.Sorted(maps.Keys(file)) { // of several mistakes, the same one is named every time
		p, ok := plans[Name(name)]
		if !ok {
			p = Shipped()[Free]
			p.Name = Name(name)
		}
		if err := p.change(file[name]); err != nil {
			return nil, fmt.Errorf("plans: %s: %w", name, err)
		}
		plans[Name(name)] = p
	}
	return plans, nil
}

func (p *Plan) change(said planFile) error {
	fields := p.Limits.fields()
	for _, name := range slices.Sorted(maps.Keys(said.Limits)) {
		value := said.Limits[name]
		field, ok := fields[name]
		switch {
		case !ok:
			return fmt.Errorf("there is no limit called %s", name)
		case value < unlimited:
			return fmt.Errorf("%s must be -1 (without limit), 0 or more", name)
		case value == unlimited:
			*field = nil
		default:
			*field = n(value)
		}
	}
	for _, bucket := range slices.Sorted(maps.Keys(said.Rates)) {
		rate := said.Rates[bucket]
		if !slices.Contains(buckets, api.Bucket(bucket)) {
			return fmt.Errorf("there is no rate called %s", bucket)
		}
		if rate.PerSecond < 1 || rate.Burst < 1 {
			return fmt.Errorf("per_sec and burst of %s must be 1 or more", bucket)
		}
		p.Rates[api.Bucket(bucket)] = rate
	}
	return nil
}

// buckets are those whose rate a plan decides.
var buckets = []api.Bucket{api.BucketSend, api.BucketBatch, api.BucketSpamCheck, api.BucketRead, api.BucketWrite, api.BucketAutomationRun}

// fields are the limits by their names on the wire.
func (l *Limits) fields() map[string]**int64 {
	return map[string]**int64{
		"verified_domains": &l.VerifiedDomains, "emails_per_month": &l.EmailsPerMonth, "emails_per_day": &l.EmailsPerDay, "webhooks": &l.Webhooks,
		"log_retention_days": &l.LogRetentionDays, "received_retention_days": &l.ReceivedRetentionDays, "templates": &l.Templates,
		"contacts": &l.Contacts, "automations": &l.Automations,
		"managed_tenants": &l.ManagedTenants, "domains_per_tenant": &l.DomainsPerTenant, "members": &l.Members,
	}
}

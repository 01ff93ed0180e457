package app

import (
	"time"

	"postrider/mail/dmarc"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/domain"
	"postrider/product/inbound"
	"postrider/product/stats"
)

// authentication tells the statistics, which stand below the domains, how well these prove their mail.
func (a *App) authentication(tx *db.Tx, ws space.ID, q stats.DomainQuery) ([]stats.Domain, error) {
	domains, err := a.domainsAsked(tx, ws, q)
	if err != nil {
		return nil, err
	}
	domains = domains[:min(len(domains), q.Limit)]
	reported, err := reportsOf(tx, domains, q.Since)
	if err != nil {
		return nil, err
	}
	told := make([]stats.Domain, 0, len(domains))
	for _, d := range domains {
		one := stats.Domain{ID: string(d.ID), Name: d.Name, SPF: string(d.Checks.SPF.Status), DKIM: string(d.Checks.DKIM.Status),
			DMARC: string(d.Checks.DMARC.Status), ReturnPath: string(d.Checks.ReturnPath.Status), Policy: d.DMARCPolicy}
		if found := d.Checks.DMARC.Found; len(found) > 0 {
			if record, err := dmarc.ParseRecord(found[0]); err == nil {
				one.Policy = string(record.Policy)
				if d.Checks.DMARC.Above { // which may ask for something else there (RFC 7489 §6.3, sp)
					one.Policy = string(record.Subdomains)
				}
			}
		}
		if d.Verified {
			one.VerifiedAt = d.VerifiedAt
			r := reported[d.Name]
			one.Reports = stats.Reports{DMARC: r.DMARCReports, Messages: r.Messages, Passed: r.Passed, TLS: r.TLSReports, Sessions: r.Sessions, Failed: r.Failed}
		}
		told = append(told, one)
	}
	return told, nil
}

// reportsOf sums up what others have reported about domains that are proven to be the asker's.
func reportsOf(tx *db.Tx, domains []domain.Domain, since time.Time) (map[string]inbound.Digest, error) {
	var names []string
	for _, d := range domains {
		if d.Verified {
			names = append(names, d.Name)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	return inbound.Digests(tx, names, since)
}

// installation tells the statistics what the nodes have found out about themselves. What to do about it is for their operator.
func (a *App) installation(tx *db.Tx) ([]stats.Check, error) {
	found, err := a.Nodes.Findings(tx)
	checks := make([]stats.Check, len(found))
	for i, f := range found {
		checks[i] = stats.Check{Check: f.Check, Status: string(f.Status), Message: f.Message}
	}
	return checks, err
}

func (a *App) domainsAsked(tx *db.Tx, ws space.ID, q stats.DomainQuery) ([]domain.Domain, error) {
	if len(q.IDs) > 0 || len(q.Tenants) == 0 {
		return a.Domains.OfWorkspace(tx, ws, q.IDs, q.Limit)
	}
	var domains []domain.Domain
	for _, id := range q.Tenants {
		found, err := a.Domains.OfTenant(tx, ws, id)
		if err != nil {
			return nil, err
		}
		domains = append(domains, found...)
	}
	return domains, nil
}

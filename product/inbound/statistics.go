package inbound

import (
	"time"

	"postrider/mail/report"
	"postrider/platform/db"
	"postrider/product/domain"
)

// maxKeptRecords is how many rows of one report are kept; the totals count them all.
const maxKeptRecords = 1000

// fileStatistics stores an aggregate report, if the domain it is about is one of ours. It tells whether it was one.
func (s *Service) fileStatistics(tx *db.Tx, told report.Report, proven bool) (bool, error) {
	switch {
	case told.DMARC != nil:
		known, err := s.domains.Known(tx, told.DMARC.Domain)
		if err != nil || !known {
			return false, err
		}
		return true, insertDMARC(tx, s.world.NewID(), newDMARCReport(*told.DMARC, proven))
	case told.TLS != nil:
		return s.fileTLS(tx, *told.TLS, proven)
	}
	return false, nil
}

// fileTLS stores a report for each domain of ours that it is about.
func (s *Service) fileTLS(tx *db.Tx, told report.TLSReport, proven bool) (filed bool, err error) {
	byDomain := map[string]*tlsReport{}
	var order []string
	for _, p := range told.Policies {
		r := byDomain[p.Domain]
		if r == nil {
			r = &tlsReport{Domain: p.Domain, Organization: told.Organization, ReportID: told.ReportID, Proven: proven, Begin: told.Begin, End: told.End}
			byDomain[p.Domain] = r
			order = append(order, p.Domain)
		}
		r.Successful, r.Failed, r.Policies = r.Successful+p.Successful, r.Failed+p.Failed, append(r.Policies, p)
	}
	for _, name := range order {
		known, err := s.domains.Known(tx, name)
		if err != nil {
			return filed, err
		}
		if !known {
			continue
		}
		filed = true
		if err := insertTLS(tx, s.world.NewID(), *byDomain[name]); err != nil {
			return filed, err
		}
	}
	return filed, nil
}

// dmarcReport is what one provider saw of the mail of a domain.
type dmarcReport struct {
	Domain, Organization, ReportID, Policy string
	Proven                                 bool
	// Messages is how many there were, and Passed how many of them were proven to be of the domain.
	Messages, Passed int64
	Records          []report.AggregateRecord
	Begin, End       time.Time
}

func newDMARCReport(a report.Aggregate, proven bool) dmarcReport {
	r := dmarcReport{Domain: a.Domain, Organization: a.Organization, ReportID: a.ReportID, Policy: a.Policy, Proven: proven, Begin: a.Begin, End: a.End,
		Records: a.Records[:min(len(a.Records), maxKeptRecords)]}
	for _, record := range a.Records {
		r.Messages += record.Count
		if record.DKIM == "pass" || record.SPF == "pass" {
			r.Passed += record.Count
		}
	}
	return r
}

// tlsReport is what one provider saw of the encryption on the way to a domain.
type tlsReport struct {
	Domain, Organization, ReportID string
	Proven                         bool
	Successful, Failed             int64
	Policies                       []report.TLSPolicy
	Begin, End                     time.Time
}

// sweepRules removes rules of domains that are no longer there, a few at a time.
func (s *Service) sweepRules(tx *db.Tx) error {
	const first = "00000000-0000-0000-0000-000000000000"
	for after := first; ; {
		rules, err := selectRuleDomains(tx, after, maxSwept)
		if err != nil || len(rules) == 0 {
			return err
		}
		ids := make([]domain.ID, len(rules))
		for i, r := range rules {
			ids[i] = r.DomainID
		}
		there, err := s.domains.Load(tx, ids)
		if err != nil {
			return err
		}
		for _, r := range rules {
			if _, ok := there[r.DomainID]; ok {
				continue
			}
			if err := deleteRules(tx, r.Workspace, []string{r.ID}); err != nil {
				return err
			}
		}
		after = rules[len(rules)-1].ID
	}
}

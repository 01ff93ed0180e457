package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
)

const (
	// maxTLSBytes bounds a report on encryption; they hold totals, not messages. Read, it takes some forty times the space.
	maxTLSBytes = 1 << 20
	// maxPolicies is how many policies of one report are kept, and maxFailures how many failures of one policy.
	maxPolicies = 1000
	maxFailures = 1000
)

// TLSReport is what one sender saw of the encryption on the way to a domain (RFC 8460).
type TLSReport struct {
	Organization string
	Contact      string
	ReportID     string
	Begin        time.Time
	End          time.Time
	Policies     []TLSPolicy
}

// TLSPolicy is what came of one policy.
type TLSPolicy struct {
	// Type is sts, tlsa or no-policy-found.
	Type       string
	Domain     string
	Successful int64
	Failed     int64
	Failures   []TLSFailure
}

// TLSFailure is a number of sessions that failed in one way.
type TLSFailure struct {
	// Result is such as certificate-expired or starttls-not-supported.
	Result    string
	Reason    string
	SendingIP string
	MX        string
	Sessions  int64
}

// tlsJSON is a report as it is written.
type tlsJSON struct {
	Organization string `json:"organization-name"`
	DateRange    struct {
		Start string `json:"start-datetime"`
		End   string `json:"end-datetime"`
	} `json:"date-range"`
	Contact  string `json:"contact-info"`
	ID       string `json:"report-id"`
	Policies []struct {
		Policy struct {
			Type   string `json:"policy-type"`
			Domain string `json:"policy-domain"`
		} `json:"policy"`
		Summary struct {
			Successful int64 `json:"total-successful-session-count"`
			Failed     int64 `json:"total-failure-session-count"`
		} `json:"summary"`
		Failures []struct {
			Result    string `json:"result-type"`
			SendingIP string `json:"sending-mta-ip"`
			MX        string `json:"receiving-mx-hostname"`
			Sessions  int64  `json:"failed-session-count"`
			Reason    string `json:"failure-reason-code"`
		} `json:"failure-details"`
	} `json:"policies"`
}

// ReadTLS reads an unpacked report.
func ReadTLS(r io.Reader) (TLSReport, error) {
	var in tlsJSON
	if err := json.NewDecoder(io.LimitReader(r, maxTLSBytes)).Decode(&in); err != nil {
		return TLSReport{}, fmt.Errorf("%w: %w", ErrStatistics, err)
	}
	if len(in.Policies) == 0 {
		return TLSReport{}, ErrStatistics
	}
	out := TLSReport{Organization: clean(in.Organization, maxWord), Contact: clean(in.Contact, maxWord), ReportID: clean(in.ID, maxWord),
		Begin: dateTime(in.DateRange.Start), End: dateTime(in.DateRange.End)}
	for _, p := range in.Policies[:min(len(in.Policies), maxPolicies)] {
		policy := TLSPolicy{Type: strings.ToLower(clean(p.Policy.Type, maxWord)), Domain: strings.ToLower(clean(p.Policy.Domain, maxWord)),
			Successful: plausible(p.Summary.Successful), Failed: plausible(p.Summary.Failed)}
		for _, f := range p.Failures[:min(len(p.Failures), maxFailures)] {
			policy.Failures = append(policy.Failures, TLSFailure{Result: strings.ToLower(clean(f.Result, maxWord)), Reason: clean(f.Reason, maxWord),
				SendingIP: clean(f.SendingIP, maxWord), MX: strings.ToLower(clean(f.MX, maxWord)), Sessions: plausible(f.Sessions)})
		}
		out.Policies = append(out.Policies, policy)
	}
	return out, nil
}

// dateTime reads a time of RFC 3339, or returns zero.
func dateTime(s string) time.Time {
	at, err := time.Parse(time.RFC3339, strings.TrimSpace(s))
	if err != nil {
		return time.Time{}
	}
	return storable(at)
}

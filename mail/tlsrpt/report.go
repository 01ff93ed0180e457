package tlsrpt

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	moxtlsrpt "github.com/mjl-/mox/tlsrpt"
)

// ContentType is what a packed report is, in a mail and as the body of a POST (RFC 8460 §6.3, §5.4).
const ContentType = "application/tlsrpt+gzip"

// Errors about what a report cannot be made from.
var (
	errDate   = errors.New("day has no date")
	errDomain = errors.New("domain cannot be written into a header")
)

// Submitter is who reports.
type Submitter struct {
	// Organization is its name, Domain the one it sends from, and Contact an address for questions.
	Organization string
	Domain       string
	Contact      string
}

// Report is the report of a day. The same day makes the same report, so that one that was sent twice can be recognized.
type Report struct {
	// ID is unique to the submitter.
	ID string
	// Domain is the one reported on.
	Domain    string
	Submitter Submitter
	Begin     time.Time
	End       time.Time
	JSON      []byte
}

// NewReport makes the report of a day that is over.
func NewReport(d Day, by Submitter) (Report, error) {
	begin, err := time.Parse(time.DateOnly, d.Key.Date)
	if err != nil {
		return Report{}, fmt.Errorf("report on %.100q: %w", d.Key.Domain, errDate)
	}
	for _, domain := range []string{d.Key.Domain, by.Domain} {
		if !plain(domain) {
			return Report{}, fmt.Errorf("report on %.100q: %w", d.Key.Domain, errDomain)
		}
	}
	sum := sha256.Sum256([]byte(by.Domain + "\n" + d.Key.Domain + "\n" + d.Key.Date))
	r := Report{ID: fmt.Sprintf("%s.%x@%s", d.Key.Date, sum[:8], by.Domain), Domain: d.Key.Domain, Submitter: by,
		Begin: begin, End: begin.Add(24*time.Hour - time.Second)}
	wire := moxtlsrpt.ReportJSON{OrganizationName: by.Organization, ContactInfo: by.Contact, ReportID: r.ID,
		DateRange: moxtlsrpt.TLSRPTDateRangeJSON{Start: r.Begin, End: r.End}, Policies: []moxtlsrpt.ResultJSON{}}
	for _, t := range d.Tallies {
		wire.Policies = append(wire.Policies, t.wire())
	}
	r.JSON, err = json.Marshal(wire)
	return r, err
}

// wire returns the tally as it is written. Lists are never null: readers count on them.
func (t Tally) wire() moxtlsrpt.ResultJSON {
	result := moxtlsrpt.ResultJSON{
		Policy: moxtlsrpt.ResultPolicyJSON{Type: moxtlsrpt.PolicyType(t.Policy.Type), Domain: t.Policy.Domain,
			String: append([]string{}, t.Policy.Lines...), MXHost: append([]string{}, t.Policy.Hosts...)},
		Summary:        moxtlsrpt.SummaryJSON{TotalSuccessfulSessionCount: t.Successful, TotalFailureSessionCount: t.Failed},
		FailureDetails: []moxtlsrpt.FailureDetailsJSON{},
	}
	for _, c := range t.Failures {
		f := c.Failure
		result.FailureDetails = append(result.FailureDetails, moxtlsrpt.FailureDetailsJSON{ResultType: moxtlsrpt.ResultType(f.Result),
			SendingMTAIP: f.SendingIP, ReceivingMXHostname: f.MXHost, ReceivingMXHelo: f.MXHello, ReceivingIP: f.MXIP,
			FailedSessionCount: c.Sessions, FailureReasonCode: f.Reason})
	}
	return result
}

// Gzip returns the packed report.
func (r Report) Gzip() []byte {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write(r.JSON) // a buffer takes everything
	w.Close()
	return packed.Bytes()
}

// Filename is what the packed report is called (RFC 8460 §5.1).
func (r Report) Filename() string {
	return fmt.Sprintf("%s!%s!%d!%d.json.gz", r.Submitter.Domain, r.Domain, r.Begin.Unix(), r.End.Unix())
}

// plain tells whether a name is made of what host names are made of. Names come from the DNS, where everything is possible.
func plain(name string) bool {
	const longest = 253
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '.' && c != '-' && c != '_' {
			return false
		}
	}
	return name != "" && len(name) <= longest
}

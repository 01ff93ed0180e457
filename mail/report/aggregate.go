package report

import (
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/html/charset"
)

const (
	// maxRecords is how many rows of statistics are kept; the largest senders get a few thousand.
	maxRecords = 10_000
	// maxResults is how many checks of one row are kept.
	maxResults = 20
	// maxWord bounds names in statistics.
	maxWord = 255
	// maxElement bounds a record, or another part of a report, as it is written. A reader remembers every element that is open, all
	// attributes of a tag and all checks of a record, and a packed report of some kilobytes can hold millions of them.
	maxElement = 256 << 10
	// maxCount is more mail than anybody sends in a day. The sums of greater numbers would not fit where they are kept.
	maxCount = 10_000_000_000
)

// ErrStatistics means a text that is not the report it should be.
var ErrStatistics = errors.New("not an aggregate report")

// Aggregate is what one provider saw of the mail that claims to be of a domain (RFC 7489 appendix C).
type Aggregate struct {
	Organization string
	Email        string
	ReportID     string
	Begin        time.Time
	End          time.Time
	// Domain is the one the report is about, with the policy it publishes.
	Domain  string
	Policy  string
	Records []AggregateRecord
	// Truncated tells that there were more records.
	Truncated bool
}

// AggregateRecord is a number of messages that had all of this in common.
type AggregateRecord struct {
	SourceIP    netip.Addr
	Count       int64
	Disposition string
	// DKIM and SPF tell whether each passed and was the author's.
	DKIM         string
	SPF          string
	HeaderFrom   string
	EnvelopeFrom string
	// Checks are what DKIM and SPF gave before alignment.
	Checks []AggregateCheck
}

// AggregateCheck is the result of one check.
type AggregateCheck struct {
	Method   string // dkim or spf
	Domain   string
	Selector string
	Result   string
}

// xmlRecord is a record as it is written.
type xmlRecord struct {
	SourceIP    string     `xml:"row>source_ip"`
	Count       string     `xml:"row>count"`
	Disposition string     `xml:"row>policy_evaluated>disposition"`
	DKIM        string     `xml:"row>policy_evaluated>dkim"`
	SPF         string     `xml:"row>policy_evaluated>spf"`
	HeaderFrom  string     `xml:"identifiers>header_from"`
	Envelope    string     `xml:"identifiers>envelope_from"`
	Signatures  []xmlCheck `xml:"auth_results>dkim"`
	Senders     []xmlCheck `xml:"auth_results>spf"`
}

type xmlCheck struct {
	Domain   string `xml:"domain"`
	Selector string `xml:"selector"`
	Result   string `xml:"result"`
}

// ReadAggregate reads an unpacked report record by record, so that its size costs time but no memory. The caller bounds r.
func ReadAggregate(r io.Reader) (Aggregate, error) {
	in := &portions{from: bufio.NewReader(r)}
	decoder := xml.NewDecoder(in)
	decoder.CharsetReader = charset.NewReaderLabel
	decoder.Strict = false
	var a Aggregate
	rooted := false
	for {
		in.left = maxElement
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Aggregate{}, fmt.Errorf("%w: %w", ErrStatistics, err)
		}
		element, ok := token.(xml.StartElement)
		switch {
		case !ok:
		case !rooted && element.Name.Local != "feedback":
			return Aggregate{}, ErrStatistics
		case !rooted:
			rooted = true
		default:
			if err := a.element(decoder, element); err != nil {
				return Aggregate{}, fmt.Errorf("%w: %w", ErrStatistics, err)
			}
		}
	}
	if a.Domain == "" {
		return Aggregate{}, ErrStatistics
	}
	return a, nil
}

// element takes one child of the root.
func (a *Aggregate) element(decoder *xml.Decoder, start xml.StartElement) error {
	switch start.Name.Local {
	case "report_metadata":
		var m struct {
			Organization string `xml:"org_name"`
			Email        string `xml:"email"`
			ID           string `xml:"report_id"`
			Begin        string `xml:"date_range>begin"`
			End          string `xml:"date_range>end"`
		}
		err := decoder.DecodeElement(&m, &start)
		a.Organization, a.Email, a.ReportID = clean(m.Organization, maxWord), clean(m.Email, maxWord), clean(m.ID, maxWord)
		a.Begin, a.End = unixTime(m.Begin), unixTime(m.End)
		return err
	case "policy_published":
		var p struct {
			Domain string `xml:"domain"`
			Policy string `xml:"p"`
		}
		err := decoder.DecodeElement(&p, &start)
		a.Domain, a.Policy = strings.ToLower(clean(p.Domain, maxWord)), strings.ToLower(clean(p.Policy, maxWord))
		return err
	case "record":
		if len(a.Records) == maxRecords {
			a.Truncated = true
			return decoder.Skip()
		}
		var r xmlRecord
		err := decoder.DecodeElement(&r, &start)
		a.Records = append(a.Records, r.record())
		return err
	}
	return decoder.Skip()
}

func (x xmlRecord) record() AggregateRecord {
	r := AggregateRecord{
		Disposition: strings.ToLower(clean(x.Disposition, maxWord)), DKIM: strings.ToLower(clean(x.DKIM, maxWord)),
		SPF: strings.ToLower(clean(x.SPF, maxWord)), HeaderFrom: strings.ToLower(clean(x.HeaderFrom, maxWord)),
		EnvelopeFrom: strings.ToLower(clean(x.Envelope, maxWord)),
	}
	r.SourceIP, _ = netip.ParseAddr(strings.TrimSpace(x.SourceIP)) // what is no address stays invalid
	if n, err := strconv.ParseInt(strings.TrimSpace(x.Count), 10, 64); err == nil {
		r.Count = plausible(n)
	}
	r.check("dkim", x.Signatures)
	r.check("spf", x.Senders)
	return r
}

// plausible brings a number of messages or sessions within bounds.
func plausible(n int64) int64 { return min(max(n, 0), maxCount) }

func (r *AggregateRecord) check(method string, results []xmlCheck) {
	for _, c := range results[:min(len(results), maxResults)] {
		r.Checks = append(r.Checks, AggregateCheck{Method: method, Domain: strings.ToLower(clean(c.Domain, maxWord)),
			Selector: clean(c.Selector, maxWord), Result: strings.ToLower(clean(c.Result, maxWord))})
	}
}

// unixTime reads seconds since 1970, or returns zero.
func unixTime(s string) time.Time {
	seconds, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	if err != nil {
		return time.Time{}
	}
	return storable(time.Unix(seconds, 0))
}

// storable returns a time in UTC, or zero if it cannot be stored and shown: a zone can carry a date out of the years that have four
// digits, and JSON knows no zone that is a day away.
func storable(at time.Time) time.Time {
	if seconds := at.Unix(); seconds < 0 || seconds > maxUnix {
		return time.Time{}
	}
	return at.UTC()
}

// maxUnix is the end of the year 9999, the last that JSON and SQL agree on.
const maxUnix = 253402300799

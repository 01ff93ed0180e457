package inbound

import (
	"time"

	"postrider/platform/db"
)

// Digest sums up what other providers have reported about a domain. Reports that nobody vouches for are left out: anybody can send
// them.
type Digest struct {
	// DMARCReports tell of Messages in the name of the domain, of which Passed proved to be its own (RFC 7489 §7).
	DMARCReports, Messages, Passed int64
	// TLSReports tell of Sessions with the servers of the domain, of which Failed were not safe (RFC 8460).
	TLSReports, Sessions, Failed int64
}

// Plus adds two digests.
func (d Digest) Plus(o Digest) Digest {
	return Digest{d.DMARCReports + o.DMARCReports, d.Messages + o.Messages, d.Passed + o.Passed, d.TLSReports + o.TLSReports, d.Sessions + o.Sessions, d.Failed + o.Failed}
}

// Digests returns what has been reported since a moment, by domain. It reads across workspaces: whoever calls it says which domains
// the asker may know of. Without domains it means all.
func Digests(tx *db.Tx, domains []string, since time.Time) (map[string]Digest, error) {
	told := map[string]Digest{}
	err := sumDMARC(tx, domains, since, func(domain string, reports, messages, passed int64) {
		d := told[domain]
		d.DMARCReports, d.Messages, d.Passed = reports, messages, passed
		told[domain] = d
	})
	if err != nil {
		return nil, err
	}
	return told, sumTLS(tx, domains, since, func(domain string, reports, successful, failed int64) {
		d := told[domain]
		d.TLSReports, d.Sessions, d.Failed = reports, successful+failed, failed
		told[domain] = d
	})
}

package doctor

import (
	"context"

	"postrider/mail/standing"
)

const (
	// enoughReported is how much others must have seen before their reports say something about us.
	enoughReported = 100
	// unproven and unsafe are the parts of mail and of connections from which on something is wrong with more than a forwarder.
	unproven = 0.05
	unsafe   = 0.01
)

// reports tells what other providers have seen of the mail of our domains, and of the connections to them.
func (e *examination) reports(ctx context.Context) {
	if e.patient.Reports == nil {
		return
	}
	d, err := e.patient.Reports(ctx)
	if err != nil {
		e.note("reports", standing.Warn, "", "The reports of other providers cannot be read: %v.", err)
		return
	}
	if failed := d.Messages - d.Passed; d.Messages >= enoughReported && float64(failed) > unproven*float64(d.Messages) {
		e.note("dmarc reports", standing.Warn, "See dmarc_reports in GET /v1/stats/deliverability for the domains.", "%d of %d mails that %d reports tell of did not pass DMARC.", failed, d.Messages, d.DMARCReports)
	} else {
		e.note("dmarc reports", standing.Good, "", "%d of %d mails that %d reports tell of passed DMARC.", d.Passed, d.Messages, d.DMARCReports)
	}
	if d.Sessions >= enoughReported && float64(d.Failed) > unsafe*float64(d.Sessions) {
		e.note("tls reports", standing.Warn, "Check the certificates of the mail ports, and the MTA-STS and TLSA records.", "%d of %d connections that %d reports tell of were not safe.", d.Failed, d.Sessions, d.TLSReports)
		return
	}
	e.note("tls reports", standing.Good, "", "%d of %d connections that %d reports tell of were safe.", d.Sessions-d.Failed, d.Sessions, d.TLSReports)
}

// Package tlspolicy decides how a connection to a mail server must be encrypted, and never lets that become less without a word.
//
// Four have a say: the sender's domain, the recipient's domain (MTA-STS), the mail server's zone (DANE), and what worked the last time.
// The strictest wins. Where MTA-STS and DANE both speak, both must be satisfied (RFC 8461 §2). Where nobody speaks, a connection is
// encrypted if the server can, without asking who it is: many servers have certificates that prove nothing, and clear text would be
// worse.
//
// Pure: what it needs to know is handed in as Facts, the time among them.
package tlspolicy

import (
	"crypto/x509"
	"fmt"
	"strings"
	"time"

	"postrider/mail/dane"
	"postrider/mail/mtasts"
)

// Level is how strict a decision is, in the words of the record of an attempt.
type Level string

const (
	// Opportunistic means encrypted if possible, whoever the server is.
	Opportunistic Level = "opportunistic"
	// Required means encrypted or not at all.
	Required Level = "required"
	// MTASTS means encrypted, and proven as the recipient's domain demands.
	MTASTS Level = "mta_sts"
	// DANE means encrypted, and proven as the server's zone promises.
	DANE Level = "dane"
	// None is for a connection that is to stay in clear text after its decision has allowed that.
	None Level = "none"
)

// Demand is what the sender wants of a connection.
type Demand int

const (
	// DemandNothing leaves it to the other side.
	DemandNothing Demand = iota
	// DemandEncryption means rather not at all than in clear text.
	DemandEncryption
	// DemandCertificate means that the server must also prove its name with a certificate that browsers would accept, or by DANE.
	DemandCertificate
	// DemandDelivery is for reports on broken encryption, which must arrive in spite of it (RFC 8460 §3).
	DemandDelivery
)

// Facts are all that a decision depends on.
type Facts struct {
	// Domain is the recipient's and Host the mail server's name in the MX record.
	Domain string
	Host   string
	Demand Demand
	// STS is the policy of the recipient's domain that is in force, if any.
	STS mtasts.Policy
	// DANE is what the server promises. If that could not be found out, there is no decision: the server must be left alone.
	DANE dane.Promise
	// Memory is what worked with the recipient's domain before.
	Memory Memory
	Now    time.Time
	// Roots are the authorities that certificates are checked against; nil means the system's.
	Roots *x509.CertPool
}

// Decide says how to connect.
func Decide(f Facts) Decision {
	host := strings.ToLower(strings.TrimSuffix(f.Host, "."))
	d := Decision{Level: Opportunistic, ServerName: host, PlaintextAllowed: true, Why: f.Memory.words(f.Now), host: host, checks: checks(f, host)}
	if f.Demand == DemandDelivery {
		d.Why = "This message must arrive even if encryption fails."
		for i := range d.checks {
			d.checks[i].enforced = false
		}
		return d
	}
	if _, held := f.Memory.Held(f.Now); held {
		d.demand(Required, f.Memory.words(f.Now))
	}
	switch f.Demand {
	case DemandEncryption:
		d.demand(Required, "The sender's domain demands encryption.")
	case DemandCertificate:
		d.demand(Required, "The sender's domain demands encryption and a valid certificate.")
	}
	if f.DANE.State == dane.Unusable {
		d.demand(Required, "The server's zone has DANE records that cannot be checked, so encryption is required.")
	}
	if f.STS.Mode == mtasts.Enforce {
		d.demand(MTASTS, "The recipient's domain demands encryption and a valid certificate by its MTA-STS policy.")
		if !f.STS.Allows(host) {
			d.Refusal = fmt.Errorf("%w: %s", ErrHostNotListed, host)
		}
	}
	if f.DANE.State == dane.Usable {
		d.ServerName = f.DANE.Base
		d.demand(DANE, "The server's zone promises its certificate by DANE records.")
	}
	return d
}

// demand makes a decision stricter. It is called with ever stricter levels.
func (d *Decision) demand(level Level, why string) {
	d.Level, d.Why, d.PlaintextAllowed = level, why, false
}

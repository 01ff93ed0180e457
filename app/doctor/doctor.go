// Package doctor looks for the reasons why mail of an installation would not arrive: names, addresses, certificates, disks and
// ports. Every finding that is not good says what to do about it, with the record or command to copy.
package doctor

import (
	"context"
	"fmt"
	"net/netip"
	"strings"

	"postrider/mail/standing"
	"postrider/product/inbound"
	"postrider/world"
)

// Finding is the outcome of one check.
type Finding = standing.Finding

// Patient is the installation as it is configured.
type Patient struct {
	// Dir holds its data; empty leaves the disk out.
	Dir string
	// Domain is the one it runs under, Hello the name it gives to other servers.
	Domain, Hello string
	// Certificate is the PEM file of the mail ports; empty means self-signed.
	Certificate string
	// Probe is a domain whose mail server is called, to see whether mail gets out at all; Port is that of mail servers.
	Probe string
	Port  int
	// Blocklists are asked about our addresses.
	Blocklists []string
	// Database tells whether the database can be used; nil leaves it out.
	Database func(ctx context.Context) error
	// Reports sums up what other providers have reported about our domains; nil leaves it out.
	Reports func(ctx context.Context) (inbound.Digest, error)
}

// lowDisk is where writes are about to fail.
const lowDisk = 1 << 30

// Examine runs all checks.
func Examine(ctx context.Context, w world.World, p Patient) []Finding {
	e := &examination{world: w, patient: p}
	for _, check := range []func(context.Context){e.disk, e.database, e.name, e.records, e.certificate, e.blocklists, e.port, e.reports} {
		check(ctx)
	}
	return e.findings
}

type examination struct {
	world    world.World
	patient  Patient
	findings []Finding
	addrs    []netip.Addr // of the name we greet with
}

func (e *examination) add(f Finding) { e.findings = append(e.findings, f) }

func (e *examination) note(check string, status standing.Status, mend, format string, args ...any) {
	e.add(Finding{Check: check, Status: status, Message: fmt.Sprintf(format, args...), Mend: mend})
}

func join(addrs []netip.Addr) string {
	texts := make([]string, len(addrs))
	for i, addr := range addrs {
		texts[i] = addr.String()
	}
	return strings.Join(texts, ", ")
}

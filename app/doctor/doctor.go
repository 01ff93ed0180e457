// Package doctor looks for the reasons why mail of an installation would not arrive: names, addresses, certificates, disks and
// ports. Every finding that is not good says what to do about it, with the record or command to copy.
package doctor

import (
	"context"
	"crypto/x509"
	"fmt"
	"net/netip"

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
	// Bucket tells whether blobs can be kept in it; nil if they are in files.
	Bucket func(ctx context.Context) error
	// Inside tells how the installation itself is; nil leaves it out.
	Inside func(ctx context.Context) (Inside, error)
	// Hostname is where people and programs reach it; the domain if empty.
	Hostname string
	// Progress is told what is looked at now; nil tells nobody.
	Progress func(what string)
	// Reports sums up what other providers have reported about our domains; nil leaves it out.
	Reports func(ctx context.Context) (inbound.Digest, error)
}

// lowDisk is where writes are about to fail.
const lowDisk = 1 << 30

// Examine runs all checks.
func Examine(ctx context.Context, w world.World, p Patient) []Finding {
	e := &examination{world: w, patient: p}
	if e.patient.Hostname == "" {
		e.patient.Hostname = e.patient.Domain
	}
	for _, check := range []struct {
		what string
		look func(context.Context)
	}{{"the disk", e.disk}, {"the limits of the machine", e.limits}, {"the database", e.database}, {"the bucket", e.bucket}, {"the running servers and the queue", e.inside}, {"our name", e.name},
		{"our records", e.records}, {"the certificate", e.certificate}, {"blocklists", e.blocklists}, {"the way out", e.port}, {"reports of others", e.reports}} {
		if p.Progress != nil {
			p.Progress(check.what)
		}
		check.look(ctx)
	}
	return e.findings
}

type examination struct {
	world    world.World
	patient  Patient
	findings []Finding
	shown    *x509.Certificate // the certificate that the installation got by itself
	addrs    []netip.Addr      // of the name we greet with
}

func (e *examination) add(f Finding) { e.findings = append(e.findings, f) }

func (e *examination) note(check string, status standing.Status, mend, format string, args ...any) {
	e.add(Finding{Check: check, Status: status, Message: fmt.Sprintf(format, args...), Mend: mend})
}

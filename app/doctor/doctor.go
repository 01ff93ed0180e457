// Package doctor looks for the reasons why mail of an installation would not arrive: names, addresses, certificates, disks and
// ports. Every finding that is not good says what to do about it, with the record or command to copy.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"postrider/world"
)

// Status is how serious a finding is.
type Status string

// Statuses of findings.
const (
	Good Status = "ok"
	Warn Status = "warning"
	Fail Status = "failure"
)

// Finding is the outcome of one check.
type Finding struct {
	Check   string `json:"check"`
	Status  Status `json:"status"`
	Message string `json:"message"`
	// Mend is what to do, empty if nothing is.
	Mend string `json:"mend,omitempty"`
}

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
}

const (
	// lowDisk is where writes are about to fail.
	lowDisk = 1 << 30
	// renewBefore is when a certificate should have been renewed.
	renewBefore = 14 * 24 * time.Hour
	// probeWithin is how long another server may take to greet us.
	probeWithin = 10 * time.Second
)

// Examine runs all checks.
func Examine(ctx context.Context, w world.World, p Patient) []Finding {
	e := &examination{world: w, patient: p}
	for _, check := range []func(context.Context){e.disk, e.database, e.name, e.records, e.certificate, e.blocklists, e.port} {
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

func (e *examination) note(check string, status Status, mend, format string, args ...any) {
	e.findings = append(e.findings, Finding{Check: check, Status: status, Message: fmt.Sprintf(format, args...), Mend: mend})
}

func missing(err error) bool {
	return errors.Is(err, world.ErrNoName) || errors.Is(err, world.ErrNoData)
}

// because adds a cause that is more than that there is nothing.
func because(err error) string {
	if err == nil || missing(err) {
		return ""
	}
	return " (" + err.Error() + ")"
}

func join(addrs []netip.Addr) string {
	texts := make([]string, len(addrs))
	for i, addr := range addrs {
		texts[i] = addr.String()
	}
	return strings.Join(texts, ", ")
}

func orNothing(names []string) string {
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}

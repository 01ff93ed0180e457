package doctor

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"os"
	"strings"
	"syscall"
	"time"

	"postrider/product/domain"
)

func (e *examination) disk(context.Context) {
	dir := e.patient.Dir
	if dir == "" {
		return
	}
	file, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		e.note("disk", Fail, "Create the directory and make it writable for the user that runs Postrider: install -d -m 700 "+dir, "%s cannot be written: %v.", dir, err)
		return
	}
	file.Close()
	os.Remove(file.Name())
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		e.note("disk", Warn, "", "How full the disk is cannot be told: %v.", err)
		return
	}
	free := int64(fs.Bavail) * fs.Bsize
	if free < lowDisk {
		e.note("disk", Fail, "Free or add disk space before mail is refused.", "Only %d MB are free in %s.", free>>20, dir)
		return
	}
	e.note("disk", Good, "", "%s is writable, %d GB are free.", dir, free>>30)
}

func (e *examination) database(ctx context.Context) {
	if e.patient.Database == nil {
		return
	}
	if err := e.patient.Database(ctx); err != nil {
		e.note("database", Fail, "Check --database-url and that the server runs; then: postrider migrate", "The database cannot be used: %v.", err)
		return
	}
	e.note("database", Good, "", "The database answers and its schema is up to date.")
}

func (e *examination) certificate(context.Context) {
	host := domain.Hosts{Service: e.patient.Domain}.MX()[0]
	if e.patient.Certificate == "" {
		e.note("certificate", Warn, "Get a certificate for "+host+" and name it with --tls-cert and --tls-key.", "The mail ports use a self-signed certificate.")
		return
	}
	raw, err := os.ReadFile(e.patient.Certificate)
	if err != nil {
		e.note("certificate", Fail, "Check --tls-cert.", "The certificate cannot be read: %v.", err)
		return
	}
	block, _ := pem.Decode(raw)
	if block == nil {
		e.note("certificate", Fail, "Check --tls-cert.", "%s holds no certificate in PEM.", e.patient.Certificate)
		return
	}
	leaf, err := x509.ParseCertificate(block.Bytes)
	switch now := e.world.Clock.Now(); {
	case err != nil:
		e.note("certificate", Fail, "Check --tls-cert.", "The certificate cannot be understood: %v.", err)
	case leaf.VerifyHostname(host) != nil:
		e.note("certificate", Fail, "Get a certificate that names "+host+".", "The certificate is not for %s but for %s.", host, strings.Join(leaf.DNSNames, ", "))
	case now.After(leaf.NotAfter):
		e.note("certificate", Fail, "Renew it now.", "The certificate expired on %s.", leaf.NotAfter.Format(time.DateOnly))
	case leaf.NotAfter.Sub(now) < renewBefore:
		e.note("certificate", Warn, "Renew it.", "The certificate expires on %s.", leaf.NotAfter.Format(time.DateOnly))
	default:
		e.note("certificate", Good, "", "The certificate is good until %s.", leaf.NotAfter.Format(time.DateOnly))
	}
}

package standing

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"strings"
	"time"
)

// renewBefore is when a certificate should have been renewed.
const renewBefore = 14 * 24 * time.Hour

// Certificate checks the PEM file of the mail ports: whether it is for the host, and how long it is good for. No file means that the
// ports use a self-signed certificate.
func Certificate(path, host string, now time.Time) Finding {
	f := Finding{Check: "certificate", Status: Fail, Mend: "Check --tls-cert."}
	if path == "" {
		f.Status, f.Mend = Warn, getOne(host)
		f.Message = "The mail ports use a self-signed certificate."
		return f
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		f.Message = fmt.Sprintf("The certificate cannot be read: %v.", err)
		return f
	}
	block, rest := pem.Decode(raw)
	for block != nil && block.Type != "CERTIFICATE" { // a key may stand in the same file
		block, rest = pem.Decode(rest)
	}
	if block == nil {
		f.Message = path + " holds no certificate in PEM."
		return f
	}
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		f.Message = fmt.Sprintf("The certificate cannot be understood: %v.", err)
		return f
	}
	return judge(leaf, host, now, renewBefore)
}

// inUsePart is which part of its life a certificate that renews itself should have left: it is renewed when a third is left.
const inUsePart = 6

// CertificateInUse checks the certificate that the mail ports show for the host; nil means that they have none to show yet.
func CertificateInUse(leaf *x509.Certificate, host string, now time.Time) Finding {
	switch {
	case leaf == nil:
		return Finding{Check: "certificate", Status: Fail, Message: "There is no certificate for " + host + " yet.",
			Mend: "Let " + host + " resolve to this machine and let its ports 80 and 443 be reached, so that the authority can look; the log says why it refused."}
	case leaf.Issuer.String() == leaf.Subject.String():
		return Finding{Check: "certificate", Status: Warn, Message: "The mail ports use a self-signed certificate.", Mend: getOne(host)}
	}
	return judge(leaf, host, now, leaf.NotAfter.Sub(leaf.NotBefore)/inUsePart)
}

func getOne(host string) string {
	return "Start with --https 0.0.0.0:443, which gets a certificate for " + host + ", or name one with --tls-cert and --tls-key."
}

func judge(leaf *x509.Certificate, host string, now time.Time, renew time.Duration) Finding {
	f := Finding{Check: "certificate", Status: Fail}
	switch expires := leaf.NotAfter.Format(time.DateOnly); {
	case leaf.VerifyHostname(host) != nil:
		f.Mend, f.Message = "Get a certificate that names "+host+".", fmt.Sprintf("The certificate is not for %s but for %s.", host, strings.Join(leaf.DNSNames, ", "))
	case now.Before(leaf.NotBefore):
		f.Mend = "Set the clock of this machine right, or get another certificate."
		f.Message = "The certificate is good only from " + leaf.NotBefore.Format(time.DateOnly) + " on."
	case now.After(leaf.NotAfter):
		f.Mend, f.Message = "Renew it now.", "The certificate expired on "+expires+"."
	case leaf.NotAfter.Sub(now) < renew:
		f.Status, f.Mend, f.Message = Warn, "Renew it.", "The certificate expires on "+expires+"."
	default:
		f.Status, f.Mend, f.Message = Good, "", "The certificate is good until "+expires+"."
	}
	return f
}

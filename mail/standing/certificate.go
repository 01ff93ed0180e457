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
		f.Status, f.Mend = Warn, "Get a certificate for "+host+" and name it with --tls-cert and --tls-key."
		f.Message = "The mail ports use a self-signed certificate."
		return f
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		f.Message = fmt.Sprintf("The certificate cannot be read: %v.", err)
		return f
	}
	block, _ := pem.Decode(raw)
	if block == nil {
		f.Message = path + " holds no certificate in PEM."
		return f
	}
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		f.Message = fmt.Sprintf("The certificate cannot be understood: %v.", err)
		return f
	}
	switch expires := leaf.NotAfter.Format(time.DateOnly); {
	case leaf.VerifyHostname(host) != nil:
		f.Mend, f.Message = "Get a certificate that names "+host+".", fmt.Sprintf("The certificate is not for %s but for %s.", host, strings.Join(leaf.DNSNames, ", "))
	case now.After(leaf.NotAfter):
		f.Mend, f.Message = "Renew it now.", "The certificate expired on "+expires+"."
	case leaf.NotAfter.Sub(now) < renewBefore:
		f.Status, f.Mend, f.Message = Warn, "Renew it.", "The certificate expires on "+expires+"."
	default:
		f.Status, f.Mend, f.Message = Good, "", "The certificate is good until "+expires+"."
	}
	return f
}

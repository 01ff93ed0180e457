package tlsrpt

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"time"

	"postrider/mail/address"
)

// base64Line is the longest line of base64 in a mail (RFC 2045 §6.8).
const base64Line = 76

// Mail returns the report as a message to one of its destinations (RFC 8460 §5.3). It still has to be signed by the submitter's
// domain, or it will not be believed. It must be delivered even where encryption fails (RFC 8460 §3): that is its news.
func (r Report) Mail(from, to address.Address, at time.Time) []byte {
	boundary := fmt.Sprintf("report-%x", sha256.Sum256([]byte(r.ID)))[:40]
	var b bytes.Buffer
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\r\n", args...) }
	line("From: %s", from.Header())
	line("To: %s", to.Header())
	line("Subject: Report Domain: %s", r.Domain)
	line(" Submitter: %s", r.Submitter.Domain)
	line(" Report-ID: <%s>", r.ID)
	line("Date: %s", at.UTC().Format(time.RFC1123Z))
	line("Message-ID: <tlsrpt.%s>", r.ID)
	line("TLS-Report-Domain: %s", r.Domain)
	line("TLS-Report-Submitter: %s", r.Submitter.Domain)
	line("TLS-Required: No") // RFC 8689 §5: relays should not insist either
	line("Auto-Submitted: auto-generated")
	line("MIME-Version: 1.0")
	line("Content-Type: multipart/report; report-type=\"tlsrpt\";")
	line(" boundary=\"%s\"", boundary)
	line("")
	line("--%s", boundary)
	line("Content-Type: text/plain; charset=us-ascii")
	line("")
	line("This is a report on the encryption of mail that %s sent to", r.Submitter.Domain)
	line("%s on %s (UTC).", r.Domain, r.Begin.Format(time.DateOnly))
	line("")
	line("--%s", boundary)
	line("Content-Type: %s", ContentType)
	line("Content-Transfer-Encoding: base64")
	line("Content-Disposition: attachment;")
	line(" filename=\"%s\"", r.Filename())
	line("")
	encoded := base64.StdEncoding.EncodeToString(r.Gzip())
	for len(encoded) > 0 {
		n := min(len(encoded), base64Line)
		line("%s", encoded[:n])
		encoded = encoded[n:]
	}
	line("--%s--", boundary)
	return b.Bytes()
}

package sandbox

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"postrider/mail/smtp"
)

// bounceLate tells the sender that the mailbox does not exist after all (RFC 3464).
func (s *Sandbox) bounceLate(ctx context.Context, m *entry, recipient string, raw []byte) error {
	return s.bounce(ctx, m.From, recipient, *replyBounce, raw)
}

func (s *Sandbox) bounce(ctx context.Context, sender, recipient string, reply smtp.Reply, raw []byte) error {
	domain := domainOf(recipient)
	r := s.newReport("delivery-status", "MAILER-DAEMON@"+domain, sender, "Delivery Status Notification (Failure)")
	r.part("text/plain; charset=utf-8",
		"Your message could not be delivered to "+recipient+".",
		"The mail system said: "+reply.String())
	r.part("message/delivery-status",
		"Reporting-MTA: dns; "+mxPrefix+domain,
		"Arrival-Date: "+r.date,
		"",
		"Final-Recipient: rfc822; "+recipient,
		"Action: failed",
		"Status: "+reply.Enhanced,
		"Remote-MTA: dns; "+mxPrefix+domain,
		"Diagnostic-Code: smtp; "+reply.String(),
		"Last-Attempt-Date: "+r.date)
	r.part("text/rfc822-headers", strings.TrimRight(string(headerOf(raw)), "\r\n"))
	// A report about a report would never end, so this one has no return path (RFC 5321 §4.5.5).
	return s.post(ctx, smtp.Envelope{To: []string{sender}}, r.bytes())
}

// complainer is who sends complaints, at every provider.
const complainer = "complaints"

// complain tells the sender that the recipient called the message spam (RFC 5965).
func (s *Sandbox) complain(ctx context.Context, m *entry, recipient string, raw []byte) error {
	domain := domainOf(recipient)
	r := s.newReport("feedback-report", complainer+"@"+domain, m.From, "Abuse report")
	r.part("text/plain; charset=utf-8",
		"This is an abuse report for a message received from IP "+m.RemoteIP+" on "+m.ReceivedAt.Format(time.RFC1123Z)+".")
	r.part("message/feedback-report",
		"Feedback-Type: abuse",
		"User-Agent: Sandbox-FBL/1.0",
		"Version: 1",
		"Original-Mail-From: <"+m.From+">",
		"Original-Rcpt-To: <"+recipient+">",
		"Arrival-Date: "+m.ReceivedAt.Format(time.RFC1123Z),
		"Reporting-MTA: dns; "+mxPrefix+domain,
		"Source-IP: "+m.RemoteIP,
		"Incidents: 1")
	r.part("message/rfc822", strings.TrimRight(string(raw), "\r\n"))
	return s.post(ctx, smtp.Envelope{From: complainer + "@" + domain, To: []string{m.From}}, r.bytes())
}

func domainOf(recipient string) string {
	_, domain, found := strings.Cut(recipient[max(strings.LastIndexByte(recipient, '@'), 0):], "@")
	if !found {
		return hostname
	}
	return domain
}

// headerOf returns the header of a message.
func headerOf(raw []byte) []byte {
	header, _, _ := bytes.Cut(raw, []byte("\r\n\r\n"))
	return header
}

// report is a multipart/report (RFC 6522) in the making.
type report struct {
	text     bytes.Buffer
	boundary string
	date     string
}

func (s *Sandbox) newReport(kind, from, to, subject string) *report {
	id := hex.EncodeToString(s.world.Bytes(16))
	r := &report{boundary: "report-" + id, date: s.world.Clock.Now().Format(time.RFC1123Z)}
	for _, field := range []string{
		"From: <" + from + ">",
		"To: <" + to + ">",
		"Subject: " + subject,
		"Date: " + r.date,
		"Message-ID: <" + id + "@" + domainOf(from) + ">",
		"Auto-Submitted: auto-replied",
		"MIME-Version: 1.0",
		fmt.Sprintf("Content-Type: multipart/report; report-type=%s;", kind),
		fmt.Sprintf("\tboundary=%q", r.boundary),
	} {
		r.text.WriteString(field + "\r\n")
	}
	return r
}

// part adds a part of the given type and lines.
func (r *report) part(contentType string, lines ...string) {
	encoding := "7bit"
	content := strings.Join(lines, "\r\n")
	if !isASCII([]byte(content)) {
		encoding = "8bit"
	}
	fmt.Fprintf(&r.text, "\r\n--%s\r\nContent-Type: %s\r\nContent-Transfer-Encoding: %s\r\n\r\n%s\r\n", r.boundary, contentType, encoding, content)
}

// bytes ends the report.
func (r *report) bytes() []byte {
	fmt.Fprintf(&r.text, "\r\n--%s--\r\n", r.boundary)
	return r.text.Bytes()
}

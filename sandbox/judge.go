package sandbox

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"strings"

	"github.com/emersion/go-msgauth/dkim"
	moxdkim "github.com/mjl-/mox/dkim"
	"github.com/mjl-/mox/dmarc"
	moxdns "github.com/mjl-/mox/dns"
	moxsmtp "github.com/mjl-/mox/smtp"
	"github.com/mjl-/mox/spf"

	"postrider/mail/address"
	mailmessage "postrider/mail/message"
)

// maxSignatures is how many signatures of one message are looked at; honest mail has two or three.
const maxSignatures = 10

// Results of RFC 8601 §2.7 that the libraries below do not name for us.
const (
	resultNone      = "none"
	resultPass      = "pass"
	resultFail      = "fail"
	resultTempError = "temperror"
	resultPermError = "permerror"
)

// verdictOf judges a message when somebody first asks, by the zone of the moment it came. Mail comes faster than anybody reads
// it, so judging at the door would be work for nobody.
func (s *Sandbox) verdictOf(ctx context.Context, e *entry, raw []byte) authentication {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.verdict != nil {
		return *e.verdict
	}
	verdict := judge(ctx, view{zone: s.zone, when: e.zoneAt}, &e.message, raw)
	e.verdict = &verdict
	if err := s.mailbox.judged(e.ID, verdict); err != nil {
		s.world.Log.Warn("sandbox could not keep a verdict", "error", err)
	}
	return verdict
}

// judge does what a mailbox provider does with a message: SPF by the envelope, DKIM by the bytes, DMARC by both.
func judge(ctx context.Context, names view, m *message, raw []byte) authentication {
	silent := slog.New(slog.DiscardHandler)
	spfResult, identity := judgeSPF(ctx, silent, names, m)
	signatures := judgeDKIM(names, m, raw)
	return authentication{
		SPF:   string(spfResult),
		DKIM:  summary(signatures),
		DMARC: judgeDMARC(ctx, silent, names, raw, spfResult, identity, signatures),
	}
}

func judgeSPF(ctx context.Context, log *slog.Logger, names view, m *message) (spf.Status, *moxdns.Domain) {
	args := spf.Args{RemoteIP: net.ParseIP(m.RemoteIP), LocalIP: net.IPv4(127, 0, 0, 1), LocalHostname: moxdns.Domain{ASCII: hostname}}
	if at := strings.LastIndexByte(m.From, '@'); at >= 0 {
		domain, err := moxdns.ParseDomain(m.From[at+1:])
		if err != nil {
			return spf.StatusNone, nil
		}
		args.MailFromLocalpart, args.MailFromDomain = moxsmtp.Localpart(m.From[:at]), domain
	}
	if ip := net.ParseIP(m.Hello); ip != nil {
		args.HelloDomain = moxdns.IPDomain{IP: ip}
	} else if hello, err := moxdns.ParseDomainLax(m.Hello); err == nil {
		args.HelloDomain = moxdns.IPDomain{Domain: hello}
	}
	received, domain, _, _, _ := spf.Verify(ctx, log, names, args)
	return received.Result, &domain
}

// judgeDKIM checks every signature. Whether one has expired is judged by the time the message came; the library compares with
// the machine's clock as well, so a message that nobody looked at for a week cannot be judged any more.
func judgeDKIM(names view, m *message, raw []byte) []moxdkim.Result {
	checks, _ := dkim.VerifyWithOptions(bytes.NewReader(raw), &dkim.VerifyOptions{LookupTXT: names.texts, MaxVerifications: maxSignatures})
	results := make([]moxdkim.Result, len(checks))
	for i, check := range checks {
		result := moxdkim.Result{Status: moxdkim.StatusPass}
		expires := !check.Expiration.IsZero()
		switch {
		case expires && m.ReceivedAt.After(check.Expiration):
			result.Status = moxdkim.StatusPermerror
		case check.Err == nil:
		case dkim.IsTempFail(check.Err):
			result.Status = moxdkim.StatusTemperror
		case dkim.IsPermFail(check.Err):
			result.Status = moxdkim.StatusPermerror
		default:
			result.Status = moxdkim.StatusFail
		}
		if domain, err := moxdns.ParseDomain(check.Domain); err == nil {
			result.Sig = &moxdkim.Sig{Domain: domain}
		}
		results[i] = result
	}
	return results
}

// summary is the best that can be said of a message's signatures.
func summary(signatures []moxdkim.Result) string {
	best := resultNone
	rank := map[string]int{resultPass: 4, resultFail: 3, resultTempError: 2, resultPermError: 1}
	for _, signature := range signatures {
		if rank[string(signature.Status)] > rank[best] {
			best = string(signature.Status)
		}
	}
	return best
}

// judgeDMARC needs the one author a reader would see; a message without, or with several, is judged an error (RFC 7489 §6.6.1).
func judgeDMARC(ctx context.Context, log *slog.Logger, names view, raw []byte, spfResult spf.Status, identity *moxdns.Domain,
	signatures []moxdkim.Result) string {
	fields, _, err := mailmessage.ReadHeader(raw)
	if err != nil {
		return resultPermError
	}
	var authors []address.Address
	for _, field := range fields {
		if !field.Is("From") {
			continue
		}
		list, err := address.ParseList(field.Value)
		if err != nil {
			return resultPermError
		}
		authors = append(authors, list...)
	}
	if len(authors) != 1 {
		return resultPermError
	}
	author, err := moxdns.ParseDomain(authors[0].Domain)
	if err != nil {
		return resultPermError
	}
	_, result := dmarc.Verify(ctx, log, names, author, signatures, spfResult, identity, false)
	return string(result.Status)
}

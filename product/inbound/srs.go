package inbound

import (
	"encoding/base32"
	"strings"
	"time"

	"postrider/mail/smtp"
	"postrider/product/domain"
)

// Mail that is passed on with its author unchanged needs an envelope sender of ours, or the policy of the sender's domain would
// refuse it. The sender rewriting scheme keeps the original one inside: SRS0=mac=day=domain=local@host. A bounce to it comes to us;
// it is kept for the operator, and never sent on: the sender may be forged, and we were not asked to mail them.

const (
	srsPrefix  = "SRS0"
	srsPurpose = "srs"
	// srsMACBytes is enough that nobody guesses one.
	srsMACBytes = 8
	// srsFor is how long a bounce may take; mail is given up after five days at most.
	srsFor = 30
	// srsDays is after how many days the count begins again.
	srsDays = 1024
	// maxLocal is how long a local part may be (RFC 5321 §4.5.3.1.1).
	maxLocal = 64
)

const srsDigits = "abcdefghijklmnopqrstuvwxyz234567"

var srsEncoding = base32.NewEncoding(srsDigits).WithPadding(base32.NoPadding)

func srsDay(at time.Time) int { return int(at.Unix()/86400) % srsDays }

func srsDayText(day int) string { return string([]byte{srsDigits[day>>5], srsDigits[day&31]}) }

// rewriteSender returns the envelope sender of a message that is passed on, or nothing if the original one does not fit into it:
// then delivery makes one.
func (s *Service) rewriteSender(sender string, d domain.Domain) string {
	at := strings.LastIndexByte(sender, '@')
	if at < 1 || strings.HasPrefix(strings.ToUpper(sender), "SRS") || strings.ContainsAny(sender, "\" ()<>,;:\\[]") || !isASCII(sender) {
		return ""
	}
	rest := srsDayText(srsDay(s.world.Clock.Now())) + "=" + sender[at+1:] + "=" + sender[:at]
	local := srsPrefix + "=" + s.srsMAC(rest) + "=" + rest
	if len(local) > maxLocal {
		return ""
	}
	host := s.domains.Hosts().Bounces()
	if d.ReturnVerified {
		host = d.ReturnHost()
	}
	return local + "@" + host
}

// srsMAC minds no case: some servers change it.
func (s *Service) srsMAC(rest string) string {
	return srsEncoding.EncodeToString(s.keys.MAC(srsPurpose, []byte(strings.ToLower(rest)))[:srsMACBytes])
}

// forwardedFor returns the sender that a rewritten address stands for, if we made it and not too long ago.
func (s *Service) forwardedFor(local string) (sender string, ok bool) {
	prefix, rest, _ := strings.Cut(local, "=")
	text, rest, found := strings.Cut(rest, "=")
	if !strings.EqualFold(prefix, srsPrefix) || !found {
		return "", false
	}
	mac, err := srsEncoding.DecodeString(strings.ToLower(text))
	if err != nil || len(mac) != srsMACBytes || !s.keys.CheckMAC(srsPurpose, []byte(strings.ToLower(rest)), mac) {
		return "", false
	}
	day, rest, _ := strings.Cut(rest, "=")
	host, name, found := strings.Cut(rest, "=")
	if !found || len(day) != 2 {
		return "", false
	}
	made := strings.IndexByte(srsDigits, lower(day[0]))<<5 | strings.IndexByte(srsDigits, lower(day[1]))
	age := (srsDay(s.world.Clock.Now()) - made + srsDays) % srsDays
	return name + "@" + host, age <= srsFor
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func isASCII(text string) bool {
	return !smtp.Path{Local: text}.International()
}

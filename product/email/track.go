package email

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"postrider/mail/message"
	"postrider/product/domain"
	"postrider/product/email/internal/track"
)

const (
	// imagePath and linkPath are where pixels and links lead, below the address of a host.
	imagePath = "/v1/images/"
	linkPath  = "/v1/links/"
	// openPurpose and clickPurpose keep the signatures of pixels and links apart from each other and from all others.
	openPurpose  = "email/open"
	clickPurpose = "email/click"
	// trackMACBytes is enough that nobody guesses a link they have not seen.
	trackMACBytes = 10
	idBytes       = 16
	// maxTrackedBytes is the size up to which mail is tracked: what is near the limit of messages must not grow past it.
	maxTrackedBytes = 24 << 20
)

// trackText has no characters that HTML or an address would change. Strict, so that no two texts are one token.
var trackText = base64.RawURLEncoding.Strict()

// tracked tells whether the message is changed for tracking.
func (e Email) tracked() bool {
	return (e.TrackOpens || e.TrackClicks) && e.SizeBytes <= maxTrackedBytes
}

// Personal tells whether each recipient gets a message of its own, with links by which they are told apart.
func (e Email) Personal() bool { return e.ListUnsubscribe || e.tracked() }

// linkBase is where the links in mail of a domain lead: to its own host once that points to us, else to the installation. The
// operator must have said that certificates for such hosts are there: a link that warns of itself is worse than one of ours. An
// installation that is not reached at https on its usual port is reached nowhere else.
func (s *Service) linkBase(d domain.Domain) string {
	host, secure := strings.CutPrefix(s.baseURL, "https://")
	if !s.customerHosts || !secure || strings.ContainsAny(host, ":/") || d.Checks.Tracking.Status != domain.CheckPass {
		return s.baseURL
	}
	return "https://" + d.TrackingLabel + "." + d.Name
}

// trackLetter puts the pixel and the links of one recipient into the page of a letter. The text beside it stays as it is: people read
// addresses there.
func (s *Service) trackLetter(t Taken, l Letter) Letter {
	id, base := binaryID(t.Recipient.ID), s.linkBase(t.Domain)
	plan := track.Plan{Keep: s.untracked(t, l.Headers)}
	if t.Email.TrackOpens {
		plan.Pixel = base + imagePath + s.trackToken(openPurpose, id, "")
	}
	if t.Email.TrackClicks {
		plan.Link = func(target string) string { return base + linkPath + s.trackToken(clickPurpose, id, target) }
	}
	switch {
	case l.Raw != nil:
		l.Raw = message.RewriteHTML(l.Raw, plan.Rewrite)
	case l.HTML != "":
		l.HTML = plan.Rewrite(l.HTML)
	}
	return l
}

// untracked tells which targets are left alone: those at our own hosts, which are signed, or for the recipient alone; and the
// address at which the sender lets people unsubscribe.
func (s *Service) untracked(t Taken, headers map[string]string) func(target string) bool {
	ours := append(t.Domain.TrackingHosts(), hostOf(s.baseURL), s.domains.Hosts().Tracking())
	unsubscribe := ""
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		if strings.EqualFold(name, "List-Unsubscribe") {
			unsubscribe = headers[name]
		}
	}
	return func(target string) bool {
		return slices.Contains(ours, hostOf(target)) || strings.Contains(unsubscribe, "<"+target+">")
	}
}

// hostOf returns the host of an address, with its port if there is one.
func hostOf(address string) string {
	_, rest, _ := strings.Cut(address, "://")
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	return strings.ToLower(rest)
}

// trackToken stands for a recipient and, in a link, for the page it leads to. The target is in the token: links go on to work when
// the email is long forgotten, and no request can name another. The same email gives the same tokens at every attempt.
func (s *Service) trackToken(purpose string, id []byte, target string) string {
	signed := append(slices.Clone(id), target...)
	return trackText.EncodeToString(slices.Concat(id, s.keys.MAC(purpose, signed)[:trackMACBytes], []byte(target)))
}

// readTrackToken returns what a token stands for, or false if we did not make it.
func (s *Service) readTrackToken(purpose, token string) (recipient RecipientID, target string, ok bool) {
	if len(token) > trackText.EncodedLen(idBytes+trackMACBytes+track.MaxTarget) || strings.ContainsAny(token, "\r\n") {
		return "", "", false
	}
	raw, err := trackText.DecodeString(token)
	if err != nil || len(raw) < idBytes+trackMACBytes {
		return "", "", false
	}
	id, mac, rest := raw[:idBytes:idBytes], raw[idBytes:idBytes+trackMACBytes], raw[idBytes+trackMACBytes:]
	if !s.keys.CheckMAC(purpose, append(id, rest...), mac) {
		return "", "", false
	}
	return RecipientID(fmt.Sprintf("%x-%x-%x-%x-%x", id[0:4], id[4:6], id[6:8], id[8:10], id[10:16])), string(rest), true
}

func binaryID(id RecipientID) []byte {
	raw, err := hex.DecodeString(strings.ReplaceAll(string(id), "-", ""))
	if err != nil || len(raw) != idBytes {
		panic("email: recipient id is not a UUID: " + string(id))
	}
	return raw
}

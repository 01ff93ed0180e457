package track

import (
	"net/netip"
	"strings"
	"time"
)

// Reason is why an open or a click is not taken for that of a person; empty means that it is.
type Reason string

// Reasons, in the words in which customers are told.
const (
	// ImageProxy is a mailbox provider that loads pictures on behalf of its readers.
	ImageProxy Reason = "image_proxy"
	// PrivacyProxy loads the pictures of all mail, read or not, so that nobody learns which is.
	PrivacyProxy Reason = "privacy_proxy"
	// SecurityScanner is a program that looks at links before a person does, be it for safety, for a preview or to be faster.
	SecurityScanner Reason = "security_scanner"
	// TooFast is whoever was there before a person can have been.
	TooFast Reason = "too_fast"
)

// soonest is how long after delivery a person may have the mail open.
const soonest = 2 * time.Second

// Visit is what is known of a request for a pixel or a link.
type Visit struct {
	Click     bool
	UserAgent string
	IP        netip.Addr
	// Purpose is what the request itself says it is for, from the headers Sec-Purpose, Purpose, X-Purpose and X-Moz.
	Purpose string
	// Since is the time since the mail was delivered; it is negative for mail that is not.
	Since time.Duration
}

// Automated tells why the visit is not one of a person.
func (v Visit) Automated() Reason {
	if reason := v.byNetwork(); reason != "" {
		return reason
	}
	if reason := v.byAgent(); reason != "" {
		return reason
	}
	if purpose := strings.ToLower(v.Purpose); strings.Contains(purpose, "prefetch") || strings.Contains(purpose, "prerender") || strings.Contains(purpose, "preview") {
		return SecurityScanner
	}
	if v.Since < soonest {
		return TooFast
	}
	return ""
}

func (v Visit) byNetwork() Reason {
	for _, n := range networks {
		if !n.prefix.Contains(v.IP.Unmap()) {
			continue
		}
		if v.Click {
			return SecurityScanner // nobody's pictures are behind a link
		}
		return n.reason
	}
	return ""
}

func (v Visit) byAgent() Reason {
	agent := strings.ToLower(strings.TrimSpace(v.UserAgent))
	if reason, ok := wholeAgents[agent]; ok {
		return reason
	}
	agent = strings.ReplaceAll(agent, notBots, "")
	for _, known := range agents {
		if strings.Contains(agent, known.mark) {
			return known.reason
		}
	}
	return ""
}

package spam

import (
	"net/netip"
	"net/url"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
)

// maxHref bounds how much of a link is read. Browsers and mail programs give up at about as many bytes.
const maxHref = 8 << 10

// link is a link taken apart the way browsers do, which is laxer than RFC 3986.
type link struct {
	// shown is the text of the link in HTML; a bare address in a text shows itself.
	shown  string
	scheme string
	// host is in lower case, without port; one in another script is as it was written.
	host string
	port string
	path string
	// credentials means there is a name or a password before the host.
	credentials bool
	// empty means the link leads nowhere.
	empty bool
}

func readLink(a anchor) link {
	href := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f { // browsers leave them out, so "java\nscript:" works
			return -1
		}
		return r
	}, a.href[:min(len(a.href), maxHref)])
	href = strings.TrimSpace(href)
	l := link{shown: strings.TrimSpace(strings.ToValidUTF8(a.shown, "")), empty: href == "" || href == "#"}
	rest := href
	if scheme, after, found := strings.Cut(href, ":"); found && isScheme(scheme) {
		l.scheme, rest = strings.ToLower(scheme), after
	}
	if l.scheme == "http" || l.scheme == "https" || l.scheme == "ftp" || l.scheme == "" {
		rest = strings.ReplaceAll(rest, `\`, "/")
	}
	authority, found := strings.CutPrefix(rest, "//")
	if !found {
		l.path = rest
		return l
	}
	if i := strings.IndexAny(authority, "/?#"); i >= 0 {
		authority, l.path = authority[:i], authority[i:]
	}
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		l.credentials = true
		authority = authority[i+1:]
	}
	l.host, l.port = splitPort(authority)
	return l
}

func isScheme(s string) bool {
	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || !(r >= '0' && r <= '9' || r == '+' || r == '-' || r == '.')) {
			return false
		}
	}
	return s != ""
}

func splitPort(authority string) (host, port string) {
	host = authority
	if end := strings.LastIndexByte(authority, ']'); end >= 0 && strings.HasPrefix(authority, "[") {
		host, port = authority[1:end], strings.TrimPrefix(authority[end+1:], ":")
	} else if i := strings.LastIndexByte(authority, ':'); i >= 0 {
		host, port = authority[:i], authority[i+1:]
	}
	if plain, err := url.PathUnescape(host); err == nil {
		host = plain
	}
	host = strings.NewReplacer("。", ".", "．", ".", "｡", ".").Replace(host)
	return strings.ToLower(strings.TrimSuffix(host, ".")), port
}

// web tells whether the link leads to a page.
func (l link) web() bool {
	return (l.scheme == "http" || l.scheme == "https" || l.scheme == "") && l.host != ""
}

// maxHost is how many bytes a host may have, with room for letters that take several; no name is longer (RFC 1035 §2.3.4). To write
// letters of other scripts in ASCII takes time by the square of their number.
const maxHost = 4 * 253

// inASCII returns a host in the form in which name servers know it.
func inASCII(host string) string {
	if len(host) > maxHost {
		return host
	}
	ascii, err := idna.Punycode.ToASCII(host)
	if err != nil {
		return host
	}
	return ascii
}

// registered returns the domain that somebody registered and that a host belongs to.
func registered(host string) string {
	if len(host) > maxHost {
		return host
	}
	ascii := inASCII(host)
	if domain, err := publicsuffix.EffectiveTLDPlusOne(ascii); err == nil {
		return domain
	}
	return ascii
}

// sameOwner tells whether two hosts are of one registered domain.
func sameOwner(a, b string) bool { return registered(a) == registered(b) }

// isAddress tells whether a host is an IP address, also in the ways of writing that only browsers know: 0x7f.1, 2130706433.
func isAddress(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	for label := range strings.SplitSeq(host, ".") {
		digits, isHex := strings.CutPrefix(label, "0x")
		if digits == "" || strings.Trim(digits, "0123456789") != "" && !(isHex && strings.Trim(digits, "0123456789abcdef") == "") {
			return false
		}
	}
	return true
}

// isLookAlikeHost tells whether a label of a host mixes scripts, or is written in another script with nothing but letters that
// look Latin.
func isLookAlikeHost(host string) bool {
	readable, err := idna.Punycode.ToUnicode(host)
	if err != nil {
		readable = host
	}
	for label := range strings.SplitSeq(readable, ".") {
		latin, foreign, alike := 0, 0, 0
		for _, r := range label {
			switch {
			case isLatin(r):
				latin++
			case unicode.In(r, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee):
				foreign++
				if lookAlikes[r] != 0 {
					alike++
				}
			}
		}
		if foreign > 0 && (latin > 0 || alike == foreign && foreign > 2) {
			return true
		}
	}
	return false
}

// endsSentence are the characters after an address that do not belong to it.
const endsSentence = ".,;:!?…。、"

// findAddresses returns the addresses of web pages in a text, and how many there are in all.
func findAddresses(text string) (found []anchor, count int) {
	for {
		at := strings.Index(text, "://")
		if at < 0 {
			return found, count
		}
		start := at
		for start > 0 && at-start < len("https") && isASCIILetter(text[start-1]) {
			start--
		}
		scheme := strings.ToLower(text[start:at])
		text, at = text[start:], at-start
		end := strings.IndexAny(text, " \t\r\n<>\"'()[]{}|\u00a0")
		if end < at {
			end = max(len(text), at)
		}
		if scheme == "http" || scheme == "https" {
			if count++; len(found) < maxLinks {
				address := strings.TrimRight(text[:end], endsSentence)
				found = append(found, anchor{href: address, shown: address[:min(len(address), maxShown)]})
			}
		}
		text = text[max(end, at+len("://")):]
	}
}

func isASCIILetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

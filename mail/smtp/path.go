package smtp

import (
	"net/netip"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxLocalBytes and maxDomainBytes are the limits of RFC 5321 §4.5.3.1.1 and §4.5.3.1.2.
	maxLocalBytes  = 64
	maxDomainBytes = 255
	// maxLabelBytes is the limit of a label in the domain name system (RFC 1035 §2.3.4).
	maxLabelBytes = 63
)

// Path is the address in MAIL FROM or RCPT TO, taken apart. The zero Path is the null sender "<>". A path without a domain
// is the bare "<Postmaster>" that every server must know (RFC 5321 §4.5.1).
type Path struct {
	// Local is the part before the @ with quoting undone, so that "a" and a are one mailbox.
	Local string
	// Domain is the part after the @: a name in the sender's spelling, or an address literal in brackets.
	Domain string
}

// IsNull reports whether this is the null sender of bounces.
func (p Path) IsNull() bool { return p == Path{} }

// International reports whether the path can only travel under SMTPUTF8.
func (p Path) International() bool { return !isASCII(p.Local) || !isASCII(p.Domain) }

// String returns the address without angle brackets, the local part quoted if it needs to be.
func (p Path) String() string {
	if p.Domain == "" {
		return p.Local
	}
	if isDotString(p.Local) {
		return p.Local + "@" + p.Domain
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(p.Local) + `"@` + p.Domain
}

// pathProblem says why a path was refused; it is the text of the reply.
type pathProblem string

const (
	pathBrackets    pathProblem = "address must stand in angle brackets"
	pathSourceRoute pathProblem = "source routes are not accepted"
	pathLocal       pathProblem = "malformed local part"
	pathDomain      pathProblem = "malformed domain"
)

// parsePath reads a path in angle brackets from the start of s and returns what follows it. The problem is empty if the
// path is well formed.
func parsePath(s string) (path Path, rest string, problem pathProblem) {
	if !strings.HasPrefix(s, "<") {
		return Path{}, "", pathBrackets
	}
	s = s[1:]
	if rest, ok := strings.CutPrefix(s, ">"); ok {
		return Path{}, rest, ""
	}
	if strings.HasPrefix(s, "@") {
		return Path{}, "", pathSourceRoute
	}
	local, s, ok := cutLocal(s)
	if !ok {
		return Path{}, "", pathLocal
	}
	if rest, ok := strings.CutPrefix(s, ">"); ok && strings.EqualFold(local, "postmaster") {
		return Path{Local: local}, rest, ""
	}
	s, ok = strings.CutPrefix(s, "@")
	if !ok {
		return Path{}, "", pathDomain
	}
	domain, rest, ok := strings.Cut(s, ">")
	if !ok {
		return Path{}, "", pathBrackets
	}
	if !isDomain(domain) && !isLiteral(domain) {
		return Path{}, "", pathDomain
	}
	return Path{Local: local, Domain: domain}, rest, ""
}

// cutLocal reads a local part, quoted or not, and returns it with quoting undone.
func cutLocal(s string) (local, rest string, ok bool) {
	if strings.HasPrefix(s, `"`) {
		local, rest, ok = cutQuoted(s[1:])
		return local, rest, ok && len(local) <= maxLocalBytes
	}
	end := strings.IndexAny(s, "@>")
	if end < 0 {
		return "", "", false
	}
	return s[:end], s[end:], end <= maxLocalBytes && isDotString(s[:end])
}

// cutQuoted reads a quoted string whose opening quote is already gone.
func cutQuoted(s string) (content, rest string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			return b.String(), s[i+1:], b.Len() > 0 && isText(b.String())
		case '\\':
			i++
			if i == len(s) {
				return "", "", false
			}
		}
		b.WriteByte(s[i])
	}
	return "", "", false
}

// isText reports whether s is free of everything that is not visible text, so that it can be logged and shown.
func isText(s string) bool {
	for _, r := range s {
		if r != ' ' && !isVisible(r) {
			return false
		}
	}
	return true
}

// isVisible accepts letters, marks, numbers, signs and the two joiners that some scripts need; it refuses controls, spaces,
// broken UTF-8 and the marks that turn the direction of writing.
func isVisible(r rune) bool {
	const nonJoiner, joiner = '\u200c', '\u200d'
	if r < utf8.RuneSelf {
		return r > ' ' && r < 0x7f
	}
	return r == nonJoiner || r == joiner || r != utf8.RuneError && unicode.IsGraphic(r) && !unicode.IsSpace(r)
}

// isDotString reports whether s is atoms joined by single dots (RFC 5321 §4.1.2, RFC 6531 §3.3).
func isDotString(s string) bool {
	last := '.'
	for _, r := range s {
		if r == '.' && last == '.' || r != '.' && !isAtext(r) {
			return false
		}
		last = r
	}
	return last != '.'
}

func isAtext(r rune) bool {
	if r >= utf8.RuneSelf {
		return isVisible(r)
	}
	return isAlphanumeric(byte(r)) || strings.ContainsRune("!#$%&'*+-/=?^_`{|}~", r)
}

// isDomain reports whether s is a domain name without final dot. Underscores pass: they are no host names, but senders on
// hosts named so exist and their mail must arrive.
func isDomain(s string) bool {
	if len(s) == 0 || len(s) > maxDomainBytes {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if len(label) == 0 || len(label) > maxLabelBytes || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, r := range label {
			if r < utf8.RuneSelf && !isAlphanumeric(byte(r)) && r != '-' && r != '_' || !isVisible(r) {
				return false
			}
		}
	}
	return true
}

// isLiteral reports whether s is an address literal: [192.0.2.1] or [IPv6:2001:db8::1] (RFC 5321 §4.1.3).
func isLiteral(s string) bool {
	if len(s) < 2 || s[0] != '[' || s[len(s)-1] != ']' {
		return false
	}
	s = s[1 : len(s)-1]
	const tag = "IPv6:"
	if len(s) > len(tag) && strings.EqualFold(s[:len(tag)], tag) {
		addr, err := netip.ParseAddr(s[len(tag):])
		return err == nil && addr.Is6() && addr.Zone() == ""
	}
	addr, err := netip.ParseAddr(s)
	return err == nil && addr.Is4()
}

func isAlphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || isDigit(c)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

package address

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

const (
	// maxDomainBytes is the longest name DNS can hold in its text form (RFC 1035 §2.3.4).
	maxDomainBytes = 253
	// maxLabelBytes is the longest part between two dots (RFC 1035 §2.3.4).
	maxLabelBytes = 63
)

// ParseDomain returns the one form of a domain name that everything compares: lower-case A-labels, no final dot. It refuses
// what cannot receive mail from the internet: IP addresses, single labels, underscores. Its error is an *InvalidError.
func ParseDomain(s string) (string, error) {
	switch {
	case s == "":
		return "", invalid("the domain is empty")
	case len(s) > maxBytes:
		return "", invalid("the domain is too long")
	case s[0] == '[':
		return "", invalid("an IP address is not allowed as domain")
	case !utf8.ValidString(s):
		return "", invalid("the domain is not valid UTF-8")
	}
	name := s
	if !isPlainDomain(s) {
		mapped, err := idna.Lookup.ToASCII(s)
		if err != nil {
			return "", invalid("the domain is not a valid internationalised name")
		}
		name = mapped
	}
	name = strings.TrimSuffix(name, ".")
	// Whatever the mapping did, what leaves here has been checked byte by byte.
	if err := checkLabels(name); err != nil {
		return "", err
	}
	return name, nil
}

// AskedDomain returns the form that a domain is kept in, for those who look for one: whoever writes bücher.example means
// xn--bcher-kva.example. What is no domain finds nothing, and stays as it is but for its case.
func AskedDomain(s string) string {
	if name, err := ParseDomain(s); err == nil {
		return name
	}
	return strings.ToLower(s)
}

// UnicodeDomain returns the readable form of a domain that ParseDomain returned.
func UnicodeDomain(domain string) string {
	if !strings.Contains(domain, "xn--") {
		return domain
	}
	readable, err := idna.Lookup.ToUnicode(domain)
	if err != nil {
		return domain
	}
	return readable
}

// isPlainDomain tells that mapping would change nothing: lower-case ASCII and no label that claims to be encoded.
func isPlainDomain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || 'A' <= c && c <= 'Z' {
			return false
		}
	}
	return !strings.Contains(s, "--")
}

func checkLabels(name string) error {
	if len(name) > maxDomainBytes {
		return invalid("the domain is longer than 253 characters")
	}
	labels, numeric := 0, false
	for label := range strings.SplitSeq(name, ".") {
		labels++
		switch {
		case label == "":
			return invalid("the domain has an empty part between dots")
		case len(label) > maxLabelBytes:
			return invalid("a part of the domain is longer than 63 characters")
		case label[0] == '-' || label[len(label)-1] == '-':
			return invalid("a part of the domain begins or ends with a hyphen")
		}
		numeric = true
		for i := range len(label) {
			c := label[i]
			if !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-') {
				return invalid("the domain contains a character that is not allowed")
			}
			numeric = numeric && '0' <= c && c <= '9'
		}
	}
	if labels < 2 {
		return invalid("the domain needs a dot")
	}
	if numeric { // no top-level domain is a number (RFC 3696 §2), so this is an IP address
		return invalid("an IP address is not allowed as domain")
	}
	return nil
}

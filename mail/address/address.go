// Package address reads and writes mail addresses and the domain names in them.
//
// It is stricter than RFC 5322 on purpose. Comments, groups, source routes and quoted local parts that hide an "@" or a space
// are where two parsers come to disagree about the domain of an address, and then the domain that was checked is not the
// domain that is sent to. What is left has one reading, is found in linear time, and covers every address people use.
//
// Pure: no clock, no network, no state.
package address

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Address is one mailbox and the name of whoever reads it. Parse makes it; the zero value is no address.
type Address struct {
	// Name is the decoded display name, or empty.
	Name string
	// Local is the part before the "@", without quotes, in the case it was written in.
	Local string
	// Domain is the part after the "@" as lower-case A-labels (RFC 5890).
	Domain string
}

// InvalidError says in a short phrase for people why a text is not an address or a domain name.
type InvalidError struct {
	Reason string
}

// Error returns the reason.
func (e *InvalidError) Error() string { return e.Reason }

func invalid(reason string) error { return &InvalidError{Reason: reason} }

// Addr returns local@domain, the form an SMTP envelope carries.
func (a Address) Addr() string { return a.Local + "@" + a.Domain }

// Unicode returns local@domain with the domain in its readable form, to show to people and never to compare.
func (a Address) Unicode() string { return a.Local + "@" + UnicodeDomain(a.Domain) }

// Key returns the form in which two spellings of one mailbox are equal. Local parts are case-sensitive by the letter of
// RFC 5321 §2.4, but no mailbox provider lives by it, and a suppression that misses "Jane@" would be worthless.
func (a Address) Key() string { return norm.NFC.String(strings.ToLower(a.Local)) + "@" + a.Domain }

// NeedsUTF8 tells whether the address can only travel to servers that offer SMTPUTF8 (RFC 6531).
func (a Address) NeedsUTF8() bool { return !isASCII(a.Local) }

// String returns the display form in UTF-8: a@b.c or Name <a@b.c>. Parse reads it back to the same address.
func (a Address) String() string {
	if a.Name == "" {
		return a.Addr()
	}
	if isPhrase(a.Name) {
		return a.Name + " <" + a.Addr() + ">"
	}
	return quote(a.Name) + " <" + a.Addr() + ">"
}

// Header returns the form for a header field: ASCII (RFC 2047) but for a local part that needs UTF-8. Whatever the name holds,
// the result is one line.
func (a Address) Header() string {
	name := cleanName(a.Name)
	switch {
	case name == "":
		return a.Addr()
	case !isASCII(name) || longestWord(name) > maxPlainWord:
		return EncodeWords(name) + " <" + a.Addr() + ">"
	case isPhrase(name) && !strings.Contains(name, "."): // a dot is for those who read, not for those who write (RFC 5322 §4.1)
		return name + " <" + a.Addr() + ">"
	case strings.Contains(name, "=?"): // readers decode it even inside quotes, where RFC 2047 §5 forbids them to
		return EncodeWords(name) + " <" + a.Addr() + ">"
	}
	return quote(name) + " <" + a.Addr() + ">"
}

package dmarc

import (
	"errors"
	"strings"

	"postrider/mail/address"
	"postrider/mail/message"
)

// Reasons for which a message has no one author.
var (
	errNoAuthor    = errors.New("message has no From")
	errManyAuthors = errors.New("message has several From")
	errAuthor      = errors.New("the From field cannot be read")
)

// authorDomain returns the domain of the From field. There must be one field, and its addresses must be of one domain: of several,
// a reader would be shown one and the check made on another (RFC 7489 §6.6.1).
func authorDomain(header []message.Field) (string, error) {
	var from []message.Field
	for _, f := range header {
		if f.Is("From") {
			from = append(from, f)
		}
	}
	switch len(from) {
	case 0:
		return "", errNoAuthor
	case 1:
	default:
		return "", errManyAuthors
	}
	authors, err := address.ParseList(from[0].Value)
	if err != nil {
		return bracketedDomain(from[0].Value)
	}
	for _, a := range authors {
		if a.Domain != authors[0].Domain {
			return "", errManyAuthors
		}
	}
	return authors[0].Domain, nil
}

// bracketedDomain reads what people write in spite of the rules, such as a name with a comma that is not quoted. Every reader
// understands an address in brackets at the end, if it is the only one.
func bracketedDomain(value string) (string, error) {
	name, rest, found := strings.Cut(value, "<")
	addr, after, closed := strings.Cut(rest, ">")
	if !found || !closed || strings.TrimSpace(after) != "" || strings.Contains(name, "@") {
		return "", errAuthor
	}
	a, err := address.Parse(addr)
	if err != nil {
		return "", errAuthor
	}
	return a.Domain, nil
}

package sandbox

import (
	"fmt"
	"strings"

	"github.com/miekg/dns"
	"golang.org/x/net/idna"
)

const (
	// maxValues and maxValueBytes bound one set of records, so that it fits into one answer over TCP.
	maxValues     = 100
	maxValueBytes = 4096
	// textChunk is the longest string in a TXT record (RFC 1035 §3.3.14).
	textChunk = 255
	// recordTTL keeps answers out of every cache, so that a change is seen at once.
	recordTTL = 0
)

// recordSet is all records of one type at one name.
type recordSet struct {
	Name   string   `json:"name"`
	Type   string   `json:"type"`
	Values []string `json:"values"`

	kind    uint16
	records []dns.RR
}

// invalidRecordError says in a sentence for people what is wrong with a record.
type invalidRecordError struct {
	Problem string
}

// Error returns the problem.
func (e *invalidRecordError) Error() string { return e.Problem }

func invalidRecord(format string, args ...any) error {
	return &invalidRecordError{Problem: fmt.Sprintf(format, args...)}
}

// newRecordSet checks and reads a set. No values at all is a set as well: it says that there is no such record at the name.
func newRecordSet(name, kind string, values []string) (recordSet, error) {
	name, err := parseName(name)
	if err != nil {
		return recordSet{}, err
	}
	set := recordSet{Name: name, Values: []string{}}
	if set.kind, err = parseType(kind); err != nil {
		return recordSet{}, err
	}
	set.Type = dns.TypeToString[set.kind]
	if len(values) > maxValues {
		return recordSet{}, invalidRecord("%d values are more than the %d that are allowed.", len(values), maxValues)
	}
	for _, value := range values {
		record, err := newRecord(name, set.kind, value)
		if err != nil {
			return recordSet{}, err
		}
		set.Values = append(set.Values, value)
		set.records = append(set.records, record)
	}
	return set, nil
}

// parseName returns a name as the zone knows it: lower case, A-labels, no final dot.
func parseName(name string) (string, error) {
	ascii, err := idna.Punycode.ToASCII(strings.ToLower(strings.TrimSuffix(name, ".")))
	if err != nil {
		return "", invalidRecord("The name %q is not a domain name.", name)
	}
	for label := range strings.SplitSeq(ascii, ".") {
		if label == "" || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return "", invalidRecord("The name %q is not a domain name.", name)
		}
	}
	if _, possible := dns.IsDomainName(ascii); !possible {
		return "", invalidRecord("The name %q is too long for a domain name.", name)
	}
	return ascii, nil
}

// parseType knows the types of data. Types that steer the protocol (OPT, AXFR, ANY) and signatures, which this server does not
// make, cannot be published.
func parseType(name string) (uint16, error) {
	switch upper := strings.ToUpper(name); upper {
	case "A", "AAAA", "MX", "TXT", "CNAME", "NS", "PTR", "SRV", "CAA", "TLSA", "HINFO":
		return dns.StringToType[upper], nil
	}
	return 0, invalidRecord("The type %q is not known; use A, AAAA, MX, TXT, CNAME, NS, PTR, SRV, CAA, TLSA or HINFO.", name)
}

func newRecord(name string, kind uint16, value string) (dns.RR, error) {
	if value == "" || len(value) > maxValueBytes {
		return nil, invalidRecord("A value must have 1 to %d bytes.", maxValueBytes)
	}
	if kind == dns.TypeTXT {
		return &dns.TXT{Hdr: header(name, kind), Txt: splitText(value)}, nil
	}
	typeName := dns.TypeToString[kind]
	// The value goes through a parser of zone files, where a line end would begin another record.
	if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }) {
		return nil, invalidRecord("The value %q of a %s record holds characters that are not allowed.", value, typeName)
	}
	record, err := dns.NewRR(fmt.Sprintf("%s. %d IN %s %s", name, recordTTL, typeName, value))
	if err != nil || record == nil || record.Header().Rrtype != kind {
		return nil, invalidRecord("The value %q is not one of a %s record (%s).", value, typeName, exampleOf(kind))
	}
	return record, nil
}

func exampleOf(kind uint16) string {
	switch kind {
	case dns.TypeA:
		return `like "127.0.0.1"`
	case dns.TypeAAAA:
		return `like "::1"`
	case dns.TypeMX:
		return `like "10 mx.example.test"`
	case dns.TypeCNAME, dns.TypeNS, dns.TypePTR:
		return `like "host.example.test"`
	}
	return "in the form of a zone file"
}

func header(name string, kind uint16) dns.RR_Header {
	return dns.RR_Header{Name: dns.Fqdn(name), Rrtype: kind, Class: dns.ClassINET, Ttl: recordTTL}
}

// splitText cuts a text into the strings of a TXT record, with the escapes that the DNS library expects in them.
func splitText(text string) []string {
	var chunks []string
	for len(text) > 0 {
		chunk := text[:min(textChunk, len(text))]
		text = text[len(chunk):]
		var b strings.Builder
		for i := range len(chunk) {
			switch c := chunk[i]; {
			case c == '"' || c == '\\':
				b.WriteString(`\` + string(c))
			case c < ' ' || c > '~':
				fmt.Fprintf(&b, `\%03d`, c)
			default:
				b.WriteByte(c)
			}
		}
		chunks = append(chunks, b.String())
	}
	return chunks
}

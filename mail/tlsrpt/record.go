package tlsrpt

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	moxtlsrpt "github.com/mjl-/mox/tlsrpt"

	"postrider/mail/address"
)

// Errors about what a domain publishes.
var (
	// ErrNoRecord means that the domain wants no reports.
	ErrNoRecord = errors.New("no TLS reporting record")
	// ErrRecord means that its record cannot be read, that there are several, or that none of its addresses can be used.
	ErrRecord = errors.New("TLS reporting record is not valid")
)

// maxDestinations bounds to how many places a record can make us send.
const maxDestinations = 5

// Destinations are where a domain wants its reports. Each one gets every report (RFC 8460 §3).
type Destinations struct {
	// Mail are addresses to send a report to.
	Mail []address.Address
	// HTTPS are addresses to post a report to. They are a stranger's choice and must be checked before a connection is made.
	HTTPS []string
}

// RecordName is where a domain says where its reports go.
func RecordName(domain string) string { return "_smtp._tls." + domain }

// ParseRecord finds the destinations among the texts of RecordName. The error is ErrNoRecord or ErrRecord.
func ParseRecord(texts []string) (Destinations, error) {
	var record *moxtlsrpt.Record
	for _, text := range texts {
		read, asks, err := moxtlsrpt.ParseRecord(text)
		switch {
		case !asks:
			continue
		case err != nil:
			return Destinations{}, fmt.Errorf("%w: %s", ErrRecord, bounded(err))
		case record != nil:
			return Destinations{}, fmt.Errorf("%w: there are several", ErrRecord) // RFC 8460 §3
		}
		record = read
	}
	if record == nil {
		return Destinations{}, ErrNoRecord
	}
	d := destinations(record)
	if len(d.Mail)+len(d.HTTPS) == 0 {
		return Destinations{}, fmt.Errorf("%w: it names no usable address", ErrRecord)
	}
	return d, nil
}

// destinations returns what can be used and leaves out the rest, which may be meant for others.
func destinations(record *moxtlsrpt.Record) Destinations {
	var d Destinations
	for _, list := range record.RUAs {
		for _, place := range list {
			if len(d.Mail)+len(d.HTTPS) == maxDestinations {
				return d
			}
			target, err := url.Parse(string(place))
			if err != nil {
				continue
			}
			switch strings.ToLower(target.Scheme) {
			case "mailto":
				if addr, ok := mailbox(target); ok {
					d.Mail = append(d.Mail, addr)
				}
			case "https":
				if target.Host != "" && target.User == nil {
					d.HTTPS = append(d.HTTPS, target.String())
				}
			}
		}
	}
	return d
}

// mailbox returns the one address of a mailto link. What follows a question mark would be header fields of a stranger's choice.
func mailbox(target *url.URL) (address.Address, bool) {
	decoded, err := url.PathUnescape(target.Opaque)
	if err != nil {
		return address.Address{}, false
	}
	to, err := address.Parse(decoded)
	return to, err == nil && to.Name == "" && !to.NeedsUTF8()
}

// bounded shortens an error that quotes what it could not read.
func bounded(err error) string {
	const enough = 200
	text := err.Error()
	return strings.ToValidUTF8(text[:min(len(text), enough)], "")
}

// Package install knows what an installation needs besides the program: the DNS records of its own names, a configuration file, and a
// unit for systemd. "postrider setup" writes them, "postrider doctor" looks whether the records are there.
package install

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"postrider/product/domain"
)

// Site is an installation as it is to be reached.
type Site struct {
	// Hostname is where people and programs reach it, Domain the one customers' records point below, Hello the name it gives to others.
	Hostname, Domain, Hello string
	// Addresses are the public ones of the machine.
	Addresses []netip.Addr
}

// Record is a DNS record that the installation needs.
type Record struct {
	Type     string `json:"type"`
	Name     string `json:"name"`
	Value    string `json:"value"`
	Priority int    `json:"priority,omitempty"`
	// Purpose says what goes wrong without it.
	Purpose string `json:"purpose"`
	// Required tells that mail is lost or refused without it.
	Required bool `json:"required"`
}

// String is the record as it stands in a zone file.
func (r Record) String() string {
	switch r.Type {
	case "MX":
		return fmt.Sprintf("%s. MX %d %s.", r.Name, r.Priority, r.Value)
	case "TXT":
		return fmt.Sprintf("%s. TXT %q", r.Name, r.Value)
	case "PTR":
		return fmt.Sprintf("%s. PTR %s.", r.Name, r.Value)
	}
	return fmt.Sprintf("%s. %s %s", r.Name, r.Type, r.Value)
}

// Records returns all records of an installation, in the order in which they are best published.
func Records(s Site) []Record {
	hosts := domain.Hosts{Service: s.Domain}
	mx := hosts.MX()[0]
	var all []Record
	for _, host := range []struct {
		name, purpose string
		required      bool
	}{
		{s.Hostname, "where people and programs reach the installation", true},
		{s.Domain, "the domain itself", false},
		{s.Hello, "the name given to other mail servers, which look it up", true},
		{mx, "takes bounces and received mail", true},
		{hosts.Tracking(), "where tracking links of customers lead", true},
		{"mta-sts." + s.Domain, "tells others to encrypt mail to " + s.Domain, false},
		{"mta-sts." + hosts.Bounces(), "tells others to encrypt bounces", false},
	} {
		if slices.ContainsFunc(all, func(r Record) bool { return r.Name == host.name }) {
			continue
		}
		for _, addr := range s.Addresses {
			all = append(all, Record{Type: family(addr), Name: host.name, Value: addr.String(), Purpose: host.purpose, Required: host.required})
		}
	}
	senders := "v=spf1"
	for _, addr := range s.Addresses {
		senders += " " + map[string]string{"A": "ip4:", "AAAA": "ip6:"}[family(addr)] + addr.String()
	}
	senders += " -all"
	all = append(all,
		Record{Type: "TXT", Name: hosts.SPF(), Value: senders, Purpose: "customers' SPF records include it; without it their mail is refused", Required: true},
		Record{Type: "TXT", Name: hosts.Bounces(), Value: senders, Purpose: "SPF of return paths", Required: true},
		Record{Type: "TXT", Name: s.Hello, Value: "v=spf1 a -all", Purpose: "SPF of the name given to other servers, for bounces we send"},
		Record{Type: "MX", Name: hosts.Bounces(), Value: mx, Priority: 10, Purpose: "where bounces come back to", Required: true},
		Record{Type: "MX", Name: s.Domain, Value: mx, Priority: 10, Purpose: "mail to postmaster, abuse, dmarc and tlsrpt at the domain; some receivers ask for it"},
		Record{Type: "TXT", Name: "_dmarc." + s.Domain, Value: "v=DMARC1; p=reject; rua=mailto:dmarc@" + s.Domain, Purpose: "keeps others from mailing in the name of the installation"},
		Record{Type: "TXT", Name: "_mta-sts." + s.Domain, Value: "v=STSv1; id=1", Purpose: "announces the encryption policy"},
		Record{Type: "TXT", Name: "_mta-sts." + hosts.Bounces(), Value: "v=STSv1; id=1", Purpose: "announces the encryption policy for bounces"},
		Record{Type: "TXT", Name: "_smtp._tls." + s.Domain, Value: "v=TLSRPTv1; rua=mailto:tlsrpt@" + s.Domain, Purpose: "others report failed encryption"},
		Record{Type: "TXT", Name: "_smtp._tls." + hosts.Bounces(), Value: "v=TLSRPTv1; rua=mailto:tlsrpt@" + s.Domain, Purpose: "others report failed encryption of bounces"},
	)
	for _, addr := range s.Addresses {
		all = append(all, Record{Type: "PTR", Name: reverse(addr), Value: s.Hello, Purpose: "set at whoever rents out the address; without it large providers refuse mail", Required: true})
	}
	return all
}

func family(addr netip.Addr) string {
	if addr.Is4() {
		return "A"
	}
	return "AAAA"
}

// reverse is the name that the PTR record of an address has.
func reverse(addr netip.Addr) string {
	if addr.Is4() {
		b := addr.As4()
		return fmt.Sprintf("%d.%d.%d.%d.in-addr.arpa", b[3], b[2], b[1], b[0])
	}
	var name strings.Builder
	b := addr.As16()
	for i := len(b) - 1; i >= 0; i-- {
		fmt.Fprintf(&name, "%x.%x.", b[i]&0xf, b[i]>>4)
	}
	return name.String() + "ip6.arpa"
}

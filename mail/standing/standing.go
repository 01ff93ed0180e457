// Package standing finds out how a machine that sends mail stands with those who receive it: whether its name and its address prove
// each other, whether SPF lists it, whether somebody warns of it, and whether its port is open. Every finding that is not good says
// what to do about it, with the record to copy.
package standing

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"postrider/mail/spf"
	"postrider/world"
)

// Status is how serious a finding is.
type Status string

// Statuses of findings.
const (
	Good Status = "ok"
	Warn Status = "warning"
	Fail Status = "failure"
)

// Finding is the outcome of one check.
type Finding struct {
	Check  string `json:"check"`
	Status Status `json:"status"`
	// Address is what was looked at, Found what was found there: a name, or a blocklist. Either may be empty.
	Address string `json:"address,omitempty"`
	Found   string `json:"found,omitempty"`
	Message string `json:"message"`
	// Mend is what to do, empty if nothing is.
	Mend string `json:"mend,omitempty"`
}

// Name checks that the name given to other servers has addresses, and returns them.
func Name(ctx context.Context, names world.Resolver, hello string) ([]netip.Addr, Finding) {
	addrs, _, err := names.IP(ctx, hello)
	if err != nil || len(addrs) == 0 {
		return nil, Finding{Check: "name", Status: Fail, Mend: fmt.Sprintf("Publish: %s. A %s", hello, OurAddress),
			Message: fmt.Sprintf("%s, the name given to other servers, has no address%s.", hello, Because(err))}
	}
	return addrs, Finding{Check: "name", Status: Good, Found: hello, Message: fmt.Sprintf("%s resolves to %s.", hello, join(addrs))}
}

// Reverse checks that an address resolves to a name which resolves back to it (FCrDNS), and that it is the one we greet with.
func Reverse(ctx context.Context, names world.Resolver, addr netip.Addr, hello string) Finding {
	f := Finding{Check: "reverse name", Status: Fail, Address: addr.String(), Mend: fmt.Sprintf("Ask the provider of %s to set its reverse DNS to %s.", addr, hello)}
	found, _, err := names.PTR(ctx, addr)
	if err != nil && !missing(err) {
		f.Status, f.Mend, f.Message = Warn, "", fmt.Sprintf("The reverse name of %s could not be looked up: %v.", addr, err)
		return f
	}
	if len(found) == 0 {
		f.Message = fmt.Sprintf("%s resolves back to nothing instead of %s; large receivers refuse such mail.", addr, hello)
		return f
	}
	f.Found = plain(found[0])
	if at := slices.IndexFunc(found, func(name string) bool { return plain(name) == plain(hello) }); at >= 0 {
		f.Found = plain(hello)
	}
	forward, _, err := names.IP(ctx, f.Found)
	switch {
	case err != nil && !missing(err):
		f.Status, f.Mend, f.Message = Warn, "", fmt.Sprintf("%s, the reverse name of %s, could not be looked up: %v.", f.Found, addr, err)
	case !slices.Contains(forward, addr):
		f.Mend += fmt.Sprintf(" Publish the address of %s.", hello)
		f.Message = fmt.Sprintf("%s resolves back to %s, which does not resolve to it; large receivers refuse such mail.", addr, f.Found)
	case f.Found != plain(hello):
		f.Status, f.Message = Warn, fmt.Sprintf("%s resolves back to %s, but greets as %s; some receivers distrust such mail.", addr, f.Found, hello)
	default:
		f.Status, f.Mend, f.Message = Good, "", fmt.Sprintf("%s resolves back to %s.", addr, hello)
	}
	return f
}

// OurAddress stands in a record for an address that is not known here.
const OurAddress = "<public address of this machine>"

// SPF checks that the record customers include passes mail from every address.
func SPF(ctx context.Context, names world.Resolver, host string, addrs []netip.Addr) Finding {
	wanted := "v=spf1"
	if len(addrs) == 0 {
		wanted += " ip4:" + OurAddress
	}
	for _, addr := range addrs {
		kind := "ip4:"
		if addr.Is6() {
			kind = "ip6:"
		}
		wanted += " " + kind + addr.String()
	}
	f := Finding{Check: "spf", Status: Fail, Found: host, Mend: fmt.Sprintf("Publish: %s. TXT \"%s -all\"", host, wanted)}
	texts, _, err := names.TXT(ctx, host)
	if err != nil && !missing(err) {
		f.Status, f.Mend, f.Message = Warn, "", fmt.Sprintf("The SPF record of %s could not be looked up: %v.", host, err)
		return f
	}
	if !slices.ContainsFunc(texts, spf.IsRecord) {
		f.Message = fmt.Sprintf("%s has no SPF record; customers' mail cannot pass SPF.", host)
		return f
	}
	for _, addr := range addrs {
		switch v := spf.Verify(ctx, names, spf.Session{IP: addr, Hello: host, From: "postmaster@" + host, Receiver: host}); v.Result {
		case spf.Pass:
		case spf.TempError:
			f.Status, f.Mend, f.Message = Warn, "", fmt.Sprintf("The SPF record of %s could not be evaluated: %s.", host, v.Reason)
			return f
		default:
			f.Address, f.Message = addr.String(), fmt.Sprintf("The SPF record of %s does not pass mail from %s.", host, addr)
			return f
		}
	}
	f.Status, f.Mend, f.Message = Good, "", fmt.Sprintf("The SPF record of %s lists our addresses.", host)
	return f
}

func plain(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }

func missing(err error) bool {
	return errors.Is(err, world.ErrNoName) || errors.Is(err, world.ErrNoData)
}

// Because puts a cause that is more than that there is nothing into brackets.
func Because(err error) string {
	if err == nil || missing(err) {
		return ""
	}
	return " (" + err.Error() + ")"
}

func join(addrs []netip.Addr) string {
	texts := make([]string, len(addrs))
	for i, addr := range addrs {
		texts[i] = addr.String()
	}
	return strings.Join(texts, ", ")
}

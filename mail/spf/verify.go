package spf

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
	"strings"

	moxdns "github.com/mjl-/mox/dns"
	moxsmtp "github.com/mjl-/mox/smtp"
	moxspf "github.com/mjl-/mox/spf"

	"postrider/world"
)

// Result is what a policy says about a sender (RFC 7208 §2.6).
type Result string

// The results.
const (
	Pass      Result = "pass"
	Fail      Result = "fail"
	SoftFail  Result = "softfail"
	Neutral   Result = "neutral"
	None      Result = "none"      // there is no policy, or nobody to ask about
	TempError Result = "temperror" // the policy could not be asked for
	PermError Result = "permerror" // the policy cannot be evaluated
)

// Session is what is known of a sender before the message.
type Session struct {
	IP netip.Addr
	// Hello is the name the sender gave itself.
	Hello string
	// From is the reverse path; empty for a report.
	From string
	// Receiver is our own name, which policies may ask for.
	Receiver string
}

// Verification is what was found out about a sender.
type Verification struct {
	Result Result
	// Domain is whose policy was asked, and ByHello tells that it is the one of the greeting, for want of a reverse path.
	Domain  string
	ByHello bool
	// Mechanism is the term of the policy that decided, or empty.
	Mechanism string
	// Reason says what went wrong, for the two errors and for none.
	Reason string
}

// Verify evaluates the policy of a sender's domain (RFC 7208 §4). It makes a bounded number of look-ups; how long they may take is
// for ctx to say.
func Verify(ctx context.Context, names world.Resolver, s Session) Verification {
	args := moxspf.Args{RemoteIP: net.IP(s.IP.Unmap().AsSlice()), LocalIP: net.IPv4zero, LocalHostname: moxdns.Domain{ASCII: s.Receiver}}
	if !s.IP.IsValid() {
		return Verification{Result: None, Reason: "the address of the sender is not known"}
	}
	if at := strings.LastIndexByte(s.From, '@'); at >= 0 {
		domain, err := moxdns.ParseDomainLax(s.From[at+1:]) // senders of bulk mail have names with underscores
		if err != nil {
			return Verification{Result: None, Reason: "the domain of the reverse path is not a name"}
		}
		args.MailFromLocalpart, args.MailFromDomain = moxsmtp.Localpart(s.From[:at]), domain
	}
	// Addresses in brackets are no names, and leave the field empty.
	if hello, err := moxdns.ParseDomainLax(s.Hello); err == nil && net.ParseIP(s.Hello) == nil {
		args.HelloDomain = moxdns.IPDomain{Domain: hello}
	}
	if args.MailFromDomain.IsZero() && args.HelloDomain.Domain.IsZero() {
		return Verification{Result: None, Reason: "the sender gave no name"}
	}
	asked := &resolver{names: names, sender: s.IP.Unmap()}
	received, domain, _, _, err := moxspf.Verify(ctx, slog.New(slog.DiscardHandler), asked, args)
	v := Verification{Result: Result(received.Result), Domain: domain.ASCII, ByHello: args.MailFromDomain.IsZero(), Mechanism: received.Mechanism}
	switch {
	case asked.exceeded:
		v.Result, v.Reason = PermError, ErrTooManyLookups.Error()
	case err != nil:
		v.Reason = err.Error()
	}
	return v
}

package authres

import (
	"postrider/mail/arc"
	"postrider/mail/dkim"
	"postrider/mail/dmarc"
	"postrider/mail/spf"
)

// SPF notes what the policy of the sender said. The session is the one it was judged by.
func SPF(v spf.Verification, session spf.Session) Result {
	r := Result{Method: "spf", Value: string(v.Result), Reason: v.Reason}
	if session.From == "" {
		r.add("smtp", "helo", session.Hello)
	} else {
		r.add("smtp", "mailfrom", session.From)
	}
	return r
}

// DKIM notes one signature each, or that there was none.
func DKIM(list []dkim.Verification) []Result {
	if len(list) == 0 {
		return []Result{{Method: "dkim", Value: string(dkim.None)}}
	}
	results := make([]Result, len(list))
	for i, v := range list {
		r := Result{Method: "dkim", Value: string(v.Result), Reason: v.Reason}
		r.add("header", "d", v.Domain)
		r.add("header", "i", v.Identity)
		r.add("header", "s", v.Selector)
		r.add("header", "a", v.Algorithm)
		r.add("header", "b", v.Mark)
		results[i] = r
	}
	return results
}

// DMARC notes whether the author was proven, and what the author's domain asks for.
func DMARC(e dmarc.Evaluation) Result {
	r := Result{Method: "dmarc", Value: string(e.Result), Reason: e.Reason}
	r.add("header", "from", e.Author)
	r.add("policy", "dmarc", string(e.Policy))
	return r
}

// ARC notes the state of the chain. The address is where the message came from, or empty.
func ARC(c arc.Chain, remote string) Result {
	r := Result{Method: "arc", Value: string(c.Result), Reason: c.Reason}
	r.add("smtp", "remote-ip", remote)
	return r
}

// add leaves out what is not known.
func (r *Result) add(kind, name, value string) {
	if value != "" {
		r.Properties = append(r.Properties, Property{Type: kind, Name: name, Value: value})
	}
}

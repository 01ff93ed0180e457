package install

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"

	"postrider/world"
)

// State is what a look at DNS has shown of a record.
type State string

// States of records.
const (
	Published  State = "published"
	Missing    State = "missing"
	Different  State = "different"
	Unanswered State = "unanswered"
)

// Looked is a record and what was found in its place.
type Looked struct {
	Record
	State State    `json:"status"`
	Found []string `json:"found,omitempty"`
}

// Look asks a name server for a record.
func Look(ctx context.Context, names world.Resolver, r Record) Looked {
	found, err := find(ctx, names, r)
	l := Looked{Record: r, State: Different, Found: found}
	switch {
	case errors.Is(err, world.ErrNoName), errors.Is(err, world.ErrNoData), err == nil && len(found) == 0:
		l.State = Missing
	case err != nil:
		l.State = Unanswered
	case slices.ContainsFunc(found, func(text string) bool { return serves(r, text) }):
		l.State = Published
	}
	return l
}

func find(ctx context.Context, names world.Resolver, r Record) (found []string, err error) {
	switch r.Type {
	case "A", "AAAA":
		addrs, _, err := names.IP(ctx, r.Name)
		for _, addr := range addrs {
			if family(addr) == r.Type {
				found = append(found, addr.String())
			}
		}
		return found, err
	case "MX":
		servers, _, err := names.MX(ctx, r.Name)
		for _, server := range servers {
			found = append(found, server.Host)
		}
		return found, err
	case "PTR":
		texts, _, err := names.PTR(ctx, forward(r.Name))
		return texts, err
	}
	texts, _, err := names.TXT(ctx, r.Name)
	tag, _, _ := strings.Cut(r.Value, " ")
	for _, text := range texts {
		if strings.HasPrefix(strings.ToLower(text), strings.ToLower(strings.TrimSuffix(tag, ";"))) {
			found = append(found, text)
		}
	}
	return found, err
}

// forward is the address that a reverse name stands for.
func forward(name string) netip.Addr {
	if digits, ok := strings.CutSuffix(name, ".in-addr.arpa"); ok {
		parts := strings.Split(digits, ".")
		slices.Reverse(parts)
		addr, _ := netip.ParseAddr(strings.Join(parts, "."))
		return addr
	}
	digits := strings.Split(strings.TrimSuffix(name, ".ip6.arpa"), ".")
	slices.Reverse(digits)
	var groups []string
	for group := range slices.Chunk(digits, 4) {
		groups = append(groups, strings.Join(group, ""))
	}
	addr, _ := netip.ParseAddr(strings.Join(groups, ":"))
	return addr
}

// serves tells whether a text that was found does what the record is for. Operators may want stricter or other policies than ours; SPF
// must cover our addresses.
func serves(r Record, text string) bool {
	switch {
	case r.Type != "TXT":
		return strings.EqualFold(strings.TrimSuffix(text, "."), r.Value)
	case strings.HasPrefix(r.Value, "v=spf1 ip"):
		have := strings.Fields(strings.ToLower(text))
		for _, word := range strings.Fields(r.Value)[1:] {
			if word != "-all" && !covers(have, word) {
				return false
			}
		}
	}
	return true
}

// covers tells whether the words of an SPF record list the address of another word, itself or in a network.
func covers(have []string, word string) bool {
	kind, text, _ := strings.Cut(word, ":")
	addr, err := netip.ParseAddr(text)
	if err != nil {
		return slices.Contains(have, word)
	}
	return slices.ContainsFunc(have, func(other string) bool {
		value, ok := strings.CutPrefix(other, kind+":")
		if !ok {
			return strings.HasPrefix(other, "include:") || other == "a" || other == "mx" || strings.HasPrefix(other, "a:") // not followed here; the doctor does
		}
		network, err := netip.ParsePrefix(value)
		return value == text || err == nil && network.Contains(addr)
	})
}

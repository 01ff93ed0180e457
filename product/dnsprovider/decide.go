package dnsprovider

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"postrider/mail/dkim"
	"postrider/mail/spf"
	"postrider/product/dnsprovider/internal/cloudflare"
	"postrider/product/domain"
)

// Action is what became of a record that was to be published.
type Action string

// Actions on records.
const (
	Created   Action = "created"
	Updated   Action = "updated"
	Merged    Action = "merged"
	Unchanged Action = "unchanged"
	// Conflict means that something else is there and was left alone.
	Conflict Action = "conflict"
	// Failed means that the provider would not have it.
	Failed Action = "error"
)

// mark is the comment, or the tag, by which we know the records that we made. Whoever takes it off takes the record over.
const mark = "postrider"

func isOurs(r cloudflare.Record) bool { return r.Comment == mark || slices.Contains(r.Tags, mark) }

// step is what is to be done about one record.
type step struct {
	want   domain.DNSRecord
	action Action
	why    string // of a conflict
	id     string // the record to change
	merged string // its new text
}

// decision is what is to be done about the records of one type and name.
type decision struct {
	steps []step
	// stale are the ids of records to remove once all steps are done.
	stale []string
}

// scene is what a decision depends on besides the records at the name.
type scene struct {
	zone string
	// sender is the name that SPF must include.
	sender string
	// delegated tells that the domain is answered for by other name servers than the zone's.
	delegated bool
	overwrite bool
}

// decide says what to do so that the wanted records, which share type and name, are published beside what is there.
func (s scene) decide(wanted []domain.DNSRecord, there []cloudflare.Record) decision {
	if why := s.blocked(wanted[0], there); why != "" {
		return conflict(wanted, why)
	}
	there = slices.DeleteFunc(slices.Clone(there), func(r cloudflare.Record) bool { return r.Type != wanted[0].Type })
	switch wanted[0].Purpose {
	case "spf":
		return decision{steps: []step{s.decideSPF(wanted[0], there)}}
	case "receiving":
		return s.decideMX(wanted, there)
	}
	return decision{steps: []step{s.decideOne(wanted[0], there)}}
}

func conflict(wanted []domain.DNSRecord, why string) decision {
	var d decision
	for _, want := range wanted {
		d.steps = append(d.steps, step{want: want, action: Conflict, why: why})
	}
	return d
}

// blocked says which record of another type keeps ours from being published or from being seen.
func (s scene) blocked(want domain.DNSRecord, there []cloudflare.Record) string {
	if s.delegated {
		return "This name is delegated to other name servers."
	}
	for _, r := range there {
		switch {
		case r.Type == want.Type:
		case r.Type == "NS" && r.Name != s.zone:
			return "This name is delegated to other name servers."
		case want.Type == "CNAME":
			return fmt.Sprintf("%s %s record exists at this name.", article(r.Type), r.Type)
		case r.Type == "CNAME" && r.Name != s.zone && !r.Proxied:
			// Cloudflare answers for the zone's own name and for proxied names itself, so a CNAME there is never seen.
			return "A CNAME record exists at this name."
		}
	}
	return ""
}

// article fits a type that is read letter by letter.
func article(kind string) string {
	if strings.ContainsAny(kind[:min(1, len(kind))], "AFHLMNRSX") {
		return "An"
	}
	return "A"
}

// maxText is far beyond what fits an answer over UDP (RFC 7208 §3.4). A policy that long is in trouble already, and adding to it
// helps nobody.
const maxText = 2048

// decideSPF never replaces: an SPF record speaks for every sender of the domain, and ours is one of them.
func (s scene) decideSPF(want domain.DNSRecord, there []cloudflare.Record) step {
	policies := slices.DeleteFunc(there, func(r cloudflare.Record) bool { return !spf.IsRecord(cloudflare.ReadText(r.Content)) })
	if len(policies) == 0 {
		return step{want: want, action: Created}
	}
	if len(policies) > 1 {
		return step{want: want, action: Conflict, why: "There is more than one SPF record; receivers then use none. Merge them into one."}
	}
	text := cloudflare.ReadText(policies[0].Content)
	merged, added := spf.Merge(text, s.sender)
	switch {
	case !added, text == want.Value: // a policy that reaches us through another include is asked for as it is
		return step{want: want, action: Unchanged}
	case asksTooMuch(merged):
		return step{want: want, action: Conflict, why: "The SPF record needs 10 look-ups already; with one more it would fail for every sender."}
	case len(merged) > maxText:
		return step{want: want, action: Conflict, why: "The SPF record would become too long."}
	}
	return step{want: want, action: Merged, id: policies[0].ID, merged: merged}
}

// asksTooMuch counts what the record itself asks. What its includes ask in turn is left to the check of the domain, which waits
// for their name servers.
func asksTooMuch(policy string) bool {
	_, err := spf.Walk(context.Background(), policy, func(context.Context, string) ([]string, error) { return nil, nil })
	return err != nil
}

// decideOne is for names at which there is one record of the kind or none.
func (s scene) decideOne(want domain.DNSRecord, there []cloudflare.Record) step {
	kin := slices.DeleteFunc(slices.Clone(there), func(r cloudflare.Record) bool { return !isKin(want, r) })
	switch {
	case want.Purpose == "dkim" && len(kin) < len(there):
		// Verifiers may take any of several TXT records at a selector for the key (RFC 6376 §3.6.2.2).
		return step{want: want, action: Conflict, why: "Another TXT record exists at this name. Remove it first."}
	case len(kin) == 0:
		return step{want: want, action: Created}
	case len(kin) > 1:
		return step{want: want, action: Conflict, why: fmt.Sprintf("There is more than one %s record at this name. Keep only ours.", want.Record)}
	case isMet(want, kin[0]):
		return step{want: want, action: Unchanged}
	case s.overwrite || isOurs(kin[0]):
		return step{want: want, action: Updated, id: kin[0].ID}
	case want.Type == "CNAME":
		return step{want: want, action: Conflict, why: "A CNAME record with another target, or a proxied one, exists at this name."}
	}
	return step{want: want, action: Conflict, why: fmt.Sprintf("Another %s record exists at this name.", want.Record)}
}

// isKin tells whether a record does what the wanted one does. Other TXT records have nothing to do with it.
func isKin(want domain.DNSRecord, r cloudflare.Record) bool {
	text := cloudflare.ReadText(r.Content)
	switch want.Purpose {
	case "dkim":
		_, err := dkim.ParseRecord(text)
		return err == nil
	case "dmarc":
		return strings.HasPrefix(strings.ToLower(text), "v=dmarc1")
	}
	return true
}

// isMet tells whether a record says what the wanted one says.
func isMet(want domain.DNSRecord, r cloudflare.Record) bool {
	switch want.Purpose {
	case "dkim":
		ours, oursErr := dkim.ParseRecord(want.Value)
		theirs, theirsErr := dkim.ParseRecord(cloudflare.ReadText(r.Content))
		return oursErr == nil && theirsErr == nil && ours.KeyType == theirs.KeyType && bytes.Equal(ours.Key, theirs.Key)
	case "dmarc":
		return strings.Join(strings.Fields(want.Value), "") == strings.Join(strings.Fields(cloudflare.ReadText(r.Content)), "")
	}
	return !r.Proxied && sameHost(want.Value, r.Content)
}

func sameHost(a, b string) bool {
	return strings.EqualFold(strings.TrimSuffix(a, "."), strings.TrimSuffix(b, "."))
}

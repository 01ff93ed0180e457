package dnsprovider

import (
	"slices"
	"strings"
	"testing"

	"postrider/product/dnsprovider/internal/cloudflare"
	"postrider/product/domain"
)

const sender = "spf.us.test"

var (
	ten, twenty = 10, 20

	wantSPF   = []domain.DNSRecord{{Record: "SPF", Purpose: "spf", Type: "TXT", Name: "acme.test", Value: "v=spf1 include:" + sender + " ~all"}}
	wantDKIM  = []domain.DNSRecord{{Record: "DKIM", Purpose: "dkim", Type: "TXT", Name: "s1._domainkey.acme.test", Value: "v=DKIM1; k=rsa; p=QUFB"}}
	wantDMARC = []domain.DNSRecord{{Record: "DMARC", Purpose: "dmarc", Type: "TXT", Name: "_dmarc.acme.test", Value: "v=DMARC1; p=none; rua=mailto:d@us.test"}}
	wantCNAME = []domain.DNSRecord{{Record: "Tracking", Purpose: "tracking", Type: "CNAME", Name: "track.acme.test", Value: "track.us.test"}}
	wantMX    = []domain.DNSRecord{{Record: "Receiving", Purpose: "receiving", Type: "MX", Name: "acme.test", Value: "mx1.us.test", Priority: &ten},
		{Record: "Receiving", Purpose: "receiving", Type: "MX", Name: "acme.test", Value: "mx2.us.test", Priority: &twenty}}
)

// found returns the records at the name of the wanted ones, written "TYPE content", "TYPE content #ours" or "TYPE content #proxied"; their
// ids are their numbers, from a.
func found(name string, lines ...string) []cloudflare.Record {
	var there []cloudflare.Record
	for i, line := range lines {
		line, proxied := strings.CutSuffix(line, " #proxied")
		line, ours := strings.CutSuffix(line, " #ours")
		kind, content, _ := strings.Cut(line, " ")
		r := cloudflare.Record{ID: string(rune('a' + i)), Type: kind, Name: name, Content: content, Proxied: proxied}
		if ours {
			r.Comment = mark
		}
		if kind == "MX" {
			r.Priority = &ten
		}
		there = append(there, r)
	}
	return there
}

func TestWhatIsDoneAboutWhatIsThere(t *testing.T) {
	t.Parallel()
	tenLookups := "TXT v=spf1" + strings.Repeat(" include:a.test", 10) + " -all"
	long := "TXT v=spf1" + strings.Repeat(" ip4:192.0.2.1", 145) + " -all"
	for _, c := range []struct {
		name               string
		want               []domain.DNSRecord
		there              []string
		plain, overwriting string // actions, the id of what is changed, and what goes, as in "updated:a -b"
	}{
		{"spf: nothing", wantSPF, nil, "created", "created"},
		{"spf: other texts", wantSPF, []string{"TXT hello", `TXT "v=spf10 x"`, "MX mail.test", "A 192.0.2.1", "CNAME x.test"}, "created", "created"},
		{"spf: theirs", wantSPF, []string{"TXT hello", `TXT "v=spf1 mx -all"`}, "merged:b", "merged:b"},
		{"spf: ours", wantSPF, []string{`TXT "v=spf1 mx -all" #ours`}, "merged:a", "merged:a"},
		{"spf: has us", wantSPF, []string{"TXT v=spf1 include:SPF.us.test -all"}, "unchanged", "unchanged"},
		{"spf: two", wantSPF, []string{"TXT v=spf1 mx -all", "TXT v=spf1 a -all #ours"}, "conflict", "conflict"},
		{"spf: no look-up left", wantSPF, []string{tenLookups}, "conflict", "conflict"},
		{"spf: too long", wantSPF, []string{long}, "conflict", "conflict"},

		{"dkim: nothing", wantDKIM, nil, "created", "created"},
		{"dkim: same key", wantDKIM, []string{`TXT "k=rsa;" " p=QU FB;"`}, "unchanged", "unchanged"},
		{"dkim: other key", wantDKIM, []string{"TXT v=DKIM1; p=QkJC"}, "conflict", "updated:a"},
		{"dkim: other kind of key", wantDKIM, []string{"TXT v=DKIM1; k=ed25519; p=QUFB"}, "conflict", "updated:a"},
		{"dkim: our other key", wantDKIM, []string{"TXT v=DKIM1; p=QkJC #ours"}, "updated:a", "updated:a"},
		{"dkim: other text", wantDKIM, []string{"TXT hello"}, "conflict", "conflict"},
		{"dkim: beside another text", wantDKIM, []string{"TXT v=DKIM1; p=QUFB", "TXT hello"}, "conflict", "conflict"},
		{"dkim: two", wantDKIM, []string{"TXT v=DKIM1; p=QUFB", "TXT v=DKIM1; p=QkJC"}, "conflict", "conflict"},
		{"dkim: alias", wantDKIM, []string{"CNAME s1.example.net"}, "conflict", "conflict"},
		{"dkim: proxied alias", wantDKIM, []string{"CNAME s1.example.net #proxied"}, "created", "created"},

		{"dmarc: nothing", wantDMARC, []string{"TXT hello"}, "created", "created"},
		{"dmarc: same", wantDMARC, []string{`TXT "v=DMARC1;p=none;rua=mailto:d@us.test"`}, "unchanged", "unchanged"},
		{"dmarc: theirs", wantDMARC, []string{"TXT V=dmarc1; p=reject"}, "conflict", "updated:a"},
		{"dmarc: ours", wantDMARC, []string{"TXT hello", "TXT v=DMARC1; p=reject #ours"}, "updated:b", "updated:b"},
		{"dmarc: two", wantDMARC, []string{"TXT v=DMARC1; p=reject", "TXT v=DMARC1; p=none #ours"}, "conflict", "conflict"},

		{"cname: nothing", wantCNAME, nil, "created", "created"},
		{"cname: same", wantCNAME, []string{"CNAME Track.us.test."}, "unchanged", "unchanged"},
		{"cname: proxied", wantCNAME, []string{"CNAME track.us.test #proxied"}, "conflict", "updated:a"},
		{"cname: our proxied", wantCNAME, []string{"CNAME track.us.test #ours #proxied"}, "updated:a", "updated:a"},
		{"cname: theirs", wantCNAME, []string{"CNAME shop.test"}, "conflict", "updated:a"},
		{"cname: address", wantCNAME, []string{"AAAA 2001:db8::1"}, "conflict", "conflict"},
		{"cname: our address", wantCNAME, []string{"A 192.0.2.1 #ours"}, "conflict", "conflict"},
		{"cname: text", wantCNAME, []string{"TXT hello"}, "conflict", "conflict"},
		{"cname: delegated", wantCNAME, []string{"NS ns.test"}, "conflict", "conflict"},

		{"mx: nothing", wantMX, []string{"TXT hello"}, "created created", "created created"},
		{"mx: same", wantMX, []string{"MX MX2.us.test.", "MX mx1.us.test"}, "unchanged unchanged", "unchanged unchanged"},
		{"mx: one", wantMX, []string{"MX mx1.us.test"}, "unchanged created", "unchanged created"},
		{"mx: our wrong rank", wantMX, []string{"MX mx2.us.test #ours", "MX mx1.us.test"}, "unchanged updated:a", "unchanged updated:a"},
		{"mx: theirs", wantMX, []string{"MX a.test", "MX b.test", "MX c.test"}, "conflict conflict", "updated:a updated:b -c"},
		{"mx: one of theirs", wantMX, []string{"MX a.test"}, "conflict conflict", "updated:a created"},
		{"mx: mixed", wantMX, []string{"MX mx1.us.test #ours", "MX a.test"}, "unchanged conflict", "unchanged updated:b"},
		{"mx: both beside theirs", wantMX, []string{"MX mx1.us.test", "MX mx2.us.test", "MX a.test"}, "unchanged unchanged", "unchanged unchanged -c"},
		{"mx: our old ones", wantMX, []string{"MX a.test #ours", "MX b.test #ours", "MX c.test #ours"}, "updated:a updated:b -c", "updated:a updated:b -c"},
	} {
		for overwrite, want := range map[bool]string{false: c.plain, true: c.overwriting} {
			there := found(c.want[0].Name, c.there...)
			before := slices.Clone(there)

			d := scene{zone: "acme.test", sender: sender, overwrite: overwrite}.decide(c.want, there)

			if got := d.text(); got != want {
				t.Errorf("%s, overwrite %v: %s, want %s", c.name, overwrite, got, want)
			}
			for _, s := range d.steps {
				if (s.action == Conflict) != (s.why != "") {
					t.Errorf("%s: %s because %q", c.name, s.action, s.why)
				}
			}
			if !slices.EqualFunc(there, before, func(a, b cloudflare.Record) bool { return a.ID == b.ID }) {
				t.Errorf("%s: what was found has been changed", c.name)
			}
		}
	}
}

// text returns the actions in order, each with the record it changes, and then what is removed.
func (d decision) text() string {
	var parts []string
	for _, s := range d.steps {
		part := string(s.action)
		if s.id != "" {
			part += ":" + s.id
		}
		parts = append(parts, part)
	}
	for _, id := range d.stale {
		parts = append(parts, "-"+id)
	}
	return strings.Join(parts, " ")
}

func TestAPolicyThatReachesUsThroughAnotherIsLeftAsItIs(t *testing.T) {
	t.Parallel()
	through := slices.Clone(wantSPF)
	through[0].Value = "v=spf1 include:_spf.acme.test -all" // what the check of the domain found good

	d := scene{zone: "acme.test", sender: sender}.decide(through, found("acme.test", `TXT "v=spf1 include:_spf.acme.test -all"`))

	if d.text() != "unchanged" {
		t.Fatal(d.text())
	}
}

func TestTheSentenceFitsTheType(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{"A": "An A", "AAAA": "An AAAA", "MX": "An MX", "TXT": "A TXT", "SRV": "An SRV", "CAA": "A CAA", "": "A "} {
		if got := article(kind) + " " + kind; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

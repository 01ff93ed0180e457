package web

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// domainPage is everything about one domain. Its tabs are addresses of their own.
type domainPage struct {
	shell
	Domain  domainRecord
	State   badge
	Checked string
	Tab     string
	Tabs    []tab
	Groups  []recordGroup
	Zone    string
	// Short is the part of a name to enter where the DNS host adds the rest, as an example, and Apex what it adds.
	Short, Apex string
	// Playground tells that the sandbox can play the registrar of the domain.
	Playground bool
	Receiving  badge
	Health     []healthCheck
	Form       domainForm
	Breaks     []fact
	History    []logRow
	Cloudflare cloudflarePart
	Problem    *problem
	// At names the form that the problem belongs to.
	At string
}

// dnsRecord is a record to publish, with what was found of it.
type dnsRecord struct {
	Record, Purpose, Type, Name, Host, Value, Status, Message string
	Priority                                                  *int
	Required                                                  bool
	Found                                                     []string
}

// recordGroup are the records that matter for one thing.
type recordGroup struct {
	Title, Hint string
	Rows        []recordRow
}

type recordRow struct {
	dnsRecord
	State badge
	// Wrong tells that something was found, and not what it should be.
	Wrong bool
}

// recordStates are how the states of records look: more in the words of DNS than those of a domain.
var recordStates = map[string]badge{
	"verified": newBadge("pass"), "pending": newBadge("missing"), "failed": newBadge("mismatch"),
	"not_started": {"queued", "clock", "Not checked yet"}, "temporary_failure": {"suppressed", "hourglass", "No answer"},
}

func showDomain(v *visit) error { return v.showDomain(nil, "", nil) }

// showDomain draws the page of the domain in the address. A problem is shown beside the form it belongs to, and change may put what
// was posted back into it.
func (v *visit) showDomain(refused *problem, form string, change func(*domainPage)) error {
	p := domainPage{Tab: v.query("tab"), Problem: refused, At: form}
	if form != "" {
		p.Tab = form
	}
	if err := v.get(apiPath("domains", v.path("id")), nil, &p.Domain); err != nil {
		return err
	}
	v.describeDomain(&p)
	if err := v.fillDomainTab(&p); err != nil {
		return err
	}
	if change != nil {
		change(&p)
	}
	if refused != nil {
		return v.showStatus(refused.Status, "domains/detail", p)
	}
	return v.show("domains/detail", p)
}

func (v *visit) describeDomain(p *domainPage) {
	d := p.Domain
	p.shell = v.shell(visible(d.Domain), "domains").under(crumb{"Domains", v.link("domains")}).with("build.css")
	p.State, p.Checked = domainState(d), v.checkedText(d)
	tabs := []tab{{Name: "", Label: "DNS records"}, {Name: "receiving", Label: "Receiving"}, {Name: "settings", Label: "Settings"}}
	if v.can("domain:manage") {
		tabs = append(tabs, tab{Name: "cloudflare", Label: "Cloudflare"})
	}
	if v.can("logs:read") {
		tabs = append(tabs, tab{Name: "history", Label: "History"})
	}
	for _, t := range tabs {
		t.Href, t.Current = v.link("domains", d.ID), t.Name == p.Tab
		if t.Name != "" {
			t.Href += "?tab=" + t.Name
		}
		p.Tabs = append(p.Tabs, t)
	}
	p.Groups, p.Zone = recordGroups(d), zoneFile(d.Records)
	p.Short, p.Apex = shortName(d)
	p.Playground = v.dashboard.config.Sandbox != nil && !d.Verified
	p.Receiving = receivingState(d)
}

// domainState says how far a domain is that is not verified yet.
func domainState(d domainRecord) badge {
	state := newBadge(d.Status)
	if d.Verified {
		return state
	}
	need, pass := 0, 0
	for _, r := range d.Records {
		if r.Required && r.Purpose != "receiving" {
			need++
			if r.Status == "verified" {
				pass++
			}
		}
	}
	if d.Status == "pending" || d.Status == "partially_verified" {
		state.Label = fmt.Sprintf("Pending: %d of %d required checks pass", pass, need)
	}
	return state
}

func (v *visit) checkedText(d domainRecord) string {
	text := "Not checked yet"
	if at := v.ago(d.LastCheckedAt); at.Known() {
		text = "Checked " + at.Text
	}
	if next := v.ago(d.NextCheckAt); next.Known() && d.NextCheckAt.After(v.now) {
		text += ", next check " + next.Text
	}
	return text
}

func receivingState(d domainRecord) badge {
	switch {
	case d.Capabilities.Receiving == "enabled":
		return badge{"delivered", "circle-check", "Receives mail"}
	case d.ReceivingWanted:
		return badge{"suppressed", "hourglass", "Waits until mail would arrive"}
	}
	return badge{"cancelled", "circle-minus", "Does not receive"}
}

func recordGroups(d domainRecord) []recordGroup {
	required := recordGroup{Title: "Required to send", Hint: "SPF and DKIM must both pass"}
	recommended := recordGroup{Title: "Recommended", Hint: "Reported separately, never blocks sending"}
	receiving := recordGroup{Title: "Receiving", Hint: "Only needed to receive mail"}
	for _, r := range d.Records {
		row := recordRow{dnsRecord: r, State: recordStates[r.Status], Wrong: r.Status == "failed"}
		row.Message = visible(r.Message)
		for i, found := range row.Found {
			row.Found[i] = visible(found)
		}
		switch {
		case r.Purpose == "receiving":
			receiving.Rows = append(receiving.Rows, row)
		case r.Required:
			required.Rows = append(required.Rows, row)
		default:
			recommended.Rows = append(recommended.Rows, row)
		}
	}
	return []recordGroup{required, recommended, receiving}
}

// shortName returns an example of a name without the part that a DNS host may add, and that part. Both are empty where the names
// have no such part.
func shortName(d domainRecord) (short, apex string) {
	for _, r := range d.Records {
		if r.Host != "@" && r.Purpose == "dkim" {
			return r.Host, strings.TrimPrefix(r.Name, r.Host)
		}
	}
	return "", ""
}

// maxText is the longest piece of a text in a zone file (RFC 1035 §3.3.14).
const maxText = 255

// zoneFile writes the records as name servers read them.
func zoneFile(records []dnsRecord) string {
	var lines []string
	for _, r := range records {
		value := r.Value + "."
		switch {
		case r.Type == "TXT":
			value = quotedText(r.Value)
		case r.Priority != nil:
			value = fmt.Sprintf("%d %s.", *r.Priority, r.Value)
		}
		lines = append(lines, fmt.Sprintf("%s. 3600 IN %s %s", r.Name, r.Type, value))
	}
	return strings.Join(lines, "\n") + "\n"
}

func quotedText(text string) string {
	var pieces []string
	for piece := range slices.Chunk([]byte(text), maxText) {
		pieces = append(pieces, `"`+strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(string(piece))+`"`)
	}
	return strings.Join(pieces, " ")
}

// fillDomainTab reads what only one tab shows.
func (v *visit) fillDomainTab(p *domainPage) (err error) {
	switch p.Tab {
	case "":
		if p.Domain.Capabilities.Receiving != "enabled" && !p.Domain.ReceivingWanted {
			p.Groups = p.Groups[:2] // where mail is received elsewhere, our MX record is no fault
		}
	case "receiving":
		p.Groups = p.Groups[2:]
		p.Groups[0].Title = "MX records"
	case "settings":
		if p.Form, err = v.domainForm(p.Domain); err == nil && v.shell("", "").Manages() {
			p.Breaks, err = v.keysOf(p.Domain.ID)
		}
	case "history":
		rows, err := v.logRows(url.Values{"domain_id": {p.Domain.ID}, "limit": {"50"}})
		p.History = rows.Data
		return err
	case "cloudflare":
		p.Cloudflare, err = v.cloudflarePart(p.Domain)
	}
	return err
}

// keysOf are the API keys that are restricted to a domain, which its end would leave with less to do.
func (v *visit) keysOf(domain string) ([]fact, error) {
	all, err := every[keyRecord](v, "/v1/api-keys", url.Values{"status": {"active"}}, 0)
	if err != nil {
		return nil, err
	}
	var keys []fact
	for _, k := range all {
		if slices.Contains(k.DomainIDs, domain) {
			keys = append(keys, fact{Name: "API key", Value: visible(k.Name), Href: v.link("keys", k.ID)})
		}
	}
	return keys, nil
}

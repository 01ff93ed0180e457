package web

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

func domainPages() []page {
	return []page{
		{"GET /domains", listDomains},
		{"GET /domains/new", needing("domain:manage", showNewDomain)}, {"POST /domains/new", addDomain},
		{"GET /domains/{id}", showDomain},
		{"POST /domains/{id}/check", checkDomain}, {"POST /domains/{id}/publish", publishInSandbox},
		{"POST /domains/{id}/receiving", switchReceiving}, {"POST /domains/{id}/settings", saveDomain},
		{"POST /domains/{id}/rotate", rotateDomainKey}, {"POST /domains/{id}/delete", deleteDomain},
		{"POST /domains/{id}/cloudflare-link", linkToCloudflare}, {"POST /domains/{id}/cloudflare", applyAtCloudflare},
	}
}

// domainRecord is a domain as the API tells it.
type domainRecord struct {
	ID              string `json:"id"`
	Domain          string `json:"domain"`
	Status          string `json:"status"`
	Verified        bool   `json:"verified"`
	TenantID        string `json:"managed_tenant_id"`
	OpenTracking    bool   `json:"open_tracking"`
	ClickTracking   bool   `json:"click_tracking"`
	TrackingLabel   string `json:"tracking_subdomain"`
	ReturnPath      string `json:"custom_return_path"`
	TLS             string `json:"tls"`
	Selector        string `json:"dkim_selector"`
	KeyBits         int    `json:"dkim_key_bits"`
	Provider        string `json:"provider"`
	NodeID          string `json:"sending_node_id"`
	ReceivingWanted bool   `json:"receiving_requested"`
	Capabilities    struct{ Sending, Receiving string }
	Records         []dnsRecord
	Checks          map[string]struct{ Status, Message string }
	CreatedAt       time.Time `json:"created_at"`
	LastCheckedAt   time.Time `json:"last_checked_at"`
	NextCheckAt     time.Time `json:"next_check_at"`
	VerifiedAt      time.Time `json:"verified_at"`
}

// domainsPage is the list of domains.
type domainsPage struct {
	shell
	Rows          []domainRow
	Query, Status string
	States        []choice
	Pager         pager
}

// Filtered tells whether the list shows a choice of all domains.
func (p domainsPage) Filtered() bool { return p.Query != "" || p.Status != "" }

type domainRow struct {
	ID, Name, Status, Href, Tenant string
	// Sandbox marks the domain that every installation on a laptop begins with.
	Sandbox   bool
	Ticks     []tick
	Receiving bool
	Since     moment
}

// tick is one check of a domain in a list: a picture with words for those who do not see it.
type tick struct{ Label, State, Icon, Title string }

// ticked are the checks that a list shows, by their names in the API.
var ticked = []struct{ name, label string }{{"spf", "SPF"}, {"dkim", "DKIM"}, {"dmarc", "DMARC"}, {"return_path", "Return path"}}

func listDomains(v *visit) error {
	p := domainsPage{shell: v.shell("Domains", "domains").with("build.css"), Query: v.query("q"), Status: v.query("status")}
	p.States = choices(p.Status, "", "Every status", "verified", "Verified", "pending", "Pending", "partially_verified", "Partly verified", "not_started", "Not started",
		"partially_failed", "Records are gone", "failed", "Failed")
	var list listOf[domainRecord]
	if err := v.get("/v1/domains", add(v.pageQuery(), map[string]string{"search": p.Query, "status": p.Status}), &list); err != nil {
		return err
	}
	for _, d := range list.Data {
		row := domainRow{ID: d.ID, Name: visible(d.Domain), Status: d.Status, Href: v.link("domains", d.ID), Tenant: d.TenantID, Sandbox: v.dashboard.isSandboxDomain(d.Domain),
			Receiving: d.Capabilities.Receiving == "enabled", Since: v.moment(d.CreatedAt)}
		for _, check := range ticked {
			row.Ticks = append(row.Ticks, newTick(check.label, d.Checks[check.name].Status))
		}
		p.Rows = append(p.Rows, row)
	}
	p.Pager = beside(v, list)
	return v.show("domains/list", p)
}

func newTick(label, status string) tick {
	switch status {
	case "pass":
		return tick{label, "delivered", "check", label + " passes"}
	case "", "not_checked":
		return tick{label, "queued", "clock", label + " was not checked yet"}
	case "missing":
		return tick{label, "queued", "circle-dashed", label + " was not found"}
	case "dns_error":
		return tick{label, "suppressed", "hourglass", label + " could not be checked"}
	}
	return tick{label, "bounced", "x", label + " does not match"}
}

// newDomainPage registers a domain.
type newDomainPage struct {
	shell
	Domain, ReturnPath, Tracking, Selector string
	OpenTracking, ClickTracking, Receiving bool
	TLS, Policies                          []choice
	Problem                                *problem
}

func (v *visit) newDomainPage(tls, policy string) newDomainPage {
	return newDomainPage{shell: v.shell("Add domain", "domains").under(crumb{"Domains", v.link("domains")}).with("build.css"), TLS: tlsChoices(tls), Policies: policyChoices(policy)}
}

func tlsChoices(now string) []choice {
	return choices(now, "opportunistic", "When the receiver offers it", "enforced", "Always: fail rather than send in the clear")
}

func policyChoices(now string) []choice {
	return choices(now, "none", "none: only report", "quarantine", "quarantine: to the spam folder", "reject", "reject: refuse it")
}

func showNewDomain(v *visit) error {
	return v.show("domains/new", v.newDomainPage("opportunistic", "none"))
}

func addDomain(v *visit) error {
	p := v.newDomainPage(v.value("tls"), v.value("dmarc_policy"))
	p.Domain, p.ReturnPath, p.Tracking, p.Selector = v.value("domain"), v.value("custom_return_path"), v.value("tracking_subdomain"), v.value("dkim_selector")
	p.OpenTracking, p.ClickTracking, p.Receiving = v.checked("open_tracking"), v.checked("click_tracking"), v.checked("receiving")
	body := map[string]any{"domain": strings.TrimSpace(p.Domain), "custom_return_path": p.ReturnPath, "tracking_subdomain": p.Tracking, "dkim_selector": p.Selector,
		"open_tracking": p.OpenTracking, "click_tracking": p.ClickTracking, "tls": v.value("tls"), "dmarc_policy": v.value("dmarc_policy")}
	if p.Receiving {
		body["capabilities"] = map[string]string{"receiving": "enabled"}
	}
	var added domainRecord
	err := v.send(http.MethodPost, "/v1/domains", body, &added)
	if p.Problem = refusal(err); p.Problem != nil {
		return v.showStatus(p.Problem.Status, "domains/new", p)
	}
	if err != nil {
		return err
	}
	return v.redirect(v.link("domains", added.ID), "Added. Publish the records below where the domain's DNS is kept.")
}

// domainChoices are the domains of the workspace as boxes, those of the ids ticked.
func (v *visit) domainChoices(ticked []string) ([]choice, error) {
	if !v.can("domain:read") {
		return keeping(nil, ticked...), nil // they stay as they are when a form is saved
	}
	found, err := every[domainRecord](v, "/v1/domains", nil, maxOffered)
	if err != nil {
		return nil, err
	}
	var all []choice
	for _, d := range found {
		all = append(all, choice{Value: d.ID, Label: visible(d.Domain), Chosen: slices.Contains(ticked, d.ID)})
	}
	return v.keepingNamed(all, "domains", ticked)
}

package web

import (
	"net/url"
	"strings"
	"time"
)

// deliverabilityPage grades how well mail arrives, and says what to do, in the order of effect.
type deliverabilityPage struct {
	shell
	Tabs    []tab
	Domains []choice
	Score   int
	Grade   string
	// Arc is how much of the ring around the score is drawn, of 100; State is its colour.
	Arc        float64
	State      string
	Components []componentRow
	Actions    []actionRow
	Providers  []healthRow
	Auth       []authRow
	Checks     []checkRow
	Days       string
	// Few tells that there is too little mail to judge by.
	Few bool
}

type componentRow struct {
	Name, Text, Score, State string
	Share                    float64
}

type actionRow struct{ Severity, Title, Text, Href, Button string }

type healthRow struct {
	Name, Status, Delivery, Deferral, Block string
	LastBlock                               moment
}

type authRow struct {
	Domain, Href, SPF, DKIM, DMARC, ReturnPath, Policy, Reports, TLS, Score string
}

type checkRow struct{ Name, Status, Text string }

// scorecard is what the API tells of how mail arrives.
type scorecard struct {
	Days       int
	Score      int
	Grade      string
	Components []struct {
		Key           string
		Score, Weight int
	}
	Providers []struct {
		ISP, Status string
		Delivery    float64    `json:"delivery_rate"`
		Deferral    float64    `json:"deferral_rate"`
		Block       float64    `json:"block_rate"`
		LastBlock   *time.Time `json:"last_block"`
	}
	Domains []struct {
		ID           string `json:"domain_id"`
		Domain       string
		SPF          string
		DKIM         string
		DMARC        string
		Policy       string `json:"dmarc_policy"`
		ReturnPath   string `json:"return_path"`
		DMARCReports *struct {
			Reports, Messages int64
			PassRate          float64 `json:"pass_rate"`
		} `json:"dmarc_reports"`
		TLSReports *struct {
			Reports, Sessions int64
			FailureRate       float64 `json:"failure_rate"`
		} `json:"tls_reports"`
	}
	Thresholds struct {
		Bounce    float64 `json:"bounce_rate"`
		Complaint float64 `json:"complaint_rate"`
	}
	Installation []struct{ Check, Status, Message string }
	Actions      []struct {
		Code, Severity, Title, Message string
		Domain                         *string `json:"domain_id"`
		Tenant                         *string `json:"managed_tenant_id"`
	}
}

// enoughMail is from how many emails on a score says something.
const enoughMail = 50

// scoredDomains is for how many domains a score of their own is asked for.
const scoredDomains = 10

func showDeliverability(v *visit) error {
	p := deliverabilityPage{shell: v.shell("Deliverability", "stats").with("stats.css").under(crumb{"Statistics", v.link("stats")}), Tabs: v.statisticsTabs("deliverability")}
	domain := v.query("domain")
	query := add(url.Values{}, map[string]string{"domain_id": domain})
	var card scorecard
	if err := v.get("/v1/stats/deliverability", query, &card); err != nil {
		return err
	}
	var sum statsOverview
	if err := v.get("/v1/stats/overview", query, &sum); err != nil {
		return err
	}
	var err error
	if p.Domains, err = v.statsDomains(domain); err != nil {
		return err
	}
	p.Few = sum.Totals.Accepted < enoughMail
	v.fillCard(&p, card, sum.Rates)
	for i := range p.Auth {
		if i >= scoredDomains || len(p.Auth) == 1 {
			break
		}
		var one scorecard
		if err := v.get("/v1/stats/deliverability", url.Values{"domain_id": {card.Domains[i].ID}}, &one); err != nil {
			return err
		}
		p.Auth[i].Score = v.number(int64(one.Score)) + ", " + one.Grade
	}
	return v.show("stats/deliverability", p)
}

// scoreState colours a score.
func scoreState(score int) string {
	switch {
	case score >= 90:
		return "delivered"
	case score >= 70:
		return "suppressed"
	}
	return "bounced"
}

func (v *visit) fillCard(p *deliverabilityPage, card scorecard, now rates) {
	p.Score, p.Grade, p.Arc, p.State, p.Days = card.Score, card.Grade, float64(card.Score), scoreState(card.Score), v.plural(int64(card.Days), "day", "days")
	texts := map[string]string{"authentication": "SPF, DKIM, DMARC and return path", "bounces": v.percent(now.Bounce) + " bounced; stay under " + v.percent(card.Thresholds.Bounce),
		"complaints": v.percent(now.Complaint) + " complained; stay under " + v.percent(card.Thresholds.Complaint), "provider_health": "How mailbox providers treat your mail"}
	for _, c := range card.Components {
		p.Components = append(p.Components, componentRow{words(c.Key), texts[c.Key], v.number(int64(c.Score)), scoreState(c.Score), float64(c.Score)})
	}
	for _, a := range card.Actions {
		row := actionRow{Severity: a.Severity, Title: visible(a.Title), Text: visible(a.Message)}
		row.Href, row.Button = v.mend(a.Code, a.Domain, a.Tenant)
		p.Actions = append(p.Actions, row)
	}
	for _, i := range card.Providers {
		row := healthRow{Name: words(i.ISP), Status: i.Status, Delivery: v.percent(i.Delivery), Deferral: v.percent(i.Deferral), Block: v.percent(i.Block)}
		if i.LastBlock != nil {
			row.LastBlock = v.ago(*i.LastBlock)
		}
		p.Providers = append(p.Providers, row)
	}
	for _, d := range card.Domains {
		row := authRow{Domain: d.Domain, Href: v.linkFor("domain:read", "domains", d.ID), SPF: d.SPF, DKIM: d.DKIM, DMARC: d.DMARC, ReturnPath: d.ReturnPath, Policy: d.Policy, Reports: "None yet", TLS: "None yet"}
		if r := d.DMARCReports; r != nil {
			row.Reports = v.percent(r.PassRate) + " of " + v.number(r.Messages) + " proven"
		}
		if r := d.TLSReports; r != nil {
			row.TLS = v.percent(r.FailureRate) + " of " + v.number(r.Sessions) + " failed"
		}
		if len(card.Domains) == 1 {
			row.Score = v.number(int64(card.Score)) + ", " + card.Grade
		}
		p.Auth = append(p.Auth, row)
	}
	for _, c := range card.Installation {
		p.Checks = append(p.Checks, checkRow{checkTitle(c.Check), c.Status, visible(c.Message)})
	}
}

// checkTitle names what was checked. Short names are those of standards.
func checkTitle(name string) string {
	if len(name) <= 4 && name != "name" {
		return strings.ToUpper(name)
	}
	return words(name)
}

// mend is where something can be done about an action; nowhere for whom that page would be refused.
func (v *visit) mend(code string, domain, tenant *string) (href, button string) {
	switch {
	case code == "add_domain":
		return v.linkFor("domain:manage", "domains", "new"), "Add domain"
	case tenant != nil && *tenant != "":
		return v.linkFor("tenant:read", "customers", *tenant), "Open customer"
	case domain != nil && *domain != "":
		return v.linkFor("domain:read", "domains", *domain), "Open domain"
	case code == "reduce_complaints":
		return v.link("emails") + "?status=complained", "Show complaints"
	}
	return v.link("emails") + "?status=bounced", "Show bounces"
}

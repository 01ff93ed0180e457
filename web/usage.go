package web

import (
	"net/url"
	"strconv"
	"time"
)

// planPage shows what the plan allows and how much of it is used.
type planPage struct {
	shell
	Tabs   []tab
	Plan   string
	Until  moment
	Meters []meter
	Rates  []fact
	Others []fact
}

// meter is one limit with its use, as a share of a hundred.
type meter struct {
	Label, Used, Allowed, State string
	Share                       float64
	Unlimited                   bool
}

type planLimits struct {
	Plan      string
	PeriodEnd time.Time         `json:"period_end"`
	Limits    map[string]*int64 `json:"limits"`
	Usage     map[string]int64  `json:"usage"`
	Rates     map[string]struct {
		PerSecond int `json:"per_sec"`
		Burst     int
	} `json:"rate_limits"`
}

// metered are the limits in the order in which they are shown, each with the name of its use.
var metered = []struct{ limit, use, label string }{
	{"emails_per_month", "emails_this_month", "Emails this month"}, {"emails_per_day", "emails_today", "Emails today"}, {"verified_domains", "verified_domains", "Verified domains"},
	{"contacts", "contacts", "Contacts"}, {"templates", "templates", "Templates"}, {"automations", "automations", "Automations"}, {"webhooks", "webhooks", "Webhooks"},
	{"managed_tenants", "managed_tenants", "Customers"}, {"members", "members", "Members"},
}

func showPlan(v *visit) error {
	var limits planLimits
	if err := v.get("/v1/limits", nil, &limits); err != nil {
		return err
	}
	p := planPage{shell: v.shell("Plan and usage", "settings"), Tabs: v.settingsTabs("plan"), Plan: words(limits.Plan), Until: v.moment(limits.PeriodEnd)}
	for _, m := range metered {
		p.Meters = append(p.Meters, v.meter(m.label, limits.Usage[m.use], limits.Limits[m.limit]))
	}
	if days := limits.Limits["log_retention_days"]; days != nil {
		p.Others = append(p.Others, fact{Name: "Logs kept", Value: v.plural(*days, "day", "days")})
	}
	received := fact{Name: "Received mail kept", Value: "until you delete it"}
	if days := limits.Limits["received_retention_days"]; days != nil {
		received.Value = v.plural(*days, "day", "days")
	}
	p.Others = append(p.Others, received)
	if days := limits.Limits["scheduled_days_ahead"]; days != nil {
		p.Others = append(p.Others, fact{Name: "Schedule", Value: "up to " + v.plural(*days, "day", "days") + " ahead"})
	}
	for _, bucket := range []string{"email_send", "email_batch", "read", "write"} {
		if rate, ok := limits.Rates[bucket]; ok {
			p.Rates = append(p.Rates, fact{Name: words(bucket), Value: v.number(int64(rate.PerSecond)) + " requests a second, " + v.number(int64(rate.Burst)) + " at once"})
		}
	}
	return v.show("settings/plan", p)
}

// nearLimit is the share of a limit from which people should know that it is near.
const nearLimit = 80

func (v *visit) meter(label string, used int64, allowed *int64) meter {
	m := meter{Label: label, Used: v.number(used), State: "delivered"}
	if allowed == nil {
		m.Unlimited = true
		return m
	}
	m.Allowed = v.number(*allowed)
	m.Share = min(100, 100*float64(used)/float64(max(*allowed, 1)))
	switch {
	case *allowed == 0 && used == 0: // the plan has none of these, which is nothing to warn of
	case used >= *allowed:
		m.State = "bounced"
	case m.Share >= nearLimit:
		m.State = "suppressed"
	}
	return m
}

// auditPage is who did what.
type auditPage struct {
	shell
	Tabs    []tab
	Entries []auditRow
	Pager   pager
}

type auditRow struct {
	Action, Actor, Target, IP string
	At                        moment
}

// pager leads through a list by its offset. First is the first page, where this one is past the end.
type pager struct{ Newer, Older, First, Text string }

// pageSize is how many rows a page of a list has.
const pageSize = 50

// pager returns the links to the pages beside this one, with all filters kept.
func (v *visit) pager(shown int, total int64) pager {
	offset := v.offset()
	to := func(offset int) string {
		query := v.r.URL.Query()
		query.Del("offset")
		if offset > 0 {
			query.Set("offset", strconv.Itoa(offset))
		}
		return v.r.URL.Path + "?" + query.Encode()
	}
	p := pager{Text: v.number(int64(offset+1)) + " to " + v.number(int64(offset+shown)) + " of " + v.number(total)}
	if offset > 0 {
		p.Newer = to(max(0, offset-pageSize))
	}
	if offset > 0 && shown == 0 {
		p.First = to(0)
	}
	if int64(offset+shown) < total {
		p.Older = to(offset + pageSize)
	}
	return p
}

func (v *visit) offset() int {
	offset, err := strconv.Atoi(v.query("offset"))
	if err != nil || offset < 0 {
		return 0
	}
	return offset
}

// pageQuery asks for the page that the address names.
func (v *visit) pageQuery() url.Values {
	return url.Values{"limit": {strconv.Itoa(pageSize)}, "offset": {strconv.Itoa(v.offset())}}
}

func showAudit(v *visit) error {
	var list struct {
		Total int64
		Data  []struct {
			Action string
			IP     string
			Actor  struct{ Type, Email string }
			Target *struct{ Type, ID, Name string }
			At     time.Time `json:"created_at"`
		}
	}
	if err := v.get(v.home("audit-log"), v.pageQuery(), &list); err != nil {
		return err
	}
	p := auditPage{shell: v.shell("Audit log", "settings"), Tabs: v.settingsTabs("audit"), Pager: v.pager(len(list.Data), list.Total)}
	for _, e := range list.Data {
		row := auditRow{Action: words(e.Action), Actor: e.Actor.Email, IP: e.IP, At: v.moment(e.At)}
		if row.Actor == "" {
			row.Actor = words(e.Actor.Type)
		}
		if e.Target != nil {
			row.Target = words(e.Target.Type)
			if e.Target.Name != "" {
				row.Target += " " + visible(e.Target.Name)
			}
		}
		p.Entries = append(p.Entries, row)
	}
	return v.show("settings/audit", p)
}

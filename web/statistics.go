package web

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

func statisticsPages() []page {
	return []page{{"GET /stats", showStatistics}, {"GET /stats/deliverability", showDeliverability}}
}

// statisticsPage is what became of mail in some time.
type statisticsPage struct {
	shell
	Tabs                    []tab
	Periods, Steps, Domains []choice
	Tag, Span               string
	Tiles                   []tile
	Volume                  bars
	Reaction                lines
	Providers               []statsProvider
	Mix                     []mixPart
	// WholeDays are the days in UTC that the lists and states are told of, where they are not the time that was asked for.
	WholeDays            string
	Recipients, Subjects []rankRow
	Tags                 []rankRow
	Quota                string
	Problem              *problem
	Empty                bool
}

type statsProvider struct {
	Name, Sent, Delivered, Bounced, Deferred, Complained, Took string
	Share                                                      float64
}

// mixPart is a state with the share of recipients that are in it.
type mixPart struct {
	State, Label, Count, Percent string
	X, W                         float64
}

type rankRow struct {
	Name, Count string
	Share       float64
}

func (v *visit) statisticsTabs(current string) []tab {
	return []tab{{Label: "Mail", Href: v.link("stats"), Current: current == ""}, {Label: "Deliverability", Href: v.link("stats", "deliverability"), Current: current == "deliverability"}}
}

// statisticsSteps are the granularities that make sense for a number of days.
func statisticsSteps(days int) []string {
	switch {
	case days <= 2:
		return []string{"hour", "By hour", "day", "By day"}
	case days <= 14:
		return []string{"day", "By day", "hour", "By hour"}
	case days <= 90:
		return []string{"day", "By day", "week", "By week"}
	}
	return []string{"week", "By week", "day", "By day", "month", "By month"}
}

func showStatistics(v *visit) error {
	p := statisticsPage{shell: v.shell("Statistics", "stats").with("stats.css"), Tabs: v.statisticsTabs(""), Tag: strings.TrimSpace(v.query("tag"))}
	days, err := strconv.Atoi(v.query("days"))
	if err != nil || days < 1 || days > 365 {
		days = 30
	}
	p.Periods = choices(fmt.Sprint(days), "1", "Today", "7", "Last 7 days", "14", "Last 14 days", "30", "Last 30 days", "90", "Last 90 days", "365", "Last 365 days")
	steps := statisticsSteps(days)
	step := steps[0]
	for i := 0; i < len(steps); i += 2 {
		if steps[i] == v.query("by") {
			step = steps[i]
		}
	}
	p.Steps = choices(step, steps...)
	p.Span = "the " + v.plural(int64(days), "day", "days") + " before"
	query := add(v.lastDays(days), map[string]string{"domain_id": v.query("domain"), "tag": p.Tag})
	if p.Domains, err = v.statsDomains(v.query("domain")); err != nil {
		return err
	}
	err = v.fillStatistics(&p, query, step)
	if isRefused(err, "validation_error") { // a filter that makes no sense leaves the page as it is, and says so
		p.Problem = err.(*problem)
		return v.showStatus(p.Problem.Status, "stats/overview", p)
	}
	if err != nil {
		return err
	}
	return v.show("stats/overview", p)
}

// statsDomains are the domains that statistics can be told of.
func (v *visit) statsDomains(now string) ([]choice, error) {
	all := choices(now, "", "Every domain")
	if !v.can("domain:read") {
		return all, nil
	}
	found, err := every[struct{ ID, Domain string }](v, "/v1/domains", nil, maxOffered)
	if err != nil {
		return nil, err
	}
	for _, d := range found {
		all = append(all, choice{Value: d.ID, Label: d.Domain, Chosen: d.ID == now})
	}
	if now == "" {
		return all, nil
	}
	return v.keepingNamed(all, "domains", []string{now})
}

func (v *visit) fillStatistics(p *statisticsPage, query url.Values, step string) error {
	var sum struct {
		statsOverview
		Previous struct {
			totals
			rates
		}
		Quota struct {
			Limit *int64
			Used  int64
		}
	}
	if err := v.get("/v1/stats/overview", query, &sum); err != nil {
		return err
	}
	p.Empty = sum.Totals.Accepted == 0
	if p.Quota = v.plural(sum.Quota.Used, "email", "emails") + " this month"; sum.Quota.Limit != nil {
		p.Quota = v.number(sum.Quota.Used) + " of " + v.number(*sum.Quota.Limit) + " emails this month"
	}
	now, then := sum.Totals, sum.Previous
	before := func(now, before float64) string {
		if then.totals.Accepted == 0 {
			return "No mail before to compare with"
		}
		return v.points(now, before)
	}
	p.Tiles = []tile{
		{"", "Accepted", v.number(now.Accepted), v.compared(now.Accepted, then.totals.Accepted, p.Span), ""},
		{"delivered", "Delivered", v.percent(sum.Rates.Delivery), before(sum.Rates.Delivery, then.rates.Delivery), ""},
		{"bounced", "Bounced", v.percent(sum.Rates.Bounce), before(sum.Rates.Bounce, then.rates.Bounce), ""},
		{"complained", "Complaints", v.percent(sum.Rates.Complaint), before(sum.Rates.Complaint, then.rates.Complaint), ""},
		{"opened", "Opened", v.percent(sum.Rates.Open), before(sum.Rates.Open, then.rates.Open), ""},
		{"clicked", "Clicked", v.percent(sum.Rates.Click), before(sum.Rates.Click, then.rates.Click), ""},
	}
	if err := v.fillCharts(p, query, step); err != nil {
		return err
	}
	return v.fillTop(p, query)
}

// compared says how a number differs from the one before.
func (v *visit) compared(now, then int64, span string) string {
	switch {
	case now > then:
		return v.number(now-then) + " more than in " + span
	case now < then:
		return v.number(then-now) + " fewer than in " + span
	}
	return "As many as in " + span
}

// points says how a share differs from the one before, in points of percent.
func (v *visit) points(now, then float64) string {
	difference := (now - then) * 100
	switch {
	case difference >= 0.01:
		return v.printer().Sprintf("%.2f points more than before", difference)
	case difference <= -0.01:
		return v.printer().Sprintf("%.2f points less than before", -difference)
	}
	return "As before"
}

// fillCharts asks for the series and draws them.
func (v *visit) fillCharts(p *statisticsPage, query url.Values, step string) error {
	metrics := []string{"delivered", "bounced", "failed", "suppressed", "opened", "clicked", "unsubscribed", "complained"}
	asked := url.Values{"interval": {step}, "timezone": {v.zone().String()}, "metrics": {strings.Join(metrics, ",")}}
	for name, values := range query {
		asked[name] = values
	}
	var found struct {
		Series []struct {
			Metric string
			Total  int64
			Points []struct {
				At    time.Time `json:"t"`
				Value int64     `json:"v"`
			}
		}
	}
	if err := v.get("/v1/stats/timeseries", asked, &found); err != nil {
		return err
	}
	if len(found.Series) != len(metrics) {
		return fmt.Errorf("%d series, not %d", len(found.Series), len(metrics))
	}
	all := make([]series, len(metrics))
	days := make([]barDay, len(found.Series[0].Points))
	for i, s := range found.Series {
		state := s.Metric
		if state == "unsubscribed" {
			state = "cancelled"
		}
		all[i] = series{state, s.Metric, v.number(s.Total)}
		for at, point := range s.Points {
			days[at].Label = v.pointLabel(point.At, step)
			days[at].Values = append(days[at].Values, point.Value)
		}
	}
	part := func(from, to int) []barDay {
		cut := make([]barDay, len(days))
		for i, day := range days {
			cut[i] = barDay{day.Label, day.Values[from:to]}
		}
		return cut
	}
	p.Volume = v.newBars("What became of mail", all[:4], part(0, 4))
	p.Reaction = v.newLines("What readers did", all[4:], part(4, 8))
	p.Volume.Head, p.Reaction.Head = words(step), words(step)
	return nil
}

func (v *visit) pointLabel(at time.Time, step string) string {
	here := at.In(v.zone())
	switch step {
	case "hour":
		return here.Format("2 Jan 15:04")
	case "month":
		return here.Format("Jan 2006")
	case "week":
		return "Week of " + here.Format("2 Jan")
	}
	return here.Format("2 Jan")
}

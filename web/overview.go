package web

import (
	"net/url"
	"time"
)

func overviewPages() []page { return []page{{"GET /{$}", overview}, {"GET ", overview}} }

// overviewPage is the first page of a workspace: what is left to do, how it goes, and what needs a look.
type overviewPage struct {
	shell
	Steps   []step
	Done    int
	Tiles   []tile
	Chart   bars
	Actions []action
	Latest  []emailRow
}

// step is one thing to do before a workspace is ready for real mail.
type step struct {
	Done         bool
	Title, Text  string
	Href, Button string
}

// tile is a large number with what it means.
type tile struct{ State, Label, Value, Hint, Href string }

// action is something that would make mail arrive better.
type action struct{ Title, Text, Href string }

// totals are what became of mail in some time.
type totals struct {
	Accepted, Sent, Delivered, Bounced, Complained, Opened, Clicked, Failed, Suppressed, Unsubscribed int64
	Received, Delayed, Cancelled                                                                      int64
	UniqueOpened                                                                                      int64 `json:"unique_opened"`
	UniqueClicked                                                                                     int64 `json:"unique_clicked"`
}

type rates struct {
	Delivery    float64 `json:"delivery_rate"`
	Bounce      float64 `json:"bounce_rate"`
	Complaint   float64 `json:"complaint_rate"`
	Open        float64 `json:"open_rate"`
	Click       float64 `json:"click_rate"`
	Unsubscribe float64 `json:"unsubscribe_rate"`
}

type statsOverview struct {
	Totals   totals
	Previous totals
	Rates    rates
}

func overview(v *visit) error {
	p := overviewPage{shell: v.shell("Overview", "overview")}
	var month statsOverview
	if v.can("analytics:read") {
		days := v.lastDays(30)
		if err := v.get("/v1/stats/overview", days, &month); err != nil {
			return err
		}
		p.Tiles = v.tiles(month)
		chart, err := v.dailyChart(days)
		if err != nil {
			return err
		}
		p.Chart = chart
		if p.Actions, err = v.topActions(); err != nil {
			return err
		}
	}
	if v.can("email:read") {
		latest, err := v.emailRows(url.Values{"limit": {"5"}})
		if err != nil {
			return err
		}
		p.Latest = latest.Rows
	}
	var err error
	if p.Steps, err = v.firstSteps(month.Totals.Accepted > 0 || len(p.Latest) > 0); err != nil {
		return err
	}
	for _, s := range p.Steps {
		if s.Done {
			p.Done++
		}
	}
	return v.show("overview", p)
}

func (v *visit) tiles(month statsOverview) []tile {
	compared := v.compared(month.Totals.Accepted, month.Previous.Accepted, "the 30 days before")
	return []tile{
		{"", "Accepted", v.number(month.Totals.Accepted), compared, v.link("emails")},
		{"delivered", "Delivered", v.percent(month.Rates.Delivery), v.plural(month.Totals.Delivered, "email", "emails"), v.link("emails") + "?status=delivered"},
		{"bounced", "Bounced", v.percent(month.Rates.Bounce), v.plural(month.Totals.Bounced, "email", "emails") + ". Keep this under 2%", v.link("emails") + "?status=bounced"},
		{"complained", "Complaints", v.percent(month.Rates.Complaint), v.plural(month.Totals.Complained, "email", "emails") + ". Keep this under 0.1%", v.link("emails") + "?status=complained"},
	}
}

// lastDays asks for the last days of the visitor, today included: what is counted for one part of a page is counted for all.
func (v *visit) lastDays(days int) url.Values {
	today := v.now.In(v.zone())
	return url.Values{"start": {dayBegins(today, 1-days).Format(time.RFC3339)}, "end": {dayBegins(today, 1).Format(time.RFC3339)}}
}

// dayBegins is the first moment of a day that is some days later. Where clocks are put forward at midnight, that is one o'clock.
func dayBegins(day time.Time, later int) time.Time {
	noon := time.Date(day.Year(), day.Month(), day.Day()+later, 12, 0, 0, 0, day.Location())
	begins := time.Date(noon.Year(), noon.Month(), noon.Day(), 0, 0, 0, 0, day.Location())
	if begins.Day() != noon.Day() {
		_, begins = begins.ZoneBounds()
	}
	return begins.UTC()
}

// dailyChart draws what was delivered and bounced, day by day.
func (v *visit) dailyChart(days url.Values) (bars, error) {
	var daily struct {
		Data []struct {
			Date string
			totals
		}
	}
	asked := add(url.Values{"timezone": {v.zone().String()}}, map[string]string{"start": days.Get("start"), "end": days.Get("end")})
	if err := v.get("/v1/stats/daily", asked, &daily); err != nil {
		return bars{}, err
	}
	var drawn []barDay
	all := make([]int64, 3)
	for _, day := range daily.Data {
		label := day.Date
		if at, err := time.Parse(time.DateOnly, day.Date); err == nil {
			label = at.Format("2 Jan")
		}
		values := []int64{day.Delivered, day.Bounced, day.Failed}
		drawn = append(drawn, barDay{label, values})
		for i, value := range values {
			all[i] += value
		}
	}
	return v.newBars("Mail by day", []series{{"delivered", "delivered", v.number(all[0])}, {"bounced", "bounced", v.number(all[1])}, {"failed", "failed", v.number(all[2])}}, drawn), nil
}

func (v *visit) topActions() ([]action, error) {
	var card struct {
		Actions []struct{ Title, Message string }
	}
	if err := v.get("/v1/stats/deliverability", nil, &card); err != nil {
		return nil, err
	}
	var actions []action
	for _, a := range card.Actions {
		actions = append(actions, action{a.Title, a.Message, v.link("stats", "deliverability")})
	}
	return actions[:min(len(actions), 3)], nil
}

// firstSteps are what a workspace needs before real people get its mail.
func (v *visit) firstSteps(sent bool) ([]step, error) {
	steps := []step{{Done: sent, Title: "Send a first email", Text: "From your code, over SMTP, or from here.", Href: v.link("quickstart"), Button: "Show me how"}}
	var found struct {
		Total int64
		Data  []struct{ Domain string }
	}
	if v.can("domain:manage") {
		if err := v.get("/v1/domains", url.Values{"verified": {"true"}, "limit": {"50"}}, &found); err != nil {
			return nil, err
		}
		own := false
		for _, d := range found.Data {
			own = own || !v.dashboard.isSandboxDomain(d.Domain)
		}
		steps = append(steps, step{Done: own, Title: "Verify your own domain", Text: "Add a few records at your DNS host. Usually takes 10 to 30 minutes.", Href: v.link("domains"), Button: "Add domain"})
	}
	if v.can("webhook:manage") {
		if err := v.get("/v1/webhooks", url.Values{"limit": {"1"}}, &found); err != nil {
			return nil, err
		}
		steps = append(steps, step{Done: found.Total > 0, Title: "Receive events", Text: "Point a webhook at your app, so that it hears of bounces within a second.", Href: v.link("webhooks", "new"), Button: "Add webhook"})
	}
	return append(steps, step{Done: v.session.User.TwoFactorEnabled, Title: "Turn on two-factor sign-in", Text: "It protects keys, domains and secrets.", Href: "/you/security", Button: "Set up"}), nil
}

package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// broadcastPage is one broadcast: on its way, and what became of it.
type broadcastPage struct {
	shell
	Broadcast broadcastRecord
	State     string
	Tabs      []tab
	Sentence  string
	// Running tells that it moves on by itself; Share is how much is done, in percent.
	Running bool
	Share   float64
	Done    string
	Rate    string
	// Pause, Resume, Cancel, Retry, Edit and Delete are what can be done now.
	Pause, Resume, Cancel, Retry, Edit, Delete bool
	Tiles                                      []tile
	Chart                                      bars
	Links                                      []linkRow
	Providers                                  []providerRow
	Errors                                     []errorGroup
	Facts                                      []fact
	Zones                                      []string
}

type linkRow struct {
	URL, Clicks, People string
	Share               float64
}

type providerRow struct{ Name, Sent, Delivered, Bounced, Opened, Clicked string }

// errorGroup are the recipients who did not get the mail for one reason.
type errorGroup struct {
	Reason, Message, Count, Example, Href string
	n                                     int64
}

func showBroadcast(v *visit) error {
	b, err := v.readBroadcast(v.path("id"))
	if err != nil {
		return err
	}
	if b.Status == "draft" {
		http.Redirect(v.w, v.r, v.link("broadcasts", b.ID, "edit"), http.StatusSeeOther)
		return nil
	}
	p := broadcastPage{shell: v.broadcastShell(b.title()).with("again.js"), Broadcast: b.shown(), State: b.state(), Tabs: v.broadcastTabs(b, ""), Running: b.running(), Sentence: v.broadcastSentence(b)}
	s := b.Stats
	if s.Recipients > 0 {
		done := s.Recipients - s.Queued
		if !b.running() { // what could not be handed over is settled, but nobody got it
			done -= s.Failed + s.Cancelled
		}
		p.Share, p.Done = 100*float64(done)/float64(s.Recipients), v.number(done)+" of "+v.plural(s.Recipients, "person", "people")
		p.Rate = v.rate(b, done)
	}
	if v.can("email:send") {
		p.Resume = p.State == "paused"
		p.Pause = b.running() && !p.Resume && b.HandedAt == nil
		p.Cancel = b.Status == "scheduled" || b.running()
		p.Retry = (b.Status == "sent" || b.Status == "failed") && s.Failed > 0
		p.Edit, p.Delete = b.Status == "scheduled", b.Status == "cancelled"
	}
	if b.ScheduledAt != nil && b.Status == "scheduled" {
		p.Zones = v.inZones(*b.ScheduledAt)
	}
	for _, add := range []func(*broadcastPage) error{v.addStatistics, v.addErrors, v.addFacts} {
		if err := add(&p); err != nil {
			return err
		}
	}
	return v.show("broadcasts/detail", p)
}

func (v *visit) broadcastTabs(b broadcastRecord, current string) []tab {
	tabs := []tab{{Name: "", Label: "Results"}, {Name: "recipients", Label: "Recipients"}, {Name: "message", Label: "Message"}}
	for i, t := range tabs {
		tabs[i].Current = t.Name == current
		if tabs[i].Href = v.link("broadcasts", b.ID); t.Name != "" {
			tabs[i].Href = v.link("broadcasts", b.ID, t.Name)
		}
	}
	return tabs
}

// broadcastSentence says what happens now.
func (v *visit) broadcastSentence(b broadcastRecord) string {
	switch b.state() {
	case "scheduled":
		return "Waits for its time. You can still change or cancel it."
	case "queued":
		return "Everybody it is for is being looked up."
	case "sending":
		return "Mail is going out."
	case "paused":
		return "Held. What was handed over before still goes out."
	case "cancelled":
		return "Stopped. What went out before stays out."
	case "sent":
		if b.StartedAt != nil && b.SentAt != nil {
			return "Finished after " + duration(b.SentAt.Sub(*b.StartedAt)) + "."
		}
		return "Finished."
	}
	if b.Failure != nil {
		return b.Failure.Message
	}
	return ""
}

// rate is how fast it goes, or went.
func (v *visit) rate(b broadcastRecord, done int64) string {
	if b.StartedAt == nil || done == 0 || b.Status != "sending" && b.Status != "sent" || b.PausedAt != nil {
		return ""
	}
	end := v.now
	if b.SentAt != nil {
		end = *b.SentAt
	}
	took := end.Sub(*b.StartedAt)
	if took < time.Second {
		return ""
	}
	if perSecond := float64(done) / took.Seconds(); perSecond >= 1 {
		return v.number(int64(perSecond)) + " a second"
	}
	if perMinute := float64(done) / took.Minutes(); perMinute >= 1 {
		return v.number(int64(perMinute)) + " a minute"
	}
	return v.number(int64(float64(done)/took.Hours())) + " an hour"
}

func (v *visit) addStatistics(p *broadcastPage) error {
	if p.Broadcast.Status == "scheduled" {
		return nil
	}
	var got struct {
		Totals broadcastStats
		Rates  rates
		Series []struct {
			Bucket                           time.Time
			Sent, Delivered, Opened, Clicked int64
		} `json:"timeseries"`
		Providers []struct {
			ISP                                       string
			Sent, Delivered, Bounced, Opened, Clicked int64
		} `json:"by_isp"`
		Links []struct {
			URL    string
			Clicks int64
			Unique int64 `json:"unique_clicks"`
		}
	}
	if err := v.get(apiPath("broadcasts", p.Broadcast.ID, "stats"), nil, &got); err != nil {
		return err
	}
	p.Tiles = v.broadcastTiles(p.Broadcast.ID, got.Totals, got.Rates)
	var hours []barDay
	all := make([]int64, 3)
	for _, hour := range got.Series {
		values := []int64{hour.Delivered, hour.Opened, hour.Clicked}
		hours = append(hours, barDay{hour.Bucket.In(v.zone()).Format("2 Jan, 15:04"), values})
		for i, value := range values {
			all[i] += value
		}
	}
	if len(hours) > 1 {
		p.Chart = v.newBars("By the hour", []series{{"delivered", "delivered", v.number(all[0])}, {"opened", "opened", v.number(all[1])}, {"clicked", "clicked", v.number(all[2])}}, hours)
	}
	for _, isp := range got.Providers {
		p.Providers = append(p.Providers, providerRow{words(isp.ISP), v.number(isp.Sent), v.number(isp.Delivered), v.number(isp.Bounced), v.number(isp.Opened), v.number(isp.Clicked)})
	}
	for _, link := range got.Links {
		p.Links = append(p.Links, linkRow{visible(link.URL), v.number(link.Clicks), v.number(link.Unique), 100 * float64(link.Clicks) / float64(max(got.Links[0].Clicks, 1))})
	}
	return nil
}

func (v *visit) broadcastTiles(id string, t broadcastStats, r rates) []tile {
	to := func(status string) string { return v.link("broadcasts", id, "recipients") + "?status=" + status }
	return []tile{
		{"delivered", "Delivered", v.percent(r.Delivery), v.plural(t.Delivered, "person", "people"), to("delivered")},
		{"opened", "Opened", v.percent(r.Open), v.plural(t.UniqueOpened, "person", "people") + ". Proxies open, too", to("opened")},
		{"clicked", "Clicked", v.percent(r.Click), v.plural(t.UniqueClicked, "person", "people"), to("clicked")},
		{"bounced", "Bounced", v.percent(r.Bounce), v.plural(t.Bounced, "person", "people") + ". Keep this under 2%", to("bounced")},
		{"complained", "Complaints", v.percent(r.Complaint), v.plural(t.Complained, "person", "people") + ". Keep this under 0.1%", to("complained")},
		{"", "Unsubscribed", v.percent(r.Unsubscribe), v.plural(t.Unsubscribed, "person", "people"), to("delivered")},
	}
}

// maxGrouped is how many errors are read to group them: what goes wrong for many shows in the first of them.
const maxGrouped = 500

// addErrors groups who did not get the mail by what was said about it.
func (v *visit) addErrors(p *broadcastPage) error {
	if p.Broadcast.Stats.Recipients == 0 {
		return nil
	}
	var found listOf[struct {
		Email, Reason, Message, Stage string
	}]
	if err := v.get(apiPath("broadcasts", p.Broadcast.ID, "recipient-errors"), url.Values{"limit": {strconv.Itoa(maxGrouped)}}, &found); err != nil {
		return err
	}
	states := map[string]string{"suppression": "suppressed", "render": "failed"}
	for _, e := range found.Data {
		at := slices.IndexFunc(p.Errors, func(g errorGroup) bool { return g.Reason == words(e.Reason) && g.Message == visible(e.Message) })
		if at < 0 {
			href := v.link("broadcasts", p.Broadcast.ID, "recipients") + "?" + url.Values{"email": {e.Email}}.Encode()
			if state := states[e.Stage]; state != "" {
				href = v.link("broadcasts", p.Broadcast.ID, "recipients") + "?status=" + state
			}
			p.Errors, at = append(p.Errors, errorGroup{Reason: words(e.Reason), Message: visible(e.Message), Example: visible(e.Email), Href: href}), len(p.Errors)
		}
		p.Errors[at].n++
	}
	slices.SortStableFunc(p.Errors, func(a, b errorGroup) int { return int(b.n - a.n) })
	for i, g := range p.Errors {
		if p.Errors[i].Count = v.plural(g.n, "person", "people"); found.HasMore {
			p.Errors[i].Count = "At least " + p.Errors[i].Count
		}
	}
	return nil
}

func (v *visit) addFacts(p *broadcastPage) error {
	names, err := v.audienceNames()
	p.Facts = append([]fact{{Name: "Broadcast ID", Value: p.Broadcast.ID, Code: true, Copy: true}}, v.broadcastFacts(p.Broadcast, names)...)
	for _, when := range []struct {
		name string
		at   *time.Time
	}{{"Started", p.Broadcast.StartedAt}, {"Finished", p.Broadcast.SentAt}, {"Cancelled", p.Broadcast.CancelledAt}} {
		if when.at != nil {
			p.Facts = append(p.Facts, fact{Name: when.name, Value: v.moment(*when.at).Text})
		}
	}
	return err
}

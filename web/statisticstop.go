package web

import (
	"net/url"
	"time"
)

// statsTop is where mail goes and what becomes of it, as the API tells.
type statsTop struct {
	Start, End time.Time
	ISPs       []struct {
		Name                                           string
		Sent, Delivered, Bounced, Deferred, Complained int64
		Delivery                                       float64 `json:"delivery_rate"`
		Average                                        int64   `json:"avg_delivery_ms"`
	} `json:"isps"`
	States []struct {
		Status string
		Count  int64
		Share  float64
	} `json:"status_mix"`
	Domains []struct {
		Domain string
		Sent   int64
	} `json:"recipient_domains"`
	Subjects []struct {
		Subject string
		Sent    int64
	}
	Tags []struct {
		Name, Value string
		Sent        int64
	}
}

// daySpan names the days in UTC from one midnight to another.
func daySpan(from, until time.Time) string {
	first, last := from.UTC().Format("2 Jan"), until.UTC().Add(-time.Second).Format("2 Jan")
	if first == last {
		return first
	}
	return first + " to " + last
}

func (v *visit) fillTop(p *statisticsPage, query url.Values) error {
	var top statsTop
	if err := v.get("/v1/stats/top", query, &top); err != nil {
		return err
	}
	if top.Start.Format(time.RFC3339) != query.Get("start") || top.End.Format(time.RFC3339) != query.Get("end") {
		p.WholeDays = daySpan(top.Start, top.End)
	}
	for _, i := range top.ISPs {
		row := statsProvider{Name: visible(i.Name), Sent: v.number(i.Sent), Delivered: v.percent(i.Delivery), Bounced: v.number(i.Bounced), Deferred: v.number(i.Deferred), Complained: v.number(i.Complained),
			Share: 100 * i.Delivery, Took: duration(time.Duration(i.Average) * time.Millisecond)}
		if i.Delivered == 0 {
			row.Took = ""
		}
		p.Providers = append(p.Providers, row)
	}
	left := 0.0
	for _, s := range top.States {
		p.Mix = append(p.Mix, mixPart{newBadge(s.Status).State, newBadge(s.Status).Label, v.number(s.Count), v.percent(s.Share), left, 100 * s.Share})
		left += 100 * s.Share
	}
	add := func(rows *[]rankRow, name string, sent, most int64) {
		*rows = append(*rows, rankRow{visible(name), v.number(sent), 100 * float64(sent) / float64(max(most, 1))})
	}
	for _, d := range top.Domains {
		add(&p.Recipients, d.Domain, d.Sent, top.Domains[0].Sent)
	}
	for _, s := range top.Subjects {
		add(&p.Subjects, orElse(s.Subject, "(no subject)"), s.Sent, top.Subjects[0].Sent)
	}
	for _, t := range top.Tags {
		add(&p.Tags, t.Name+": "+t.Value, t.Sent, top.Tags[0].Sent)
	}
	return nil
}

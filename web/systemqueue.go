package web

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// queuePage shows the ways of mail to other providers, and lets operators stop, resume and adjust them.
type queuePage struct {
	shell
	Tabs    []tab
	Node    string
	Held    string
	Paths   []pathCard
	Sources []sourceCard
	Problem *problem
}

type pathCard struct {
	ID, Source, Site, Title, State, Sentence string
	Waiting, Connections, Allowed, Limits    string
	Until                                    moment
	Cause                                    string
	// Release is what the button says that lifts everything; empty if nothing holds the path back.
	Release string
	// Adjusted tells that an operator has given it other limits.
	Adjusted bool
	Tenants  []tenantHold
	// Hold and Limit are what an operator can order, with what was typed if it was refused.
	Hold, Limit pathOrder
}

type pathOrder struct {
	Spans                          []choice
	Reason, Connections, PerSecond string
	Refused                        bool
}

type tenantHold struct {
	Tenant, Kind string
	Until        moment
}

type sourceCard struct {
	Name, Label, Addresses, Pool, Hello, Today, Warmup, Rests string
	Paused                                                    bool
	Bans                                                      []banRow
}

type banRow struct {
	Site, Reason string
	Until        moment
}

type pathState struct {
	Path struct {
		Source, Site string
	}
	Provider    string
	State       string
	Waiting     int64
	Connections int64
	Allowed     int64
	Limits      shapeLimits
	Until       time.Time
	Cause       struct {
		Code           int
		Enhanced, Text string
	}
	Holds []struct {
		Tenant, Kind string
		Until        time.Time
	}
	Sentence string
}

type shapeLimits struct {
	Connections           int     `json:"max_connections,omitempty"`
	MessagesPerConnection int     `json:"messages_per_connection,omitempty"`
	ConnectsPerMinute     float64 `json:"connects_per_minute,omitempty"`
	MessagesPerSecond     float64 `json:"messages_per_second,omitempty"`
}

func showQueue(v *visit) error { return v.showQueue(http.StatusOK, nil) }

func (v *visit) showQueue(status int, wrong *problem) error {
	p := queuePage{shell: v.shell("Queue", "system").with("stats.css").under(crumb{"System", "/system"}), Tabs: v.systemTabs("queue"), Problem: wrong}
	var paths struct {
		Node string
		Held int64
		Data []pathState
	}
	if err := v.operate(http.MethodGet, "/delivery/paths", nil, &paths); err != nil {
		return err
	}
	p.Node, p.Held = paths.Node, v.number(paths.Held)
	for _, s := range paths.Data {
		p.Paths = append(p.Paths, v.pathCard(s))
	}
	if err := v.fillSources(&p); err != nil {
		return err
	}
	return v.showStatus(status, "system/queue", p)
}

func (v *visit) pathCard(s pathState) pathCard {
	card := pathCard{ID: strings.ReplaceAll(s.Path.Site+"/"+s.Path.Source, " ", "_"), Source: s.Path.Source, Site: s.Path.Site, Title: visible(s.Path.Site), State: s.State, Sentence: visible(s.Sentence) + ".",
		Waiting: v.number(s.Waiting), Connections: v.number(s.Connections), Allowed: v.number(s.Allowed), Limits: s.Limits.words(v)}
	card.Hold, card.Limit = v.pathOrder("hold", s), v.pathOrder("limits", s)
	if s.Path.Source != "" {
		card.Title += " from " + s.Path.Source
	}
	if !s.Until.IsZero() {
		card.Until = v.ago(s.Until)
	}
	if s.Cause.Code > 0 { // without a code it is the note of an operator, which is in the sentence
		card.Cause = visible(fmt.Sprintf("%d %s %s", s.Cause.Code, s.Cause.Enhanced, s.Cause.Text))
	}
	switch {
	case s.State == "stopped":
		card.Release = "Release"
	case !slices.Contains([]string{"sending", "idle", "adjusted"}, s.State):
		card.Release = "Retry now"
	}
	for _, h := range s.Holds {
		card.Adjusted = card.Adjusted || h.Kind == "adjusted" && h.Tenant == ""
		if h.Tenant != "" {
			card.Tenants = append(card.Tenants, tenantHold{h.Tenant, h.Kind, v.ago(h.Until)})
		}
	}
	return card
}

// pathOrder is a form of a path: empty, unless it is the one that was just refused.
func (v *visit) pathOrder(action string, s pathState) pathOrder {
	o := pathOrder{Refused: strings.HasSuffix(v.r.URL.Path, "/"+action) && v.value("source") == s.Path.Source && v.value("site") == s.Path.Site}
	span := "1h"
	if o.Refused {
		span, o.Reason, o.Connections, o.PerSecond = v.value("for"), v.value("reason"), v.value("max_connections"), v.value("messages_per_second")
	}
	o.Spans = choices(span, "1h", "for 1 hour", "4h", "for 4 hours", "24h", "for 24 hours", "168h", "for 7 days")
	return o
}

// words tells limits in the words of people.
func (l shapeLimits) words(v *visit) string {
	var parts []string
	if l.MessagesPerSecond > 0 {
		parts = append(parts, strconv.FormatFloat(l.MessagesPerSecond, 'g', 4, 64)+" messages a second")
	}
	if l.ConnectsPerMinute > 0 {
		parts = append(parts, strconv.FormatFloat(l.ConnectsPerMinute, 'g', 4, 64)+" new connections a minute")
	}
	if l.MessagesPerConnection > 0 {
		parts = append(parts, v.plural(int64(l.MessagesPerConnection), "message", "messages")+" a connection")
	}
	return strings.Join(parts, ", ")
}

func (v *visit) fillSources(p *queuePage) error {
	var sources struct {
		Data []struct {
			Name, Pool, IPv4, IPv6, Hello string
			Paused                        bool
			Today                         int64  `json:"sent_today"`
			Day                           *int64 `json:"warmup_day"`
			DailyCap                      *int64 `json:"daily_cap"`
			Rests                         *struct {
				Until  time.Time
				Reason string
			}
			Banned []struct {
				Path   struct{ Site string }
				Until  time.Time
				Reason string
			}
		}
	}
	if err := v.operate(http.MethodGet, "/delivery/sources", nil, &sources); err != nil {
		return err
	}
	for _, s := range sources.Data {
		card := sourceCard{Name: s.Name, Label: orElse(s.Name, "The address of this machine"), Pool: s.Pool, Hello: s.Hello, Paused: s.Paused, Today: v.number(s.Today),
			Addresses: strings.Join(slices.DeleteFunc([]string{s.IPv4, s.IPv6}, func(a string) bool { return a == "" }), ", ")}
		if s.Day != nil && s.DailyCap != nil {
			card.Warmup = "day " + v.number(*s.Day) + ", at most " + v.number(*s.DailyCap)
		}
		if s.Rests != nil {
			card.Rests = "Rests, and goes on " + v.ago(s.Rests.Until).Text + "."
		}
		for _, b := range s.Banned {
			card.Bans = append(card.Bans, banRow{b.Path.Site, visible(b.Reason), v.ago(b.Until)})
		}
		p.Sources = append(p.Sources, card)
	}
	return nil
}

// ordered does what an operator wants and says so; a refusal is shown above the queue.
func (v *visit) ordered(path string, order map[string]any, said string) error {
	err := v.operate(http.MethodPost, path, order, nil)
	if wrong := refusal(err); wrong != nil {
		return v.showQueue(wrong.Status, wrong)
	}
	if err != nil {
		return err
	}
	return v.redirect("/system/queue", said)
}

// order names the path that a form is about.
func (v *visit) order() map[string]any {
	order := map[string]any{"source": v.value("source"), "site": v.value("site")}
	if tenant := v.value("tenant"); tenant != "" {
		order["tenant"] = tenant
	}
	return order
}

func holdPath(v *visit) error {
	order := v.order()
	order["for"], order["reason"] = v.value("for"), orElse(strings.TrimSpace(v.value("reason")), "stopped by "+v.session.User.Email)
	return v.ordered("/delivery/paths/suspend", order, "Held. Mail for "+v.value("site")+" waits.")
}

func releasePath(v *visit) error {
	return v.ordered("/delivery/paths/resume", v.order(), "Released. Mail for "+v.value("site")+" is tried again now.")
}

// limitPath gives a path other limits for a while, or takes them back.
func limitPath(v *visit) error {
	order := v.order()
	if v.checked("back") {
		return v.ordered("/delivery/paths/adjust", order, "The limits are as before.")
	}
	limits := shapeLimits{}
	limits.Connections, _ = strconv.Atoi(v.value("max_connections"))
	limits.MessagesPerSecond, _ = strconv.ParseFloat(v.value("messages_per_second"), 64)
	if limits == (shapeLimits{}) {
		return v.showQueue(http.StatusBadRequest, &problem{Status: http.StatusBadRequest, Message: "Say how many connections or messages a second are allowed."})
	}
	order["limits"], order["for"], order["reason"] = limits, v.value("for"), orElse(strings.TrimSpace(v.value("reason")), "set by "+v.session.User.Email)
	return v.ordered("/delivery/paths/adjust", order, "The limits hold from now on.")
}

func pauseSource(v *visit) error {
	return v.ordered("/delivery/sources/pause", map[string]any{"source": v.value("source")}, "Paused. Mail moves to other sources of its pool.")
}

func resumeSource(v *visit) error {
	order := map[string]any{"source": v.value("source")}
	if site := v.value("site"); site != "" {
		order["site"] = site
	}
	return v.ordered("/delivery/sources/resume", order, "It is used again.")
}

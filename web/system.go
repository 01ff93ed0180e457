package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

func systemPages() []page {
	pages := []page{
		{"GET /system", showNodes},
		{"GET /system/queue", showQueue},
		{"POST /system/queue/hold", holdPath}, {"POST /system/queue/release", releasePath}, {"POST /system/queue/limits", limitPath},
		{"POST /system/sources/pause", pauseSource}, {"POST /system/sources/resume", resumeSource},
	}
	for i, p := range pages {
		pages[i].answer = forOperators(p.answer)
	}
	return pages
}

// forOperators lets only those see a page who run the installation. For everyone else there is no such page.
func forOperators(answer func(*visit) error) func(*visit) error {
	return func(v *visit) error {
		if !v.session.User.Operator || v.dashboard.config.Operator == nil {
			return &problem{Status: http.StatusNotFound, Code: "not_found", Message: "There is no such page."}
		}
		return answer(v)
	}
}

// operate asks the part of the installation that only operators reach.
func (v *visit) operate(method, path string, body, out any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("write order for %s: %w", path, err)
	}
	r, err := http.NewRequestWithContext(v.r.Context(), method, path, bytes.NewReader(raw))
	if err != nil {
		return fmt.Errorf("ask for %s: %w", path, err)
	}
	got := &answer{status: http.StatusOK, header: http.Header{}}
	v.dashboard.config.Operator.ServeHTTP(got, r)
	if got.status >= 400 {
		var said struct{ Error string }
		if json.Unmarshal(got.body.Bytes(), &said) != nil || said.Error == "" {
			return fmt.Errorf("%s %s: status %d", method, path, got.status)
		}
		return &problem{Status: got.status, Code: "refused", Message: strings.ToUpper(said.Error[:1]) + said.Error[1:] + "."}
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(got.body.Bytes(), out); err != nil {
		return fmt.Errorf("read answer of %s %s: %w", method, path, err)
	}
	return nil
}

// nodesPage lists the machines that deliver mail.
type nodesPage struct {
	shell
	Tabs  []tab
	Nodes []nodeCard
}

type nodeCard struct {
	Name, Status, Hostname, Waiting, Later, Warmup string
	Facts                                          []fact
	Checks                                         []checkRow
	Blocklists                                     []string
	CheckedAt                                      moment
}

func (v *visit) systemTabs(current string) []tab {
	return []tab{{Label: "Sending nodes", Href: "/system", Current: current == ""}, {Label: "Queue", Href: "/system/queue", Current: current == "queue"}}
}

type nodeRecord struct {
	ID, Name, Region, Hostname, Status string
	Addresses                          []string `json:"ip_addresses"`
	SPF                                string   `json:"spf_include"`
	MX                                 string   `json:"mx_host"`
	Bounces                            string   `json:"bounce_host"`
	Tracking                           string   `json:"tracking_host"`
	ReverseDNS                         struct {
		Status string
		PTR    *string
	} `json:"reverse_dns"`
	Capabilities struct{ Receiving bool }
	Warmup       struct {
		Active   bool
		Day      *int64
		DailyCap *int64 `json:"daily_cap"`
	}
	Blocklists []string
	Queue      *struct{ Ready, Deferred int64 }
	Checks     []struct{ Check, Status, Message string }
	CheckedAt  *time.Time `json:"checked_at"`
}

func showNodes(v *visit) error {
	p := nodesPage{shell: v.shell("System", "system").with("stats.css"), Tabs: v.systemTabs("")}
	var list listOf[nodeRecord]
	if err := v.get("/v1/sending-nodes", map[string][]string{"limit": {"200"}}, &list); err != nil {
		return err
	}
	for _, n := range list.Data {
		p.Nodes = append(p.Nodes, v.nodeCard(n))
	}
	return v.show("system/nodes", p)
}

func (v *visit) nodeCard(n nodeRecord) nodeCard {
	card := nodeCard{Name: n.Name, Status: n.Status, Hostname: n.Hostname, Blocklists: n.Blocklists, Waiting: "0", Later: "0"}
	if n.Queue != nil {
		card.Waiting, card.Later = v.number(n.Queue.Ready), v.number(n.Queue.Deferred)
	}
	if n.Warmup.Active && n.Warmup.Day != nil && n.Warmup.DailyCap != nil {
		card.Warmup = "Warming up, day " + v.number(*n.Warmup.Day) + ": at most " + v.number(*n.Warmup.DailyCap) + " emails today"
	}
	if n.CheckedAt != nil {
		card.CheckedAt = v.ago(*n.CheckedAt)
	}
	receives := "Sends only"
	if n.Capabilities.Receiving {
		receives = "Sends and receives"
	}
	card.Facts = []fact{{Name: "Node ID", Value: n.ID, Code: true, Copy: true}, {Name: "Region", Value: n.Region}, {Name: "Does", Value: receives}}
	for _, f := range []fact{{Name: "Addresses", Value: strings.Join(n.Addresses, ", ")}, {Name: "SPF", Value: n.SPF}, {Name: "MX", Value: n.MX}, {Name: "Bounces", Value: n.Bounces}, {Name: "Tracking", Value: n.Tracking}} {
		if f.Code = true; f.Value != "" {
			card.Facts = append(card.Facts, f)
		}
	}
	for _, c := range n.Checks {
		card.Checks = append(card.Checks, checkRow{checkTitle(c.Check), c.Status, visible(c.Message)})
	}
	return card
}

package node

import (
	"context"
	"net/http"
	"net/netip"
	"slices"

	"postrider/mail/standing"
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/queue"
)

const maxPage = 200

// Routes returns the endpoints of nodes.
func (s *Service) Routes() []api.Route {
	return []api.Route{{Method: http.MethodGet, Path: "/sending-nodes", Bucket: api.BucketRead, Summary: "List the nodes that deliver mail.",
		Handler: api.Handle(s.handleList)}}
}

type record struct {
	Object       string       `json:"object" example:"sending_node"`
	ID           ID           `json:"id" example:"0193a1e0-2222-7000-8000-0000000000e1"`
	Name         string       `json:"name" example:"node-1"`
	Region       string       `json:"region" example:"default"`
	Provider     string       `json:"provider" example:"direct"`
	Hostname     string       `json:"hostname" example:"mx1.mail.example.org"`
	Addresses    []string     `json:"ip_addresses"`
	Status       string       `json:"status" example:"active"`
	Default      bool         `json:"default" example:"true"`
	SPF          string       `json:"spf_include" example:"spf.mail.example.org"`
	MX           string       `json:"mx_host" example:"mx1.mail.example.org"`
	Bounces      string       `json:"bounce_host" example:"bounces.mail.example.org"`
	Tracking     string       `json:"tracking_host" example:"track.mail.example.org"`
	ReverseDNS   reverse      `json:"reverse_dns"`
	Capabilities capabilities `json:"capabilities"`
	Warmup       warmup       `json:"warmup"`
	Blocklists   []string     `json:"blocklists"`
	Queue        *waiting     `json:"queue"`
	Checks       []check      `json:"checks"`
	CheckedAt    api.Time     `json:"checked_at"`
}

// check is what a node has found out about itself. What to do about it is for its operator.
type check struct {
	Check   string `json:"check" example:"reverse name"`
	Status  string `json:"status" example:"ok"`
	Message string `json:"message" example:"203.0.113.10 resolves back to mx1.mail.example.org."`
}

func newChecks(findings []standing.Finding) []check {
	checks := make([]check, len(findings))
	for i, f := range findings {
		checks[i] = check{f.Check, string(f.Status), f.Message}
	}
	return checks
}

type reverse struct {
	Status string  `json:"status" example:"pass"`
	PTR    api.Ref `json:"ptr" example:"mx1.mail.example.org"`
}

type capabilities struct {
	Sending   bool `json:"sending" example:"true"`
	Receiving bool `json:"receiving" example:"true"`
	TLS       bool `json:"tls" example:"true"`
}

type warmup struct {
	Active   bool `json:"active" example:"false"`
	Day      *int `json:"day"`
	DailyCap *int `json:"daily_cap"`
}

// waiting is the mail that waits for a node: what is due, and what will be.
type waiting struct {
	Ready    int64 `json:"ready" example:"0"`
	Deferred int64 `json:"deferred" example:"3"`
}

func (s *Service) handleList(ctx context.Context, caller api.Caller, q api.OffsetQuery) (page api.Page[record], err error) {
	if err := q.Check(maxPage); err != nil {
		return page, err
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		total, err := countNodes(tx)
		if err != nil {
			return err
		}
		nodes, err := selectNodes(tx, q.Limit, q.Offset)
		if err != nil {
			return err
		}
		records := make([]record, len(nodes))
		for i, n := range nodes {
			records[i] = s.newRecord(tx, n)
			if !slices.Contains(caller.Scopes, "analytics:read") {
				continue // how busy we are is not for everyone
			}
			records[i].Addresses, records[i].Blocklists, records[i].Checks = n.addresses(), n.Standing.blocklists(), newChecks(n.Standing.Findings)
			if records[i].Queue, err = s.waitingFor(tx, n.ID); err != nil {
				return err
			}
		}
		page = api.NewPage(records, q, total)
		return nil
	})
	return page, err
}

func (s *Service) newRecord(tx *db.Tx, n Node) record {
	status := "active"
	switch {
	case n.Gone(tx.Now()):
		status = "offline"
	case !n.DrainingAt.IsZero():
		status = "draining"
	}
	r := record{Object: "sending_node", ID: n.ID, Name: n.Name, Region: n.Region, Provider: "direct", Hostname: n.Hostname, Addresses: []string{},
		Status: status, Default: n.Region == "default", SPF: s.config.SPF, MX: s.config.MX, Bounces: s.config.Bounces, Tracking: s.config.Tracking,
		ReverseDNS: n.Standing.reverse(), Capabilities: capabilities{Sending: true, Receiving: n.Receives, TLS: true}, Blocklists: []string{}, Checks: []check{}, CheckedAt: api.Time(n.Standing.CheckedAt)}
	for _, source := range n.Sources {
		if day, most, capped := source.Cap(tx.Now()); capped && (r.Warmup.DailyCap == nil || most < *r.Warmup.DailyCap) {
			r.Warmup = warmup{Active: true, Day: &day, DailyCap: &most}
			if r.Status == "active" {
				r.Status = "warming"
			}
		}
	}
	return r
}

// addresses are those that mail of the node is seen to come from, as far as its operator has named them.
func (n Node) addresses() []string {
	found := []string{}
	for _, source := range n.Sources {
		for _, addr := range []netip.Addr{source.IPv4, source.IPv6} {
			if addr.IsValid() {
				found = append(found, addr.String())
			}
		}
	}
	return found
}

// waitingFor counts what any node may deliver and what only this one may.
func (s *Service) waitingFor(tx *db.Tx, id ID) (*waiting, error) {
	var all waiting
	for _, lane := range []queue.Lane{s.lane(""), s.lane(id)} {
		ready, deferred, err := queue.Waiting(tx, lane)
		if err != nil {
			return nil, err
		}
		all.Ready, all.Deferred = all.Ready+ready, all.Deferred+deferred
	}
	return &all, nil
}

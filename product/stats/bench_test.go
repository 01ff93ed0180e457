package stats_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"testing"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/db/dbtest"
	"postrider/platform/event"
	"postrider/platform/limit"
	"postrider/platform/space"
	"postrider/product/plan"
	"postrider/product/stats"
	"postrider/world"
)

// counting is an installation that counts, and does nothing else.
type counting struct {
	b     *testing.B
	world world.World
	db    *db.DB
	stats *stats.Service
	// numbered mails have a tag that is different in each.
	numbered bool
}

const (
	benchWorkspace = space.ID("00000000-0000-7000-8000-000000000001")
	benchDomain    = "00000000-0000-7000-8000-0000000000d1"
)

func newCounting(b *testing.B, engine string) counting {
	b.Helper()
	c := counting{b: b, world: world.New(slog.New(slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: slog.LevelError})))}
	var err error
	if c.db, err = db.Open(context.Background(), c.world, db.Config{URL: dbtest.URL(b, engine)}); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.db.Close() })
	c.stats = stats.New(c.world, c.db, stats.Parts{Plans: plan.New(plan.Shipped()),
		Domains: func(*db.Tx, space.ID, stats.DomainQuery) ([]stats.Domain, error) { return nil, nil }})
	return c
}

func (c counting) write(work func(tx *db.Tx) error) {
	c.b.Helper()
	if err := c.db.Write(context.Background(), work); err != nil {
		c.b.Fatal(err)
	}
}

// BenchmarkFollower counts b.N events and reports how many a second: those of mails with two tags, to many providers and domains, and
// those of mails with a third tag that is different in each. Run it with -benchtime 20000x.
func BenchmarkFollower(b *testing.B) {
	for _, engine := range []string{"sqlite", "postgres"} {
		for name, workspaces := range map[string]int{"workspaces=1": 1, "workspaces=100": 100, "numbered": 1} {
			b.Run(engine+"/"+name, func(b *testing.B) {
				c := newCounting(b, engine)
				c.numbered = name == "numbered"
				const group = 1000
				for n := 0; n < b.N; n += group {
					c.write(func(tx *db.Tx) error { return event.Append(tx, c.events(n, min(group, b.N-n), workspaces)...) })
				}
				follower := c.stats.Followers()[0]
				b.ResetTimer()
				for busy := true; busy; {
					var err error
					if busy, err = follower.Step(context.Background(), c.db); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
			})
		}
	}
}

// events are those of mails one after another, four each.
func (c counting) events(from, count, workspaces int) []event.Event {
	now := c.world.Clock.Now()
	events := make([]event.Event, count)
	for i := range events {
		n := from + i
		mail := n / 4
		data := fields{"email_id": c.world.NewID(), "message_id": "<0193a1ef0d5c7c338e0a2b7c1d9e4f00@acme.com>", "created_at": now, "from": "Acme <hello@acme.com>",
			"to": []string{"ann@example.net"}, "subject": fmt.Sprintf("News of %d", mail%50), "tags": fields{"category": "news", "list": "weekly"},
			"metadata": fields{"user_id": "u_42"}, "headers": []fields{{"name": "X-Entity-Ref-ID", "value": "123"}}, "domain_id": benchDomain}
		if c.numbered {
			data["tags"] = fields{"category": "news", "list": "weekly", "order": fmt.Sprint(mail)}
		}
		kind, recipient := [...]string{"email.queued", "email.accepted", "email.sent", "email.delivered"}[n%4], ""
		if n%2 == 1 {
			recipient = fmt.Sprintf("ann@d%d.example", mail%500)
			data["previous_status"], data["isp"] = "queued", []string{"google", "microsoft", "yahoo", "other"}[mail%4]
			data["delivery"] = fields{"smtp_code": 250, "response": "250 2.0.0 OK", "mx_host": "mx.example", "waited_ms": 900}
		}
		raw, err := json.Marshal(data)
		if err != nil {
			c.b.Fatal(err)
		}
		ws := space.ID(fmt.Sprintf("00000000-0000-7000-8000-%012d", mail%workspaces+1))
		events[i] = event.Event{ID: c.world.NewID(), Workspace: ws, Type: kind, Subject: c.world.NewID(), Domain: benchDomain, Recipient: recipient, OccurredAt: now, Data: raw}
	}
	return events
}

// BenchmarkAnswer reads the statistics of a workspace with ten million events, which have filled every quarter of an hour of two years,
// every provider and every list.
func BenchmarkAnswer(b *testing.B) {
	for _, engine := range []string{"sqlite", "postgres"} {
		b.Run(engine, func(b *testing.B) {
			c := newCounting(b, engine)
			c.fill()
			c.fold()
			server := api.NewServer(api.Config{World: c.world, Keys: anyKey{}, Rates: func(string, api.Bucket) limit.Rate {
				return limit.Rate{Count: 1e9, Per: time.Second, Burst: 1e9}
			}}, c.stats.Routes())
			for _, path := range []string{"overview", "overview?days=365", "daily?days=365&timezone=Asia/Kolkata", "timeseries?days=14&interval=hour",
				"timeseries?days=365&interval=week&timezone=America/New_York", "top", "top?days=365", "deliverability?days=365", "overview?days=365&domain_id=" + benchDomain} {
				b.Run(path, func(b *testing.B) {
					var took []time.Duration
					for b.Loop() {
						begun := time.Now()
						request := httptest.NewRequest(http.MethodGet, "/v1/stats/"+path, nil)
						request.Header.Set("Authorization", "Bearer x")
						recorder := httptest.NewRecorder()
						server.ServeHTTP(recorder, request)
						if recorder.Code != http.StatusOK {
							b.Fatalf("answered with %d: %s", recorder.Code, recorder.Body)
						}
						took = append(took, time.Since(begun))
					}
					slices.Sort(took)
					b.ReportMetric(took[len(took)*99/100].Seconds()*1000, "p99-ms")
				})
			}
		})
	}
}

// fill writes what ten million events leave behind. They spread over two years, so that the time before a year can be compared, too.
func (c counting) fill() {
	const days, quarters, perQuarter = 730, 96, 142
	today := c.world.Clock.Now().UTC().Truncate(24 * time.Hour)
	facets := []string{"", "d:" + benchDomain}
	for d := range days {
		day := today.AddDate(0, 0, -d)
		c.write(func(tx *db.Tx) error {
			var counts, isps, states, ranks []any
			for _, f := range facets {
				for q := range quarters {
					counts = append(counts, benchWorkspace, f, day.Add(time.Duration(q)*15*time.Minute))
					for range 20 {
						counts = append(counts, perQuarter/4)
					}
				}
				for _, isp := range []string{"google", "microsoft", "yahoo", "apple", "comcast", "gmx_webde", "orange", "proton", "zoho", "corporate_google", "corporate_microsoft", "other"} {
					isps = append(isps, benchWorkspace, f, day, isp, 300, 290, 10, 1, 5, 0, 300_000, day)
				}
				for _, state := range []string{"queued", "delivered", "opened", "clicked", "bounced", "failed", "suppressed", "cancelled", "complained"} {
					states = append(states, benchWorkspace, f, day, state, 400)
				}
				for _, kind := range []string{"domain", "subject", "tag"} {
					for n := range 64 {
						ranks = append(ranks, benchWorkspace, f, kind, day, fmt.Sprintf("%s-%d:x", kind, (n+d)%1000), 17)
					}
				}
			}
			for _, table := range []struct {
				head    string
				columns int
				values  []any
			}{
				{`INSERT INTO stats_count (workspace_id, facet, bucket, accepted, sent, delivered, delayed, bounced, bounced_hard, bounced_soft, bounced_block, complained, suppressed,
					failed, cancelled, opened, unique_opened, automated_opens, clicked, unique_clicked, automated_clicks, unsubscribed, received)`, 23, counts},
				{`INSERT INTO stats_isp (workspace_id, facet, day, isp, sent, delivered, bounced, blocked, deferred, complained, waited_ms, last_block_at)`, 12, isps},
				{`INSERT INTO stats_state (workspace_id, facet, day, state, recipients)`, 5, states},
				{`INSERT INTO stats_rank (workspace_id, facet, kind, day, name, sent)`, 6, ranks},
			} {
				if _, err := tx.InsertRows(table.head, table.columns, table.values, ``); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// fold packs the days that are over, as the workers do.
func (c counting) fold() {
	for _, w := range c.stats.Workers() {
		for busy := true; busy; {
			var err error
			if busy, err = w.Step(context.Background()); err != nil {
				c.b.Fatal(err)
			}
		}
	}
}

// anyKey lets everybody in.
type anyKey struct{}

func (anyKey) CheckKey(context.Context, string, netip.Addr) (api.Principal, error) {
	return api.Principal{Workspace: benchWorkspace, Plan: string(plan.Unlimited), KeyID: "x", Scopes: api.Scopes}, nil
}

func (anyKey) Forget(string) {}

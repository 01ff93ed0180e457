package webhook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/db/dbtest"
	"postrider/platform/event"
	"postrider/platform/httpout"
	"postrider/platform/queue"
	"postrider/platform/seal"
	"postrider/platform/space"
	"postrider/product/account"
	"postrider/product/plan"
	"postrider/product/webhook"
	"postrider/world"
)

// perSecond is the load that an installation on two cores is to carry with ease.
const perSecond = 2000

// BenchmarkEvents makes b.N events happen at 2,000 a second and waits until a healthy endpoint has been told of all of them. It
// reports how many a second that were, and how long it took from the commit of an event until it arrived. Beside it, 100 dead
// endpoints hear of every fiftieth event. Run it with -benchtime 20000x.
func BenchmarkEvents(b *testing.B) {
	for _, engine := range []string{"sqlite", "postgres"} {
		for _, dead := range []int{0, 100} {
			b.Run(fmt.Sprintf("%s/dead=%d", engine, dead), func(b *testing.B) { newMill(b, engine, dead).run(perSecond) })
		}
	}
}

// BenchmarkEventsUnpaced is the same without a pace: how many a second there can be.
func BenchmarkEventsUnpaced(b *testing.B) {
	for _, engine := range []string{"sqlite", "postgres"} {
		b.Run(engine, func(b *testing.B) { newMill(b, engine, 0).run(0) })
	}
}

// mill is an installation with webhooks and nothing else, whose workers run as in production.
type mill struct {
	b         *testing.B
	world     world.World
	db        *db.DB
	webhooks  *webhook.Service
	workspace space.ID

	mu        sync.Mutex
	committed map[string]time.Time // guarded by mu
	took      []time.Duration      // guarded by mu
	all       chan struct{}
}

func newMill(b *testing.B, engine string, dead int) *mill {
	ctx := context.Background()
	m := &mill{b: b, world: world.New(slog.New(slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: slog.LevelWarn}))), committed: map[string]time.Time{}, all: make(chan struct{})}
	var err error
	if m.db, err = db.Open(ctx, m.world, db.Config{URL: dbtest.URL(b, engine)}); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { m.db.Close() })
	keys, plans := seal.NewKeyring([]byte("a master secret of a test, 32 characters")), plan.New(plan.Shipped())
	accounts := account.New(m.world, m.db, keys, plans, account.Config{})
	made, _, err := accounts.CreateWorkspace(ctx, account.CreateWorkspace{Name: "Mill", Plan: plan.Unlimited, OwnerEmail: "owner@mill.test", OwnerPassword: "correct horse battery"})
	if err != nil {
		b.Fatal(err)
	}
	m.workspace = made.ID
	m.webhooks = webhook.New(m.world, m.db, webhook.Parts{Keys: keys, Plans: plans, Accounts: accounts,
		ExternalID: func(*db.Tx, space.ID, string) (string, error) { return "", nil }},
		webhook.Config{Node: "mill", Policy: httpout.Policy{AnyLoopbackPort: true}})
	server := httptest.NewServer(http.HandlerFunc(m.receive))
	b.Cleanup(server.Close)
	m.endpoint(server.URL, "email.*")
	hanging := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then does a server notice that the other side has left
		<-r.Context().Done()
	}))
	b.Cleanup(func() { hanging.CloseClientConnections(); hanging.Close() })
	for i := range dead {
		m.endpoint([]string{"http://127.0.0.1:1/", hanging.URL}[i%2], "email.bounced") // refuses, or hangs
	}
	return m
}

func (m *mill) endpoint(url, events string) {
	caller := api.Caller{Principal: api.Principal{Workspace: m.workspace, Plan: string(plan.Unlimited)}}
	if _, err := m.webhooks.Create(context.Background(), caller, webhook.NewEndpoint{URL: url, Events: []string{events}}); err != nil {
		// The plan has room for 100; the dead ones beyond are not needed.
		if !strings.Contains(err.Error(), "quota") {
			m.b.Fatal(err)
		}
	}
}

func (m *mill) receive(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	now := time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	committed := m.committed[r.Header.Get("Webhook-Id")]
	if committed.IsZero() { // it was faster than the answer of the commit
		committed = now
	}
	m.took = append(m.took, now.Sub(committed))
	if len(m.took) == m.b.N {
		close(m.all)
	}
}

// work runs a worker as the program does.
func (m *mill) work(ctx context.Context, running *sync.WaitGroup, w queue.Worker) {
	running.Go(func() {
		var news <-chan struct{}
		if len(w.Topics) > 0 {
			var stop func()
			news, stop = m.db.Subscribe(w.Topics[0])
			defer stop()
		}
		for ctx.Err() == nil {
			if busy, err := w.Step(ctx); err == nil && busy {
				continue
			}
			rest := w.Every
			if w.Next != nil {
				if due, ok, err := w.Next(ctx); err == nil && ok {
					rest = min(rest, max(10*time.Millisecond, time.Until(due)))
				}
			}
			over := time.NewTimer(rest)
			select {
			case <-ctx.Done():
			case <-news:
			case <-w.Wake:
			case <-over.C:
			}
			over.Stop()
		}
	})
}

func (m *mill) run(rate int) {
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	for _, w := range m.webhooks.Workers() {
		m.work(ctx, &running, w)
	}
	for _, f := range m.webhooks.Followers() {
		m.work(ctx, &running, queue.Worker{Topics: []string{event.Topic}, Every: time.Second,
			Step: func(ctx context.Context) (bool, error) { return f.Step(ctx, m.db) },
			Next: func(ctx context.Context) (time.Time, bool, error) {
				waiting, err := f.Waiting(ctx, m.db)
				return time.Now(), waiting, err
			}})
	}
	m.b.ResetTimer()
	start := time.Now()
	m.produce(rate)
	<-m.all
	m.b.StopTimer()
	m.mu.Lock()
	defer m.mu.Unlock()
	slices.Sort(m.took)
	m.b.ReportMetric(float64(m.b.N)/time.Since(start).Seconds(), "events/s")
	m.b.ReportMetric(float64(m.took[len(m.took)/2].Microseconds())/1000, "ms-p50")
	m.b.ReportMetric(float64(m.took[len(m.took)*99/100].Microseconds())/1000, "ms-p99")
}

// produce makes b.N events happen, at a rate if it is not zero.
func (m *mill) produce(rate int) {
	const each = 20
	data := json.RawMessage(`{"email_id":"0193a1ef-0d5c-7c33-8e0a-2b7c1d9e4f00","subject":"` + strings.Repeat("x", 600) + `"}`)
	start := time.Now()
	for left, n := m.b.N, 0; left > 0; left -= each {
		if rate > 0 {
			<-time.After(time.Until(start.Add(time.Duration(n) * time.Second / time.Duration(rate))))
		}
		var ids []string
		err := m.db.Write(context.Background(), func(tx *db.Tx) error {
			ids = nil
			var events []event.Event
			for range min(each, left) {
				kind := "email.delivered"
				if n++; n%50 == 0 {
					kind = "email.bounced"
				}
				e := event.Event{ID: m.world.NewID(), Workspace: m.workspace, Type: kind, Subject: "0193a1ef-0d5c-7c33-8e0a-2b7c1d9e4f00", OccurredAt: tx.Now(), Data: data}
				events, ids = append(events, e), append(ids, e.ID)
			}
			return event.Append(tx, events...)
		})
		if err != nil {
			m.b.Fatal(err)
		}
		now := time.Now()
		m.mu.Lock()
		for _, id := range ids {
			m.committed[id] = now
		}
		m.mu.Unlock()
	}
}

package logs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"postrider/app"
	"postrider/platform/api"
	"postrider/platform/blob"
	"postrider/platform/db"
	"postrider/platform/db/dbtest"
	"postrider/platform/event"
	"postrider/platform/seal"
	"postrider/platform/space"
	"postrider/product/delivery"
	"postrider/product/domain"
	"postrider/product/plan"
	"postrider/world"
)

// BenchmarkRequest measures what a request costs whose entry goes to the tape, and what it costs without. The writer runs beside it as
// it does in production. Run it with -benchtime 5000x -count 5 and compare the lines.
func BenchmarkRequest(b *testing.B) {
	for _, engine := range []string{"sqlite", "postgres"} {
		for _, kind := range []string{"read", "send"} {
			for _, logging := range []string{"off", "on"} {
				b.Run(fmt.Sprintf("%s/%s/logging=%s", engine, kind, logging), func(b *testing.B) { newOffice(b, engine).run(kind, logging == "on") })
			}
		}
	}
}

// office is an installation whose requests are measured.
type office struct {
	b   *testing.B
	app *app.App
	key string
	// domain may send; off is the same API without an observer.
	domain string
	off    *api.Server
}

func newOffice(b *testing.B, engine string) *office {
	b.Helper()
	must := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	ctx := context.Background()
	w := world.New(slog.New(slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: slog.LevelError})))
	d, err := db.Open(ctx, w, db.Config{URL: dbtest.URL(b, engine)})
	must(err)
	b.Cleanup(func() { d.Close() })
	blobs, err := blob.NewFiles(b.TempDir(), w.Clock, w.Random)
	must(err)
	o := &office{b: b, app: app.Assemble(w, d, blobs, seal.NewKeyring([]byte("a master secret of a test, 32 characters")),
		app.Settings{ServiceDomain: "mail.postrider.test", BaseURL: "https://postrider.test", Delivery: delivery.Config{Node: w.NewID(), Hello: "mx1.mail.postrider.test"}})}
	made, err := o.app.CreateWorkspace(ctx, app.NewWorkspace{Name: "Bench", Plan: plan.Unlimited, OwnerEmail: "owner@bench.test", OwnerPassword: "correct horse battery"})
	must(err)
	o.key = made.APIKey
	registered, err := o.app.Domains.Register(ctx, space.ID(made.WorkspaceID), plan.Unlimited, domain.Registration{Domain: "acme.test"})
	must(err)
	o.domain = string(registered.ID)
	must(d.Write(ctx, func(tx *db.Tx) error { // there is no DNS here
		_, err := tx.Exec(`UPDATE domain SET verified = TRUE, status = 'verified' WHERE id = $1`, o.domain)
		return err
	}))
	o.off = api.NewServer(api.Config{World: w, Keys: o.app.Keys, Sessions: o.app.Accounts, Rates: o.app.Plans.RateOf, Info: app.Info}, o.app.Routes())
	return o
}

// request is one that reads a domain, or one that sends an email of usual size.
func (o *office) request(kind string) *http.Request {
	request := httptest.NewRequest(http.MethodGet, "/v1/domains/"+o.domain, nil)
	if kind == "send" {
		request = httptest.NewRequest(http.MethodPost, "/v1/emails", strings.NewReader(`{"from":"Acme <hello@acme.test>","to":["ann@example.net"],"subject":"Hello","html":"<p>`+
			strings.Repeat("Hello there. ", 200)+`</p>"}`))
		request.Header.Set("Content-Type", "application/json")
	}
	request.Header.Set("Authorization", "Bearer "+o.key)
	request.Header.Set("User-Agent", "resend-go/3.12.0")
	return request
}

func (o *office) run(kind string, logging bool) {
	server, done := o.off, make(chan struct{})
	if logging {
		server = o.app.API
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		writer := o.app.Logs.Writer()
		for tick := time.NewTicker(writer.Every); ; {
			select {
			case <-done:
				tick.Stop()
				return
			case <-tick.C:
			}
			for busy := true; busy; {
				var err error
				if busy, err = writer.Step(context.Background()); err != nil {
					o.b.Error(err)
				}
			}
		}
	}()
	before := processorTime(o.b)
	for o.b.Loop() {
		recorder := httptest.NewRecorder()
		server.ServeHTTP(recorder, o.request(kind))
		if recorder.Code >= 300 {
			o.b.Fatalf("answered with %d: %s", recorder.Code, recorder.Body)
		}
	}
	close(done)
	<-stopped
	if lost := o.app.Logs.Lost(); lost > 0 {
		o.b.Errorf("%d entries were lost", lost)
	}
	if err := o.app.Logs.Flush(context.Background()); err != nil {
		o.b.Fatal(err)
	}
	o.b.ReportMetric(float64(processorTime(o.b)-before)/float64(o.b.N), "cpu-ns/op")
}

// processorTime is what this process has used of all processors, the writer included.
func processorTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkNote measures what the request itself pays for its entry.
func BenchmarkNote(b *testing.B) {
	o := newOffice(b, "sqlite")
	caller := api.Caller{Principal: api.Principal{Workspace: "00000000-0000-7000-8000-000000000001", KeyID: "x"}}
	f := api.Finished{At: time.Unix(1_800_000_000, 0), Caller: caller, Method: "GET", Path: "/emails", Route: "/emails", Status: 200}
	for b.Loop() {
		o.app.Logs.Request(f)
	}
}

// BenchmarkWrite measures what writing down an entry costs beside the requests.
func BenchmarkWrite(b *testing.B) {
	for _, engine := range []string{"sqlite", "postgres"} {
		b.Run(engine, func(b *testing.B) {
			o := newOffice(b, engine)
			caller := api.Caller{Principal: api.Principal{Workspace: "00000000-0000-7000-8000-000000000001", KeyID: "00000000-0000-7000-8000-000000000002"}}
			for n := 0; b.Loop(); n++ {
				caller.RequestID = fmt.Sprintf("req_%032x", n*7919)
				o.app.Logs.Request(api.Finished{At: time.Now(), Caller: caller, Method: "GET", Path: "/emails", Route: "/emails", Status: 200})
				if n%500 == 499 {
					if err := o.app.Logs.Flush(context.Background()); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// BenchmarkFollower takes b.N events to the tape and reports how many a second. Run it with -benchtime 20000x.
func BenchmarkFollower(b *testing.B) {
	for _, engine := range []string{"sqlite", "postgres"} {
		b.Run(engine, func(b *testing.B) {
			o := newOffice(b, engine)
			const group = 1000
			for n := 0; n < b.N; n += group {
				events := o.events(n, min(group, b.N-n))
				if err := o.app.DB.Write(context.Background(), func(tx *db.Tx) error { return event.Append(tx, events...) }); err != nil {
					b.Fatal(err)
				}
			}
			follower := o.app.Logs.Followers()[0]
			b.ResetTimer()
			for busy := true; busy; {
				var err error
				if busy, err = follower.Step(context.Background(), o.app.DB); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

// events are those of mails one after another, four each.
func (o *office) events(from, count int) []event.Event {
	now := o.app.World.Clock.Now()
	events := make([]event.Event, count)
	for i := range events {
		n := from + i
		state := [...]string{"queued", "accepted", "sent", "delivered"}[n%4]
		data := fields{"created_at": now, "from": "Acme <hello@acme.com>", "to": []string{"ann@example.net"}, "subject": fmt.Sprintf("News of %d", n), "status": state,
			"tags": fields{"category": "news"}, "metadata": fields{}, "headers": []fields{}}
		if n%4 > 0 {
			data["previous_status"] = "queued"
		}
		raw, err := json.Marshal(data)
		if err != nil {
			o.b.Fatal(err)
		}
		events[i] = event.Event{ID: o.app.World.NewID(), Workspace: "00000000-0000-7000-8000-000000000001", Type: "email." + state,
			Subject: world.IDAt(now.Add(time.Duration(n/4)*time.Microsecond), strings.NewReader(fmt.Sprintf("%08d", n/4))), OccurredAt: now, Data: raw}
	}
	return events
}

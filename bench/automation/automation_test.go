// Package automation measures how many runs a second begin, and what a million runs that wait cost those who do not.
package automation

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"postrider/app"
	"postrider/platform/blob"
	"postrider/platform/db"
	"postrider/platform/db/dbtest"
	"postrider/platform/queue"
	"postrider/platform/seal"
	"postrider/product/delivery"
	"postrider/product/email"
	"postrider/product/plan"
	"postrider/world"
)

const (
	// startsBound is how many runs a second must begin, and be moved to where they wait, on the embedded database.
	startsBound = 1000
	callers     = 32
	people      = 5000
	loadFor     = 15 * time.Second

	waiting = 1_000_000
	// memoryBound is how much the heap may grow, in MB, by runs that wait; slowBound by how much mail may be slower.
	memoryBound = 200
	slowBound   = 0.10
	mails       = 1000
)

// BenchmarkRunStarts sends events from 32 callers for some seconds while the workers run, and reports how many runs a second began and came
// to their first wait.
func BenchmarkRunStarts(b *testing.B) {
	for _, engine := range []string{"sqlite", "postgres"} {
		b.Run(engine, func(b *testing.B) {
			for b.Loop() {
				a, key := assemble(b, engine)
				call(b, a, key, "/automations", `{"name":"x","status":"enabled","steps":[{"key":"start","type":"trigger","config":{"event_name":"go","re_entry":"always"}},
					{"key":"if","type":"condition","config":{"type":"rule","field":"event.n","operator":"gte","value":0}},{"key":"wait","type":"delay","config":{"duration":"1 day"}}],
					"connections":[{"from":"start","to":"if","type":"default"},{"from":"if","to":"wait","type":"condition_met"}]}`)
				ctx, stop := context.WithCancel(context.Background())
				var working, calling sync.WaitGroup
				working.Go(func() { keepWorking(ctx, a) })
				var began atomic.Int64
				start := time.Now()
				for c := range callers {
					calling.Go(func() {
						for n := c; time.Since(start) < loadFor; n += callers {
							call(b, a, key, "/events/send", fmt.Sprintf(`{"event":"go","email":"person%d@example.net","payload":{"n":%d}}`, n%people, n))
							began.Add(1)
						}
					})
				}
				calling.Wait()
				for waits(b, a) < began.Load() { // those that have not come to their wait yet count with the time they still need
					time.Sleep(10 * time.Millisecond)
				}
				rate := float64(began.Load()) / time.Since(start).Seconds()
				stop()
				working.Wait()
				b.ReportMetric(rate, "runs/s")
				b.Logf("%.0f runs begun and brought to their wait a second (bound %d)", rate, startsBound)
				if engine == "sqlite" && rate < startsBound {
					b.Error("below the bound")
				}
			}
		})
	}
}

// BenchmarkWaitingRuns delivers mail without and with a million runs that wait for a year. Others may be at work on the machine, so what is
// compared is the processor time that a mail takes; the best of some rounds by the clock is told beside it.
func BenchmarkWaitingRuns(b *testing.B) {
	for b.Loop() {
		a, key := assemble(b, "sqlite")
		ctx, stop := context.WithCancel(context.Background())
		var working sync.WaitGroup
		working.Go(func() { keepWorking(ctx, a) })
		before := deliver(b, a, key)
		free := heap()
		fill(b, a)
		after := deliver(b, a, key)
		grown := float64(heap()-free) / 1e6
		stop()
		working.Wait()
		slower := before.perSecond/after.perSecond - 1
		b.ReportMetric(after.perSecond, "mails/s")
		b.ReportMetric(grown, "heap-MB")
		b.Logf("%.0f mails/s without and %.0f with %d waiting runs: %+.1f %% slower (bound %.0f %%); %.2f and %.2f ms of processor time each; heap grew by %.1f MB (bound %d)",
			before.perSecond, after.perSecond, waiting, 100*slower, 100*slowBound, 1000*before.processor, 1000*after.processor, grown, memoryBound)
		if slower > slowBound || grown > memoryBound {
			b.Error("beyond the bound")
		}
	}
}

// speed is the best that some rounds of mail have shown.
type speed struct {
	perSecond float64
	processor float64 // seconds a mail
}

// rounds is how often mail is sent; the first of them only warm up.
const rounds, warmUp = 9, 5

func deliver(b *testing.B, a *app.App, key string) (best speed) {
	b.Helper()
	for round := range rounds {
		start, used := time.Now(), processor()
		deliverOnce(b, a, key)
		now := speed{mails / time.Since(start).Seconds(), (processor() - used).Seconds() / mails}
		if round < warmUp {
			continue
		}
		best.perSecond = max(best.perSecond, now.perSecond)
		if best.processor == 0 || now.processor < best.processor {
			best.processor = now.processor
		}
	}
	return best
}

// processor is how much processor time this process has used.
func processor() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// keepWorking does what the program's loops do for automations.
func keepWorking(ctx context.Context, a *app.App) {
	news, stop := a.DB.Subscribe("queue/automation")
	defer stop()
	for ctx.Err() == nil {
		if busy, err := a.Automations.Step(ctx); err == nil && busy {
			continue
		}
		select {
		case <-ctx.Done():
		case <-news:
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func waits(b *testing.B, a *app.App) (n int64) {
	b.Helper()
	err := a.DB.Read(context.Background(), func(tx *db.Tx) (err error) {
		n, err = db.One(tx, db.Value[int64], `SELECT COUNT(*) FROM automation_step WHERE status = 'waiting'`)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return n
}

// deliverOnce sends mail to the simulator and waits until all of it was delivered.
func deliverOnce(b *testing.B, a *app.App, key string) {
	b.Helper()
	var calling sync.WaitGroup
	for c := range callers {
		calling.Go(func() {
			for n := c; n < mails; n += callers {
				call(b, a, key, "/emails", fmt.Sprintf(`{"from":"a@acme.test","to":"delivered+%d@simulator.mail.postrider.test","subject":"x","text":"x"}`, n))
			}
		})
	}
	calling.Wait()
	for {
		busy, err := a.Delivery.Step(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		if busy {
			continue
		}
		if depth(b, a) == 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// depth is how much mail is in the queue, leased or not.
func depth(b *testing.B, a *app.App) (n int64) {
	b.Helper()
	err := a.DB.Read(context.Background(), func(tx *db.Tx) (err error) {
		n, err = queue.Depth(tx, email.Lane)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return n
}

// fill writes runs that wait for a year.
func fill(b *testing.B, a *app.App) {
	b.Helper()
	const batch = 20_000
	for from := 0; from < waiting; from += batch {
		err := a.DB.Write(context.Background(), func(tx *db.Tx) error {
			var runs, steps, items []any
			due := tx.Now().AddDate(1, 0, 0)
			for n := from; n < from+batch; n++ {
				id := fmt.Sprintf("00000000-0000-7000-8000-%012x", n)
				runs = append(runs, id, id, "00000000-0000-7000-8000-000000000001", 1, "running", false, false, `{"type":"event"}`, `{}`, 0, "wait", 1, 0, 1, due, tx.Now())
				steps = append(steps, id, 0, "start", "trigger", "completed", tx.Now(), id, 1, "wait", "delay", "waiting", tx.Now())
				items = append(items, id, "automation", 1, due, "")
			}
			if _, err := tx.InsertRows(`INSERT INTO automation_run (id, workspace_id, automation_id, version, status, test, simulated, cause, payload, depth, step, pass, tries, taken,
				resume_at, started_at)`, 16, runs, ``); err != nil {
				return err
			}
			if _, err := tx.InsertRows(`INSERT INTO automation_step (run_id, number, step_key, type, status, started_at)`, 6, steps, ``); err != nil {
				return err
			}
			_, err := tx.InsertRows(`INSERT INTO queue_item (id, lane, rank, due_at, payload)`, 5, items, ``)
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

func assemble(b *testing.B, engine string) (*app.App, string) {
	b.Helper()
	ctx := context.Background()
	w := world.New(slog.New(slog.NewTextHandler(io.Discard, nil)))
	d, err := db.Open(ctx, w, db.Config{URL: dbtest.URL(b, engine)})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { d.Close() })
	blobs, err := blob.NewFiles(b.TempDir(), w.Clock, w.Random)
	if err != nil {
		b.Fatal(err)
	}
	a := app.Assemble(w, d, blobs, seal.NewKeyring(bytes.Repeat([]byte("test"), 8)), app.Settings{ServiceDomain: "mail.postrider.test", BaseURL: "https://postrider.test",
		Delivery: delivery.Config{Node: "00000000-0000-7000-8000-00000000000a", Hello: "mx1.mail.postrider.test"}})
	made, err := a.CreateWorkspace(ctx, app.NewWorkspace{Name: "Acme", Plan: plan.Unlimited, OwnerEmail: "owner@owner.test", OwnerPassword: "correct horse battery"})
	if err != nil {
		b.Fatal(err)
	}
	call(b, a, made.APIKey, "/domains", `{"name":"acme.test"}`)
	err = d.Write(ctx, func(tx *db.Tx) error {
		_, err := tx.Exec(`UPDATE domain SET verified = TRUE, status = 'verified'`)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return a, made.APIKey
}

func call(b *testing.B, a *app.App, key, path, body string) {
	b.Helper()
	request := httptest.NewRequest("POST", "/v1"+path, strings.NewReader(body))
	request.Header.Set("Authorization", "Bearer "+key)
	request.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	a.API.ServeHTTP(answer, request)
	if answer.Code >= 300 {
		b.Errorf("POST %s: %d %s", path, answer.Code, answer.Body)
	}
}

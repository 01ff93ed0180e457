package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"postrider/app"
	"postrider/platform/blob"
	"postrider/platform/db"
	"postrider/platform/db/dbtest"
	"postrider/platform/seal"
	"postrider/product/delivery"
	"postrider/product/email"
	"postrider/product/plan"
	"postrider/world"
)

// size is how large the broadcast of the benchmark is.
var size = flag.Int("size", 100_000, "how many recipients the broadcast has")

const (
	// bound is how many recipients a second must be handed over on the embedded database. Writing them down alone has expandBound.
	bound = 2000
	// memoryBound is how much the heap may grow, in MB, whatever the number of recipients.
	memoryBound = 200
	listID      = "00000000-0000-7000-8000-0000000000c1"
)

// BenchmarkHandOver sends a broadcast to many people and reports how many a second were written down, and how many of those were handed
// to the mail queue: rendered, checked and stored as emails. Nothing is delivered.
func BenchmarkHandOver(b *testing.B) {
	for _, engine := range []string{"sqlite", "postgres"} {
		b.Run(engine, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				a, key := assemble(b, engine)
				id := send(b, a, key)
				runtime.GC()
				b.StartTimer()
				grown := workOff(b, a)
				expanded, handed := rates(b, a, id)
				check(b, a, id)
				b.ReportMetric(expanded, "expanded/s")
				b.ReportMetric(handed, "handed/s")
				b.ReportMetric(grown, "heap-MB")
				b.Logf("%d recipients: %.0f/s written down (bound %d), then %.0f/s handed over (bound %d), heap grew by %.0f MB (bound %d)", *size, expanded, expandBound, handed, bound, grown, memoryBound)
				if engine == "sqlite" && (expanded < expandBound || handed < bound) || grown > memoryBound {
					b.Errorf("beyond the bound")
				}
			}
		})
	}
}

// workOff lets the worker of broadcasts do all there is, and returns by how many MB the heap grew.
func workOff(b *testing.B, a *app.App) float64 {
	b.Helper()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	before, peak, cpu := memory.HeapAlloc, memory.HeapAlloc, cpuSeconds(b)
	busy := true
	for step := 0; busy; step++ {
		var err error
		if busy, err = a.Broadcasts.Step(context.Background()); err != nil {
			b.Fatal(err)
		}
		if step%stepsOfRoom == 0 {
			makeRoom(b, a)
		}
		runtime.ReadMemStats(&memory)
		peak = max(peak, memory.HeapAlloc)
	}
	b.ReportMetric(float64(*size)/(cpuSeconds(b)-cpu), "recipients/cpu-s")
	return float64(peak-before) / 1e6
}

// stepsOfRoom is after how many steps there is room for more mail in the queue.
const stepsOfRoom = 20

// makeRoom has the mail that waits leave the queue, as if it were sent: a broadcast rests while much waits.
func makeRoom(b *testing.B, a *app.App) {
	b.Helper()
	err := a.DB.Write(context.Background(), func(tx *db.Tx) error {
		_, err := tx.Exec(`DELETE FROM queue_item WHERE lane = $1`, email.Lane)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
}

// rates tells how many recipients a second were written down, and handed over after that.
func rates(b *testing.B, a *app.App, id string) (expanded, handed float64) {
	b.Helper()
	err := a.DB.Read(context.Background(), func(tx *db.Tx) error {
		_, err := db.One(tx, func(s db.Scanner) (none struct{}, err error) {
			var started, done, over time.Time
			err = s.Scan(db.Time(&started), db.Time(&done), db.Time(&over))
			expanded, handed = float64(*size)/done.Sub(started).Seconds(), float64(*size)/over.Sub(done).Seconds()
			return none, err
		}, `SELECT started_at, expanded_at, handed_at FROM broadcast WHERE id = $1`, id)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return expanded, handed
}

// cpuSeconds is the processor time this process has used: what a busy machine does not change.
func cpuSeconds(b *testing.B) float64 {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
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
	call(b, a, made.APIKey, "POST", "/domains", `{"name":"acme.test"}`)
	call(b, a, made.APIKey, "POST", "/contact-properties", `{"key":"plan","type":"string","fallback_value":"free"}`)
	if err := fill(ctx, d, made.WorkspaceID); err != nil {
		b.Fatal(err)
	}
	return a, made.APIKey
}

// fillPage is how many contacts one transaction makes.
const fillPage = 20_000

// fill puts everybody on one list.
func fill(ctx context.Context, d *db.DB, workspace string) error {
	if err := d.Write(ctx, func(tx *db.Tx) error {
		if _, err := tx.Exec(`UPDATE domain SET verified = TRUE, status = 'verified'`); err != nil {
			return err
		}
		_, err := tx.Exec(`
			INSERT INTO audience_list (id, workspace_id, name, name_folded, double_opt_in, confirmation, subscribed_count, created_at, updated_at)
			VALUES ($1, $2, 'All', 'all', FALSE, '{}', $3, $4, $4)`, listID, workspace, *size, tx.Now())
		return err
	}); err != nil {
		return err
	}
	for from := 0; from < *size; from += fillPage {
		if err := d.Write(ctx, func(tx *db.Tx) error { return insertContacts(tx, workspace, from, min(from+fillPage, *size)) }); err != nil {
			return err
		}
	}
	return d.Write(ctx, func(tx *db.Tx) error {
		_, err := tx.Exec(`
			INSERT INTO list_contact (list, contact, status)
			SELECT (SELECT number FROM audience_list WHERE id = $1), number, 'subscribed' FROM contact`, listID)
		return err
	})
}

func insertContacts(tx *db.Tx, workspace string, from, to int) error {
	var values []any
	for n := from; n < to; n++ {
		values = append(values, fmt.Sprintf("00000000-0000-7000-8000-%012x", n+1<<24), workspace, fmt.Sprintf("person%d@example.net", n), "example.net", "Ann", "ann", "subscribed", false, 1, tx.Now(), tx.Now())
	}
	_, err := tx.InsertRows(`
		INSERT INTO contact (id, workspace_id, address, host, first_name, first_folded, status, unsubscribed, subscribed_lists, created_at, updated_at)`, 11, values, ``)
	return err
}

func call(b *testing.B, a *app.App, key, method, path, body string) string {
	b.Helper()
	request := httptest.NewRequest(method, "/v1"+path, strings.NewReader(body))
	request.Header.Set("Authorization", "Bearer "+key)
	request.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	a.API.ServeHTTP(answer, request)
	if answer.Code >= 300 {
		b.Fatalf("%s %s: %d %s", method, path, answer.Code, answer.Body)
	}
	_, rest, _ := strings.Cut(answer.Body.String(), `"id":"`)
	id, _, _ := strings.Cut(rest, `"`)
	return id
}

// send starts a broadcast with a page of the usual size.
func send(b *testing.B, a *app.App, key string) string {
	b.Helper()
	page := "<h1>Hi {{{FIRST_NAME|there}}}</h1>" + strings.Repeat("<p>News for {{contact.plan}}, and more of it.</p>", 100)
	return call(b, a, key, "POST", "/broadcasts", fmt.Sprintf(`{"audience_id":%q,"from":"news@acme.test","subject":"Hi {{{FIRST_NAME|there}}}","html":%q,"send":true}`, listID, page))
}

func check(b *testing.B, a *app.App, id string) {
	b.Helper()
	err := a.DB.Read(context.Background(), func(tx *db.Tx) error {
		n, err := db.One(tx, db.Value[int64], `SELECT COUNT(*) FROM email WHERE broadcast_id = $1`, id)
		if err == nil && n != int64(*size) {
			err = fmt.Errorf("%d emails of %d", n, *size)
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
}

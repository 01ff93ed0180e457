// Package lookup measures reading in a workspace that has a great many things: 100,000 domains and 100,000 managed customers.
package lookup

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"postrider/app"
	"postrider/platform/blob"
	"postrider/platform/db"
	"postrider/platform/db/dbtest"
	"postrider/platform/seal"
	"postrider/product/delivery"
	"postrider/product/plan"
	"postrider/world"
)

const things = 100_000

// BenchmarkLookups reports the median and the 99th percentile of each request, in milliseconds.
func BenchmarkLookups(b *testing.B) {
	for _, engine := range []string{"sqlite", "postgres"} {
		b.Run(engine, func(b *testing.B) {
			h := fill(b, engine)
			for name, path := range map[string]string{
				"domains":          "/domains?limit=50",
				"domains-search":   "/domains?limit=50&search=shop77777",
				"domain":           "/domains/" + id(1, things/2),
				"customers":        "/managed-tenants?limit=50",
				"customer":         "/managed-tenants/" + id(2, things/2),
				"by-external-id":   "/managed-tenants/by-external-id/" + fmt.Sprintf("shop_%d", things/2),
				"domain-not-found": "/domains/" + id(3, 1),
			} {
				b.Run(name, func(b *testing.B) { h.measure(b, path) })
			}
		})
	}
}

func id(kind, n int) string { return fmt.Sprintf("%08x-0000-7000-8000-%012x", kind, n) }

type house struct {
	app       *app.App
	key       string
	workspace string
}

func fill(b *testing.B, engine string) house {
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
	a := app.Assemble(w, d, blobs, seal.NewKeyring(bytes.Repeat([]byte("test"), 8)), app.Settings{ServiceDomain: "mail.test", Delivery: delivery.Config{Node: "00000000-0000-7000-8000-00000000000a"}})
	created, err := a.CreateWorkspace(ctx, app.NewWorkspace{Name: "Bench", Plan: plan.Unlimited, OwnerEmail: "owner@bench.test", OwnerPassword: "correct horse battery"})
	if err != nil {
		b.Fatal(err)
	}
	const batch = 1000
	for start := 0; start < things; start += batch {
		err := d.Write(ctx, func(tx *db.Tx) error { return insert(tx, created.WorkspaceID, start, start+batch) })
		if err != nil {
			b.Fatal(err)
		}
	}
	err = d.Write(ctx, func(tx *db.Tx) error {
		if _, err := tx.Exec(`INSERT INTO domain_total (workspace_id, domains) VALUES ($1, $2)`, created.WorkspaceID, things); err != nil {
			return err
		}
		_, err := tx.Exec(`INSERT INTO tenant_total (workspace_id, tenants) VALUES ($1, $2)`, created.WorkspaceID, things)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return house{app: a, key: created.APIKey, workspace: created.WorkspaceID}
}

func insert(tx *db.Tx, workspace string, from, to int) error {
	now := tx.Now()
	var domains, tenants []any
	for n := from; n < to; n++ {
		at := now.Add(time.Duration(n) * time.Millisecond)
		domains = append(domains, id(1, n), workspace, fmt.Sprintf("shop%d.test", n), "default", "inherit", true, "verified", true, false, false, false, false, "track", "bounce",
			true, "opportunistic", "none", "s1", `{}`, at, at, at)
		name := fmt.Sprintf("shop_%d", n)
		tenants = append(tenants, id(2, n), workspace, name, "Shop", "shop "+name, "active", "inherit", "{}", at, at)
	}
	if _, err := tx.InsertRows(`
		INSERT INTO domain (id, workspace_id, name, region, provider, verified, status, sending, receiving, receiving_requested,
			open_tracking, click_tracking, tracking_label, return_label, return_verified, tls, dmarc_policy, signing, checks, created_at,
			updated_at, next_check_at)`, 22, domains, ``); err != nil {
		return err
	}
	_, err := tx.InsertRows(`
		INSERT INTO tenant (id, workspace_id, external_id, name, search, status, provider, metadata, created_at, updated_at)`, 10, tenants, ``)
	return err
}

func (h house) measure(b *testing.B, path string) {
	var took []time.Duration
	for b.Loop() {
		request := httptest.NewRequest(http.MethodGet, "/v1"+path, nil)
		request.Header.Set("Authorization", "Bearer "+h.key)
		recorder := httptest.NewRecorder()
		start := time.Now()
		h.app.API.ServeHTTP(recorder, request)
		took = append(took, time.Since(start))
		if recorder.Code/100 == 5 {
			b.Fatalf("%d %s", recorder.Code, recorder.Body)
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}

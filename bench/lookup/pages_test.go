package lookup

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"postrider/product/account"
)

// BenchmarkPages opens pages of the dashboard in a workspace with many emails, domains and customers, and reports the median and the
// 95th percentile of what the server takes for each, in milliseconds.
func BenchmarkPages(b *testing.B) {
	for _, engine := range []string{"sqlite", "postgres"} {
		b.Run(engine, func(b *testing.B) {
			h := fill(b, engine)
			mail(b, h, *emails)
			settle(b, h, engine)
			for name, path := range map[string]string{
				"overview":      "",
				"emails":        "/emails",
				"emails-search": fmt.Sprintf("/emails?q=user%d", *emails/2),
				"emails-status": "/emails?status=bounced",
				"email-new":     "/emails/new",
				"spam-check":    "/emails/check",
				"person":        fmt.Sprintf("/people/user%d@example.net", *emails/2),
				"domains":       "/domains",
				"customers":     "/customers",
				"statistics":    "/stats",
				"logs":          "/logs",
				"templates":     "/templates",
				"audience":      "/audience",
				"broadcasts":    "/broadcasts",
				"automations":   "/automations",
				"settings":      "/settings/plan",
			} {
				b.Run(name, func(b *testing.B) { h.open(b, "/w/"+h.workspace+path) })
			}
		})
	}
}

// sessionPages is how many pages one session opens here: nobody clicks as fast as a benchmark, and sessions have a rate.
const sessionPages = 20

func (h house) open(b *testing.B, path string) {
	var (
		took   []time.Duration
		cookie *http.Cookie
	)
	for b.Loop() {
		if len(took)%sessionPages == 0 {
			var err error
			if cookie, err = h.app.Accounts.Enter(context.Background(), "owner@bench.test", account.Visitor{}); err != nil {
				b.Fatal(err)
			}
		}
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.AddCookie(cookie)
		answer := httptest.NewRecorder()
		start := time.Now()
		h.app.Handler().ServeHTTP(answer, r)
		took = append(took, time.Since(start))
		if answer.Code != http.StatusOK {
			b.Fatalf("%s: %d %.300s", path, answer.Code, answer.Body)
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
	b.ReportMetric(0, "ns/op") // says nothing here
}

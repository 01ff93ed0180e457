package app_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/product/plan"
)

// statement is what the program has asked a database.
type statement struct {
	query string
	args  []any
}

// heard keeps the first of each statement that the program runs.
type heard struct {
	mu  sync.Mutex
	all map[string]statement // guarded by mu
}

func (h *heard) hear(query string, args []any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	query = strings.TrimSpace(query)
	if _, known := h.all[query]; !known {
		h.all[query] = statement{query, args}
	}
}

// Nothing that is done for every message, or asked for by people all the time, reads a large table through, or sorts one: not what an
// API request does, not the workers and followers, not retention. The statements are those that the program runs, on tables that are full.
func TestNoHotPathReadsALargeTableThrough(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			in := apptest.New(t, engine)
			h := &hot{Installation: in, t: t, heard: heard{all: map[string]statement{}}}
			h.open()
			h.live()
			fill(t, in, engine)
			stop := in.App.DB.Watch(h.heard.hear)
			h.live()
			h.look()
			stop()
			queries := make([]string, 0, len(h.heard.all))
			for query := range h.heard.all {
				queries = append(queries, query)
			}
			slices.Sort(queries)
			for _, query := range queries {
				if complaints, plan := judge(t, in, engine, h.heard.all[query]); len(complaints) > 0 {
					t.Errorf("%s\n%s\n%v\n%s", strings.Join(complaints, "; "), query, h.heard.all[query].args, plan)
				}
			}
			t.Logf("%d statements", len(queries))
			for _, table := range []string{"queue_item", "event", "email_recipient", "webhook_delivery", "log_entry", "api_idempotency", "suppression", "apikey_key", "contact", "broadcast_recipient"} {
				if !slices.ContainsFunc(queries, func(query string) bool {
					return strings.Contains(query, "FROM "+table) || strings.Contains(query, "UPDATE "+table)
				}) {
					t.Errorf("nothing was asked of %s: the walk has lost its way", table)
				}
			}
		})
	}
}

// hot is an installation whose hot paths are walked.
type hot struct {
	*apptest.Installation
	t     *testing.T
	heard heard
	key   string
	sent  int
	last  string
	list  string

	mx, submission string
}

// open makes a customer whose plan forgets, with a webhook that answers.
func (h *hot) open() {
	h.t.Helper()
	h.Workspace, h.key = h.NewWorkspace(plan.Free)
	domain := h.VerifiedDomain(h.Workspace, "hot.test")
	h.mx, h.submission = h.MX(), h.Submission(false)
	h.call(http.StatusOK, http.MethodPost, "/domains/"+domain+"/receiving", map[string]any{"enabled": true}, "")
	customer := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	h.t.Cleanup(customer.Close)
	h.call(http.StatusCreated, http.MethodPost, "/webhooks", map[string]any{"url": customer.URL, "events": []string{"email.delivered"}}, "")
	if answer := h.Browse(http.MethodGet, "/v1/emails", nil); answer.Status != http.StatusOK {
		h.t.Fatalf("the owner's browser: %d %s", answer.Status, answer.Raw)
	}
	h.call(http.StatusCreated, http.MethodPost, "/suppressions", map[string]any{"email": "nobody@example.net"}, "")
	h.list = h.call(http.StatusCreated, http.MethodPost, "/audience/lists", map[string]any{"name": "Readers"}, "").Text("id")
	h.call(http.StatusCreated, http.MethodPost, "/contacts", map[string]any{"email": "reader@example.net", "list_ids": []string{h.list}}, "")
}

func (h *hot) call(status int, method, path string, body any, key string) apptest.Answer {
	h.t.Helper()
	header := map[string]string{}
	if key != "" {
		header["Idempotency-Key"] = key
	}
	answer := h.CallAs(h.key, method, path, body, header)
	if answer.Status != status {
		h.t.Fatalf("%s %s: %d %s", method, path, answer.Status, answer.Raw)
	}
	return answer
}

// live sends, delivers, follows, posts and sweeps.
func (h *hot) live() {
	h.t.Helper()
	ctx := context.Background()
	message := func() map[string]any {
		h.sent++
		return map[string]any{"from": "hello@hot.test", "to": fmt.Sprintf("user%d@example.net", h.sent), "subject": "Order", "text": "Thanks"}
	}
	h.last = h.call(http.StatusAccepted, http.MethodPost, "/emails", message(), fmt.Sprintf("only-once-%d", h.sent)).Text("id")
	for _, to := range []string{"bounce@example.net", "defer@example.net", "nobody@example.net"} {
		email := message()
		email["to"] = to
		h.call(http.StatusAccepted, http.MethodPost, "/emails", email, "")
	}
	h.call(http.StatusAccepted, http.MethodPost, "/emails/batch", []any{message(), message()}, "")
	h.Deliver()
	later := message()
	later["scheduled_at"] = h.Clock.Now().Add(time.Hour).Format(time.RFC3339)
	h.call(http.StatusAccepted, http.MethodPost, "/emails", later, "")
	h.call(http.StatusAccepted, http.MethodPost, "/broadcasts", map[string]any{"name": "News", "audience_id": h.list, "from": "news@hot.test", "subject": "News", "html": "<p>Hi</p>", "send": true}, "")
	h.Finish(h.App.Broadcasts.Step)
	h.Deliver()
	h.doors()
	workers := append(h.App.Workers(), h.App.Logs.Writer())
	for range 6 {
		for _, w := range workers {
			if _, err := w.Step(ctx); err != nil {
				h.t.Fatalf("%s: %v", w.Name, err)
			}
			if w.Next != nil {
				if _, _, err := w.Next(ctx); err != nil {
					h.t.Fatalf("%s: %v", w.Name, err)
				}
			}
		}
	}
}

// look asks for what people look at.
func (h *hot) look() {
	h.t.Helper()
	for _, path := range []string{
		"/emails?limit=50", "/emails?limit=50&search=user77", "/emails?search=user7", "/emails?status=bounced", "/emails?status=delivered", "/emails?to=user77@example.net", "/emails?to=user77@example.net,user7", "/emails?domain=acme.test,other.test",
		"/emails?since=" + h.Clock.Now().Add(-time.Hour).Format(time.RFC3339), "/emails/" + h.last, "/emails/" + h.last + "/events", "/emails/" + h.last + "/attempts",
		"/suppressions?limit=50", "/suppressions/nobody@example.net", "/suppressions?search=person77", "/api-keys", "/domains", "/webhooks", "/webhook-deliveries",
		"/logs?limit=50", "/logs?search=user77", "/logs?kind=api_request", "/logs?level=error", "/logs?status=5xx", "/logs?kind=domain,auth", "/logs?email_id=" + h.last, "/stats/overview", "/limits",
		"/emails/receiving?limit=50", "/emails/receiving?search=question",
	} {
		answer := h.Browse(http.MethodGet, "/v1"+path, nil)
		if answer.Status != http.StatusOK {
			h.t.Errorf("%s: %d %.200s", path, answer.Status, answer.Raw)
		}
	}
}

package webhook_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"postrider/app"
	"postrider/app/apptest"
	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/platform/space"
)

// fields are parts of a request or an answer, by their name on the wire.
type fields = map[string]any

// house is an installation whose webhooks are worked on when a test says so.
type house struct {
	*apptest.Installation
	t *testing.T
}

// each runs test in an installation on every engine at hand.
func each(t *testing.T, test func(t *testing.T, h house), options ...func(*app.Settings)) {
	t.Helper()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			test(t, house{apptest.New(t, engine, options...), t})
		})
	}
}

// inTheBackground lets posts run beside the steps, as they do in production.
func inTheBackground(s *app.Settings) { s.Delivery.Inline = false }

// must makes a request with the installation's key whose status is certain.
func (h house) must(status int, method, path string, body any) apptest.Answer {
	h.t.Helper()
	return h.check(status, method, path, h.Call(method, path, body))
}

// browse makes a request as the signed-in owner whose status is certain.
func (h house) browse(status int, method, path string, body any) apptest.Answer {
	h.t.Helper()
	return h.check(status, method, path, h.Browse(method, "/v1"+path, body))
}

func (h house) check(status int, method, path string, answer apptest.Answer) apptest.Answer {
	h.t.Helper()
	if answer.Status != status {
		h.t.Fatalf("%s %s: %d, want %d: %s", method, path, answer.Status, status, answer.Raw)
	}
	return answer
}

// webhook registers an endpoint and returns its id and secret.
func (h house) webhook(url string, events []string, more ...fields) (id, secret string) {
	h.t.Helper()
	body := fields{"url": url, "events": events}
	for _, extra := range more {
		for name, value := range extra {
			body[name] = value
		}
	}
	made := h.must(201, "POST", "/webhooks", body)
	return made.Text("id"), made.Text("secret")
}

// happen records events of a type in the workspace.
func (h house) happen(kind string, count int, more ...func(*event.Event)) []string {
	h.t.Helper()
	var ids []string
	err := h.App.DB.Write(context.Background(), func(tx *db.Tx) error {
		ids = nil
		for range count {
			e := event.Event{ID: h.App.World.NewID(), Workspace: h.Workspace, Type: kind, Subject: h.DomainID, OccurredAt: tx.Now(),
				Data: json.RawMessage(`{"email_id":"0193a1ef-0d5c-7c33-8e0a-2b7c1d9e4f00"}`)}
			for _, change := range more {
				change(&e)
			}
			ids = append(ids, e.ID)
			if err := event.Append(tx, e); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return ids
}

// follow turns what happened into deliveries.
func (h house) follow() {
	h.t.Helper()
	h.CatchUp(h.App.Webhooks.Followers())
}

// work follows what happened and lets everything that is due be posted and settled.
func (h house) work() {
	h.t.Helper()
	h.follow()
	h.Finish(h.App.Webhooks.Step)
}

// deliveries returns the deliveries a query finds, newest first.
func (h house) deliveries(query string) []fields {
	h.t.Helper()
	list, _ := h.must(200, "GET", "/webhook-deliveries"+query, nil).Body["data"].([]any)
	found := make([]fields, len(list))
	for i, one := range list {
		found[i], _ = one.(fields)
	}
	return found
}

// statuses counts the deliveries of the workspace by status.
func (h house) statuses() string {
	h.t.Helper()
	counts := map[string]int{}
	for _, d := range h.deliveries("?limit=200") {
		counts[fmt.Sprint(d["status"])]++
	}
	return strings.TrimPrefix(fmt.Sprint(counts), "map")
}

// request is what an endpoint was sent.
type request struct {
	http.Header
	body string
}

func (r request) payload(t *testing.T) (content fields) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.body), &content); err != nil {
		t.Fatalf("%q: %v", r.body, err)
	}
	return content
}

// receiver is a customer's server. It keeps what it is sent and answers as it is told.
type receiver struct {
	*httptest.Server
	mu       sync.Mutex
	received []request // guarded by mu
}

// newReceiver returns a server that answers with answer, or 200 if that is nil.
func newReceiver(t *testing.T, answer http.HandlerFunc) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, in *http.Request) {
		body, _ := io.ReadAll(in.Body)
		r.mu.Lock()
		r.received = append(r.received, request{in.Header.Clone(), string(body)})
		r.mu.Unlock()
		if answer != nil {
			answer(w, in)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

// status answers with one status.
func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func (r *receiver) requests() []request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]request(nil), r.received...)
}

// verify checks the signatures of a request as a receiver would, by the letter of Standard Webhooks and of our own header. It is
// written apart from the code that signs.
func verify(r request, secret string) error {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return err
	}
	id, stamp := r.Get("webhook-id"), r.Get("webhook-timestamp")
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", id, stamp, r.body)
	if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); !contains(strings.Split(r.Get("webhook-signature"), " "), want) {
		return fmt.Errorf("webhook-signature %q lacks %q", r.Get("webhook-signature"), want)
	}
	mac = hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s", stamp, r.body)
	parts := strings.Split(r.Get("X-Service-Signature"), ",")
	if want := "v1=" + hex.EncodeToString(mac.Sum(nil)); parts[0] != "t="+stamp || !contains(parts[1:], want) {
		return fmt.Errorf("X-Service-Signature %q lacks %q", parts, want)
	}
	return nil
}

func contains(list []string, text string) bool {
	for _, one := range list {
		if one == text {
			return true
		}
	}
	return false
}

// problem returns what a validation error says of a field.
func problem(answer apptest.Answer, field string) string {
	failure, _ := answer.Body["error"].(fields)
	details, _ := failure["details"].(fields)
	named, _ := details["fieldErrors"].(fields)
	list, _ := named[field].([]any)
	return strings.Trim(fmt.Sprint(list), "[]")
}

// of makes an event happen in a workspace.
func of(ws space.ID) func(*event.Event) { return func(e *event.Event) { e.Workspace = ws } }

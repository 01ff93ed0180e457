package automation_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"postrider/app"
	"postrider/app/apptest"
)

type fields = map[string]any

// house is an installation whose automations are worked on when a test says so.
type house struct {
	*apptest.Installation
	t *testing.T
}

func each(t *testing.T, test func(t *testing.T, h house), options ...func(*app.Settings)) {
	t.Helper()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			test(t, house{apptest.New(t, engine, options...), t})
		})
	}
}

// must makes a request whose status is certain.
func (h house) must(status int, method, path string, body any) apptest.Answer {
	h.t.Helper()
	answer := h.Call(method, path, body)
	if answer.Status != status {
		h.t.Fatalf("%s %s: %d, want %d: %s", method, path, answer.Status, status, answer.Raw)
	}
	return answer
}

// work lets everything happen that is due: what follows from events, and all runs.
func (h house) work() {
	h.t.Helper()
	for range 5 {
		h.CatchUp(h.App.Automations.Followers())
		for _, w := range h.App.Automations.Workers() {
			h.Finish(w.Step)
		}
	}
}

func step(key, kind string, config fields) fields {
	return fields{"key": key, "type": kind, "config": config}
}

func on(event string, more ...fields) fields {
	config := fields{"event_name": event, "re_entry": "always"}
	for _, extra := range more {
		for name, value := range extra {
			config[name] = value
		}
	}
	return step("start", "trigger", config)
}

// way is a connection written as "from to" or "from to type", or "from to branch name".
func way(text string) fields {
	parts := strings.Fields(text)
	c := fields{"from": parts[0], "to": parts[1], "type": "default"}
	if len(parts) > 2 {
		c["type"] = parts[2]
	}
	if len(parts) > 3 {
		c["branch"] = parts[3]
	}
	return c
}

// line connects steps one after the other.
func line(steps ...fields) fields {
	var connections []fields
	for i := range len(steps) - 1 {
		connections = append(connections, way(fmt.Sprintf("%s %s", steps[i]["key"], steps[i+1]["key"])))
	}
	return graph(steps, connections)
}

func graph(steps []fields, connections []fields) fields {
	if connections == nil {
		connections = []fields{}
	}
	return fields{"name": "Welcome", "steps": steps, "connections": connections}
}

// enabled makes an automation that runs, and returns its id.
func (h house) enabled(definition fields) string {
	h.t.Helper()
	definition["status"] = "enabled"
	return h.must(201, "POST", "/automations", definition).Text("id")
}

// send sends an event for an address and returns the ids of the runs it began.
func (h house) send(name, email string, payload fields) []string {
	h.t.Helper()
	body := fields{"event": name, "payload": payload}
	if email != "" {
		body["email"] = email
	}
	answer := h.must(202, "POST", "/events/send", body)
	return texts(answer.Body["runs"])
}

func texts(list any) []string {
	values, _ := list.([]any)
	out := make([]string, len(values))
	for i, value := range values {
		out[i] = fmt.Sprint(value)
	}
	return out
}

func (h house) run(automation, id string) apptest.Answer {
	h.t.Helper()
	return h.must(200, "GET", "/automations/"+automation+"/runs/"+id, nil)
}

// path tells which steps a run took, and how: "start:completed wait:waiting".
func path(run apptest.Answer) string {
	var out []string
	list, _ := run.Body["steps"].([]any)
	for _, one := range list {
		s, _ := one.(fields)
		out = append(out, fmt.Sprintf("%s:%s", s["key"], s["status"]))
	}
	return strings.Join(out, " ")
}

// output returns what a step of a run gave.
func output(run apptest.Answer, key string) fields {
	list, _ := run.Body["steps"].([]any)
	for _, one := range list {
		if s, _ := one.(fields); s["key"] == key {
			given, _ := s["output"].(fields)
			return given
		}
	}
	return nil
}

// problem returns what a validation error says of a field.
func problem(answer apptest.Answer, field string) string {
	failure, _ := answer.Body["error"].(fields)
	details, _ := failure["details"].(fields)
	named, _ := details["fieldErrors"].(fields)
	list, _ := named[field].([]any)
	return strings.Trim(fmt.Sprint(list), "[]")
}

// mails returns the subjects of all mails of the workspace, newest first.
func (h house) mails() []string {
	h.t.Helper()
	list, _ := h.must(200, "GET", "/emails?limit=200", nil).Body["data"].([]any)
	var subjects []string
	for _, one := range list {
		mail, _ := one.(fields)
		subjects = append(subjects, fmt.Sprint(mail["subject"]))
	}
	return subjects
}

type request struct {
	http.Header
	method, uri, body string
}

// receiver is a server that HTTP steps ask. It keeps what it is sent.
type receiver struct {
	*httptest.Server
	mu       sync.Mutex
	received []request // guarded by mu
}

func newReceiver(t *testing.T, answer http.HandlerFunc) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, in *http.Request) {
		body, _ := io.ReadAll(in.Body)
		r.mu.Lock()
		r.received = append(r.received, request{in.Header.Clone(), in.Method, in.URL.RequestURI(), string(body)})
		r.mu.Unlock()
		if answer != nil {
			answer(w, in)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) requests() []request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]request(nil), r.received...)
}

const aMinute = time.Minute + time.Second

var hello = step("hello", "send_email", fields{"from": "Acme <hello@acme.test>", "subject": "Hello {{contact.first_name|there}}", "text": "Your plan is {{event.plan}}. {{{UNSUBSCRIBE_URL}}}"})

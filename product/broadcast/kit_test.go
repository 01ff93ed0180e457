package broadcast_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"postrider/app/apptest"
	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/product/broadcast"
)

// fields are parts of a request or an answer, by their name on the wire.
type fields = map[string]any

const nobody = "00000000-0000-7000-8000-000000000000"

// house is an installation with an audience to write to.
type house struct {
	*apptest.Installation
	t *testing.T
}

// each runs test in an installation on every engine at hand.
func each(t *testing.T, test func(t *testing.T, h *house)) {
	t.Helper()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) { test(t, &house{in, t}) })
}

// must makes a request with the key of the installation whose status is certain.
func (h *house) must(status int, method, path string, body any) apptest.Answer {
	h.t.Helper()
	return h.mustAs(h.Key, status, method, path, body)
}

func (h *house) mustAs(key string, status int, method, path string, body any) apptest.Answer {
	h.t.Helper()
	answer := h.CallAs(key, method, path, body, nil)
	if answer.Status != status {
		h.t.Fatalf("%s %s: %d, want %d: %s", method, path, answer.Status, status, answer.Raw)
	}
	return answer
}

// askOf makes a request of another front door than that of the installation.
func (h *house) askOf(front http.Handler, method, path string, body any) apptest.Answer {
	h.t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		h.t.Fatal(err)
	}
	if body == nil {
		raw = nil
	}
	r := httptest.NewRequest(method, "/v1"+path, bytes.NewReader(raw))
	r.Header.Set("Authorization", "Bearer "+h.Key)
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	front.ServeHTTP(w, r)
	answer := apptest.Answer{Status: w.Code, Header: w.Header(), Raw: w.Body.Bytes()}
	if err := json.Unmarshal(answer.Raw, &answer.Body); err != nil {
		h.t.Fatalf("%s %s: %v", method, path, err)
	}
	return answer
}

// list makes a list of people and returns its id.
func (h *house) list(people ...string) string {
	h.t.Helper()
	id := h.must(201, "POST", "/audience/lists", fields{"name": h.App.World.NewID()}).Text("id")
	for _, address := range people {
		h.must(201, "POST", "/contacts", fields{"email": address, "list_ids": []string{id}})
	}
	return id
}

// crowd returns addresses of n people.
func crowd(n int) []string {
	people := make([]string, n)
	for i := range people {
		people[i] = fmt.Sprintf("person%03d@example.net", i)
	}
	return people
}

// news is a broadcast to a list that can be sent.
func news(list string, more fields) fields {
	body := fields{"name": "November news", "audience_id": list, "from": "Acme <news@acme.test>", "subject": "November",
		"html": `<p>Hi {{{FIRST_NAME|there}}}, see <a href="https://acme.test/start">this</a></p>`}
	maps.Copy(body, more)
	return body
}

// sent drafts and sends a broadcast and returns its id.
func (h *house) sent(list string, more fields) string {
	h.t.Helper()
	body := news(list, more)
	body["send"] = true
	return h.must(202, "POST", "/broadcasts", body).Text("id")
}

// step lets the worker of broadcasts do one step.
func (h *house) step() bool {
	h.t.Helper()
	busy, err := h.App.Broadcasts.Step(context.Background())
	if err != nil {
		h.t.Fatal(err)
	}
	return busy
}

// hand lets everything that is due be handed to the mail queue.
func (h *house) hand() {
	h.t.Helper()
	for h.step() {
	}
}

// follow lets every follower of events catch up.
func (h *house) follow() {
	h.t.Helper()
	h.CatchUp(h.App.Followers())
}

// finish hands everything over, delivers it and follows what happened.
func (h *house) finish() {
	h.t.Helper()
	h.hand()
	h.Deliver()
	h.follow()
}

func (h *house) get(id string) apptest.Answer {
	h.t.Helper()
	return h.must(200, "GET", "/broadcasts/"+id, nil)
}

// stats returns some counters of a broadcast.
func (h *house) stats(id string, names ...string) string {
	h.t.Helper()
	all := h.get(id).Body["stats"].(fields)
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = fmt.Sprintf("%s %v", name, all[name])
	}
	return strings.Join(texts, ", ")
}

// rows returns the rows of a list.
func (h *house) rows(path string) []fields {
	h.t.Helper()
	var all []fields
	for _, row := range h.must(200, "GET", path, nil).Body["data"].([]any) {
		all = append(all, row.(fields))
	}
	return all
}

// roster returns who is in which state, and why if there is a reason.
func (h *house) roster(id, query string) string {
	h.t.Helper()
	var all []string
	for _, row := range h.rows("/broadcasts/" + id + "/recipients?limit=500" + query) {
		local, _, _ := strings.Cut(row["email"].(string), "@")
		text := local + " " + row["status"].(string)
		if problem, ok := row["error"].(fields); ok {
			text += " (" + problem["reason"].(string) + ")"
		}
		all = append(all, text)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// told returns the types of the events about a broadcast.
func (h *house) told(id string) string {
	h.t.Helper()
	var kinds []string
	err := h.App.DB.Read(context.Background(), func(tx *db.Tx) error {
		events, err := event.OfSubject(tx, h.Workspace, id, "", 100, 0)
		for _, e := range events {
			kinds = append(kinds, e.Type)
		}
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return strings.Join(kinds, " ")
}

// problems returns the fields that a validation error complains of, each with what it says.
func problems(answer apptest.Answer) string {
	refused, _ := answer.Body["error"].(fields)
	details, _ := refused["details"].(fields)
	named, _ := details["fieldErrors"].(fields)
	var all []string
	for _, name := range slices.Sorted(maps.Keys(named)) {
		all = append(all, fmt.Sprintf("%s: %v", name, named[name].([]any)[0]))
	}
	return strings.Join(all, "; ")
}

// on returns the broadcasts of another process on the same database.
func (h *house) on(d *db.DB, node string) *broadcast.Service {
	a := h.App
	return broadcast.New(a.World, d, broadcast.Parts{Plans: a.Plans, Accounts: a.Accounts, Templates: a.Templates, Suppressions: a.Suppressions,
		Emails: a.Emails, Audience: a.Audience, Node: node})
}

// write changes the database behind the back of everybody.
func (h *house) write(text string, args ...any) {
	h.t.Helper()
	err := h.App.DB.Write(context.Background(), func(tx *db.Tx) error {
		_, err := tx.Exec(text, args...)
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
}

// used returns how many emails the workspace has used this month.
func (h *house) used() int64 {
	h.t.Helper()
	var n int64
	err := h.App.DB.Read(context.Background(), func(tx *db.Tx) error {
		usage, err := h.App.Plans.EmailsUsed(tx, h.Workspace)
		n = usage.Month
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return n
}

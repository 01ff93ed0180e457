package suppression_test

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"postrider/app/apptest"
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/platform/space"
	"postrider/product/suppression"
)

// fields are parts of a request or an answer, by their name on the wire.
type fields = map[string]any

const nobody = "00000000-0000-7000-8000-000000000000"

// house is an installation with a suppression list.
type house struct {
	*apptest.Installation
	t     *testing.T
	list  *suppression.Service
	front http.Handler
}

// each runs test in an installation on every engine at hand. Parts may be changed before the list is made.
func each(t *testing.T, test func(t *testing.T, h *house), changes ...func(*suppression.Parts)) {
	t.Helper()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) { test(t, newHouse(t, in, changes...)) })
}

func newHouse(t *testing.T, in *apptest.Installation, changes ...func(*suppression.Parts)) *house {
	t.Helper()
	parts := suppression.Parts{Keys: in.Keys, Accounts: in.App.Accounts, BaseURL: "https://postrider.test"}
	for _, change := range changes {
		change(&parts)
	}
	h := &house{Installation: in, t: t, list: suppression.New(in.App.World, in.App.DB, parts)}
	h.front = api.NewServer(api.Config{World: in.App.World, Keys: in.App.Keys, Sessions: in.App.Accounts, Rates: in.App.Plans.RateOf}, h.list.Routes())
	return h
}

// ask makes a request as it stands.
func (h *house) ask(method, path string, body []byte, header map[string]string) apptest.Answer {
	h.t.Helper()
	r := httptest.NewRequest(method, path, bytes.NewReader(body))
	for name, value := range header {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	h.front.ServeHTTP(w, r)
	answer := apptest.Answer{Status: w.Code, Header: w.Header(), Raw: w.Body.Bytes()}
	_ = json.Unmarshal(answer.Raw, &answer.Body) // pages have no object
	return answer
}

// as makes a request with a key.
func (h *house) as(key, method, path string, body any) apptest.Answer {
	h.t.Helper()
	header := map[string]string{"Authorization": "Bearer " + key}
	var raw []byte
	if body != nil {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			h.t.Fatal(err)
		}
		header["Content-Type"] = "application/json"
	}
	return h.ask(method, "/v1"+path, raw, header)
}

// must makes a request with the key of the installation whose status is certain.
func (h *house) must(status int, method, path string, body any) apptest.Answer {
	h.t.Helper()
	answer := h.as(h.Key, method, path, body)
	if answer.Status != status {
		h.t.Fatalf("%s %s: %d, want %d: %s", method, path, answer.Status, status, answer.Raw)
	}
	return answer
}

// suppress adds an address and returns its entry's id.
func (h *house) suppress(email string, more fields) string {
	h.t.Helper()
	body := fields{"email": email}
	maps.Copy(body, more)
	return h.must(201, "POST", "/suppressions", body).Text("id")
}

// problems returns the names of the fields that a validation error complains of.
func problems(answer apptest.Answer) string {
	refused, _ := answer.Body["error"].(fields)
	details, _ := refused["details"].(fields)
	named, _ := details["fieldErrors"].(fields)
	return strings.Join(slices.Sorted(maps.Keys(named)), " ")
}

// news returns the types of the events about an entry, without their common beginning.
func (h *house) news(id string) string {
	h.t.Helper()
	var types []string
	for _, e := range h.events(id) {
		types = append(types, strings.TrimPrefix(e.Type, "suppression."))
	}
	return strings.Join(types, " ")
}

func (h *house) events(id string) (events []event.Event) {
	h.t.Helper()
	h.read(func(tx *db.Tx) (err error) {
		events, err = event.OfSubject(tx, h.Workspace, id, "", 100, 0)
		return err
	})
	return events
}

func (h *house) read(fn func(*db.Tx) error) {
	h.t.Helper()
	if err := h.App.DB.Read(context.Background(), fn); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) write(fn func(*db.Tx) error) {
	h.t.Helper()
	if err := h.App.DB.Write(context.Background(), fn); err != nil {
		h.t.Fatal(err)
	}
}

// add puts entries on the list as the slices above do.
func (h *house) add(entries ...suppression.Entry) (added []suppression.Added) {
	h.t.Helper()
	h.write(func(tx *db.Tx) (err error) {
		added, err = h.list.AddMany(tx, entries)
		return err
	})
	return added
}

// stopped tells what stops each recipient: the reason, or - for nothing.
func (h *house) stopped(queries ...suppression.Query) string {
	h.t.Helper()
	var words []string
	h.read(func(tx *db.Tx) error {
		stops, err := h.list.Check(tx, queries)
		for _, stop := range stops {
			if stop == nil {
				words = append(words, "-")
			} else {
				words = append(words, string(stop.Reason))
			}
		}
		return err
	})
	return strings.Join(words, " ")
}

// sweep lets the workers do all their work.
func (h *house) sweep() {
	h.t.Helper()
	for _, worker := range h.list.Workers() {
		h.Finish(worker.Step)
	}
}

func ask(ws space.ID, email string, bulk bool) suppression.Query {
	return suppression.Query{Workspace: ws, Address: email, Bulk: bulk}
}

package template_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"

	"postrider/app/apptest"
	"postrider/platform/api"
	"postrider/product/template"
)

// fields are parts of a request or an answer, by their name on the wire.
type fields = map[string]any

const nobody = "00000000-0000-7000-8000-000000000000"

// house is an installation with templates.
type house struct {
	*apptest.Installation
	t         *testing.T
	templates *template.Service
	front     http.Handler
}

// each runs test in an installation on every engine at hand.
func each(t *testing.T, test func(t *testing.T, h *house)) {
	t.Helper()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) { test(t, newHouse(t, in, in.App.Stats.Template)) })
}

func newHouse(t *testing.T, in *apptest.Installation, statistics template.Statistics) *house {
	t.Helper()
	h := &house{Installation: in, t: t, templates: template.New(in.App.World, in.App.DB, in.App.Plans, in.App.Domains, statistics)}
	h.front = api.NewServer(api.Config{World: in.App.World, Keys: in.App.Keys, Sessions: in.App.Accounts, Rates: in.App.Plans.RateOf}, h.templates.Routes())
	return h
}

// as makes a request with a key.
func (h *house) as(key, method, path string, body any, header ...string) apptest.Answer {
	h.t.Helper()
	raw := []byte{}
	if text, ok := body.(string); ok {
		raw = []byte(text)
	} else if body != nil {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			h.t.Fatal(err)
		}
	}
	r := httptest.NewRequest(method, "/v1"+path, bytes.NewReader(raw))
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.front.ServeHTTP(w, r)
	answer := apptest.Answer{Status: w.Code, Header: w.Header(), Raw: w.Body.Bytes()}
	if err := json.Unmarshal(answer.Raw, &answer.Body); err != nil {
		h.t.Fatalf("%s %s: %v: %s", method, path, err, answer.Raw)
	}
	return answer
}

// must makes a request with the key of the installation whose status is certain.
func (h *house) must(status int, method, path string, body any, header ...string) apptest.Answer {
	h.t.Helper()
	answer := h.as(h.Key, method, path, body, header...)
	if answer.Status != status {
		h.t.Fatalf("%s %s: %d, want %d: %s", method, path, answer.Status, status, answer.Raw)
	}
	return answer
}

// create makes a template and returns its id.
func (h *house) create(more fields) string {
	h.t.Helper()
	body := fields{"name": "Welcome", "html": "<p>Hi</p>"}
	maps.Copy(body, more)
	return h.must(201, "POST", "/templates", body).Text("id")
}

// render makes a mail as the slices above do.
func (h *house) render(name string, which template.Select, values template.Values) (template.Rendered, error) {
	return h.templates.Render(context.Background(), h.Workspace, name, which, values)
}

// details returns what an error tells besides its code.
func details(answer apptest.Answer) string {
	refused, _ := answer.Body["error"].(fields)
	told, _ := refused["details"].(fields)
	raw, _ := json.Marshal(told)
	return string(raw)
}

func code(answer apptest.Answer) string {
	refused, _ := answer.Body["error"].(fields)
	return fmt.Sprint(refused["code"])
}

package audience_test

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"postrider/app/apptest"
	"postrider/platform/db"
	"postrider/platform/event"
)

// fields are parts of a request or an answer, by their name on the wire.
type fields = map[string]any

const nobody = "00000000-0000-7000-8000-000000000000"

// house is an installation with an audience.
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
	answer := h.Call(method, path, body)
	if answer.Status != status {
		h.t.Fatalf("%s %s: %d, want %d: %s", method, path, answer.Status, status, answer.Raw)
	}
	return answer
}

// contact adds a contact and returns its id.
func (h *house) contact(email string, more fields) string {
	h.t.Helper()
	body := fields{"email": email}
	maps.Copy(body, more)
	return h.must(201, "POST", "/contacts", body).Text("id")
}

// made makes a thing that has a name and returns its id.
func (h *house) made(path, name string, more fields) string {
	h.t.Helper()
	body := fields{"name": name}
	maps.Copy(body, more)
	return h.must(201, "POST", path, body).Text("id")
}

func (h *house) property(key, kind string) string {
	h.t.Helper()
	return h.must(201, "POST", "/contact-properties", fields{"key": key, "type": kind}).Text("id")
}

// follow lets every follower of events catch up.
func (h *house) follow() {
	h.t.Helper()
	h.CatchUp(h.App.Followers())
}

// work lets the workers of the audience do what is due.
func (h *house) work() {
	h.t.Helper()
	for _, w := range h.App.Audience.Workers() {
		h.Finish(w.Step)
	}
}

// news returns the types of the events about something, without what is before their first dot.
func (h *house) news(id string) string {
	h.t.Helper()
	var kinds []string
	err := h.App.DB.Read(context.Background(), func(tx *db.Tx) error {
		events, err := event.OfSubject(tx, h.Workspace, id, "", 100, 0)
		for _, e := range events {
			_, kind, _ := strings.Cut(e.Type, ".")
			kinds = append(kinds, kind)
		}
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return strings.Join(kinds, " ")
}

// upload posts a form with a file.
func (h *house) upload(path, filename string, content []byte, more map[string]string) apptest.Answer {
	h.t.Helper()
	return h.uploadTo(h.App.API, path, filename, content, more)
}

func (h *house) uploadTo(front http.Handler, path, filename string, content []byte, more map[string]string) apptest.Answer {
	h.t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	part, err := w.CreateFormFile("file", filename)
	if err != nil {
		h.t.Fatal(err)
	}
	part.Write(content)
	for name, value := range more {
		w.WriteField(name, value)
	}
	w.Close()
	return h.askAt(front, "POST", path, body.Bytes(), map[string]string{"Authorization": "Bearer " + h.Key, "Content-Type": w.FormDataContentType()})
}

// ask makes a request as it stands.
func (h *house) ask(method, path string, body []byte, header map[string]string) apptest.Answer {
	h.t.Helper()
	return h.askAt(h.App.API, method, path, body, header)
}

func (h *house) askAt(front http.Handler, method, path string, body []byte, header map[string]string) apptest.Answer {
	h.t.Helper()
	r := httptest.NewRequest(method, "/v1"+path, bytes.NewReader(body))
	for name, value := range header {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	front.ServeHTTP(w, r)
	answer := apptest.Answer{Status: w.Code, Header: w.Header(), Raw: w.Body.Bytes()}
	_ = json.Unmarshal(answer.Raw, &answer.Body) // pages and files have no object
	return answer
}

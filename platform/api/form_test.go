package api_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"postrider/platform/api"
	"postrider/platform/limit"
	"postrider/world"
)

// choice is an answer for people and for programs.
type choice struct {
	Chosen string `json:"chosen"`
	page   bool
}

func (c choice) Show() (string, []byte) {
	if !c.page {
		return "", nil
	}
	return "text/html; charset=utf-8", []byte("<p>" + c.Chosen)
}

// formServer has one route that takes forms and shows pages, and writes its log into diary.
func formServer(diary *bytes.Buffer) http.Handler {
	w := world.New(slog.New(slog.NewTextHandler(diary, nil)))
	return api.NewServer(api.Config{World: w, Keys: people{}, Sessions: people{}, Rates: func(string, api.Bucket) limit.Rate { return plenty }}, []api.Route{{
		Method: "POST", Path: "/choices/{token}", Access: api.Public, Bucket: api.BucketPublicToken, Form: true, Page: true, MaxBody: 2000, Summary: "Choose.",
		Handler: api.Handle(func(_ context.Context, _ api.Caller, r struct {
			Token  string `path:"token"`
			Accept string `header:"Accept"`
			Body   struct {
				Choice string `json:"the-choice" example:"all"`
			}
		}) (choice, error) {
			return choice{r.Body.Choice, r.Accept == "text/html"}, nil
		})}})
}

func post(h http.Handler, kind, body, accept string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", "/v1/choices/secret-token", strings.NewReader(body))
	r.Header.Set("Content-Type", kind)
	r.Header.Set("Accept", accept)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestAFormFillsTheBodyAsJSONDoes(t *testing.T) {
	t.Parallel()
	h := formServer(&bytes.Buffer{})
	const form, multipart = "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"
	part := func(name, value string) string {
		return "--x\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n"
	}
	for name, c := range map[string]struct {
		kind, body string
		status     int
		want       string
	}{
		"JSON":                  {"application/json", `{"the-choice":"a"}`, 200, `{"chosen":"a"}`},
		"form":                  {form, `the-choice=a%26b+c&other=1`, 200, `{"chosen":"a&b c"}`},
		"form with charset":     {form + "; charset=UTF-8", `the-choice=%C3%A4`, 200, `{"chosen":"ä"}`},
		"the last value counts": {form, `the-choice=a&the-choice=b`, 200, `{"chosen":"b"}`},
		"multipart":             {multipart, part("other", "1") + part("the-choice", "a") + "--x--", 200, `{"chosen":"a"}`},
		"no body":               {form, ``, 200, `{"chosen":""}`},
		"other charset":         {form + "; charset=latin1", `the-choice=a`, 415, `unsupported_media_type`},
		"other type":            {"text/plain", `the-choice=a`, 415, `unsupported_media_type`},
		"malformed form":        {form, `the-choice=%zz`, 400, `_body`},
		"broken multipart":      {multipart, part("the-choice", "a"), 400, `_body`},
		"without boundary":      {"multipart/form-data", part("the-choice", "a"), 400, `_body`},
		"too many fields":       {multipart, strings.Repeat("--x\r\n\r\n\r\n", 60) + "--x--", 400, `_body`},
		"too large":             {form, `the-choice=` + strings.Repeat("a", 2000), 413, `"max_bytes":2000`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := post(h, c.kind, c.body, ""); got.Code != c.status || !strings.Contains(got.Body.String(), c.want) {
				t.Errorf("%d %s, want %d with %s", got.Code, got.Body, c.status, c.want)
			}
		})
	}
}

func TestPeopleSeeAPageAndProgramsJSON(t *testing.T) {
	t.Parallel()
	var diary bytes.Buffer
	h := formServer(&diary)
	page, record := post(h, "application/json", `{"the-choice":"a"}`, "text/html"), post(h, "application/json", `{"the-choice":"a"}`, "")
	if page.Body.String() != "<p>a" || page.Header().Get("Content-Type") != "text/html; charset=utf-8" || page.Header().Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("page: %s %v", page.Body, page.Header())
	}
	if record.Header().Get("Content-Type") != "application/json; charset=utf-8" {
		t.Errorf("record: %s %v", record.Body, record.Header())
	}
	if log := diary.String(); strings.Contains(log, "secret-token") || !strings.Contains(log, "/v1/choices/{token}") {
		t.Errorf("the log tells the token: %s", log)
	}
	document := ask(h, request{path: "/v1/openapi.json"}).Body.String()
	for _, kind := range []string{`"application/x-www-form-urlencoded"`, `"text/html"`} {
		if !strings.Contains(document, kind) {
			t.Errorf("the document does not tell of %s", kind)
		}
	}
}

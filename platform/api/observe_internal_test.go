package api

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"postrider/platform/limit"
	"postrider/world"
)

type observedBody struct {
	observedBase
	Subject string `json:"subject"`
	Hidden  string `json:"-"`
	Plain   string
}

type observedBase struct {
	From string `json:"from"`
}

type readsItself struct{}

func (*readsItself) UnmarshalJSON([]byte) error { return nil }

func TestObserverIsToldOfEveryAnswer(t *testing.T) {
	t.Parallel()
	var seen []Finished
	answer := Handle(func(_ context.Context, _ Caller, r struct {
		ID   string `path:"id"`
		Body observedBody
	}) (map[string]string, error) {
		switch r.ID {
		case "broken":
			panic("broken")
		case "bad":
			return nil, Invalid("subject", "No.")
		}
		return map[string]string{"id": r.ID}, nil
	})
	s := NewServer(Config{World: world.New(slog.New(slog.DiscardHandler)), Observe: func(f Finished) { seen = append(seen, f) },
		Rates: func(string, Bucket) limit.Rate { return limit.Rate{Count: 100, Per: time.Second, Burst: 100} }},
		[]Route{{Method: http.MethodPost, Path: "/things/{id}", Access: Public, Handler: answer}, {Method: http.MethodGet, Path: "/things/{id}", Access: Public, Handler: answer}})
	ask := func(method, path, body string) {
		request := httptest.NewRequest(method, path, strings.NewReader(body))
		request.Header.Set("Content-Type", "application/json")
		s.ServeHTTP(httptest.NewRecorder(), request)
	}
	ask(http.MethodPost, "/v1/things/one", `{"subject":"x","subjekt":"y"}`)
	ask(http.MethodGet, "/v1/things/two", "")
	ask(http.MethodPost, "/v1/things/bad", `{}`)
	ask(http.MethodPost, "/v1/things/broken", `{}`)
	ask(http.MethodPost, "/v1/things/long", `{"subject":"`+strings.Repeat("x", maxObserved)+`"}`)
	ask(http.MethodDelete, "/v1/things/one", "")
	ask(http.MethodGet, "/v1/nothing", "")
	var statuses []int
	for _, f := range seen {
		statuses = append(statuses, f.Status)
	}
	if !slices.Equal(statuses, []int{200, 200, 400, 500, 200, 405, 404}) {
		t.Fatalf("told of %v", statuses)
	}
	first, read, bad, long := seen[0], seen[1], seen[2], seen[4]
	if first.Route != "/things/{id}" || first.Path != "/things/{id}" || first.Values["id"] != "one" || string(first.Answer) != `{"id":"one"}`+"\n" {
		t.Errorf("the first was %+v", first)
	}
	if known, ok := first.KnownFields(); !ok || !slices.Equal(known, []string{"from", "subject", "Plain"}) {
		t.Errorf("it reads %v, %v", known, ok)
	}
	if read.Answer != nil || !json.Valid(bad.Answer) {
		t.Errorf("what was read is %q, what was refused %q", read.Answer, bad.Answer)
	}
	if long.Body != nil || long.BodyBytes <= maxObserved {
		t.Errorf("a long body is handed over: %d of %d bytes", len(long.Body), long.BodyBytes)
	}
	if _, ok := seen[6].KnownFields(); ok || seen[6].Route != "" {
		t.Errorf("what is no route was %+v", seen[6])
	}
}

func TestTypeThatReadsItselfMayReadAnything(t *testing.T) {
	t.Parallel()
	route := Route{Method: http.MethodPost, Path: "/", Handler: Handle(func(context.Context, Caller, struct{ Body readsItself }) (None, error) { return None{}, nil })}
	var root router
	root.add(route)
	if _, ok := (Finished{endpoint: root.fixed["v1"].methods[http.MethodPost]}).KnownFields(); ok {
		t.Error("its fields are said to be known")
	}
}

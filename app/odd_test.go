package app_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/platform/api"
)

var oddAll = flag.Bool("odd", false, "ask everything that is odd, not a choice of it")

// oddShare is how much of it is asked otherwise: one question of so many.
const oddShare = 20

// left takes a value out, where odd values are put.
type left struct{}

// odd are values that no field is made for.
var odd = []any{left{}, nil, true, 0, -1, 1.5, 1e18, 99999999999999999.0, "", " ", "x", strings.Repeat("x", 300), strings.Repeat("é", 5000), "a\x00b", "\ufffe",
	"İstanbul ẞ", "💥\u202e", []any{}, []any{nil}, []any{"x", "x"}, map[string]any{}, map[string]any{"": ""}, map[string]any{"a": map[string]any{"b": []any{1}}},
	nobody, "2026-02-30T00:00:00Z", "9999-12-31T23:59:59Z", "0000-01-01T00:00:00Z", "in 99999999999 days", "{{", "{{{x}}}", "a@b", `"a b"@example.net`,
	"ü@exämple.net", "http://[::1", "-", "%", "1e400"}

// placesIn returns every place in a value, each as the names and numbers that lead to it.
func placesIn(value any, at ...any) (places [][]any) {
	if len(at) > 0 {
		places = append(places, slices.Clone(at))
	}
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			places = append(places, placesIn(v[name], append(at, name)...)...)
		}
	case []any:
		for i := range v {
			places = append(places, placesIn(v[i], append(at, i)...)...)
		}
	}
	return places
}

// with returns a copy of a value with another one at a place.
func with(value any, other any, at ...any) any {
	if len(at) == 0 {
		return other
	}
	switch v := value.(type) {
	case map[string]any:
		copied, name := maps.Clone(v), at[0].(string)
		if _, ok := other.(left); ok && len(at) == 1 {
			delete(copied, name)
		} else {
			copied[name] = with(v[name], other, at[1:]...)
		}
		return copied
	case []any:
		copied, i := slices.Clone(v), at[0].(int)
		copied[i] = with(v[i], other, at[1:]...)
		return copied
	}
	return value
}

var anyID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}`)

// said is what an answer says, but for ids.
func said(a apptest.Answer) string {
	return anyID.ReplaceAllString(fmt.Sprint(a.Status, " ", a.Text("error", "code"), " ", a.Problems()), "an id")
}

// question is what a route is asked in a scene, and how it is told of.
type question struct {
	route api.Route
	what  string
	body  func(*scene) any
}

// oddQueries ask a list for what is odd.
func oddQueries(route api.Route, names []string) (all []question) {
	for _, name := range names {
		for _, value := range odd[1:] {
			asked := route
			asked.Path += "?" + url.Values{name: {fmt.Sprint(value)}}.Encode()
			all = append(all, question{asked, fmt.Sprint(name, "=", value), func(*scene) any { return nil }})
		}
	}
	return all
}

// oddBodies are an example with one odd value in each.
func oddBodies(route api.Route, example any) (all []question) {
	for _, place := range placesIn(example) {
		for _, value := range odd {
			n := len(all)
			all = append(all, question{route, fmt.Sprint(place, "=", value), func(s *scene) any { return with(s.fill(example, route, n), value, place...) }})
		}
	}
	return all
}

// Examples with one value in them that is odd are asked of both engines. What one of them takes the other must take, and none may break.
func TestBothEnginesAnswerAlikeToWhatIsOdd(t *testing.T) {
	t.Parallel()
	scenes := []*scene{newScene(t, "sqlite"), newScene(t, "postgres")}
	examples, queries := examplesOf(t, scenes[0].in), queriesOf(t, scenes[0].in)
	var questions []question
	for _, route := range public(scenes[0].in) {
		if route.Method == http.MethodGet {
			questions = append(questions, oddQueries(route, queries[route.Path])...)
		}
		if example, ok := examples[route.Method+" "+route.Path]; ok {
			questions = append(questions, oddBodies(route, example)...)
		}
	}
	if !*oddAll {
		chance := rand.New(rand.NewPCG(1, 2))
		chance.Shuffle(len(questions), func(i, j int) { questions[i], questions[j] = questions[j], questions[i] })
		questions = questions[:len(questions)/oddShare]
	}
	for _, q := range questions {
		var answers []apptest.Answer
		for _, s := range scenes {
			s.in.Clock.Advance(2 * time.Second) // so that no rate is used up
			answers = append(answers, s.ask(q.route, q.body(s)))
		}
		if a, b := answers[0], answers[1]; a.Status >= 500 || said(a) != said(b) {
			t.Errorf("%s %s with %.200s:\n\t%s %.300s\n\t%s %.300s", q.route.Method, q.route.Path, q.what, said(a), a.Raw, said(b), b.Raw)
		}
	}
	t.Logf("%d asked", len(questions))
}

package app_test

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"postrider/app"
	"postrider/app/apptest"
	"postrider/platform/api"
)

// queriesOf returns the names of what each route may be asked with, by its path.
func queriesOf(t *testing.T, in *apptest.Installation) map[string][]string {
	t.Helper()
	var document struct {
		Paths map[string]map[string]struct {
			Parameters []struct{ In, Name string }
		}
	}
	if err := json.Unmarshal(api.Document(app.Info, in.App.API.Routes()), &document); err != nil {
		t.Fatal(err)
	}
	names := map[string][]string{}
	for path, operations := range document.Paths {
		for _, parameter := range operations["get"].Parameters {
			if parameter.In == "query" {
				names[strings.TrimPrefix(path, "/v1")] = append(names[strings.TrimPrefix(path, "/v1")], parameter.Name)
			}
		}
	}
	return names
}

// The databases have languages of their own, for statements, patterns and words; nothing that is asked for may be read as one.
func TestNoFilterBreaksAnyList(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		in.Send("ann@example.net")
		names := queriesOf(t, in)
		hostile := []string{"'", `"`, `\`, "%", "*", "(", "a:*", "a' OR '1'='1", "x');--", "NOT", "a NEAR b", "$1", "{in $1}", "\ue000", "\U00010d00", "a\x00b",
			"\xff", "-1", "1e400", strings.Repeat("界", 2000)}
		for _, route := range public(in) {
			if route.Method != http.MethodGet || route.Access != api.Keyed {
				continue
			}
			for _, name := range names[route.Path] {
				for _, value := range hostile {
					answer := in.Call(route.Method, at(route, nobody)+"?"+url.Values{name: {value}}.Encode(), nil)
					if answer.Status >= 500 {
						t.Errorf("%s?%s=%q: %d %s", route.Path, name, value, answer.Status, answer.Raw)
					}
				}
			}
		}
	})
}

// A value takes a hundred times the memory of the two bytes that it can be written with.
func TestNoRouteTakesVeryManyValues(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	for _, route := range public(in) {
		if route.Method == http.MethodGet || route.Method == http.MethodHead || route.Access != api.Keyed {
			continue
		}
		most := cmp.Or(route.MaxValues, api.DefaultMaxValues)
		for _, body := range []string{`{"attachments":[` + strings.Repeat(`{},`, most) + `{}]}`, `[` + strings.Repeat(`1,`, most) + `1]`} {
			answer := in.Call(route.Method, at(route, nobody), []byte(body))
			if answer.Status != 400 || !strings.Contains(string(answer.Raw), "values.") {
				t.Errorf("%s %s with %.20s: %d %.200s", route.Method, route.Path, body, answer.Status, answer.Raw)
			}
		}
	}
}

// A key in a page would be everybody's, so no page of another site may ask.
func TestNoPageOfAnotherSiteMayReadAnAnswer(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	for _, route := range public(in) {
		for _, method := range []string{route.Method, http.MethodOptions} {
			r := httptest.NewRequest(method, "/v1"+at(route, nobody), nil)
			r.Header.Set("Origin", "https://evil.test")
			r.Header.Set("Access-Control-Request-Method", route.Method)
			answer := httptest.NewRecorder()
			in.App.Handler().ServeHTTP(answer, r)
			for name := range answer.Header() {
				if strings.HasPrefix(name, "Access-Control-") {
					t.Errorf("%s %s: %s: %s", method, route.Path, name, answer.Header().Get(name))
				}
			}
		}
	}
}

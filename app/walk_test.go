package app_test

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"postrider/app"
	"postrider/app/apptest"
	"postrider/platform/api"
	"postrider/product/apikey"
	"postrider/product/plan"
)

var update = flag.Bool("update", false, "rewrite golden files")

const nobody = "00000000-0000-7000-8000-000000000000"

// at returns the path of a route with every parameter replaced.
func at(route api.Route, id string) string {
	parts := strings.Split(route.Path, "/")
	for i, part := range parts {
		if strings.HasPrefix(part, "{") {
			parts[i] = id
		}
	}
	return strings.Join(parts, "/")
}

// public returns the routes of the API but for the stream, which does not end; product/webhook tests it.
func public(in *apptest.Installation) []api.Route {
	return slices.DeleteFunc(slices.Clone(in.App.API.Routes()), func(r api.Route) bool { return r.Private || r.Path == "/events/stream" })
}

func newKey(t *testing.T, in *apptest.Installation, scopes ...api.Scope) string {
	t.Helper()
	_, token, err := in.App.Keys.Create(context.Background(), apikey.NewKey{Workspace: in.Workspace, Name: "test", Scopes: scopes})
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func body(method string) any {
	if method == http.MethodGet || method == http.MethodDelete {
		return nil
	}
	return map[string]any{}
}

func TestEveryRouteAsksWhoCalls(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	for _, route := range public(in) {
		if route.Access == api.Public {
			continue
		}
		answer := in.CallAs("", route.Method, at(route, nobody), body(route.Method), nil)
		if answer.Status != 401 || answer.Text("error", "code") != "missing_api_key" {
			t.Errorf("%s %s without a key: %d %s", route.Method, route.Path, answer.Status, answer.Raw)
		}
	}
}

func TestEveryScopeOpensItsRoutesAndNoOther(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	for _, scope := range api.Scopes {
		key := newKey(t, in, scope)
		for _, route := range public(in) {
			if route.Access != api.Keyed {
				continue
			}
			answer := in.CallAs(key, route.Method, at(route, nobody), body(route.Method), nil)
			refused := answer.Text("error", "code") == "insufficient_scope"
			enough := (route.Scope == "" || route.Scope == scope) && route.AndScope == "" || slices.Contains(route.OrScopes, scope)
			if refused == enough {
				t.Errorf("%s %s with only %s: %d %s", route.Method, route.Path, scope, answer.Status, answer.Raw)
			}
		}
	}
}

func TestSessionRoutesRefuseEveryKey(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	for _, route := range public(in) {
		if route.Access != api.SessionOnly {
			continue
		}
		answer := in.Call(route.Method, at(route, nobody), body(route.Method))
		if answer.Status != 403 || answer.Text("error", "code") != "dashboard_session_required" {
			t.Errorf("%s %s with a key: %d %s", route.Method, route.Path, answer.Status, answer.Raw)
		}
	}
}

func TestForeignAndMissingThingsAreOneAnswer(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		customer := in.Call(http.MethodPost, "/managed-tenants", map[string]any{"external_id": "shop_4711", "name": "Shop"})
		hook := in.Call(http.MethodPost, "/webhooks", map[string]any{"url": "https://app.example.com/", "events": []string{"*"}}).Text("id")
		things := map[string]string{"emails": in.Send("ann@example.net"), "domains": in.DomainID, "managed-tenants": customer.Text("id"), "webhooks": hook,
			"webhook-deliveries": in.Call(http.MethodPost, "/webhooks/"+hook+"/test", nil).Text("id"),
			"suppressions":       in.Call(http.MethodPost, "/suppressions", map[string]any{"email": "gone@example.net"}).Text("id"),
			"receiving":          in.Call(http.MethodPost, "/emails/receiving", map[string]any{"from": "a@example.net", "to": "b@acme.test", "text": "x"}).Text("id"),
			"forwarding":         in.Call(http.MethodPost, "/emails/receiving/forwarding", map[string]any{"address": "b@acme.test", "forward_to": "c@example.net"}).Text("id"),
			"contacts":           in.Call(http.MethodPost, "/contacts", map[string]any{"email": "contact@example.net"}).Text("id"),
			"audience":           in.Call(http.MethodPost, "/audience/lists", map[string]any{"name": "x"}).Text("id"),
			"segments":           in.Call(http.MethodPost, "/segments", map[string]any{"name": "x"}).Text("id"),
			"broadcasts":         in.Call(http.MethodPost, "/broadcasts", map[string]any{"name": "x"}).Text("id"),
			"automations":        in.Call(http.MethodPost, "/automations", map[string]any{"name": "x"}).Text("id"),
			"events":             in.Call(http.MethodPost, "/events", map[string]any{"name": "user.signed_up"}).Text("id"),
			"automation-credentials": in.Call(http.MethodPost, "/automation-credentials",
				map[string]any{"name": "x", "type": "bearer", "secret": "x", "allowed_hosts": []string{"x.example.com"}}).Text("id"),
			"topics":             in.Call(http.MethodPost, "/topics", map[string]any{"name": "x"}).Text("id"),
			"contact-properties": in.Call(http.MethodPost, "/contact-properties", map[string]any{"key": "x", "type": "string"}).Text("id"),
			"templates":          in.Call(http.MethodPost, "/templates", map[string]any{"name": "Welcome", "subject": "Hi", "html": "<p>Hi</p>"}).Text("id")}
		things["audiences"] = things["audience"]
		things["logs"] = things["emails"] // the entry of a mail has its id
		in.CatchUp(in.App.Logs.Followers())
		_, stranger := in.NewWorkspace(plan.Unlimited)
		for _, route := range public(in) {
			if route.Access != api.Keyed || !strings.Contains(route.Path, "{") {
				continue
			}
			id, known := things[strings.Split(route.Path, "/")[1]]
			if !known {
				t.Errorf("%s %s: the test has nothing to ask for", route.Method, route.Path)
			}
			for _, below := range []string{"receiving", "forwarding"} {
				if strings.HasPrefix(route.Path, "/emails/") && strings.Contains(route.Path, "/"+below+"/") {
					id = things[below]
				}
			}
			if strings.Contains(route.Path, "{externalId}") {
				id = "shop_4711"
			}
			valid := map[string]any{"scheduled_at": "in 10 minutes", "enabled": true, "name": "x", "domain": "x.test", "html": "x", "read": true,
				"topics": []any{map[string]any{"id": nobody, "subscription": "opt_in"}}, "contact_ids": []string{nobody}, "value": "x", "topic_id": nobody, "list_id": nobody}
			header := map[string]string{"X-Request-Id": "the-same-id"}
			foreign := in.CallAs(stranger, route.Method, at(route, id), valid, header)
			missing := in.CallAs(stranger, route.Method, at(route, nobody), valid, header)
			if foreign.Status != 404 || string(foreign.Raw) != string(missing.Raw) {
				t.Errorf("%s %s: foreign %d %s, missing %d %s", route.Method, route.Path, foreign.Status, foreign.Raw, missing.Status, missing.Raw)
			}
		}
	})
}

func TestNoBodyBreaksAnyRoute(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	hostile := [][]byte{
		[]byte(`{`), []byte(`[]`), []byte(`null`), []byte(`"x"`), []byte(`{"to":{"to":{}}}`), []byte("\xff\xfe{}"), []byte(`{"from":1e400}`),
		[]byte(strings.Repeat(`[`, 100_000)), []byte(`{"from":"\ud800","to":"\u0000"}`), []byte(`{"domain":["a"],"name":{"b":1}}`),
	}
	for _, route := range public(in) {
		for _, raw := range hostile {
			answer := in.Call(route.Method, at(route, nobody), raw)
			if answer.Status >= 500 || answer.Status >= 400 && route.Method != http.MethodHead && answer.Text("error", "request_id") == "" {
				t.Errorf("%s %s with %.40q: %d %s", route.Method, route.Path, raw, answer.Status, answer.Raw)
			}
		}
		if route.MaxBody == 0 && route.Method != http.MethodGet && route.Access == api.Keyed {
			answer := in.Call(route.Method, at(route, nobody), []byte(`{"x":"`+strings.Repeat("x", api.DefaultMaxBody)+`"}`))
			if answer.Status != 413 {
				t.Errorf("%s %s with a body over its cap: %d", route.Method, route.Path, answer.Status)
			}
		}
	}
}

func TestEveryRouteIsDocumentedWithExamples(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	var document struct {
		Paths map[string]map[string]struct {
			Summary     string `json:"summary"`
			RequestBody struct {
				Content map[string]struct {
					Example any `json:"example"`
				} `json:"content"`
			} `json:"requestBody"`
			Responses map[string]struct {
				Content map[string]struct {
					Example any `json:"example"`
				} `json:"content"`
			} `json:"responses"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(api.Document(app.Info, in.App.API.Routes()), &document); err != nil {
		t.Fatal(err)
	}
	for _, route := range public(in) {
		op, ok := document.Paths["/v1"+route.Path][strings.ToLower(route.Method)]
		if !ok || op.Summary == "" || route.Bucket == "" {
			t.Errorf("%s %s: in the document %v, summary %q, bucket %q", route.Method, route.Path, ok, op.Summary, route.Bucket)
			continue
		}
		for _, content := range op.RequestBody.Content {
			if content.Example == nil {
				t.Errorf("%s %s: no example of the request", route.Method, route.Path)
			}
		}
		success := fmt.Sprint(max(route.Success, 200))
		answer, isJSON := op.Responses[success].Content["application/json"]
		if isJSON && route.Path != "/openapi.json" && answer.Example == nil {
			t.Errorf("%s %s: no example of the answer", route.Method, route.Path)
		}
	}
}

func TestOpenAPIDocumentIsTheGoldenFile(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	path := filepath.Join("..", "docs", "openapi.json")
	got := in.CallAs("", http.MethodGet, "/openapi.json", nil, nil).Raw
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Error("docs/openapi.json is not what is served; run make update and look at the difference")
	}
}

// The list in testdata is the specification: every route it names that exists must ask for what it says.
func TestRoutesAskForTheScopesOfTheSpecification(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	specified := map[string]string{}
	file, err := os.Open(filepath.Join("testdata", "routes.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		fields := strings.Split(lines.Text(), "\t")
		specified[fields[0]+" "+fields[1]] = fields[2]
	}
	served := 0
	for _, route := range public(in) {
		want, ok := specified[route.Method+" "+route.Path]
		if !ok {
			continue // an addition of ours
		}
		served++
		session, fresh := strings.Contains(want, "dashboard session"), strings.Contains(want, "fresh 2FA")
		scope, _, _ := strings.Cut(want, " ")
		if !strings.Contains(scope, ":") {
			scope = ""
		}
		if string(route.Scope) != scope || (route.Access == api.SessionOnly) != session || route.FreshTwoFactor != fresh {
			t.Errorf("%s %s asks for %q (session %v, fresh 2FA %v), the specification says %q", route.Method, route.Path, route.Scope,
				route.Access == api.SessionOnly, route.FreshTwoFactor, want)
		}
	}
	t.Logf("%d of %d specified routes are served", served, len(specified))
}

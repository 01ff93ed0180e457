package app_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"postrider/app"
	"postrider/app/apptest"
	"postrider/platform/api"
)

// examplesOf returns the example of a body for each route that takes one, by method and path.
func examplesOf(t *testing.T, in *apptest.Installation) map[string]any {
	t.Helper()
	var document struct {
		Paths map[string]map[string]struct {
			RequestBody struct {
				Content map[string]struct{ Example any }
			}
		}
	}
	if err := json.Unmarshal(api.Document(app.Info, in.App.API.Routes()), &document); err != nil {
		t.Fatal(err)
	}
	examples := map[string]any{}
	for path, operations := range document.Paths {
		for method, operation := range operations {
			if content, ok := operation.RequestBody.Content["application/json"]; ok {
				examples[strings.ToUpper(method)+" "+strings.TrimPrefix(path, "/v1")] = content.Example
			}
		}
	}
	return examples
}

// scene is a workspace in which the things exist that examples speak of.
type scene struct {
	in *apptest.Installation
	// named are the ids of things by those that stand for them in examples, and below those that a path asks for, by the part before.
	named, below map[string]string
}

func newScene(t *testing.T, engine string) *scene {
	in := apptest.New(t, engine)
	in.Receiving()
	s := &scene{in: in, named: map[string]string{}, below: map[string]string{"domains": in.DomainID}}
	confirmation := map[string]any{"from": "hello@acme.test", "template_id": "confirm"}
	s.add("properties", "/contact-properties", map[string]any{"key": "plan", "type": "string"})
	s.add("templates", "/templates", map[string]any{"name": "Greeting", "subject": "Hi", "html": "<p>Hi {{FIRST_NAME|there}}</p>"})
	in.Must(http.StatusOK, http.MethodPatch, "/templates/"+s.below["templates"], map[string]any{"html": "<p>Hello {{FIRST_NAME|there}}</p>"})
	s.add("", "/templates", map[string]any{"name": "Confirm", "alias": "confirm", "subject": "Confirm", "html": `<a href="{{{CONFIRMATION_URL}}}">Confirm</a>`})
	s.add("topics", "/topics", map[string]any{"name": "News"})
	s.add("lists", "/audience/lists", map[string]any{"name": "Readers", "double_opt_in": true, "confirmation": confirmation})
	s.add("segments", "/segments", map[string]any{"name": "Chosen"})
	s.add("contacts", "/contacts", map[string]any{"email": "ann@example.net", "list_id": s.below["lists"]})
	s.add("broadcasts", "/broadcasts", map[string]any{"name": "News", "audience_id": s.below["lists"], "from": "news@acme.test", "subject": "News", "html": "<p>Hi</p>"})
	s.add("events", "/events", map[string]any{"name": "user.signed_up"})
	s.add("automation-credentials", "/automation-credentials", map[string]any{"name": "x", "type": "bearer", "secret": "x", "allowed_hosts": []string{"crm.example.com"}})
	s.add("automations", "/automations", examplesOf(t, in)["POST /automations"].(map[string]any))
	in.Must(http.StatusOK, http.MethodPost, "/automations/"+s.below["automations"]+"/publish", nil)
	in.Must(http.StatusOK, http.MethodPatch, "/automations/"+s.below["automations"], map[string]any{"status": "enabled"})
	run := in.Must(http.StatusAccepted, http.MethodPost, "/automations/"+s.below["automations"]+"/run", map[string]any{"email": "ann@example.net"})
	s.add("managed-tenants", "/managed-tenants", map[string]any{"external_id": "shop_4711", "name": "Shop"})
	s.add("webhooks", "/webhooks", map[string]any{"url": "https://app.example.com/", "events": []string{"*"}})
	s.add("receiving", "/emails/receiving", map[string]any{"from": "ann@example.net", "to": "support@acme.test", "text": "x"})
	s.add("forwarding", "/emails/receiving/forwarding", map[string]any{"address": "sales@acme.test", "forward_to": "ann@example.net"})
	s.below["emails"] = in.Must(http.StatusAccepted, http.MethodPost, "/emails", map[string]any{"from": "hello@acme.test", "to": "ann@example.net", "subject": "Later",
		"text": "Hi", "scheduled_at": "in 1 hour"}).Text("id")
	s.below["api-keys"] = in.Browse(http.MethodPost, "/v1/api-keys", map[string]any{"name": "x", "preset": "read_only"}).Text("id")
	s.below["audiences"], s.below["contact-properties"] = s.below["lists"], s.below["properties"]
	s.named["0193a1f5-0000-7000-8000-000000000331"] = s.below["topics"]
	s.named["0193a1f5-0000-7000-8000-000000000311"] = s.below["lists"]
	s.named["0193a1f5-0000-7000-8000-000000000301"] = s.below["contacts"]
	s.named["0193a1f7-0000-7000-8000-000000000711"] = run.Text("id")
	return s
}

func (s *scene) add(below, path string, body map[string]any) {
	s.below[below] = s.in.Must(http.StatusCreated, http.MethodPost, path, body).Text("id")
}

// ask sends a body to a route, about the things of the scene.
func (s *scene) ask(route api.Route, body any) apptest.Answer {
	parts := strings.Split(route.Path, "/")
	for i, part := range parts {
		if strings.HasPrefix(part, "{") {
			parts[i] = s.below[parts[i-1]]
		}
	}
	path := strings.Join(parts, "/")
	if route.Access == api.SessionOnly || route.FreshTwoFactor {
		return s.in.Browse(route.Method, "/v1"+path, body)
	}
	return s.in.Call(route.Method, path, body)
}

// fill puts the things of the scene into an example. Where a name must be new, it gets a number.
func (s *scene) fill(example any, route api.Route, n int) any {
	raw, _ := json.Marshal(example)
	text := string(raw)
	for spoken, id := range s.named {
		text = strings.ReplaceAll(text, spoken, id)
	}
	var filled any
	_ = json.Unmarshal([]byte(text), &filled)
	if fields, ok := filled.(map[string]any); ok {
		separator := map[string]string{"name": "_", "alias": "-", "key": "_", "idempotency_key": "_"}
		for name := range separator {
			if value, ok := fields[name].(string); ok && (name != "key" || route.Method == http.MethodPost) {
				fields[name] = value + separator[name] + strconv.Itoa(n)
			}
		}
		if fields["domain"] != nil {
			fields["domain"] = fmt.Sprintf("acme-%d.test", n)
		}
	}
	return filled
}

// notHere are examples that a scene cannot have everything for: a token from an email, an account at a provider.
var notHere = []string{"POST /unsubscribe/{token}", "POST /audience/confirm/{token}", "POST /domains/{id}/cloudflare/apply",
	"POST /domains/{id}/domain-connect/cloudflare-url"}

// A reader copies the example of the reference and changes what is theirs. It must work as it stands, where the things exist that it speaks of.
func TestEveryExampleOfABodyIsTaken(t *testing.T) {
	t.Parallel()
	s := newScene(t, "sqlite")
	examples := examplesOf(t, s.in)
	routes := public(s.in)
	slices.SortStableFunc(routes, func(a, b api.Route) int { return cmp.Compare(a.Method, b.Method) * -1 }) // some changes switch things off
	for n, route := range routes {
		name := route.Method + " " + route.Path
		example, ok := examples[name]
		if !ok || slices.Contains(notHere, name) {
			continue
		}
		body := s.fill(example, route, n)
		if answer := s.ask(route, body); answer.Status >= 300 {
			t.Errorf("%s with %.400v: %d %s %s", name, body, answer.Status, answer.Text("error", "message"), answer.Problems())
		}
	}
}

package app_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postrider/app/apptest"
	"postrider/platform/space"
	"postrider/product/plan"
)

// estate makes one thing of each kind in a workspace and returns their ids.
func estate(t *testing.T, in *apptest.Installation, ws space.ID, key, domain string) map[string]string {
	t.Helper()
	have := map[string]string{"domain": in.VerifiedDomain(ws, domain)}
	file := []any{map[string]any{"filename": "a.txt", "content": "aGVsbG8="}}
	for _, thing := range []struct {
		kind, path string
		body       map[string]any
	}{
		{"list", "/audience/lists", map[string]any{"name": "List"}},
		{"topic", "/topics", map[string]any{"name": "Topic"}},
		{"segment", "/segments", map[string]any{"name": "Segment"}},
		{"property", "/contact-properties", map[string]any{"key": "plan", "type": "string"}},
		{"contact", "/contacts", map[string]any{"email": "ann@example.net"}},
		{"template", "/templates", map[string]any{"name": "Welcome", "subject": "Hi", "html": "<p>Hi</p>"}},
		{"tenant", "/managed-tenants", map[string]any{"external_id": "shop", "name": "Shop"}},
		{"webhook", "/webhooks", map[string]any{"url": "https://app.example.com/", "events": []string{"*"}}},
		{"credential", "/automation-credentials", map[string]any{"name": "x", "type": "bearer", "secret": "x", "allowed_hosts": []string{"x.example.com"}}},
		{"automation", "/automations", map[string]any{"name": "Automation"}},
		{"event", "/events", map[string]any{"name": "user.signed_up"}},
		{"broadcast", "/broadcasts", map[string]any{"name": "Broadcast"}},
		{"received", "/emails/receiving", map[string]any{"from": "a@example.net", "to": "b@" + domain, "text": "x", "attachments": file}},
		{"email", "/emails", map[string]any{"from": "a@" + domain, "to": "b@example.net", "subject": "x", "text": "x", "attachments": file}},
	} {
		answer := in.CallAs(key, http.MethodPost, thing.path, thing.body, nil)
		if have[thing.kind] = answer.Text("id"); have[thing.kind] == "" {
			t.Fatalf("%s: %d %s", thing.path, answer.Status, answer.Raw)
		}
	}
	for kind, path := range map[string]string{"file": "/emails/" + have["email"], "received file": "/emails/receiving/" + have["received"]} {
		var files struct{ Data []struct{ ID string } }
		if err := json.Unmarshal(in.CallAs(key, http.MethodGet, path+"/attachments", nil, nil).Raw, &files); err != nil || len(files.Data) != 1 {
			t.Fatal(path, files, err)
		}
		have[kind] = files.Data[0].ID
	}
	return have
}

// A path may begin with something of the caller's and end with something of another; and most ids are in bodies.
func TestIdsOfOthersInARequestAreAsMissing(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		theirs := estate(t, in, in.Workspace, in.Key, "theirs.test")
		ws, key := in.NewWorkspace(plan.Unlimited)
		ours := estate(t, in, ws, key, "ours.test")
		before := in.Call(http.MethodGet, "/contacts/"+theirs["contact"], nil).Raw
		mail := `{"from":"a@ours.test","to":"b@example.net","subject":"x",`
		for _, c := range []struct{ kind, method, path, body string }{
			{"file", "GET", "/emails/{email}/attachments/ID", ""},
			{"received file", "GET", "/emails/receiving/{received}/attachments/ID", ""},
			{"contact", "GET", "/audiences/{list}/contacts/ID", ""},
			{"contact", "PATCH", "/audiences/{list}/contacts/ID", `{"first_name":"Eve"}`},
			{"contact", "DELETE", "/audiences/{list}/contacts/ID", ""},
			{"contact", "DELETE", "/segments/{segment}/contacts/ID", ""},
			{"contact", "POST", "/contacts/ID/segments/{segment}", ""},
			{"list", "POST", "/audiences/ID/contacts", `{"email":"eve@example.net"}`},
			{"property", "PUT", "/contacts/{contact}/properties/ID", `{"value":"x"}`},
			{"segment", "POST", "/contacts/{contact}/segments/ID", ""},
			{"topic", "DELETE", "/contacts/{contact}/topics/ID", ""},
			{"topic", "PATCH", "/contacts/{contact}/topics", `{"topics":[{"id":"ID","subscription":"opt_in"}]}`},
			{"domain", "DELETE", "/managed-tenants/{tenant}/domains/ID", ""},
			{"template", "POST", "/emails", mail + `"template":{"id":"ID"}}`},
			{"template", "POST", "/emails/batch", "[" + mail + `"template_id":"ID"}]`},
			{"topic", "POST", "/emails", mail + `"text":"x","topic_id":"ID"}`},
			{"list", "POST", "/broadcasts", `{"name":"x","audience_id":"ID"}`},
			{"segment", "PATCH", "/broadcasts/{broadcast}", `{"segment_id":"ID"}`},
			{"topic", "PATCH", "/broadcasts/{broadcast}", `{"topic_id":"ID"}`},
			{"template", "PATCH", "/broadcasts/{broadcast}", `{"template_id":"ID"}`},
			{"list", "POST", "/broadcasts/audience-estimate", `{"audience_id":"ID"}`},
			{"segment", "POST", "/broadcasts/audience-estimate", `{"segment_id":"ID"}`},
			{"domain", "PATCH", "/webhooks/{webhook}", `{"domain_ids":["ID"]}`},
			{"tenant", "PATCH", "/webhooks/{webhook}", `{"managed_tenant_ids":["ID"]}`},
			{"list", "POST", "/contacts", `{"email":"eve@example.net","list_ids":["ID"]}`},
			{"segment", "POST", "/contacts", `{"email":"eve@example.net","segments":[{"id":"ID"}]}`},
			{"topic", "POST", "/contacts", `{"email":"eve@example.net","topics":[{"id":"ID","subscription":"opt_in"}]}`},
			{"segment", "POST", "/segments", `{"name":"of theirs","filter":{"field":"segment","operator":"in","value":["ID"]}}`},
			{"list", "POST", "/audience/contacts/import", `{"csv":"email\neve@example.net\n","list_id":"ID"}`},
			{"template", "PATCH", "/audience/lists/{list}", `{"confirmation":{"template_id":"ID"}}`},
			{"list", "POST", "/audience/contacts/{contact}/send-confirmation", `{"list_id":"ID"}`},
			{"contact", "POST", "/events/{event}/send", `{"contact_id":"ID"}`},
			{"email", "GET", "/emails?after=ID", ""},
			{"contact", "GET", "/contacts?after=ID", ""},
			{"contact", "GET", "/segments/{segment}/contacts?before=ID", ""},
		} {
			for kind, id := range ours {
				c.path = strings.ReplaceAll(c.path, "{"+kind+"}", id)
			}
			ask := func(id string) string {
				var body any
				if c.body != "" {
					body = []byte(strings.ReplaceAll(c.body, "ID", id))
				}
				answer := in.CallAs(key, c.method, strings.ReplaceAll(c.path, "ID", id), body, map[string]string{"X-Request-Id": "the-same-id"})
				if answer.Status < 400 || answer.Status >= 500 {
					t.Errorf("%s %s %s with %s of others: %d %s", c.method, c.path, c.body, c.kind, answer.Status, answer.Raw)
				}
				return strings.ReplaceAll(string(answer.Raw), id, "ID")
			}
			if diff := cmp.Diff(ask(nobody), ask(theirs[c.kind])); diff != "" {
				t.Errorf("%s %s %s tells a %s of others from none: %s", c.method, c.path, c.body, c.kind, diff)
			}
		}
		if diff := cmp.Diff(string(before), string(in.Call(http.MethodGet, "/contacts/"+theirs["contact"], nil).Raw)); diff != "" {
			t.Error("their contact was changed:", diff)
		}
	})
}

// What the house decides is in no request: programs send back whole records, and others try their luck.
func TestNobodySetsWhatIsNotTheirsToSet(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		have := estate(t, in, in.Workspace, in.Key, "mine.test")
		stranger, _ := in.NewWorkspace(plan.Free)
		tried := map[string]any{"id": nobody, "workspace_id": stranger, "created_at": "2001-01-01T00:00:00Z", "verified": false, "verified_at": "2001-01-01T00:00:00Z",
			"plan": "pro", "secret": "whsec_AAAA", "secret_prefix": "whsec_AAAA", "managed_tenant_id": nobody, "contact_count": 99, "consecutive_failures": 9, "source": "smtp",
			"published_version": 9, "active_version": 9, "read_at": "2001-01-01T00:00:00Z", "domain_count": 9, "object": "other"}
		for kind, path := range map[string]string{"domain": "/domains/", "list": "/audience/lists/", "topic": "/topics/", "segment": "/segments/", "contact": "/contacts/",
			"property": "/contact-properties/", "template": "/templates/", "tenant": "/managed-tenants/", "webhook": "/webhooks/", "automation": "/automations/",
			"event": "/events/", "broadcast": "/broadcasts/", "received": "/emails/receiving/", "email": "/emails/"} {
			read := func() (record map[string]any) {
				answer := in.Call(http.MethodGet, path+have[kind], nil)
				if err := json.Unmarshal(answer.Raw, &record); err != nil || answer.Status != http.StatusOK {
					t.Fatal(path, answer.Status, err)
				}
				maps.DeleteFunc(record, func(name string, _ any) bool { return name == "updated_at" || name == "raw" }) // raw has a link with a time in it
				return record
			}
			before := read()
			for _, name := range slices.Sorted(maps.Keys(tried)) {
				for _, spelled := range []string{name, strings.ToUpper(name)} {
					if answer := in.Call(http.MethodPatch, path+have[kind], map[string]any{spelled: tried[name]}); answer.Status != 200 && answer.Status != 400 {
						t.Errorf("PATCH %s with %s: %d %s", path, spelled, answer.Status, answer.Raw)
					}
				}
			}
			in.Call(http.MethodPatch, path+have[kind], tried)
			if diff := cmp.Diff(before, read()); diff != "" {
				t.Errorf("%s was changed: %s", path, diff)
			}
		}
	})
}

package email_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/platform/api"
	"postrider/platform/blob"
	"postrider/platform/space"
	"postrider/product/email"
	"postrider/product/plan"
)

// welcome makes a template and returns its id.
func welcome(t *testing.T, in *apptest.Installation) string {
	t.Helper()
	made := in.Call(http.MethodPost, "/templates", fields{"name": "Welcome", "alias": "welcome", "from": "Acme <hello@acme.test>", "subject": "Hi {{name}}",
		"reply_to": "help@acme.test", "html": "<p>Hi {{name}}, your plan is {{plan|free}}.</p>"})
	if made.Status != http.StatusCreated {
		t.Fatalf("%d %s", made.Status, made.Raw)
	}
	return made.Text("id")
}

func TestAnEmailIsMadeFromATemplate(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := welcome(t, in)
		for _, body := range []fields{
			{"to": "ann@example.net", "template": fields{"id": "welcome", "variables": fields{"name": "<Ann>"}}},
			{"to": "ann@example.net", "template_id": id, "variables": fields{"name": "<Ann>"}},
		} {
			sent := in.Call(http.MethodPost, "/emails", body)
			if sent.Status != http.StatusAccepted {
				t.Fatalf("%d %s", sent.Status, sent.Raw)
			}
			record := in.Email(sent.Text("id"))
			for field, want := range map[string]string{"from": "Acme <hello@acme.test>", "subject": "Hi <Ann>", "html": "<p>Hi &lt;Ann&gt;, your plan is free.</p>",
				"reply_to": "[help@acme.test]", "template_id": id, "template_version": "1"} {
				if got := record.Text(field); got != want {
					t.Errorf("%s is %q, want %q", field, got, want)
				}
			}
		}
		own := in.Call(http.MethodPost, "/emails", fields{"from": "other@acme.test", "subject": "Mine", "to": "ann@example.net",
			"template": fields{"id": "welcome", "variables": fields{"name": "Ann"}}})
		if record := in.Email(own.Text("id")); record.Text("from") != "other@acme.test" || record.Text("subject") != "Mine" {
			t.Errorf("%s", record.Raw)
		}
		batch := in.Call(http.MethodPost, "/emails/batch", []fields{{"to": "bob@example.net", "template": fields{"id": id, "variables": fields{"name": "Bob"}}}})
		if batch.Status != http.StatusAccepted {
			t.Errorf("%d %s", batch.Status, batch.Raw)
		}
		in.Send("eve@example.net")
		if list := in.Call(http.MethodGet, "/emails?template_id="+id, nil); len(rows(list)) != 4 {
			t.Errorf("%d emails of the template", len(rows(list)))
		}
	})
}

func TestTemplatesThatCannotBeUsedSayWhy(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := welcome(t, in)
		ask := func(more fields) apptest.Answer {
			body := fields{"to": "ann@example.net"}
			for name, value := range more {
				body[name] = value
			}
			return in.Call(http.MethodPost, "/emails", body)
		}
		missing := ask(fields{"template": fields{"id": id}})
		refused(t, missing, 422, "template_render_failed")
		if !strings.Contains(string(missing.Raw), `"name"`) {
			t.Errorf("%s", missing.Raw)
		}
		refused(t, ask(fields{"template": fields{"id": id, "variables": fields{"name": "x"}}, "html": "x"}), 400, "validation_error")
		if nameless := ask(fields{"template": fields{}}); problems(nameless)["template.id"] == "" {
			t.Errorf("%d %s", nameless.Status, nameless.Raw)
		}
		refused(t, ask(fields{"template": fields{"id": "unheard"}}), 404, "not_found")
		refused(t, ask(fields{"template": fields{"id": id, "version": 7, "variables": fields{"name": "x"}}}), 404, "not_found")
		_, stranger := in.NewWorkspace(plan.Unlimited)
		refused(t, in.CallAs(stranger, http.MethodPost, "/emails", fields{"to": "a@example.net", "template": fields{"id": id}}, nil), 404, "not_found")
		in.Call(http.MethodDelete, "/templates/"+id, nil)
		refused(t, ask(fields{"template": fields{"id": id, "variables": fields{"name": "x"}}}), 400, "validation_error")
	})
}

func TestPeopleLookAtTheirTemplates(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := welcome(t, in)
		saved := in.Call(http.MethodPost, "/templates/"+id+"/test-send", fields{"to": []string{"me@acme.test", "you@acme.test"}, "variables": fields{"name": "Me"}})
		if ids, _ := saved.Body["ids"].([]any); saved.Status != http.StatusAccepted || len(ids) != 2 {
			t.Fatalf("%d %s", saved.Status, saved.Raw)
		}
		if record := in.Email(saved.Text("id")); record.Text("subject") != "[Test] Hi Me" || record.Text("source") != "test" || record.Text("to") != "[me@acme.test]" {
			t.Errorf("%s", record.Raw)
		}
		unsaved := in.Call(http.MethodPost, "/templates/test-send", fields{"to": "me@acme.test", "from": "hello@acme.test", "subject": "Hi {{name}}",
			"html": "<b>{{name}}</b>", "variables": fields{"name": "Me"}})
		if record := in.Email(unsaved.Text("id")); record.Text("subject") != "[Test] Hi Me" || record.Text("html") != "<b>Me</b>" {
			t.Errorf("%d %s %s", unsaved.Status, unsaved.Raw, record.Raw)
		}
		refused(t, in.Call(http.MethodPost, "/templates/"+id+"/test-send", fields{"to": []string{"a@x.test", "b@x.test", "c@x.test", "d@x.test", "e@x.test", "f@x.test"},
			"variables": fields{"name": "x"}}), 400, "validation_error")
		refused(t, in.Call(http.MethodPost, "/templates/test-send", fields{"to": "me@acme.test", "from": "hello@acme.test", "subject": "x", "html": "{{#if}}"}), 422, "template_render_failed")
	})
}

func TestATestIsForAFewPeopleAndEachGetsAnEmailOfTheirOwn(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := welcome(t, in)
		ask := func(to ...string) apptest.Answer {
			return in.Call(http.MethodPost, "/templates/"+id+"/test-send", fields{"to": to, "variables": fields{"name": "Me"}})
		}
		refused(t, ask("a@x.test, b@x.test, c@x.test", "d@x.test, e@x.test, f@x.test"), 400, "validation_error")
		if wrong := problems(ask("a@x.test", "nobody")); wrong["to[1]"] == "" {
			t.Errorf("the wrong address is not named: %v", wrong)
		}
		sent := ask("me@acme.test, You <you@acme.test>", "me@acme.test")
		ids, _ := sent.Body["ids"].([]any)
		if sent.Status != http.StatusAccepted || len(ids) != 2 {
			t.Fatalf("%d %s", sent.Status, sent.Raw)
		}
		for i, want := range []string{"[me@acme.test]", "[You <you@acme.test>]"} {
			if got := in.Email(ids[i].(string)).Text("to"); got != want {
				t.Errorf("email %d is for %s, want %s", i, got, want)
			}
		}
	})
}

func TestATestThatCannotGoToAllGoesToNobody(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		atNoon(in)
		ws, key := free(t, in, monthly-1)
		answer := in.CallAs(key, http.MethodPost, "/templates/test-send", fields{"to": []string{"me@free.test", "you@free.test"}, "from": "hello@free.test",
			"subject": "Hi", "html": "<b>Hi</b>"}, nil)
		if answer.Text("error", "code") != "monthly_quota_exceeded" {
			t.Fatalf("%d %s", answer.Status, answer.Raw)
		}
		if list := in.CallAs(key, http.MethodGet, "/emails", nil, nil); len(rows(list)) != 0 {
			t.Errorf("emails were sent although the answer is an error: %s", list.Raw)
		}
		if used := usedOf(t, in, ws); used.Month != monthly-1 {
			t.Errorf("%d emails of the month are used, want %d", used.Month, monthly-1)
		}
	})
}

// The heap is that of the whole process, so this test does not run beside others.
func TestABatchMadeFromALargeTemplateIsNotInMemoryAsAWhole(t *testing.T) {
	in := apptest.New(t, "sqlite")
	const size, emails = 1 << 20, 40
	made := in.Call(http.MethodPost, "/templates", fields{"name": "Large", "alias": "large", "from": "Acme <hello@acme.test>", "subject": "Hi",
		"html": "<p>" + strings.Repeat("Hello you. ", size/11) + "</p>", "text": "Hi"})
	if made.Status != http.StatusCreated {
		t.Fatalf("%d %s", made.Status, made.Raw)
	}
	blobs, err := blob.NewFiles(t.TempDir(), in.App.World.Clock, in.App.World.Random)
	if err != nil {
		t.Fatal(err)
	}
	var inUse []uint64
	service := email.New(in.App.World, in.App.DB, email.Parts{Blobs: blobs, Accounts: in.App.Accounts, Domains: in.App.Domains, Tenants: in.App.Tenants,
		Plans: in.App.Plans, Keys: in.Keys, Templates: in.App.Templates,
		Delay: func(context.Context, space.ID, string, int) time.Duration { // it is asked about each email of a batch in turn
			var memory runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&memory)
			inUse = append(inUse, memory.HeapAlloc)
			return 0
		}})
	bodies := make([]json.RawMessage, emails)
	for i := range bodies {
		bodies[i] = json.RawMessage(fmt.Sprintf(`{"to": "user%d@example.net", "template_id": "large"}`, i))
	}
	answer, err := service.AcceptAll(t.Context(), email.Sender{Workspace: in.Workspace, Plan: plan.Unlimited, Source: email.SourceBatch}, bodies, false, api.Idempotency{})
	if err != nil || len(answer.Data) != emails || len(inUse) != emails {
		t.Fatalf("%d emails, asked %d times, %v", len(answer.Data), len(inUse), err)
	}
	if first, last := inUse[0], inUse[emails-1]; last > first+emails/2*size {
		t.Errorf("%d MB are in use after the last email, and %d MB after the first", last>>20, first>>20)
	}
}

package webhook_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/product/apikey"
	"postrider/product/plan"
)

func TestASecretIsShownOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		made := h.must(201, "POST", "/webhooks", fields{"endpoint": "https://app.example.com/hook", "events": []string{"email.*"}, "description": " Production "})
		id, secret := made.Text("id"), made.Text("secret")
		if !strings.HasPrefix(secret, "whsec_") || len(secret) != len("whsec_")+44 || made.Text("signing_secret") != secret {
			t.Errorf("secret %q", secret)
		}
		for name, want := range map[string]any{"object": "webhook", "url": "https://app.example.com/hook", "endpoint": "https://app.example.com/hook", "status": "enabled",
			"enabled": true, "disabled_reason": nil, "secret_prefix": secret[:10], "description": "Production", "include_body": false, "consecutive_failures": 0.0,
			"previous_secret_expires_at": nil, "first_failure_at": nil, "last_delivery_at": nil, "last_status_code": nil} {
			if made.Body[name] != want {
				t.Errorf("%s is %v, want %v", name, made.Body[name], want)
			}
		}
		for name, want := range map[string]string{"events": "[email.*]", "domain_ids": "[]", "managed_tenant_ids": "[]", "custom_headers": "map[]"} {
			if got := fmt.Sprint(made.Body[name]); got != want {
				t.Errorf("%s is %s", name, got)
			}
		}
		for _, answer := range []apptest.Answer{h.must(200, "GET", "/webhooks/"+id, nil), h.must(200, "GET", "/webhooks", nil),
			h.must(200, "PATCH", "/webhooks/"+id, fields{"description": "x"})} {
			if strings.Contains(string(answer.Raw), secret) || strings.Contains(string(answer.Raw), `"secret"`) {
				t.Errorf("the secret is shown again: %s", answer.Raw)
			}
		}
	})
}

func TestWrongEndpointsAreRefusedByField(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		good := "https://app.example.com/hook"
		for _, test := range []struct {
			change fields
			field  string
			says   string
		}{
			{fields{"url": ""}, "url", "A URL is required."},
			{fields{"url": "ftp://example.com/"}, "url", "The URL must start with https://."},
			{fields{"url": "javascript:alert(1)"}, "url", "The URL must start with https://."},
			{fields{"url": "http://8.8.8.8/hook"}, "url", "The URL must start with https://."},
			{fields{"url": "https://user:pw@example.com/"}, "url", "The URL must not contain a user name or password."},
			{fields{"url": "https://example.com/#part"}, "url", "The URL must not have a fragment (#)."},
			{fields{"url": "https://example.com/" + strings.Repeat("a", 3000)}, "url", "The URL is longer than 2048 characters."},
			{fields{"url": "https://10.0.0.1/"}, "url", "The address 10.0.0.1 is not on the public internet."},
			{fields{"url": "https://169.254.169.254/latest"}, "url", "The address 169.254.169.254 is not on the public internet."},
			{fields{"url": "https://2130706433/"}, "url", "Write an IP address in its usual form, such as 192.0.2.7."},
			{fields{"url": "https://0x7f.0.0.1/"}, "url", "Write an IP address in its usual form, such as 192.0.2.7."},
			{fields{"url": "https://[::ffff:127.0.0.1]/"}, "url", "The address ::ffff:127.0.0.1 is not on the public internet."},
			{fields{"url": "https://postrider.test/v1/emails"}, "url", "The URL is that of this service itself, which would make events of events."},
			{fields{"url": "https://POSTRIDER.test:443/v1/emails"}, "url", "The URL is that of this service itself, which would make events of events."},
			{fields{"url": "", "endpoint": "nonsense"}, "endpoint", "The URL must start with https://."},
			{fields{"url": 7}, "url", "Must be a string."},
			{fields{"events": []string{}}, "events", "Must have 1 to 100 event names."},
			{fields{"events": nil}, "events", "Must have 1 to 100 event names."},
			{fields{"events": make([]string, 101)}, "events", "Must have 1 to 100 event names."},
			{fields{"events": []string{"email.sent", "email.exploded"}}, "events1", `"email.exploded" is not an event. GET /webhook-events lists all of them; email.* and * are also taken.`},
			{fields{"events": []string{"mail.*"}}, "events0", `"mail.*" is not an event. GET /webhook-events lists all of them; email.* and * are also taken.`},
			{fields{"events": []string{".*"}}, "events0", `".*" is not an event. GET /webhook-events lists all of them; email.* and * are also taken.`},
			{fields{"description": strings.Repeat("x", 201)}, "description", "Must be one line of at most 200 characters."},
			{fields{"domain_ids": []string{"acme.test"}}, "domain_ids0", "Must be an id."},
			{fields{"domain_ids": []string{"00000000-0000-7000-8000-000000000000"}}, "domain_ids", "All of them must be domains of this workspace."},
			{fields{"domain_ids": make([]string, 101)}, "domain_ids", "Must have at most 100 ids."},
			{fields{"managed_tenant_ids": []string{"00000000-0000-7000-8000-000000000000"}}, "managed_tenant_ids0", "Must be a managed customer of this workspace."},
			{fields{"custom_headers": fields{"Webhook-Id": "x"}}, "custom_headers.Webhook-Id", "Is set by the service and cannot be chosen."},
			{fields{"custom_headers": fields{"host": "x"}}, "custom_headers.host", "Is set by the service and cannot be chosen."},
			{fields{"custom_headers": fields{"bad name": "x"}}, "custom_headers.bad name", "Is not the name of a header."},
			{fields{"custom_headers": fields{"X-A": "x\r\nX-B: y"}}, "custom_headers.X-A", "The value must have at most 1024 printable ASCII characters."},
			{fields{"custom_headers": fields{"svix-id": "x"}}, "custom_headers.svix-id", "Is set by the service and cannot be chosen."},
			{fields{"custom_headers": fields{"X-Service-Event": "x"}}, "custom_headers.X-Service-Event", "Is set by the service and cannot be chosen."},
			{fields{"custom_headers": fields{"X-A": "1", "x-a": "2"}}, "custom_headers.X-A", "Is given twice, in capitals and in small letters."},
			{fields{"custom_headers": fields{"X-A": "***"}}, "custom_headers.X-A", "There is no value of this header yet that could stay; *** stands for one."},
			{fields{"custom_headers": manyHeaders(11)}, "custom_headers", "Must have at most 10 headers."},
		} {
			body := fields{"url": good, "events": []string{"*"}}
			for name, value := range test.change {
				body[name] = value
			}
			answer := h.must(400, "POST", "/webhooks", body)
			field := strings.NewReplacer("events0", "events[0]", "events1", "events[1]", "ids0", "ids[0]").Replace(test.field)
			if got := problem(answer, field); got != test.says || answer.Text("error", "code") != "validation_error" {
				t.Errorf("%v: %s", test.change, answer.Raw)
			}
		}
		if got := h.must(200, "GET", "/webhooks", nil).Text("total"); got != "0" {
			t.Errorf("%s webhooks were made", got)
		}
	})
}

func manyHeaders(n int) fields {
	headers := fields{}
	for i := range n {
		headers[fmt.Sprintf("X-%d", i)] = "x"
	}
	return headers
}

func TestAPlanHasRoomForSoManyWebhooks(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		_, key := h.NewWorkspace(plan.Free)
		body := fields{"url": "https://app.example.com/hook", "events": []string{"*"}}
		answers := make([]apptest.Answer, 8)
		var all sync.WaitGroup
		for i := range answers {
			all.Go(func() { answers[i] = h.CallAs(key, http.MethodPost, "/webhooks", body, nil) })
		}
		all.Wait()
		made, id := 0, ""
		for _, answer := range answers {
			switch {
			case answer.Status == 201:
				made, id = made+1, answer.Text("id")
			case answer.Status != 402 || answer.Text("error", "code") != "webhook_quota_exceeded" || answer.Text("error", "details", "limit") != "1" ||
				answer.Text("error", "details", "used") != "1" || answer.Text("error", "details", "plan") != "free":
				t.Errorf("%d %s", answer.Status, answer.Raw)
			}
		}
		if made != 1 {
			t.Fatalf("%d of 8 at once were made", made)
		}
		h.check(200, "DELETE", id, h.CallAs(key, http.MethodDelete, "/webhooks/"+id, nil, nil))
		h.check(201, "POST", "again", h.CallAs(key, http.MethodPost, "/webhooks", body, nil))
	})
}

func TestAnEndpointIsChanged(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		first, second := newReceiver(t, status(500)), newReceiver(t, nil)
		id, secret := h.webhook(first.URL, []string{"email.*"}, fields{"custom_headers": fields{"X-One": "1", "X-Two": "2"}})
		h.happen("email.delivered", 1)
		h.work()

		changed := h.must(200, "PATCH", "/webhooks/"+id, fields{"endpoint": second.URL, "events": []string{"domain.*", "email.bounced", "domain.*"}, "description": "New",
			"include_body": true, "custom_headers": fields{"x-one": "***", "X-Three": "3"}, "domain_ids": []string{h.DomainID}})
		for name, want := range map[string]string{"url": second.URL, "endpoint": second.URL, "events": "[domain.* email.bounced]", "description": "New", "include_body": "true",
			"custom_headers": "map[X-One:*** X-Three:***]", "domain_ids": "[" + h.DomainID + "]", "status": "enabled"} {
			if got := fmt.Sprint(changed.Body[name]); got != want {
				t.Errorf("%s is %s, want %s", name, got, want)
			}
		}
		same := h.must(200, "PATCH", "/webhooks/"+id, fields{"url": "", "events": nil})
		if same.Text("url") != second.URL || fmt.Sprint(same.Body["events"]) != "[domain.* email.bounced]" {
			t.Errorf("nothing was asked for: %s", same.Raw)
		}
		h.Clock.Advance(10 * time.Second)
		h.work()
		sent := second.requests()
		if len(sent) != 1 || sent[0].Get("X-One") != "1" || sent[0].Get("X-Three") != "3" || sent[0].Get("X-Two") != "" || verify(sent[0], secret) != nil {
			t.Fatalf("what waited went to %v", sent)
		}
		if d := h.deliveries("")[0]; d["url"] != second.URL {
			t.Errorf("delivery %v", d)
		}
		for _, wrong := range []fields{{"status": "off"}, {"enabled": "no"}, {"status": "enabled", "enabled": false}, {"events": []string{"x"}}, {"url": "nonsense"},
			{"domain_ids": []string{"00000000-0000-7000-8000-000000000000"}}, {"custom_headers": fields{"X-Four": "***"}}} {
			h.must(400, "PATCH", "/webhooks/"+id, wrong)
		}
		if off := h.must(200, "PATCH", "/webhooks/"+id, fields{"enabled": false}); off.Text("status") != "disabled" || off.Text("disabled_reason") != "manual" {
			t.Errorf("disabled: %s", off.Raw)
		}
		h.happen("email.bounced", 1)
		h.work()
		if got := len(second.requests()); got != 1 {
			t.Errorf("a disabled endpoint was told: %d", got)
		}
	})
}

func TestEndpointsAreListedByStatusAndEvent(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		one, _ := h.webhook("https://a.example.com/", []string{"email.*"})
		two, _ := h.webhook("https://b.example.com/", []string{"domain.verified", "email.bounced"})
		three, _ := h.webhook("https://c.example.com/", []string{"*"})
		h.must(200, "PATCH", "/webhooks/"+three, fields{"status": "disabled"})
		for query, want := range map[string]string{
			"": three + two + one, "?status=enabled": two + one, "?status=disabled": three, "?event=email.bounced": three + two + one,
			"?event=email.delivered": three + one, "?event=domain.verified&status=enabled": two, "?limit=1": three, "?limit=1&offset=1": two, "?offset=9": "",
		} {
			var got string
			list, _ := h.must(200, "GET", "/webhooks"+query, nil).Body["data"].([]any)
			for _, one := range list {
				got += one.(fields)["id"].(string)
			}
			if got != want {
				t.Errorf("%s lists %s", query, got)
			}
		}
		if page := h.must(200, "GET", "/webhooks?limit=1", nil); page.Text("total") != "3" || page.Text("has_more") != "true" {
			t.Errorf("%s", page.Raw)
		}
		for _, wrong := range []string{"?status=on", "?limit=201", "?offset=-1"} {
			h.must(400, "GET", "/webhooks"+wrong, nil)
		}
		if limits := h.must(200, "GET", "/limits", nil); limits.Text("usage", "webhooks") != "3" {
			t.Errorf("usage %s", limits.Raw)
		}
	})
}

func TestTheCatalogueHasASampleOfEveryEvent(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		page := h.must(200, "GET", "/webhook-events", nil)
		list, _ := page.Body["data"].([]any)
		types := map[string]bool{}
		for _, one := range list {
			entry, _ := one.(fields)
			sample, _ := entry["sample"].(fields)
			data, _ := sample["data"].(fields)
			if entry["object"] != "webhook_event" || entry["name"] != entry["type"] || entry["category"] == "" || entry["description"] == "" || entry["version"] != 1.0 ||
				sample["type"] != entry["type"] || sample["test"] != true || len(data) == 0 {
				t.Errorf("%v", entry)
			}
			types[entry["type"].(string)] = true
		}
		if page.Text("total") != fmt.Sprint(len(list)) || page.Text("has_more") != "false" {
			t.Errorf("%d of %s", len(list), page.Text("total"))
		}
		for _, name := range []string{"domain.verified", "email.sent", "email.delivered", "email.bounced", "email.received", "email.queued", "email.accepted", "email.opened",
			"email.clicked", "email.complained", "webhook.test", "automation.run.failed", "event.sent"} {
			if !types[name] {
				t.Errorf("%s is missing", name)
			}
		}
		if second := h.must(200, "GET", "/webhook-events?limit=2&offset=1", nil); len(second.Body["data"].([]any)) != 2 || second.Text("has_more") != "true" {
			t.Errorf("%s", second.Raw)
		}
	})
}

func TestAKeyOfSomeDomainsCannotListenToOthers(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		other := h.VerifiedDomain(h.Workspace, "other.test")
		_, token, err := h.App.Keys.Create(context.Background(), apikey.NewKey{Workspace: h.Workspace, Name: "narrow", Preset: "webhooks", DomainIDs: []string{h.DomainID}})
		if err != nil {
			t.Fatal(err)
		}
		wide, _ := h.webhook("https://wide.example.com/", []string{"*"})
		body := func(ids ...string) fields {
			return fields{"url": "https://a.example.com/", "events": []string{"*"}, "domain_ids": ids}
		}
		made := h.check(201, "POST", "own", h.CallAs(token, "POST", "/webhooks", body(h.DomainID), nil))
		for name, answer := range map[string]apptest.Answer{
			"all":          h.CallAs(token, "POST", "/webhooks", body(), nil),
			"other":        h.CallAs(token, "POST", "/webhooks", body(other), nil),
			"both":         h.CallAs(token, "POST", "/webhooks", body(h.DomainID, other), nil),
			"widen":        h.CallAs(token, "PATCH", "/webhooks/"+made.Text("id"), fields{"domain_ids": []string{}}, nil),
			"take over":    h.CallAs(token, "PATCH", "/webhooks/"+wide, fields{"url": "https://evil.example.com/"}, nil),
			"look wider":   h.CallAs(token, "GET", "/webhooks/"+wide, nil, nil),
			"try wider":    h.CallAs(token, "POST", "/webhooks/"+wide+"/test", fields{}, nil),
			"delete wider": h.CallAs(token, "DELETE", "/webhooks/"+wide, nil, nil),
		} {
			if answer.Status != 403 || answer.Text("error", "code") != "domain_not_allowed" {
				t.Errorf("%s: %d %s", name, answer.Status, answer.Raw)
			}
		}
	})
}

func TestAKeyOfSomeDomainsSeesOnlyItsOwnWebhooksAndDeliveries(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		other := h.VerifiedDomain(h.Workspace, "other.test")
		key := func(domain string) string {
			_, token, err := h.App.Keys.Create(context.Background(), apikey.NewKey{Workspace: h.Workspace, Name: "narrow", Preset: "webhooks", DomainIDs: []string{domain}})
			if err != nil {
				t.Fatal(err)
			}
			return token
		}
		mine, theirs := key(h.DomainID), key(other)
		wide, _ := h.webhook("https://wide.example.com/", []string{"*"})
		own := h.check(201, "POST", "own", h.CallAs(mine, "POST", "/webhooks", fields{"url": "https://own.example.com/", "events": []string{"*"}, "domain_ids": []string{h.DomainID}}, nil)).Text("id")
		h.Send("ann@example.net")
		h.follow()
		seen := func(token, path, name string) string {
			t.Helper()
			found := map[string]bool{}
			for _, row := range h.check(200, "GET", path, h.CallAs(token, "GET", path, nil, nil)).Body["data"].([]any) {
				found[row.(fields)[name].(string)] = true
			}
			return strings.Join(slices.Sorted(maps.Keys(found)), " ")
		}
		all := strings.Join(slices.Sorted(slices.Values([]string{own, wide})), " ")

		for _, list := range []struct{ path, name string }{{"/webhooks", "id"}, {"/webhook-deliveries", "webhook_id"}, {"/webhook-deliveries?webhook_id=" + own + "," + wide, "webhook_id"}} {
			for token, want := range map[string]string{h.Key: all, mine: own, theirs: ""} {
				if got := seen(token, list.path, list.name); got != want {
					t.Errorf("%s: %q, want %q", list.path, got, want)
				}
			}
		}
		if got := seen(mine, "/webhooks/"+wide+"/deliveries", "id"); got != "" {
			t.Errorf("deliveries of another webhook: %s", got)
		}
		for webhook, want := range map[string]int{own: 200, wide: 404} {
			path := "/webhook-deliveries/" + seen(h.Key, "/webhook-deliveries?webhook_id="+webhook, "id")
			h.check(200, "GET", path, h.CallAs(h.Key, "GET", path, nil, nil))
			h.check(want, "GET", path, h.CallAs(mine, "GET", path, nil, nil))
			h.check(404, "GET", path, h.CallAs(theirs, "GET", path, nil, nil))
		}
		h.must(200, "DELETE", "/webhooks/"+own, nil)
		gone := "/webhook-deliveries/" + seen(h.Key, "/webhook-deliveries?webhook_id="+own, "id")
		h.check(404, "GET", gone, h.CallAs(mine, "GET", gone, nil, nil))
	})
}

func TestNobodySeesTheWebhooksOrDeliveriesOfOthers(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		_, stranger := h.NewWorkspace(plan.Unlimited)
		id, _ := h.webhook(newReceiver(t, nil).URL, []string{"*"})
		h.happen("email.delivered", 1)
		h.work()
		for _, path := range []string{"/webhooks", "/webhook-deliveries", "/webhook-deliveries?webhook_id=" + id} {
			for key, want := range map[string]int{h.Key: 1, stranger: 0} {
				if list, _ := h.check(200, "GET", path, h.CallAs(key, "GET", path, nil, nil)).Body["data"].([]any); len(list) != want {
					t.Errorf("%s: %d rows, want %d", path, len(list), want)
				}
			}
		}
	})
}

func TestADeliveryThatHasEndedSaysWhereItWent(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		before := newReceiver(t, nil)
		id, _ := h.webhook(before.URL, []string{"*"})
		h.happen("email.delivered", 1)
		h.work()
		h.must(200, "PATCH", "/webhooks/"+id, fields{"url": "https://later.example.com/"})
		if d := h.deliveries("")[0]; d["url"] != before.URL {
			t.Errorf("%v", d)
		}
	})
}

package logs_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"postrider/app"
	"postrider/app/apptest"
	"postrider/platform/api"
	"postrider/product/apikey"
	"postrider/product/plan"
)

func TestFiltersFindTheirEntries(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := in.Send("ann@example.net")
		in.Send("bounce@example.org")
		in.Call(http.MethodPost, "/emails", fields{"from": "hello@acme.test", "to": []string{"bob@example.net", "bounce@example.com"}, "subject": "Quarterly report", "text": "x"})
		in.Deliver()
		in.Call(http.MethodGet, "/domains/"+in.DomainID, nil)
		in.Call(http.MethodPost, "/emails/receiving", fields{"from": "eve@example.com", "to": "b@acme.test", "subject": "Question", "text": "x"})
		in.Receive()
		settle(t, in)
		for query, want := range map[string]string{
			"kind=email":                         "Quarterly report to bob@example.net, bounce@example.com; Hello to bounce@example.org; Hello to ann@example.net",
			"kind=email&status=delivered":        "Quarterly report to bob@example.net, bounce@example.com; Hello to ann@example.net",
			"status=bounced&level=warning":       "Hello to bounce@example.org",
			"kind=email&search=quarterly":        "Quarterly report to bob@example.net, bounce@example.com",
			"kind=email&search=quart":            "Quarterly report to bob@example.net, bounce@example.com",
			"search=ann@example.net":             "Hello to ann@example.net; POST /emails 202",
			"email_id=" + id:                     "Hello to ann@example.net; POST /emails 202",
			"kind=inbound":                       "email.received Question from eve@example.com",
			"kind=domain":                        "domain.verified acme.test; domain.created acme.test",
			"kind=domain,inbound&search=created": "domain.created acme.test",
			"method=GET":                         "GET /domains/" + in.DomainID + " 200",
			"status=202,4xx&limit=1":             "POST /emails 202",
			"kind=email&limit=1&offset=2":        "Hello to ann@example.net",
			"kind=email&days=1&domain_id=" + id:  "",
			"search=nothing":                     "",
		} {
			if got := messages(list(t, in, query)); got != want {
				t.Errorf("%s: %q, want %q", query, got, want)
			}
		}
		page := in.Call(http.MethodGet, "/logs?kind=email&limit=2", nil)
		if page.Text("has_more") != "true" || page.Body["total"] != nil || len(rows(page, "data")) != 2 {
			t.Errorf("the page is %s", page.Raw)
		}
		if row := rows(page, "data")[0]; row["events"] != nil || row["request_body"] != nil {
			t.Errorf("a list shows %v", row)
		}
	})
}

func TestTimeFiltersIncludeTheirStartAndNotTheirEnd(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		in.Send("ann@example.net")
		in.Clock.Advance(time.Hour)
		middle := in.Clock.Now().Format(time.RFC3339Nano)
		in.Send("bob@example.net")
		settle(t, in)
		for query, want := range map[string]string{
			"since=" + middle: "Hello to bob@example.net", "until=" + middle: "Hello to ann@example.net", "since=" + middle + "&search=hello": "Hello to bob@example.net",
			"until=" + middle + "&search=hello": "Hello to ann@example.net",
		} {
			if got := messages(list(t, in, "kind=email&"+query)); got != want {
				t.Errorf("%s: %q, want %q", query, got, want)
			}
		}
	})
}

// Who wants the log for good writes as many days as come to mind.
func TestALogThatIsKeptForManyDaysIsShown(t *testing.T) {
	t.Parallel()
	for _, days := range []int64{36_500, 999_999} {
		t.Run(fmt.Sprint(days, " days"), func(t *testing.T) {
			t.Parallel()
			apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
				in.Must(http.StatusOK, http.MethodGet, "/emails", nil)
				settle(t, in)
				workers := in.App.Logs.Workers()
				in.Finish(workers[0].Step)
				if found := list(t, in, "kind=api_request"); len(found) != 1 {
					t.Errorf("%d entries are shown, want 1", len(found))
				}
			}, func(s *app.Settings) {
				s.Plans = plan.Shipped()
				kept := s.Plans[plan.Unlimited]
				kept.Limits.LogRetentionDays = &days
				s.Plans[plan.Unlimited] = kept
			})
		})
	}
}

func TestCountsAreGrouped(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		settle(t, in)
		in.Send("ann@example.net")
		in.Send("bob@example.net")
		in.Call(http.MethodPost, "/emails", fields{})
		in.Call(http.MethodGet, "/domains/"+in.DomainID, nil)
		in.Deliver()
		settle(t, in)
		for query, want := range map[string]string{
			"kind=api_request,email":          "status total 6: 2xx=3 delivered=2 4xx=1",
			"group_by=kind&kind=email,domain": "kind total 4: domain=2 email=2",
			"group_by=endpoint":               "endpoint total 4: POST /emails=3 GET /domains/{id}=1",
			"group_by=kind&search=ann":        "kind total 2: api_request=1 email=1",
			"group_by=status&until=2020-01-01T00:00:00Z&since=2019-01-01T00:00:00Z": "status total 0:",
		} {
			answer := in.Call(http.MethodGet, "/logs/_counts?"+query, nil)
			text := fmt.Sprintf("%s total %s:", answer.Text("group_by"), answer.Text("total"))
			for _, g := range rows(answer, "groups") {
				text += fmt.Sprintf(" %v=%v", g["key"], g["count"])
			}
			if text != want {
				t.Errorf("%s: %s, want %s", query, text, want)
			}
		}
		if old := in.Call(http.MethodGet, "/logs/_counts?until=2020-01-08T00:00:00Z", nil); old.Status != 200 || old.Text("since") > old.Text("until") && old.Text("total") != "0" {
			t.Errorf("an end without a beginning was answered with %s", old.Raw)
		}
		hours := in.Call(http.MethodGet, "/logs/_counts?group_by=hour&kind=email", nil)
		if groups := rows(hours, "groups"); len(groups) == 0 || !strings.HasSuffix(groups[0]["key"].(string), ":00:00.000Z") || hours.Text("since") == "" {
			t.Errorf("hours are %s", hours.Raw)
		}
	})
}

func TestHoursAreCountedInTheirOrder(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		first := in.Clock.Now().UTC().Truncate(time.Hour).Add(time.Hour)
		in.Clock.Advance(first.Sub(in.Clock.Now()) + time.Minute)
		in.Send("ann@example.net")
		in.Clock.Advance(2 * time.Hour)
		in.Send("ann@example.net")
		in.Send("bob@example.net")
		settle(t, in)
		var want []fields
		for _, hour := range []struct {
			at    time.Time
			count float64
		}{{first, 1}, {first.Add(2 * time.Hour), 2}} {
			want = append(want, fields{"key": hour.at.Format("2006-01-02T15:04:05.000Z"), "count": hour.count})
		}
		if got := rows(in.Call(http.MethodGet, "/logs/_counts?group_by=hour&kind=email", nil), "groups"); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("hours are %v, want %v", got, want)
		}
	})
}

func TestWhatIsAskedWrongIsNamed(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	for query, field := range map[string]string{
		"?kind=letter": "kind", "?status=6xx!": "status", "?status=zz": "status", "?status=600": "status", "?status=delivered,deliverd": "status", "?level=loud": "level", "?api_key_id=x": "api_key_id", "?email_id=1": "email_id", "?days=366": "days", "?days=0": "days",
		"?days=2&since=2026-01-01T00:00:00Z": "days", "?since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z": "since", "?since=monday": "since",
		"?limit=201": "limit", "?offset=-1": "offset", "?method=%00": "method", "?search=" + strings.Repeat("x", 400): "search", "/_counts?group_by=colour": "group_by",
	} {
		answer := in.Call(http.MethodGet, "/logs"+query, nil)
		if answer.Status != 400 || !strings.Contains(string(answer.Raw), `"`+field+`"`) {
			t.Errorf("%s was answered with %d: %s", query, answer.Status, answer.Raw)
		}
	}
	for _, kind := range in.App.Webhooks.EventTypes() {
		list(t, in, "status="+kind[strings.LastIndexByte(kind, '.')+1:])
	}
	if answer := in.Call(http.MethodGet, "/logs/nothing", nil); answer.Status != 404 {
		t.Errorf("an entry that is none was answered with %d", answer.Status)
	}
}

func TestCustomersAndKeysOfDomainsSeeTheirOwn(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		customer := in.Call(http.MethodPost, "/managed-tenants", fields{"external_id": "shop", "name": "Shop"}).Text("id")
		theirs := in.Call(http.MethodPost, "/managed-tenants/"+customer+"/domains", fields{"domain": "shop.test"}).Text("id")
		if err := in.Sandbox.Publish(context.Background(), "shop.test"); err != nil {
			t.Fatal(err)
		}
		in.Call(http.MethodPost, "/domains/"+theirs+"/verify", nil)
		own := in.Send("ann@example.net")
		in.Call(http.MethodPost, "/emails", fields{"from": "shop@shop.test", "to": "bob@example.net", "subject": "Order", "text": "x"})
		settle(t, in)
		if got := messages(list(t, in, "kind=email&managed_tenant_id="+customer)); got != "Order to bob@example.net" {
			t.Errorf("the customer's mail is %q", got)
		}
		_, key, err := in.App.Keys.Create(context.Background(), apikey.NewKey{Workspace: in.Workspace, Name: "own", Preset: apikey.FullAccess, DomainIDs: []string{theirs}})
		if err != nil {
			t.Fatal(err)
		}
		if got := messages(rows(in.CallAs(key, http.MethodGet, "/logs?kind=email", nil, nil), "data")); got != "Order to bob@example.net" {
			t.Errorf("a key of one domain sees %q", got)
		}
		for _, path := range []string{"/logs/_counts?kind=email", "/logs/_counts?kind=email&group_by=hour"} {
			if counted := in.CallAs(key, http.MethodGet, path, nil, nil).Text("total"); counted != "1" {
				t.Errorf("a key of one domain asked for %s counts %s", path, counted)
			}
		}
		if answer := in.CallAs(key, http.MethodGet, "/logs?domain_id="+in.DomainID, nil, nil); answer.Status != 403 || answer.Text("error", "details", "domain") != in.DomainID {
			t.Errorf("a key of one domain asked for another: %d", answer.Status)
		}
		if answer := in.CallAs(key, http.MethodGet, "/logs/"+own, nil, nil); answer.Status != 404 {
			t.Errorf("a key of one domain read an entry of another: %d", answer.Status)
		}
		elsewhere, stranger := in.NewWorkspace(plan.Unlimited)
		if answer := in.CallAs(stranger, http.MethodGet, "/logs/"+own, nil, nil); answer.Status != 404 {
			t.Errorf("a stranger read an entry: %d", answer.Status)
		}
		for _, path := range []string{"/logs", "/logs?search=ann", "/logs?email_id=" + own} {
			if found := rows(in.CallAs(stranger, http.MethodGet, path, nil, nil), "data"); len(found) != 0 {
				t.Errorf("%s shows a stranger %s", path, messages(found))
			}
		}
		_, weak, err := in.App.Keys.Create(context.Background(), apikey.NewKey{Workspace: elsewhere, Name: "weak", Scopes: []api.Scope{"logs:read"}})
		if err != nil {
			t.Fatal(err)
		}
		in.CallAs(weak, http.MethodGet, "/emails/"+own, nil, nil)
		settle(t, in)
		found := rows(in.CallAs(weak, http.MethodGet, "/logs?status=403", nil, nil), "data")
		if len(found) != 1 || found[0]["status"] != nil || found[0]["domain_id"] != nil {
			t.Errorf("who may not ask for a mail is told of it: %v", found)
		}
	})
}

func TestRequestsAreFoundByWhatIsKnownOfTheirMail(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		customer := in.Call(http.MethodPost, "/managed-tenants", fields{"external_id": "shop", "name": "Shop"}).Text("id")
		theirs := in.Call(http.MethodPost, "/managed-tenants/"+customer+"/domains", fields{"domain": "shop.test"}).Text("id")
		if err := in.Sandbox.Publish(context.Background(), "shop.test"); err != nil {
			t.Fatal(err)
		}
		in.Call(http.MethodPost, "/domains/"+theirs+"/verify", nil)
		settle(t, in)
		in.Clock.Advance(time.Minute)
		since := "&since=" + in.Clock.Now().Format(time.RFC3339Nano)
		order := in.Call(http.MethodPost, "/emails", fields{"from": "shop@shop.test", "to": "bob@example.net", "subject": "Order", "text": "x"}).Text("id")
		in.Send("bounce@example.net")
		in.Call(http.MethodPost, "/emails", fields{})
		in.Deliver()
		in.Call(http.MethodGet, "/emails/"+order, nil)
		settle(t, in)
		about := "GET /emails/" + order + " 200; POST /emails 202"
		for query, want := range map[string]string{
			"kind=api_request&domain_id=" + theirs: about, "kind=api_request&managed_tenant_id=" + customer: about, "kind=api_request&status=delivered": about,
			"kind=api_request&status=bounced": "POST /emails 202", "kind=api_request&status=bounced,400": "POST /emails 400; POST /emails 202",
			"kind=email&status=delivered": "Order to bob@example.net", "status=delivered&search=bob": "Order to bob@example.net; POST /emails 202", "kind=api_request&status=queued": "",
			"kind=api_request&domain_id=" + in.DomainID: "POST /emails 202",
		} {
			found := list(t, in, query+since)
			if got := messages(found); got != want {
				t.Errorf("%s: %q, want %q", query, got, want)
			}
			for _, group := range []string{"status", "hour"} {
				if total := in.Call(http.MethodGet, "/logs/_counts?group_by="+group+"&"+query+since, nil).Text("total"); total != fmt.Sprint(len(found)) {
					t.Errorf("%s: by %s %s are counted, %d found", query, group, total, len(found))
				}
			}
		}
		_, key, err := in.App.Keys.Create(context.Background(), apikey.NewKey{Workspace: in.Workspace, Name: "own", Preset: apikey.FullAccess, DomainIDs: []string{theirs}})
		if err != nil {
			t.Fatal(err)
		}
		found := rows(in.CallAs(key, http.MethodGet, "/logs?kind=api_request"+since, nil, nil), "data")
		if messages(found) != about {
			t.Fatalf("a key of the domain sees %q", messages(found))
		}
		if answer := in.CallAs(key, http.MethodGet, fmt.Sprintf("/logs/%v", found[1]["id"]), nil, nil); answer.Status != 200 || answer.Text("status") != "delivered" {
			t.Errorf("a key of the domain is answered with %s", answer.Raw)
		}
	})
}

func TestErasedPersonLeavesTheTape(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		contact := in.Call(http.MethodPost, "/audience/contacts", fields{"email": "Ann@example.net"}).Text("id")
		in.Send("ann@example.net", "bob@example.net")
		in.Send("bob@example.net")
		in.Send("1@example.com", "2@example.com", "3@example.com", "ann@example.net") // whom its line does not name
		in.Call(http.MethodPost, "/emails", fields{"from": "hello@acme.test", "to": "ann@example.net", "subject": strings.Repeat("long ", 150), "text": "x"})
		in.Call(http.MethodPost, "/emails", fields{"from": "hello@acme.test", "to": "Ann <ann@example.net>", "subject": "Hello", "text": "x"})
		batch := make([]fields, 80)
		for i := range batch {
			batch[i] = fields{"from": "hello@acme.test", "to": fmt.Sprintf("%d@example.org", i), "subject": "Hello", "text": "x"}
		}
		batch[79]["to"] = "ann@example.net"
		in.Must(http.StatusAccepted, http.MethodPost, "/emails/batch", fields{"emails": batch})
		crowd := ""
		for i := range 1200 {
			crowd += fmt.Sprintf("%d@example.org\n", i)
		}
		in.Call(http.MethodPost, "/emails", fields{"from": "hello@acme.test", "to": "cid@example.net", "subject": "Crowd", "text": "x", "note": crowd + "ann@example.net"})
		in.Deliver()
		in.Must(http.StatusCreated, http.MethodPost, "/suppressions", fields{"email": "ann@example.net"})
		in.Must(http.StatusOK, http.MethodGet, "/suppressions/ann%40example.net", nil)
		in.Must(http.StatusOK, http.MethodPatch, "/audience/contacts/"+contact, fields{"first_name": "Ann"}) // only the answer names whose it is
		settle(t, in)
		if len(list(t, in, "search=ann@example.net")) < 3 {
			t.Fatalf("before, the tape says %s", messages(list(t, in, "")))
		}
		if answer := in.Call(http.MethodPost, "/audience/contacts/"+contact+"/erase", nil); answer.Status >= 300 {
			t.Fatalf("erase was answered with %s", answer.Raw)
		}
		for _, w := range in.App.Audience.Workers() {
			in.Finish(w.Step)
		}
		settle(t, in)
		if found := list(t, in, "search=ann@example.net"); len(found) != 0 {
			t.Errorf("the person is found in %s", messages(found))
		}
		for _, e := range list(t, in, "limit=200") {
			if raw := strings.ToLower(string(get(t, in, e["id"]).Raw)); strings.Contains(raw, "ann@example.net") {
				t.Errorf("the person is in %s", raw)
			}
		}
		if got := messages(list(t, in, "kind=email&search=bob@example.net")); got != "Hello to bob@example.net" {
			t.Errorf("of others the tape says %q", got)
		}
	})
}

// erase has a person erased whose address a contact has.
func erase(t *testing.T, in *apptest.Installation, address string) {
	t.Helper()
	contact := in.Must(http.StatusCreated, http.MethodPost, "/audience/contacts", fields{"email": address}).Text("id")
	settle(t, in)
	in.Must(http.StatusAccepted, http.MethodPost, "/audience/contacts/"+contact+"/erase", nil)
	for _, w := range in.App.Audience.Workers() {
		in.Finish(w.Step)
	}
	settle(t, in)
}

func TestErasedPersonLeavesAllEntriesHoweverManyThereAre(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		for range 210 { // more than two transactions forget
			in.Call(http.MethodGet, "/suppressions/ann%40example.net", nil)
		}
		erase(t, in, "ann@example.net")
		if found := list(t, in, "search=ann@example.net&limit=200"); len(found) != 0 {
			t.Errorf("%d entries are left", len(found))
		}
	})
}

func TestErasedPersonIsNotFoundAmongTheReadersOfReceivedMail(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		in.Call(http.MethodPost, "/emails/receiving", fields{"from": "eve@example.com", "to": "ann@acme.test", "subject": "Question", "text": "x"})
		in.Call(http.MethodPost, "/emails/receiving", fields{"from": "eve@example.com", "to": "bob@acme.test", "subject": "Question", "text": "x"})
		in.Receive()
		erase(t, in, "ann@acme.test")
		if found := list(t, in, "search=ann@acme.test"); len(found) != 0 {
			t.Errorf("the person is found in %s", messages(found))
		}
		if got := messages(list(t, in, "kind=inbound&search=bob@acme.test")); got != "email.received Question from eve@example.com" {
			t.Errorf("of others the tape says %q", got)
		}
	})
}

func TestErasedPersonLeavesTheNamesOfUnknownFields(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		in.Call(http.MethodPost, "/templates", fields{"name": "T", "ann@example.net": 1})
		in.Call(http.MethodPost, "/templates", fields{"name": "T", "ann@example.net": 1, "description": strings.Repeat("long ", 8000)}) // of which the body is not kept
		erase(t, in, "ann@example.net")
		for _, e := range list(t, in, "kind=api_request") {
			if raw := string(get(t, in, e["id"]).Raw); strings.Contains(raw, "ann@example.net") {
				t.Errorf("the person is in %s", raw)
			}
		}
		if found := list(t, in, "search=ann@example.net"); len(found) != 0 {
			t.Errorf("the person is found in %s", messages(found))
		}
	})
}

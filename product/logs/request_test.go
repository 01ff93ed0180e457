package logs_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/product/apikey"
	"postrider/product/logs"
	"postrider/product/plan"
)

func TestRequestHasAnEntryThatTellsItsStory(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		answer := in.CallAs(in.Key, http.MethodPost, "/emails", fields{"from": "Acme <hello@acme.test>", "to": []string{"ann@example.net"}, "subject": "Welcome",
			"html": "<p>Hello you</p>", "subjekt": "typo"}, map[string]string{"User-Agent": "resend-go/3.12.0", "X-Request-Id": "my-request-1"})
		in.Deliver()
		settle(t, in)
		found := list(t, in, "kind=api_request&method=post")
		if len(found) != 1 {
			t.Fatalf("found %v", found)
		}
		entry := get(t, in, found[0]["id"])
		for name, want := range map[string]any{"object": "log", "kind": "api_request", "level": "info", "method": "POST", "endpoint": "/emails", "response_status": 202.0,
			"user_agent": "resend-go/3.12.0", "ip": "192.0.2.1", "request_id": "my-request-1", "user_id": nil, "email_id": answer.Text("id"), "domain_id": in.DomainID,
			"managed_tenant_id": nil, "message": "POST /emails 202", "status": "delivered"} {
			if entry.Body[name] != want {
				t.Errorf("%s is %v, want %v", name, entry.Body[name], want)
			}
		}
		if got := fmt.Sprint(entry.Body["ignored_fields"]); got != "[subjekt]" {
			t.Errorf("ignored fields are %s", got)
		}
		body, _ := entry.Body["request_body"].(map[string]any)
		if body["html"] != "[redacted 16 bytes]" || fmt.Sprint(body["to"]) != "[ann@example.net]" || body["from"] != "Acme <hello@acme.test>" {
			t.Errorf("the body is %v", body)
		}
		if entry.Text("response_body", "id") != answer.Text("id") {
			t.Errorf("the answer is %v", entry.Body["response_body"])
		}
		var types []string
		for _, e := range rows(entry, "events") {
			types = append(types, e["type"].(string))
			if e["type"] == "smtp.attempt" && (e["recipient"] != "ann@example.net" || !strings.HasPrefix(e["message"].(string), "250")) {
				t.Errorf("the attempt is %v", e)
			}
		}
		if got := strings.Join(types, " "); got != "email.queued email.accepted smtp.attempt email.sent email.delivered" {
			t.Errorf("the tape is %s", got)
		}
	})
}

func TestRefusedRequestsAreOnTheTape(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		_, weak, err := in.App.Keys.Create(context.Background(), apikey.NewKey{Workspace: in.Workspace, Name: "weak", Scopes: []api.Scope{"domain:read"}})
		if err != nil {
			t.Fatal(err)
		}
		in.CallAs(weak, http.MethodGet, "/emails", nil, nil)                    // 403
		in.Call(http.MethodPost, "/emails", fields{"to": "x"})                  // 400
		in.Call(http.MethodPost, "/emails", []byte(`{"from": `))                // 400
		in.Call(http.MethodGet, "/nothing/here", nil)                           // 404: nobody knows whose it is
		in.Call(http.MethodGet, "/templates/"+in.DomainID, nil)                 // 404
		in.CallAs("", http.MethodGet, "/emails", nil, nil)                      // 401: nobody's
		in.CallAs("pr_live_none", http.MethodGet, "/emails", nil, nil)          // 401: nobody's
		in.CallAs(in.Key, http.MethodPost, "/emails", nil, map[string]string{}) // 400
		settle(t, in)
		found := list(t, in, "kind=api_request&status=4xx")
		if len(found) != 5 {
			t.Fatalf("found %s", messages(found))
		}
		for _, e := range found {
			if e["level"] != "warning" {
				t.Errorf("%v is %v", e["message"], e["level"])
			}
		}
		refused := list(t, in, "status=403")
		if len(refused) != 1 || refused[0]["endpoint"] != "/emails" {
			t.Fatalf("found %v", refused)
		}
		if entry := get(t, in, refused[0]["id"]); entry.Text("response_body", "error", "code") != "insufficient_scope" {
			t.Errorf("the answer is %s", entry.Raw)
		}
	})
}

func TestNoSecretIsKept(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		hook := in.Call(http.MethodPost, "/webhooks", fields{"url": "https://app.example.com/h", "events": []string{"*"}, "custom_headers": fields{"X-Auth": "sesame-1"}})
		in.Call(http.MethodPost, "/emails", fields{"from": "hello@acme.test", "to": "ann@example.net", "subject": "My key is " + in.Key, "text": "sesame-2",
			"attachments": []fields{{"filename": "a.txt", "content": "c2VzYW1lLTM="}}, "password": "sesame-4",
			"otp": "sesame-10", "recovery_code": "sesame-11", "smtp_credential": fields{"name": "sesame-12"},
			"signature": "sesame-13", "passphrase": "sesame-14", "Authorization": "sesame-15", "set-cookie": "sesame-16", "privateKey": "sesame-17", "API_KEY": "sesame-18",
			"variables": fields{"code": "sesame-19"}, "template_data": []string{"sesame-20"}, "mjml": "sesame-21", "amp": "sesame-22", "react": "sesame-23", "raw": "sesame-24",
			"headers": fields{"X-Api-Token": "sesame-5"}, in.Key: "sent by mistake"})
		in.Call(http.MethodPost, "/emails", fields{"from": "hello@acme.test", "to": "ann@example.net", "subject": "Big", "text": strings.Repeat("sesame-6 ", 20_000)})
		in.Call(http.MethodPost, "/templates", fields{"name": "T", "subject": "S", "html": "<p>sesame-7</p>"})
		in.Call(http.MethodPost, "/emails", fields{"from": "hello@acme.test", "to": "ann@example.net", "subject": "File", "text": "x",
			"attachments": []fields{{"filename": "a.txt", "path": "https://127.0.0.1/a.txt?signature=sesame-8"}}})
		in.Must(http.StatusBadRequest, http.MethodPost, "/webhooks", fields{"url": "https://ann:sesame-9@app.example.com/h", "events": []string{"*"}})
		link := in.Must(http.StatusOK, http.MethodPost, "/emails/"+in.Send("ann@example.net")+"/share", fields{}).Text("url")
		_, token, _ := strings.Cut(link, "token=")
		in.Call(http.MethodPost, "/emails/receiving", fields{"from": "eve@example.com", "to": "b@acme.test", "subject": "Your key is " + in.Key, "text": "x"})
		in.Call(http.MethodGet, "/domains/"+in.Key, nil)
		in.Receive()
		settle(t, in)
		found := list(t, in, "kind=api_request")
		if len(found) != 10 {
			t.Fatalf("found %s", messages(found))
		}
		all := ""
		for _, e := range list(t, in, "limit=200") {
			all += string(get(t, in, e["id"]).Raw)
		}
		for _, secret := range []string{"sesame", "c2VzYW1l", in.Key[len("pr_live_0123456789_"):], hook.Text("secret"), hook.Text("signing_secret"), token} {
			if secret != "" && strings.Contains(all, secret) {
				t.Errorf("%q is kept", secret)
			}
		}
		if !strings.Contains(all, in.Key[:len("pr_live_0123456789")]+"[redacted]") || !strings.Contains(all, "[body of 180") {
			t.Errorf("which key it was, and how long the body was, is not kept: %s", all)
		}
		if found := list(t, in, "search="+in.Key[len("pr_live_0123456789_"):]); len(found) != 0 {
			t.Errorf("by its key one finds %s", messages(found))
		}
	})
}

func TestDashboardReadsAreNotOnTheTapeButChangesAre(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		in.Browse(http.MethodGet, "/v1/emails", nil)
		in.Browse(http.MethodGet, "/v1/emails/"+in.DomainID, nil) // which there is not
		in.Browse(http.MethodPost, "/v1/suppressions", fields{"email": "gone@example.net"})
		in.Browse(http.MethodPost, "/auth/reauthenticate", fields{"password": "wrong"})
		in.Browse(http.MethodPatch, "/account", fields{"name": "Olga"})
		settle(t, in)
		for kind, want := range map[string]string{"auth": "POST /auth/reauthenticate 401", "system": "PATCH /account 200"} {
			if got := messages(list(t, in, "method=POST,PATCH&kind="+kind)); got != want {
				t.Errorf("of kind %s are %q, want %q", kind, got, want)
			}
		}
		found := list(t, in, "kind=api_request")
		if messages(found) != "POST /suppressions 201; GET /emails/"+in.DomainID+" 404" || found[0]["user_id"] == nil || found[0]["api_key_id"] != nil {
			t.Errorf("found %v", found)
		}
	})
}

func TestEntriesThatFindNoRoomAreCounted(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		const room, more = 10_000, 25
		caller := api.Caller{Principal: api.Principal{Workspace: in.Workspace, KeyID: in.DomainID}}
		for range room + more {
			in.App.Logs.Request(api.Finished{At: in.Clock.Now(), Caller: caller, Method: "GET", Path: "/domains", Route: "/domains", Status: 200})
		}
		if lost := in.App.Logs.Lost(); lost != more {
			t.Errorf("%d entries are lost, want %d", lost, more)
		}
		settle(t, in)
		if got := messages(list(t, in, "kind=system&level=warning")); got != "25 log entries were lost because too many came at once." {
			t.Errorf("the tape says %q", got)
		}
		counted := in.Call(http.MethodGet, "/logs/_counts?group_by=endpoint", nil)
		if counted.Text("total") != fmt.Sprint(room) {
			t.Errorf("%s entries were kept", counted.Text("total"))
		}
	})
}

func TestBodiesThatWaitAreBounded(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		const room = 16 // of this length
		long, short := make([]byte, 1<<20), []byte(`{"to":"ann"}`)
		caller := api.Caller{Principal: api.Principal{Workspace: in.Workspace, KeyID: in.DomainID}}
		note := func(path string, body []byte) {
			in.App.Logs.Request(api.Finished{At: in.Clock.Now(), Caller: caller, Method: "POST", Path: path, Route: path, Status: 202, Body: body, BodyBytes: len(body)})
		}
		kept := func(path string) any {
			t.Helper()
			settle(t, in)
			return get(t, in, list(t, in, "search="+path)[0]["id"]).Body["request_body"]
		}
		for range room {
			note("/emails", long)
		}
		note("/beyond", short)
		if got := kept("beyond"); got != "[body of 12 bytes]" {
			t.Errorf("beyond the bound, the body is kept as %v", got)
		}
		for range 10_000 + room { // the last of which are lost
			note("/emails", nil)
		}
		for range room {
			note("/emails", long)
		}
		settle(t, in)
		note("/again", short)
		if got := fmt.Sprint(kept("again")); got != "map[to:ann]" {
			t.Errorf("when nothing waits any more, the body is kept as %s", got)
		}
	})
}

func TestEntriesThatAreLostWhileNothingCanBeWrittenAreCountedTogether(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		gone, cancel := context.WithCancel(context.Background())
		cancel()
		for range 5 {
			for range 10_500 {
				in.App.Logs.Note(logs.Entry{Workspace: in.Workspace, Kind: logs.Domain, CreatedAt: in.Clock.Now()})
			}
			if err := in.App.Logs.Flush(gone); err == nil {
				t.Fatal("the entries were written")
			}
		}
		lost := in.App.Logs.Lost()
		settle(t, in)
		want := fmt.Sprintf("%d log entries were lost because too many came at once.; 500 log entries were lost because too many came at once.", lost-500)
		if got := messages(list(t, in, "kind=system&level=warning")); got != want {
			t.Errorf("the tape says %q, want %q", got, want)
		}
	})
}

func TestEntriesEndWithTheRetentionOfThePlan(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		ask := func(key string) int {
			listed := rows(in.CallAs(key, http.MethodGet, "/logs?limit=200", nil, nil), "data")
			if found := rows(in.CallAs(key, http.MethodGet, "/logs?search=domains", nil, nil), "data"); len(found) != len(listed) {
				t.Errorf("of %d entries %d are found", len(listed), len(found))
			}
			return len(listed)
		}
		_, free := in.NewWorkspace(plan.Free)
		_, pro := in.NewWorkspace(plan.Pro)
		for _, key := range []string{free, pro} {
			in.CallAs(key, http.MethodDelete, "/domains/"+in.DomainID, nil, nil) // which is not theirs
		}
		settle(t, in)
		if ask(free) != 1 || ask(pro) != 1 {
			t.Fatalf("at first there are %d and %d entries", ask(free), ask(pro))
		}
		entry := fmt.Sprintf("/logs/%v", rows(in.CallAs(free, http.MethodGet, "/logs", nil, nil), "data")[0]["id"])
		const day = 24 * time.Hour
		began := in.Clock.Now()
		at := func(age time.Duration, wantFree, wantPro int) {
			t.Helper()
			in.Clock.Advance(age - in.Clock.Now().Sub(began))
			for _, when := range []string{"before", "after"} {
				if ask(free) != wantFree || ask(pro) != wantPro {
					t.Errorf("%v on, %s a sweep, there are %d and %d entries", age, when, ask(free), ask(pro))
				}
				for _, w := range in.App.Logs.Workers() {
					in.Finish(w.Step)
				}
			}
		}
		at(7*day-time.Minute, 1, 1)
		if answer := in.CallAs(free, http.MethodGet, entry, nil, nil); answer.Status != http.StatusOK {
			t.Errorf("in its last minute the entry is answered with %d", answer.Status)
		}
		at(7*day+time.Minute, 0, 1)
		if answer := in.CallAs(free, http.MethodGet, entry, nil, nil); answer.Status != http.StatusNotFound {
			t.Errorf("after a week the entry is answered with %d", answer.Status)
		}
		at(90*day-time.Minute, 0, 1)
		at(90*day+time.Minute, 0, 0)
		err := in.App.DB.Read(context.Background(), func(tx *db.Tx) error {
			for _, table := range []string{"log_entry", "log_search"} {
				if left, err := db.One(tx, db.Value[int64], `SELECT COUNT(*) FROM `+table); err != nil || left != 0 {
					t.Errorf("in the end %s has %d rows: %v", table, left, err)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

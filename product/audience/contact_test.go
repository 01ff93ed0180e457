package audience_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"

	"postrider/product/plan"
)

func TestAConsentWithoutASourceSaysSo(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		made := h.must(201, "POST", "/contacts", fields{"email": "ann@example.net", "consent": fields{"ip": "198.51.100.7"}})
		if source, has := made.Body["consent"].(fields)["source"]; !has || source != nil {
			t.Errorf("source: %#v", source)
		}
	})
}

func TestAContactIsAnsweredWhole(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list := h.made("/audience/lists", "Newsletter", nil)
		topic := h.made("/topics", "Product news", fields{"visibility": "public"})
		h.property("plan", "string")
		h.property("seats", "number")
		segment := h.made("/segments", "Pros", fields{"filter": fields{"type": "rule", "field": "properties.plan", "operator": "eq", "value": "PRO"}})
		created := h.must(201, "POST", "/audience/contacts", fields{"email": "Ann@Example.NET", "first_name": "Ann", "list_id": list, "properties": fields{"plan": "pro", "seats": 5},
			"topics": []fields{{"id": topic, "subscription": "opt_out"}}, "consent": fields{"source": "form", "ip": "198.51.100.7"}})

		if got := created.Pick("object", "email", "first_name", "last_name", "unsubscribed", "status", "properties", "segment_ids", "suppressed", "suppression_reason", "created", "last_emailed_at"); got !=
			fmt.Sprintf(`["contact","ann@example.net","Ann",null,false,"subscribed",{"plan":"pro","seats":5},[%q],false,null,true,null]`, segment) {
			t.Error(got)
		}
		lists, topics := created.Body["lists"].([]any)[0].(fields), created.Body["topics"].([]any)[0].(fields)
		if lists["id"] != list || lists["name"] != "Newsletter" || lists["status"] != "subscribed" || lists["confirmed_at"] != nil || lists["consent"].(fields)["source"] != "form" {
			t.Error(lists)
		}
		if topics["id"] != topic || topics["subscription"] != "opt_out" || created.Body["consent"].(fields)["ip"] != "198.51.100.7" {
			t.Errorf("%s", created.Raw)
		}
		for _, name := range []string{created.Text("id"), "ANN@example.net", url.PathEscape("ann@example.net")} {
			for _, base := range []string{"/contacts/", "/audience/contacts/", "/audiences/" + list + "/contacts/", "/audiences/" + segment + "/contacts/"} {
				read := h.must(200, "GET", base+name, nil)
				delete(created.Body, "created")
				if fmt.Sprint(read.Body) != fmt.Sprint(created.Body) {
					t.Errorf("GET %s%s: %s", base, name, read.Raw)
				}
			}
		}
		if got := h.news(created.Text("id")); got != "created" {
			t.Error(got)
		}
	})
}

func TestAnUpsertNeverBringsBackWhoLeft(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list := h.made("/audience/lists", "Newsletter", nil)
		id := h.contact("ann@example.net", fields{"list_id": list})
		link := h.unsubscribeLink("ann@example.net", "", list)
		if answer := h.ask("POST", link, []byte("List-Unsubscribe=One-Click"), map[string]string{"Content-Type": "application/x-www-form-urlencoded"}); answer.Status != 200 {
			t.Fatalf("%d %s", answer.Status, answer.Raw)
		}
		if got := h.membership(id, list); got != "unsubscribed" {
			t.Fatal(got)
		}
		h.must(200, "POST", "/contacts", fields{"email": "ann@example.net", "list_id": list, "unsubscribed": false})
		if got := h.membership(id, list); got != "unsubscribed" {
			t.Errorf("an upsert made it %s", got)
		}

		link = h.unsubscribeLink("ann@example.net", "", "")
		h.ask("POST", link, []byte("List-Unsubscribe=One-Click"), map[string]string{"Content-Type": "application/x-www-form-urlencoded"})
		for _, body := range []fields{{"unsubscribed": false}, {"first_name": "Ann"}, {}} {
			body["email"] = "ann@example.net"
			if answer := h.must(200, "POST", "/contacts", body); answer.Pick("unsubscribed", "status", "created") != `[true,"unsubscribed",false]` {
				t.Errorf("%v: %s", body, answer.Raw)
			}
			if answer := h.must(200, "PATCH", "/contacts/"+id, body); answer.Pick("unsubscribed", "status") != `[true,"unsubscribed"]` {
				t.Errorf("%v: %s", body, answer.Raw)
			}
		}
		started := h.must(202, "POST", "/audience/contacts/import", fields{"list_id": list, "contacts": []fields{{"email": "ann@example.net", "unsubscribed": false}}})
		h.work()
		if got := h.must(200, "GET", "/contacts/imports/"+started.Text("id"), nil).Pick("status"); got != `["completed"]` {
			t.Error(got)
		}
		h.follow()
		if answer := h.must(200, "GET", "/contacts/"+id, nil); answer.Pick("unsubscribed", "suppressed", "suppression_reason") != `[true,true,"unsubscribe"]` || h.membership(id, list) != "unsubscribed" {
			t.Errorf("%s", answer.Raw)
		}

		back := h.must(200, "POST", "/contacts", fields{"email": "ann@example.net", "list_id": list, "resubscribe": true})
		if back.Pick("unsubscribed", "status", "suppressed") != `[false,"subscribed",false]` || h.membership(id, list) != "subscribed" {
			t.Errorf("%s", back.Raw)
		}
		h.must(404, "GET", "/suppressions/ann@example.net", nil)
		if got := h.news(id); !strings.Contains(got, "unsubscribed") {
			t.Error(got)
		}
	})
}

func TestWhoWasUnsubscribedByTheCustomerComesBack(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.contact("ann@example.net", fields{"unsubscribed": true})
		if got := h.must(200, "GET", "/contacts/"+id, nil).Pick("unsubscribed", "status"); got != `[true,"unsubscribed"]` {
			t.Error(got)
		}
		h.must(200, "POST", "/contacts", fields{"email": "ann@example.net"})
		if got := h.must(200, "GET", "/contacts/"+id, nil).Pick("unsubscribed"); got != `[true]` {
			t.Error(got)
		}
		if got := h.must(200, "PATCH", "/contacts/"+id, fields{"unsubscribed": false}).Pick("unsubscribed", "status"); got != `[false,"subscribed"]` {
			t.Error(got)
		}
	})
}

func TestConflictsAreSettledAsAsked(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.contact("ann@example.net", fields{"first_name": "Ann"})
		skipped := h.must(200, "POST", "/contacts", fields{"email": "ann@example.net", "first_name": "Eve", "on_conflict": "skip"})
		if skipped.Pick("first_name", "created") != `["Ann",false]` {
			t.Errorf("%s", skipped.Raw)
		}
		refused := h.must(409, "POST", "/contacts", fields{"email": "ANN@example.net", "on_conflict": "error"})
		if refused.Text("error", "code") != "already_exists" || refused.Text("error", "details", "id") != id {
			t.Errorf("%s", refused.Raw)
		}
		h.contact("eve@example.net", nil)
		if refused := h.must(409, "PATCH", "/contacts/"+id, fields{"email": "eve@example.net"}); refused.Text("error", "code") != "already_exists" {
			t.Errorf("%s", refused.Raw)
		}
		moved := h.must(200, "PATCH", "/contacts/"+id, fields{"email": "anna@example.org", "last_name": "Lee"})
		if moved.Pick("id", "email", "first_name", "last_name") != fmt.Sprintf(`[%q,"anna@example.org","Ann","Lee"]`, id) {
			t.Errorf("%s", moved.Raw)
		}
		if got := h.must(200, "GET", "/contacts?search=anna", nil).Column("email"); got != "anna@example.org" {
			t.Error(got)
		}
		if got := h.must(200, "GET", "/contacts?search=ann%20example%20net", nil).Column("email"); got != "" {
			t.Error(got)
		}
	})
}

func TestWrongContactsAreRefused(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		h.property("plan", "string")
		h.property("seats", "number")
		h.property("vip", "boolean")
		h.property("since", "date")
		for title, c := range map[string]struct {
			change fields
			want   string
		}{
			"no address":        {fields{"email": ""}, "email: Not an email address: "},
			"two addresses":     {fields{"email": "a@b.test, c@d.test"}, "email: Not an email address: "},
			"header":            {fields{"email": "a@b.test\r\nBcc: c@d.test"}, "email: Not an email address: "},
			"unknown property":  {fields{"properties": fields{"nope": 1}}, "properties.nope: There is no such property. Define it first."},
			"text for a number": {fields{"properties": fields{"seats": "5"}}, "properties.seats: Must be a number."},
			"number for a text": {fields{"properties": fields{"plan": 5}}, "properties.plan: Must be a string."},
			"no truth":          {fields{"properties": fields{"vip": "yes"}}, "properties.vip: Must be true or false."},
			"no date":           {fields{"properties": fields{"since": "soon"}}, "properties.since: Must be a date"},
			"long text":         {fields{"properties": fields{"plan": strings.Repeat("x", 501)}}, "properties.plan: Must be text of at most 500"},
			"NUL":               {fields{"first_name": "a\x00"}, "first_name: Must be one line"},
			"long name":         {fields{"last_name": strings.Repeat("x", 101)}, "last_name: Must be one line"},
			"list":              {fields{"list_id": nobody}, "list_id: There is no such list."},
			"topic":             {fields{"topics": []fields{{"id": nobody, "subscription": "opt_in"}}}, "topics[0].id: There is no such topic."},
			"subscription":      {fields{"topics": []fields{{"id": nobody, "subscription": "yes"}}}, "topics[0].subscription: Must be opt_in or opt_out."},
			"segment":           {fields{"segments": []string{nobody}}, "segments[0]: There is no such segment."},
			"conflict":          {fields{"on_conflict": "maybe"}, "on_conflict: Must be update, skip or error."},
		} {
			body := fields{"email": "ann@example.net"}
			for key, value := range c.change {
				body[key] = value
			}
			if answer := h.must(400, "POST", "/contacts", body); !strings.HasPrefix(answer.Problems(), c.want) {
				t.Errorf("%s: %s", title, answer.Problems())
			}
		}
		if got := h.must(200, "GET", "/contacts", nil).Pick("total", "data"); got != "[0,[]]" {
			t.Error(got)
		}
	})
}

func TestTheLastSlotsOfThePlanAreTakenOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		_, key := h.NewWorkspace(plan.Free)
		var rows []fields
		for i := range 995 {
			rows = append(rows, fields{"email": fmt.Sprintf("c%d@example.net", i)})
		}
		h.CallAs(key, "POST", "/contacts/imports", fields{"contacts": rows}, nil)
		h.work()
		h.Clock.Advance(1e10)
		var mu sync.Mutex
		var all sync.WaitGroup
		statuses := map[int]int{}
		for i := range 12 {
			all.Go(func() {
				answer := h.CallAs(key, "POST", "/contacts", fields{"email": fmt.Sprintf("late%d@example.net", i)}, nil)
				mu.Lock()
				defer mu.Unlock()
				statuses[answer.Status]++
				if answer.Status == 402 && answer.Text("error", "code") != "contact_quota_exceeded" {
					t.Errorf("%s", answer.Raw)
				}
			})
		}
		all.Wait()
		if statuses[201] != 5 || statuses[402] != 7 {
			t.Errorf("%v", statuses)
		}
	})
}

func TestAnImportIntoAFullPlanChangesThoseWhoAreThere(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		_, key := h.NewWorkspace(plan.Free)
		var rows []fields
		for i := range 1000 {
			rows = append(rows, fields{"email": fmt.Sprintf("c%d@example.net", i)})
		}
		h.CallAs(key, "POST", "/contacts/imports", fields{"contacts": rows}, nil)
		h.work()
		h.Clock.Advance(1e10)
		mixed := []fields{{"email": "c0@example.net", "first_name": "Ann"}, {"email": "late@example.net"}, {"email": "c1@example.net", "first_name": "Bob"}}

		refused := h.CallAs(key, "POST", "/contacts/imports", fields{"contacts": mixed, "on_conflict": "skip"}, nil)
		taken := h.CallAs(key, "POST", "/contacts/imports", fields{"contacts": mixed}, nil)
		h.work()

		if refused.Status != 402 || refused.Text("error", "code") != "contact_quota_exceeded" {
			t.Errorf("an import that can change nothing: %s", refused.Raw)
		}
		if taken.Status != 202 {
			t.Fatalf("%d %s", taken.Status, taken.Raw)
		}
		im := h.CallAs(key, "GET", "/contacts/imports/"+taken.Text("id"), nil, nil)
		if got := im.Pick("status", "counts", "errors"); got != `["completed",{"created":0,"failed":1,"skipped":0,"total":3,"updated":2},`+
			`[{"email":"late@example.net","message":"The plan has no room for more contacts.","row":2}]]` {
			t.Error(got)
		}
		if got := h.CallAs(key, "GET", "/contacts/c1@example.net", nil, nil).Text("first_name"); got != "Bob" {
			t.Errorf("the name is %q", got)
		}
		if got := h.CallAs(key, "GET", "/contacts/late@example.net", nil, nil).Status; got != 404 {
			t.Errorf("%d for one too many", got)
		}
	})
}

func TestOddTextOfContactsIsReturnedAsItWasSent(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		h.property("note", "string")
		for i, odd := range []string{"\u202eابجد", "👩‍👩‍👧‍👦", "a\u200bb", `'"\` + "`", "'; DROP TABLE contact; --", "%_{in $1}$1", "<script>&amp;", "{{env \"PATH\"}} ${7*7}"} {
			email := fmt.Sprintf("odd%d@example.net", i)
			h.contact(email, fields{"first_name": odd, "properties": fields{"note": odd}})
			read := h.must(200, "GET", "/contacts/"+email, nil)
			if read.Text("first_name") != odd || read.Text("properties", "note") != odd {
				t.Errorf("%q is %s", odd, read.Raw)
			}
			raw, _ := json.Marshal(odd)
			g := h.must(201, "POST", "/segments", fields{"name": odd, "filter": json.RawMessage(fmt.Sprintf(`{"type":"rule","field":"properties.note","operator":"contains","value":%s}`, raw))})
			if got := h.must(200, "GET", "/segments/"+g.Text("id")+"/contacts", nil).Column("email"); got != email {
				t.Errorf("%q finds %q", odd, got)
			}
		}
	})
}

func TestADeletedContactIsGoneEverywhere(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list, topic, segment := h.made("/audience/lists", "A", nil), h.made("/topics", "B", nil), h.made("/segments", "C", nil)
		id := h.contact("ann@example.net", fields{"list_id": list, "topics": []fields{{"id": topic, "subscription": "opt_out"}}, "segments": []fields{{"id": segment}}})
		h.contact("bob@example.net", nil)
		if got := h.must(200, "GET", "/topics/"+topic, nil).Pick("subscriber_count"); got != "[1]" {
			t.Error(got)
		}
		gone := h.must(200, "DELETE", "/contacts/ann@example.net", nil)
		if gone.Pick("object", "id", "contact", "deleted") != fmt.Sprintf(`["contact",%q,%q,true]`, id, id) {
			t.Errorf("%s", gone.Raw)
		}
		h.must(404, "GET", "/contacts/"+id, nil)
		h.must(404, "DELETE", "/contacts/"+id, nil)
		if got := h.must(200, "GET", "/audience/lists/"+list, nil).Pick("contact_count", "subscribed_count"); got != "[0,0]" {
			t.Error(got)
		}
		if got := h.must(200, "GET", "/topics/"+topic, nil).Pick("subscriber_count"); got != "[1]" {
			t.Error(got)
		}
		if got := h.must(200, "GET", "/segments/"+segment+"/contacts", nil).Column("email"); got != "" {
			t.Error(got)
		}
		if got := h.must(200, "GET", "/contacts?search=ann", nil).Column("email"); got != "" {
			t.Error(got)
		}
		if h.news(id) != "created deleted" {
			t.Error(h.news(id))
		}
	})
}

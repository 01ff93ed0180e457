package audience_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/product/plan"
)

func TestListsHaveUniqueNamesAndPages(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		made := h.must(201, "POST", "/audience/lists", fields{"name": " Newsletter ", "description": "News", "double_opt_in": true, "confirmation": fields{"from": sender, "redirect_url": "https://acme.test/thanks"}})
		if made.Pick("object", "name", "description", "double_opt_in", "contact_count") != `["audience","Newsletter","News",true,0]` || made.Text("confirmation", "redirect_url") != "https://acme.test/thanks" {
			t.Errorf("%s", made.Raw)
		}
		for _, base := range []string{"/audience/lists", "/segments", "/topics"} {
			first := h.made(base, "Same", nil)
			refused := h.must(409, "POST", base, fields{"name": "SAME"})
			if refused.Text("error", "code") != "already_exists" || refused.Text("error", "details", "id") != first {
				t.Errorf("%s: %s", base, refused.Raw)
			}
			second := h.made(base, "Other", nil)
			h.must(409, "PATCH", base+"/"+second, fields{"name": "same"})
			if got := h.must(200, "PATCH", base+"/"+second, fields{"name": "OTHER", "description": "x"}).Pick("name", "description"); got != `["OTHER","x"]` {
				t.Error(got)
			}
			if got := h.must(200, "PATCH", base+"/"+second, fields{}).Pick("name", "description"); got != `["OTHER","x"]` {
				t.Error(got)
			}
			if got := h.must(200, "GET", base+"?search=oth", nil).Pick("total", "has_more"); got != "[1,false]" {
				t.Error(got)
			}
			page := h.must(200, "GET", base+"?limit=1&after="+second, nil)
			if page.Body["data"].([]any)[0].(fields)["id"] != first {
				t.Errorf("%s", page.Raw)
			}
			h.must(400, "GET", base+"?limit=201", nil)
			h.must(400, "GET", base+"?after="+nobody, nil)
			h.must(400, "GET", base+"?offset=1&after="+first, nil)
			for _, name := range []string{"", " ", strings.Repeat("x", 121), "a\nb"} {
				h.must(400, "POST", base, fields{"name": name})
			}
		}
		for _, url := range []string{"javascript:alert(1)", "//evil.test", "https://", "ftp://x.test", "https://a.test/\r\nX: y", "https://user:pass@a.test/"} {
			if refused := h.must(400, "POST", "/audience/lists", fields{"name": "x", "confirmation": fields{"redirect_url": url}}); !strings.HasPrefix(refused.Problems(), "confirmation.redirect_url") {
				t.Errorf("%s: %s", url, refused.Raw)
			}
		}
	})
}

func TestAListNamesATemplateThatIsThere(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		letter := h.made("/templates", "Letter", fields{"alias": "letter", "html": `<a href="{{{CONFIRMATION_URL}}}">Yes</a>`})
		h.made("/templates", "Later", fields{"alias": "later", "html": "<p>Hi</p>", "draft": true})
		list := h.made("/audience/lists", "Good", fields{"confirmation": fields{"template_id": "letter"}})
		for _, name := range []string{"unknown", nobody, "later", "../x"} {
			body := fields{"name": "Bad", "confirmation": fields{"template_id": name}}
			for _, refused := range []apptest.Answer{h.must(400, "POST", "/audience/lists", body), h.must(400, "PATCH", "/audience/lists/"+list, body)} {
				if refused.Problems() != "confirmation.template_id: There is no published template with this id or alias." {
					t.Errorf("%s: %s", name, refused.Raw)
				}
			}
		}
		h.must(200, "PATCH", "/audience/lists/"+list, fields{"confirmation": fields{"template_id": letter}})
		h.must(200, "DELETE", "/templates/"+letter, nil)
		h.must(200, "PATCH", "/audience/lists/"+list, fields{"name": "Renamed", "confirmation": fields{"template_id": letter}})
		if got := h.must(200, "PATCH", "/audience/lists/"+list, fields{"confirmation": nil}).Pick("name", "confirmation"); !strings.HasPrefix(got, `["Renamed",`) || !strings.Contains(got, `"template_id":null`) {
			t.Error(got)
		}
	})
}

func TestAnAudienceHasTheFieldsOfItsRow(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list := h.made("/audiences", "Newsletter", fields{"description": "News", "double_opt_in": true, "confirmation": fields{"from": sender}})
		segment := h.made("/segments", "Friends", fields{"description": "Close ones"})
		h.contact("ann@example.net", fields{"list_ids": []string{list}, "segments": []string{segment}})
		row, _ := json.Marshal(h.must(200, "GET", "/audiences", nil).Body["data"].([]any)[0])
		one, _ := json.Marshal(h.must(200, "GET", "/audiences/"+list, nil).Body)
		if string(one) != string(row) {
			t.Errorf("%s, in the list %s", one, row)
		}
		h.Clock.Advance(time.Hour) // segments are counted anew now and then
		if got := h.must(200, "GET", "/audiences/"+segment, nil).Pick("object", "name", "description", "double_opt_in", "contact_count", "subscribed_count"); got != `["audience","Friends","Close ones",false,1,0]` {
			t.Errorf("a segment: %s", got)
		}
	})
}

func TestTopicsAreAnsweredForEveryContact(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		news := h.made("/topics", "News", fields{"visibility": "public", "description": "Monthly"})
		ads := h.made("/topics", "Ads", fields{"defaultSubscription": "opt_out"})
		id := h.contact("ann@example.net", nil)
		h.contact("bob@example.net", nil)
		if got := string(h.must(200, "GET", "/contacts/"+id+"/topics", nil).Raw); !strings.Contains(got, fmt.Sprintf(`{"id":%q,"name":"News","description":"Monthly","subscription":"opt_in","explicit":false}`, news)) ||
			!strings.Contains(got, fmt.Sprintf(`{"id":%q,"name":"Ads","description":null,"subscription":"opt_out","explicit":false}`, ads)) {
			t.Error(got)
		}
		if got := h.must(200, "GET", "/contacts/"+id+"/topics?search=EW", nil); got.Column("name") != "News" || got.Pick("total") != "[1]" {
			t.Errorf("searched for: %s", got.Raw)
		}
		if got := h.must(200, "POST", "/contacts/ann@example.net/topics", fields{"topic_id": ads}).Pick("id", "subscription", "explicit"); got != fmt.Sprintf(`[%q,"opt_in",true]`, ads) {
			t.Error(got)
		}
		changed := h.must(200, "PATCH", "/contacts/"+id+"/topics", []fields{{"id": news, "subscription": "opt_out"}, {"id": ads, "subscription": "opt_in"}})
		if changed.Pick("object", "id", "contact_id") != fmt.Sprintf(`["contact_topics",%q,%q]`, id, id) || len(changed.Body["topics"].([]any)) != 2 {
			t.Errorf("%s", changed.Raw)
		}
		if a, b := h.must(200, "GET", "/topics/"+news, nil).Pick("subscriber_count"), h.must(200, "GET", "/topics/"+ads, nil).Pick("subscriber_count"); a != "[1]" || b != "[1]" {
			t.Error(a, b)
		}
		left := h.must(200, "DELETE", "/contacts/"+id+"/topics/"+ads, nil)
		if left.Pick("object", "id", "contact_id", "subscription", "deleted") != fmt.Sprintf(`["contact_topic",%q,%q,"opt_out",true]`, ads, id) {
			t.Errorf("%s", left.Raw)
		}
		if got := h.must(200, "GET", "/topics/"+ads, nil).Pick("subscriber_count", "default_subscription"); got != `[0,"opt_out"]` {
			t.Error(got)
		}
		h.must(400, "PATCH", "/topics/"+ads, fields{"default_subscription": "opt_in"})
		h.must(200, "PATCH", "/topics/"+ads, fields{"id": ads, "name": "Offers", "default_subscription": "opt_out"})
		h.must(404, "POST", "/contacts/"+id+"/topics", fields{"topic_id": nobody})
		for _, method := range []string{"POST", "PATCH"} {
			refused := h.must(400, method, "/contacts/"+id+"/topics", map[string]any{"POST": fields{"subscription": "opt_in"}, "PATCH": []fields{{"subscription": "opt_in"}}}[method])
			if want := map[string]string{"POST": "topic_id: A topic is required.", "PATCH": "topics[0].id: A topic is required."}[method]; refused.Problems() != want {
				t.Errorf("%s without a topic: %s", method, refused.Raw)
			}
		}
		for _, body := range []any{fields{}, fields{"topics": []fields{{"id": news, "subscription": "x"}}}, []fields{}, "x"} {
			h.must(400, "PATCH", "/contacts/"+id+"/topics", body)
		}
		if got := h.must(200, "GET", "/contacts?topic_id="+news, nil).Column("email"); got != "bob@example.net" {
			t.Error(got)
		}
	})
}

func TestPropertiesAreTyped(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		made := h.must(201, "POST", "/contact-properties", fields{"key": "plan", "type": "string", "fallback_value": "free", "label": "Plan"})
		if made.Pick("object", "key", "type", "fallback_value", "label") != `["contact_property","plan","string","free","Plan"]` {
			t.Errorf("%s", made.Raw)
		}
		if refused := h.must(409, "POST", "/contact-properties", fields{"key": "plan", "type": "number"}); refused.Text("error", "code") != "already_exists" {
			t.Errorf("%s", refused.Raw)
		}
		for title, body := range map[string]fields{"capital": {"key": "Plan", "type": "string"}, "digit": {"key": "1a", "type": "string"}, "long": {"key": strings.Repeat("a", 51), "type": "string"},
			"type": {"key": "a", "type": "object"}, "fallback": {"key": "a", "type": "number", "fallback_value": "x"}, "nothing": {}} {
			if answer := h.Call("POST", "/contact-properties", body); answer.Status != 400 {
				t.Errorf("%s: %d", title, answer.Status)
			}
		}
		if refused := h.must(400, "PATCH", "/contact-properties/"+made.Text("id"), fields{"fallback_value": 1, "key": "other", "type": "number"}); refused.Problems() !=
			"fallback_value: Must be a string.; key: Cannot be changed. Make another property.; type: Cannot be changed. Make another property." {
			t.Errorf("%s", refused.Problems())
		}
		if got := h.must(200, "PATCH", "/contact-properties/"+made.Text("id"), fields{"fallback_value": "none", "key": "plan", "type": "string"}).Pick("key", "type", "fallback_value"); got != `["plan","string","none"]` {
			t.Error(got)
		}
		h.property("seats", "number")
		h.property("vip", "boolean")
		h.property("since", "date")
		id := h.contact("ann@example.net", fields{"properties": fields{"seats": 2.5, "vip": true, "since": "2026-11-01T02:00:00+02:00"}})
		if got := h.must(200, "GET", "/contacts/"+id, nil).Pick("properties"); got != `[{"seats":2.5,"since":"2026-11-01T00:00:00.000Z","vip":true}]` {
			t.Error(got)
		}
		set := h.must(200, "PUT", "/contacts/"+id+"/properties/plan", fields{"value": "pro"})
		if set.Pick("object", "key", "value", "effective_value") != `["contact_property_value","plan","pro","pro"]` || set.Body["updated_at"] == nil {
			t.Errorf("%s", set.Raw)
		}
		gone := h.must(200, "PUT", "/contacts/ann@example.net/properties/"+made.Text("id"), fields{"value": nil})
		if gone.Pick("value", "effective_value", "updated_at") != `[null,"none",null]` {
			t.Errorf("%s", gone.Raw)
		}
		for path, value := range map[string]any{"plan": 5, "seats": "x", "vip": 1, "since": "soon"} {
			if refused := h.must(400, "PUT", "/contacts/"+id+"/properties/"+path, fields{"value": value}); !strings.HasPrefix(refused.Problems(), "value: Must be") {
				t.Errorf("%s: %s", path, refused.Raw)
			}
		}
		h.must(400, "PUT", "/contacts/"+id+"/properties/plan", fields{})
		h.must(404, "PUT", "/contacts/"+id+"/properties/nope", fields{"value": 1})
		if got := h.must(200, "GET", "/contacts/"+id+"/properties", nil).Pick("total"); got != "[4]" {
			t.Error(got)
		}
	})
}

func TestThingsOfOthersAreNotFound(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list, segment, topic, property := h.made("/audience/lists", "A", nil), h.made("/segments", "B", nil), h.made("/topics", "C", nil), h.property("plan", "string")
		contact := h.contact("ann@example.net", nil)
		_, other := h.NewWorkspace(plan.Pro)
		mine := h.CallAs(other, "POST", "/contacts", fields{"email": "ann@example.net"}, nil)
		if mine.Status != 201 || mine.Text("id") == contact {
			t.Fatalf("%s", mine.Raw)
		}
		for path, body := range map[string]fields{
			"POST /contacts/" + mine.Text("id") + "/topics": {"topic_id": topic}, "POST /contacts/" + mine.Text("id") + "/segments/" + segment: nil,
			"PUT /contacts/" + mine.Text("id") + "/properties/" + property: {"value": "x"}, "GET /audiences/" + list: nil, "GET /audiences/" + list + "/contacts": nil,
			"GET /segments/" + segment + "/contacts": nil, "GET /contacts?list_id=" + list: nil, "GET /contacts?segment_id=" + segment: nil, "GET /contacts?topic_id=" + topic: nil,
			"POST /audience/contacts/" + contact + "/erase": nil, "GET /audience/contacts/export?list_id=" + list: nil,
		} {
			method, path, _ := strings.Cut(path, " ")
			if answer := h.CallAs(other, method, path, body, nil); answer.Status != 404 {
				t.Errorf("%s %s: %d %s", method, path, answer.Status, answer.Raw)
			}
		}
		for field, value := range map[string]any{"list_id": list, "segments": []string{segment}, "topics": []fields{{"id": topic, "subscription": "opt_in"}}, "properties": fields{"plan": "x"}} {
			if answer := h.CallAs(other, "POST", "/contacts", fields{"email": "eve@example.net", field: value}, nil); answer.Status != 400 {
				t.Errorf("%s: %d %s", field, answer.Status, answer.Raw)
			}
		}
		h.must(200, "GET", "/contacts/"+contact, nil)
	})
}

func TestContactsAreListedByWhatTheyAre(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list := h.made("/audience/lists", "A", nil)
		h.contact("ann@example.net", fields{"first_name": "Ann", "last_name": "Müller", "list_id": list})
		h.contact("bob@example.org", fields{"first_name": "Bob", "unsubscribed": true})
		h.contact("eve@example.net", fields{"list_id": list})
		for query, want := range map[string]string{
			"":                                    "eve@example.net bob@example.org ann@example.net",
			"limit=1&offset=1":                    "bob@example.org",
			"list_id=" + list:                     "eve@example.net ann@example.net",
			"audience_id=" + list:                 "eve@example.net ann@example.net",
			"status=unsubscribed":                 "bob@example.org",
			"status=subscribed,unsubscribed":      "eve@example.net bob@example.org ann@example.net",
			"email=BOB@example.org":               "bob@example.org",
			"search=m%C3%BCl":                     "ann@example.net",
			"search=ANN%20example":                "ann@example.net",
			"search=example":                      "eve@example.net bob@example.org ann@example.net",
			"search=nobody":                       "",
			"search=%25":                          "",
			"search=ann%22%20OR%20%22bob":         "",
			"since=2100-01-01T00:00:00Z":          "",
			"until=2100-01-01T00:00:00Z":          "eve@example.net bob@example.org ann@example.net",
			"list_id=" + list + "&search=eve":     "eve@example.net",
			"list_id=" + list + "&status=pending": "",
		} {
			if got := h.must(200, "GET", "/contacts?"+query, nil).Column("email"); got != want {
				t.Errorf("%s: %s", query, got)
			}
		}
		if got := h.must(200, "GET", "/contacts?search=example&limit=1", nil).Pick("total", "has_more"); got != "[3,true]" {
			t.Error(got)
		}
		for _, query := range []string{"limit=501", "status=x", "email=x", "since=x", "after=" + nobody, "search=" + strings.Repeat("x", 400)} {
			h.must(400, "GET", "/contacts?"+query, nil)
		}
	})
}

func TestOfSeveralListsSegmentsOrTopicsOneIsEnough(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		out := fields{"default_subscription": "opt_out"}
		first, second := h.made("/audience/lists", "A", nil), h.made("/audience/lists", "B", nil)
		quiet, silent := h.made("/topics", "Quiet", out), h.made("/topics", "Silent", out)
		opted := func(topic string) []fields { return []fields{{"id": topic, "subscription": "opt_in"}} }
		h.contact("ann@example.net", fields{"list_id": first, "topics": opted(quiet)})
		h.contact("bob@example.net", fields{"list_id": second})
		h.contact("eve@example.net", fields{"topics": opted(silent)})
		h.contact("joe@example.net", nil)
		segment := func(address string) string {
			return h.made("/segments", address, fields{"filter": rule("email", "eq", address)})
		}
		bobs, eves := segment("bob@example.net"), segment("eve@example.net")
		for query, want := range map[string]string{
			"list_id=" + first + "," + second:                 "bob@example.net ann@example.net",
			"list_id=" + first + "&list_id=" + second:         "bob@example.net ann@example.net",
			"list_id=" + first + "," + second + "&search=bob": "bob@example.net",
			"segment_id=" + bobs + "," + eves:                 "eve@example.net bob@example.net",
			"segment_id=" + bobs + "," + eves + "&limit=1":    "eve@example.net",
			"topic_id=" + quiet + "," + silent:                "eve@example.net ann@example.net",
			"topic_id=" + quiet + "&list_id=" + first:         "ann@example.net",
			"topic_id=" + quiet + "&list_id=" + second:        "",
		} {
			if got := h.must(200, "GET", "/contacts?"+query, nil).Column("email"); got != want {
				t.Errorf("%s: %s", query, got)
			}
		}
		if got := h.must(200, "GET", "/contacts?list_id="+first+","+second, nil).Pick("total"); got != "[2]" {
			t.Errorf("in all: %s", got)
		}
		h.must(404, "GET", "/contacts?list_id="+first+","+nobody, nil)
		h.must(400, "GET", "/contacts?list_id="+strings.Repeat(first+",", 20)+second, nil)
	})
}

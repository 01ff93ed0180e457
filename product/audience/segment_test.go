package audience_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"postrider/platform/db"
	"postrider/product/audience"
)

func rule(field, operator string, value any) fields {
	return fields{"type": "rule", "field": field, "operator": operator, "value": value}
}

func TestASegmentIsItsFilterAndWhatWasDoneByHand(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		h.property("plan", "string")
		for _, c := range []struct{ email, plan string }{{"a@example.net", "pro"}, {"b@example.net", "Pro"}, {"c@example.net", "free"}} {
			h.contact(c.email, fields{"properties": fields{"plan": c.plan}})
		}
		d := h.contact("d@example.net", nil)
		made := h.must(201, "POST", "/segments", fields{"name": "Pros", "filter": rule("properties.plan", "eq", "PRO")})
		id := made.Text("id")
		if made.Pick("object", "type", "contact_count", "description") != `["segment","dynamic",2,null]` || made.Body["counted_at"] == nil {
			t.Errorf("%s", made.Raw)
		}
		added := h.must(200, "POST", "/segments/"+id+"/contacts", fields{"contact_ids": []string{d, nobody}, "emails": []string{"C@example.net", "nobody@example.net", "bad"}})
		if added.Pick("object", "segment_id", "added", "already", "not_found") != fmt.Sprintf(`["segment_contacts",%q,2,0,[%q,"nobody@example.net","bad"]]`, id, nobody) {
			t.Errorf("%s", added.Raw)
		}
		if got := h.must(200, "POST", "/segments/"+id+"/contacts", fields{"contact_ids": []string{d}}).Pick("added", "already"); got != "[0,1]" {
			t.Error(got)
		}
		taken := h.must(200, "DELETE", "/segments/"+id+"/contacts/a@example.net", nil)
		if taken.Pick("object", "segment_id", "deleted") != fmt.Sprintf(`["contact_segment",%q,true]`, id) {
			t.Errorf("%s", taken.Raw)
		}
		h.must(404, "DELETE", "/segments/"+id+"/contacts/a@example.net", nil)
		if got := h.must(200, "GET", "/segments/"+id+"/contacts", nil).Column("email"); got != "d@example.net c@example.net b@example.net" {
			t.Error(got)
		}
		if got := h.must(200, "GET", "/segments/"+id, nil).Pick("contact_count"); got != "[3]" {
			t.Error(got)
		}
		h.must(200, "POST", "/contacts/a@example.net/segments/"+id, nil)
		if got := h.must(200, "GET", "/contacts?segment_id="+id, nil).Column("email"); got != "d@example.net c@example.net b@example.net a@example.net" {
			t.Error(got)
		}
		if got := h.must(200, "GET", "/contacts/a@example.net/segments", nil).Pick("total"); got != "[1]" {
			t.Error(got)
		}
		h.must(200, "DELETE", "/contacts/d@example.net/segments/"+id, nil)
		page := h.must(200, "GET", "/segments/"+id+"/contacts?limit=2", nil)
		last := page.Body["data"].([]any)[1].(fields)["id"].(string)
		rest := h.must(200, "GET", "/segments/"+id+"/contacts?limit=2&after="+last, nil)
		back := h.must(200, "GET", "/segments/"+id+"/contacts?limit=2&before="+rest.Body["data"].([]any)[0].(fields)["id"].(string), nil)
		if page.Column("email") != "c@example.net b@example.net" || rest.Column("email") != "a@example.net" || back.Column("email") != page.Column("email") || rest.Body["has_more"] != false {
			t.Errorf("%s / %s / %s", page.Column("email"), rest.Column("email"), back.Column("email"))
		}
		if got := h.must(200, "GET", "/segments/"+id+"/contacts?search=b", nil).Column("email"); got != "b@example.net" {
			t.Error(got)
		}
	})
}

func TestSegmentsNameOthersButNeverThemselves(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		h.contact("a@example.net", nil)
		h.contact("b@example.org", nil)
		net := h.made("/segments", "Net", fields{"filter": rule("email_domain", "eq", "example.net")})
		others := h.made("/segments", "Others", fields{"filter": rule("segments", "not_member_of", net)})
		if got := h.must(200, "GET", "/segments/"+others+"/contacts", nil).Column("email"); got != "b@example.org" {
			t.Error(got)
		}
		for id, other := range map[string]string{net: others, others: others} {
			refused := h.must(400, "PATCH", "/segments/"+id, fields{"filter": rule("segments", "member_of", other)})
			if refused.Problems() != "filter: The segment would depend on itself." {
				t.Error(refused.Problems())
			}
		}
		refused := h.must(409, "DELETE", "/segments/"+net, nil)
		if refused.Text("error", "code") != "resource_in_use" || !strings.Contains(string(refused.Raw), others) {
			t.Errorf("%s", refused.Raw)
		}
		h.must(200, "DELETE", "/segments/"+others, nil)
		h.must(200, "DELETE", "/segments/"+net, nil)
		chain := h.made("/segments", "0", fields{"filter": rule("email", "exists", nil)})
		for i := 1; ; i++ {
			rules := []fields{rule("segments", "member_of", chain), rule("segments", "member_of", chain), rule("segments", "member_of", chain)}
			answer := h.Call("POST", "/segments", fields{"name": fmt.Sprint(i), "filter": fields{"type": "or", "rules": rules}})
			if answer.Status == 400 && strings.Contains(answer.Problems(), "at most 200 rules") {
				break
			}
			if answer.Status != 201 || i > 10 {
				t.Fatalf("%d: %s", i, answer.Raw)
			}
			chain = answer.Text("id")
		}
	})
}

func TestTheFilterLanguageIsClosed(t *testing.T) {
	t.Parallel()
	deep := rule("email", "eq", "x")
	for range 6 {
		deep = fields{"type": "and", "rules": []fields{deep}}
	}
	var many, fifty []fields
	for i := range 51 {
		many = append(many, rule("email", "eq", fmt.Sprint(i)))
	}
	fifty = many[:50]
	each(t, func(t *testing.T, h *house) {
		h.property("plan", "string")
		h.property("seats", "number")
		h.property("since", "date")
		topic := h.made("/topics", "News", nil)
		for title, c := range map[string]struct {
			filter any
			want   string
		}{
			"text":            {"email = 'x'", "filter: Must be a tree of rules"},
			"list":            {[]fields{rule("email", "eq", "x")}, "filter: Must be a tree of rules"},
			"type":            {fields{"type": "sql", "rules": []fields{}}, "filter.type: Must be rule, and, or or not."},
			"too deep":        {deep, "filter.rules[0].rules[0].rules[0].rules[0].rules[0]: Must be nested at most 5 deep."},
			"too many":        {fields{"type": "or", "rules": many}, "filter.rules[50]: Must have at most 50 rules."},
			"empty":           {fields{"type": "and", "rules": []fields{}}, "filter.rules: At least one rule is required."},
			"two nots":        {fields{"type": "not", "rules": many[:2]}, "filter.rules: A not has exactly one rule."},
			"field":           {rule("workspace_id", "eq", "x"), "filter.field: There is no such field."},
			"sub-select":      {rule("email) OR 1=1 --", "eq", "x"), "filter.field: There is no such field."},
			"property":        {rule("properties.nope", "eq", "x"), "filter.field: There is no such property."},
			"topic":           {rule("topics."+nobody, "eq", "opt_in"), "filter.field: There is no such topic."},
			"event":           {rule("event.plan", "eq", "x"), "filter.field: Only automations know an event."},
			"regex":           {rule("email", "matches", "(a+)+$"), "filter.operator: Must be one of: eq, neq, contains"},
			"operator":        {rule("properties.seats", "contains", "x"), "filter.operator: Must be one of: eq, neq, gt"},
			"number":          {rule("properties.seats", "eq", "5"), "filter.value: Must be a number."},
			"no value":        {rule("email", "eq", nil), "filter.value: Must be text."},
			"object":          {rule("email", "eq", fields{"$ne": 1}), "filter.value: Must be text."},
			"NUL":             {rule("email", "eq", "a\x00"), "filter.value: Must be text of at most"},
			"long":            {rule("email", "eq", strings.Repeat("a", 2001)), "filter.value: Must be text of at most"},
			"one for a list":  {rule("email", "in", "x"), "filter.value: Must be a list of 1 to 100 values, each text."},
			"null in a list":  {rule("email", "in", []any{"x", nil}), "filter.value: Must be a list"},
			"empty list":      {rule("email", "in", []string{}), "filter.value: Must be a list"},
			"date":            {rule("properties.since", "gt", "yesterday"), "filter.value: Must be an RFC 3339 time"},
			"span":            {rule("created_at", "within_last", "a while"), "filter.value: Must be a number of hours"},
			"long span":       {rule("created_at", "within_last", "999999999999 days"), "filter.value: Must be a number of hours"},
			"unknown list":    {rule("lists", "member_of", nobody), "filter.value: There is no such list."},
			"unknown segment": {rule("segments", "member_of", nobody), "filter.value: There is no such segment."},
			"topic value":     {rule("topics."+topic, "eq", "maybe"), "filter.value: Must be opt_in or opt_out."},
			"nested":          {fields{"type": "and", "rules": []fields{rule("email", "exists", nil), rule("email", "eq", 5)}}, "filter.rules[1].value: Must be text."},
			"infinite":        {json.RawMessage(`{"type":"rule","field":"properties.seats","operator":"eq","value":1e999}`), "filter.value: Must be a number."},
		} {
			begun := time.Now()
			answer := h.must(400, "POST", "/segments", fields{"name": "x", "filter": c.filter})
			if !strings.HasPrefix(answer.Problems(), c.want) || time.Since(begun) > 20*time.Second {
				t.Errorf("%s: %s", title, answer.Problems())
			}
		}
		abyss := strings.Repeat(`{"type":"and","rules":[`, 9000) + strings.Repeat(`]}`, 9000)
		if answer := h.must(400, "POST", "/segments", []byte(`{"name":"x","filter":`+abyss+`}`)); answer.Problems() == "" {
			t.Errorf("%.200s", answer.Raw)
		}
		h.must(201, "POST", "/segments", fields{"name": "Fifty", "filter": fields{"type": "or", "rules": fifty}})
		if got := h.must(200, "GET", "/segments", nil).Pick("total"); got != "[1]" {
			t.Error(got)
		}
	})
}

func TestListsTopicsAndPropertiesInUseStay(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list, topic, property := h.made("/audience/lists", "A", nil), h.made("/topics", "B", nil), h.property("plan", "string")
		ann := h.contact("ann@example.net", fields{"list_id": list, "properties": fields{"plan": "pro"}})
		segment := h.made("/segments", "C", fields{"filter": fields{"type": "and", "rules": []fields{rule("lists", "member_of", list), rule("topics."+topic, "eq", "opt_in"), rule("properties.plan", "exists", nil)}}})
		if got := h.must(200, "GET", "/segments/"+segment+"/contacts", nil).Column("email"); got != "ann@example.net" {
			t.Error(got)
		}
		things := []string{"/audience/lists/" + list, "/topics/" + topic, "/contact-properties/" + property}
		for _, path := range things {
			if refused := h.must(409, "DELETE", path, nil); refused.Text("error", "code") != "resource_in_use" {
				t.Errorf("%s", refused.Raw)
			}
		}
		h.must(200, "DELETE", "/segments/"+segment, nil)
		for _, path := range things {
			h.must(200, "DELETE", path, nil)
			h.must(404, "GET", path, nil)
		}
		if got := h.must(200, "GET", "/contacts/"+ann, nil).Pick("lists", "topics", "properties", "status"); got != `[[],[],{},"subscribed"]` {
			t.Error(got)
		}
	})
}

func TestWhatUsesAListIsToldInTheOrderInWhichItWasMade(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list := h.made("/audience/lists", "A", nil)
		var want []string
		for _, name := range []string{"F", "B", "D", "A", "E", "C"} {
			want = append(want, h.made("/segments", name, fields{"filter": rule("lists", "member_of", list)}))
		}
		var answer struct {
			Error struct {
				Details struct{ Resources []audience.Use }
			}
		}
		if err := json.Unmarshal(h.must(409, "DELETE", "/audience/lists/"+list, nil).Raw, &answer); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, use := range answer.Error.Details.Resources {
			got = append(got, use.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	})
}

func TestTroubleOfTheDatabaseDoesNotMakeASegmentOfNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		segment := h.made("/segments", "A", nil)
		var asked error
		_ = h.App.DB.Write(context.Background(), func(tx *db.Tx) error { // taken back by the error
			if _, err := tx.Exec(`ALTER TABLE segment RENAME TO broken`); err != nil {
				t.Fatal(err)
			}
			_, asked = h.App.Audience.IsSegment(tx, h.Workspace, segment)
			return errors.New("taken back")
		})
		if asked == nil {
			t.Error("a question that was not answered was taken for a no")
		}
	})
}

func TestASpanOfCenturiesHoldsEverybody(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		h.contact("ann@example.net", nil)
		for operator, want := range map[string]string{"within_last": "1", "not_within_last": "0"} {
			made := h.must(201, "POST", "/segments", fields{"name": operator, "filter": rule("created_at", operator, "20000 weeks")})
			if got := made.Text("contact_count"); got != want {
				t.Errorf("%s: %s people, want %s", operator, got, want)
			}
		}
	})
}

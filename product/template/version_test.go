package template_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/platform/db"
)

func TestAChangeOfTheSourceIsLiveAtOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.create(fields{"subject": "One", "text": "one", "variables": []fields{{"key": "A"}, {"key": "B", "fallback_value": "x"}}})
		before := h.must(200, "GET", "/templates/"+id, nil)

		after := h.must(200, "PATCH", "/templates/"+id, fields{"html": "<p>Two</p>", "note": "New", "variables": []fields{{"key": "B", "fallback_value": "y"}, {"key": "C"}}})

		if got := after.Pick("active_version", "latest_version", "version_count", "html", "text", "subject", "status"); got != `[2,2,2,"\u003cp\u003eTwo\u003c/p\u003e","one","One","published"]` {
			t.Errorf("%s", got)
		}
		old, now := before.Body["variables"].([]any), after.Body["variables"].([]any)
		if old[1].(fields)["id"] != now[0].(fields)["id"] || old[0].(fields)["id"] == now[1].(fields)["id"] || now[0].(fields)["created_at"] != old[1].(fields)["created_at"] {
			t.Errorf("%v became %v", old, now)
		}
		first, second := h.must(200, "GET", "/templates/"+id+"/versions/1", nil), h.must(200, "GET", "/templates/"+id+"/versions/2", nil)
		if first.Pick("active", "html", "note") != `[false,"\u003cp\u003eHi\u003c/p\u003e",null]` || second.Pick("active", "note") != `[true,"New"]` || first.Text("checksum") == second.Text("checksum") {
			t.Errorf("%s\n%s", first.Raw, second.Raw)
		}
	})
}

func TestADescriptionIsNoVersion(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.create(nil)
		// Some SDKs send the fields they do not change as empty text.
		after := h.must(200, "PATCH", "/templates/"+id, fields{"name": "Other", "description": "About", "html": "", "text": "", "unknown": 1})
		if got := after.Pick("name", "description", "latest_version", "html"); got != `["Other","About",1,"\u003cp\u003eHi\u003c/p\u003e"]` {
			t.Errorf("%s", got)
		}
		after = h.must(200, "PATCH", "/templates/"+id, fields{"name": "", "description": nil})
		if got := after.Pick("name", "description"); got != `["Other",null]` {
			t.Errorf("%s", got)
		}
		for query, want := range map[string]float64{"other": 1, "welcome": 0} {
			if total := h.must(200, "GET", "/templates?search="+query, nil).Body["total"]; total != want {
				t.Errorf("%v are found as %s", total, query)
			}
		}
	})
}

func TestPartsAreTakenAwayWithNull(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.create(fields{"text": "Hi", "from": "a@acme.test", "subject": "S", "reply_to": []string{"b@acme.test"}})
		after := h.must(200, "PATCH", "/templates/"+id, fields{"text": nil, "from": nil, "subject": "", "replyTo": []string{}})
		if got := after.Pick("text", "from", "subject", "reply_to"); got != `[null,null,null,[]]` {
			t.Errorf("%s", got)
		}
		if answer := h.must(400, "PATCH", "/templates/"+id, fields{"html": nil}); answer.Problems() != "html: Either html or text is required." {
			t.Errorf("%s", answer.Raw)
		}
		if answer := h.must(400, "PATCH", "/templates/"+id, fields{"html": "{{#if"}); !strings.HasPrefix(answer.Problems(), "html: Line 1, column 1:") {
			t.Errorf("%s", answer.Raw)
		}
	})
}

func TestALostUpdateIsRefused(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.create(nil)
		h.must(200, "PATCH", "/templates/"+id, fields{"html": "2"}, "If-Match", `"1"`)
		refused := h.must(409, "PATCH", "/templates/"+id, fields{"html": "3"}, "If-Match", `"1"`)
		if code(refused) != "invalid_state" || details(refused) != `{"allowed":[2],"current":2}` {
			t.Errorf("%s", refused.Raw)
		}
		h.must(200, "PATCH", "/templates/"+id, fields{"html": "3"}, "If-Match", `W/"2"`)
		h.must(200, "PATCH", "/templates/"+id, fields{"html": "4"}, "If-Match", "*")
	})
}

func TestParallelChangesAreNumberedOneByOne(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.create(nil)
		var all sync.WaitGroup
		for i := range 12 {
			all.Go(func() {
				if answer := h.as(h.Key, "PATCH", "/templates/"+id, fields{"html": fmt.Sprint("v", i)}); answer.Status != 200 {
					t.Errorf("%d %s", answer.Status, answer.Raw)
				}
			})
		}
		all.Wait()
		list := h.must(200, "GET", "/templates/"+id+"/versions?limit=200", nil)
		rows := list.Body["data"].([]any)
		active := 0
		for i, row := range rows {
			row := row.(fields)
			if row["version"] != float64(13-i) {
				t.Errorf("row %d has version %v", i, row["version"])
			}
			if row["active"] == true {
				active++
			}
			if _, ok := row["html"]; ok {
				t.Error("a list has html")
			}
		}
		if len(rows) != 13 || active != 1 || list.Body["total"] != 13.0 {
			t.Errorf("%d versions, %d active, total %v", len(rows), active, list.Body["total"])
		}
		page := h.must(200, "GET", "/templates/"+id+"/versions?limit=5&offset=10", nil)
		if got := len(page.Body["data"].([]any)); got != 3 || page.Body["has_more"] != false {
			t.Errorf("%s", page.Raw)
		}
	})
}

func TestDraftsWaitToBePublished(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.create(fields{"subject": "One", "text": "one", "from": "a@acme.test", "variables": []fields{{"key": "A"}}})

		saved := h.must(200, "PUT", "/templates/"+id+"/draft", fields{"subject": "Two", "html": "<p>Two</p>"})
		draft, _ := saved.Body["draft"].(fields)
		if saved.Pick("has_draft", "has_unpublished_versions", "subject", "active_version") != `[true,true,"One",1]` || draft["subject"] != "Two" || draft["html"] != "<p>Two</p>" ||
			draft["text"] != nil || draft["from"] != "a@acme.test" || draft["updated_at"] == nil {
			t.Errorf("%s", saved.Raw)
		}
		replaced := h.must(200, "PUT", "/templates/"+id+"/draft", fields{"text": "three"})
		if draft, _ := replaced.Body["draft"].(fields); draft["html"] != nil || draft["subject"] != nil || draft["text"] != "three" {
			t.Errorf("%s", replaced.Raw)
		}
		h.must(200, "PUT", "/templates/"+id+"/draft", fields{"html": "<p>Three</p>", "subject": "Three"})
		published := h.must(200, "POST", "/templates/"+id+"/publish", fields{})
		if got := published.Pick("has_draft", "draft", "subject", "active_version", "text", "from"); got != `[false,null,"Three",2,null,"a@acme.test"]` {
			t.Errorf("%s", got)
		}
		if again := h.must(200, "POST", "/templates/"+id+"/publish", nil); again.Pick("active_version", "updated_at") != published.Pick("active_version", "updated_at") {
			t.Errorf("publishing nothing changed %s", again.Raw)
		}
		h.Clock.Advance(time.Hour)
		back := h.must(200, "POST", "/templates/"+id+"/publish", fields{"version": 1})
		if first := h.must(200, "GET", "/templates/"+id+"/versions/1", nil); first.Text("activated_at") != back.Text("published_at") || first.Text("activated_at") == first.Text("created_at") {
			t.Errorf("%s", first.Raw)
		}
		if got := back.Pick("active_version", "latest_version", "subject"); got != `[1,2,"One"]` {
			t.Errorf("%s", got)
		}
		h.must(404, "POST", "/templates/"+id+"/publish", fields{"version": 3})
		h.must(400, "POST", "/templates/"+id+"/publish", fields{"version": 0})
		next := h.must(200, "PATCH", "/templates/"+id, fields{"subject": "Four"})
		if got := next.Pick("active_version", "subject", "text"); got != `[3,"Four","one"]` {
			t.Errorf("a change follows the active version: %s", got)
		}
	})
}

func TestATemplateCanBeginAsADraft(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.create(fields{"draft": true, "html": "{{#if x}}", "subject": "One"})
		made := h.must(200, "GET", "/templates/"+id, nil)
		if got := made.Pick("status", "active_version", "latest_version", "current_version_id", "html", "has_draft", "published_at"); got != `["draft",null,0,null,null,true,null]` {
			t.Errorf("%s", got)
		}
		if _, err := h.render(id, theActive, nil); err == nil || !strings.Contains(err.Error(), "validation_error") {
			t.Errorf("a draft was rendered: %v", err)
		}
		refused := h.must(422, "POST", "/templates/"+id+"/publish", nil)
		if code(refused) != "template_render_failed" || details(refused) != `{"column":1,"line":1,"missing":[],"part":"html"}` {
			t.Errorf("%s", refused.Raw)
		}
		if answer := h.must(400, "PATCH", "/templates/"+id, fields{"subject": "Two"}); !strings.HasPrefix(answer.Problems(), "html: Line 1, column 1:") {
			t.Errorf("%s", answer.Raw)
		}
		copied := h.must(201, "POST", "/templates/"+id+"/duplicate", nil)
		if got := copied.Pick("status", "name", "active_version"); got != `["draft","Welcome (copy)",null]` {
			t.Errorf("%s", got)
		}
		h.must(200, "PUT", "/templates/"+id+"/draft", fields{"html": "fine"})
		if got := h.must(200, "POST", "/templates/"+id+"/publish", nil).Pick("status", "active_version", "html"); got != `["published",1,"fine"]` {
			t.Errorf("%s", got)
		}
		changed := h.must(200, "PATCH", "/templates/"+copied.Text("id"), fields{"html": "changed"})
		if got := changed.Pick("status", "active_version", "has_draft", "html", "subject"); got != `["published",1,false,"changed","One"]` {
			t.Errorf("%s", got)
		}
	})
}

func TestACopyStandsOnItsOwn(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.create(fields{"alias": "welcome", "subject": "One", "description": "About", "variables": []fields{{"key": "A"}}})
		h.must(200, "PATCH", "/templates/welcome", fields{"subject": "Two"})

		copied := h.must(201, "POST", "/templates/welcome/duplicate", fields{"name": "Other"})

		if got := copied.Pick("name", "alias", "subject", "active_version", "description"); got != `["Other",null,"Two",1,"About"]` || copied.Text("id") == id {
			t.Errorf("%s", copied.Raw)
		}
		h.must(200, "PATCH", "/templates/"+copied.Text("id"), fields{"subject": "Three"})
		if got := h.must(200, "GET", "/templates/welcome", nil).Text("subject"); got != "Two" {
			t.Errorf("the original says %s", got)
		}
		long := h.create(fields{"name": strings.Repeat("ü", 120)})
		if got := h.must(201, "POST", "/templates/"+long+"/duplicate", nil).Text("name"); len([]rune(got)) != 120 || !strings.HasSuffix(got, " (copy)") {
			t.Errorf("%s", got)
		}
	})
}

func TestAnArchivedTemplateIsOnlyReadable(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.create(fields{"alias": "welcome"})
		for range 2 {
			if gone := h.must(200, "DELETE", "/templates/"+id, nil); string(gone.Raw) != fmt.Sprintf(`{"object":"template","id":%q,"deleted":true}`+"\n", id) {
				t.Errorf("%s", gone.Raw)
			}
		}
		read := h.must(200, "GET", "/templates/"+id, nil)
		if read.Pick("status", "alias", "html") != `["archived",null,"\u003cp\u003eHi\u003c/p\u003e"]` || read.Body["archived_at"] == nil {
			t.Errorf("%s", read.Raw)
		}
		for method, path := range map[string]string{"PATCH": "", "PUT": "/draft", "POST": "/publish"} {
			refused := h.must(409, method, "/templates/"+id+path, fields{"html": "x"})
			if code(refused) != "invalid_state" || details(refused) != `{"allowed":["published","draft"],"current":"archived"}` {
				t.Errorf("%s: %s", method, refused.Raw)
			}
		}
		h.must(200, "GET", "/templates/"+id+"/versions/1", nil)
		h.must(200, "POST", "/templates/"+id+"/preview", nil)
		if _, err := h.render(id, theActive, nil); err == nil || !strings.Contains(err.Error(), "validation_error") {
			t.Errorf("an archived template was rendered: %v", err)
		}
		h.must(404, "GET", "/templates/welcome", nil)
		again := h.create(fields{"alias": "welcome"})
		if err := h.App.DB.Read(context.Background(), func(tx *db.Tx) error {
			count, err := h.templates.Count(tx, h.Workspace)
			if count != 1 {
				t.Errorf("%d templates are counted", count)
			}
			return err
		}); err != nil {
			t.Error(err)
		}
		list := h.must(200, "GET", "/templates", nil)
		if rows := list.Body["data"].([]any); len(rows) != 1 || rows[0].(fields)["id"] != again {
			t.Errorf("%s", list.Raw)
		}
		if rows := h.must(200, "GET", "/templates?status=archived", nil).Body["data"].([]any); len(rows) != 1 || rows[0].(fields)["id"] != id {
			t.Errorf("archived: %v", rows)
		}
	})
}

func TestVersionsHaveNumbers(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.create(nil)
		for _, wrong := range []string{"2", "0", "-1", "x", "1.0", "99999999999999999999", "draft"} {
			if answer := h.must(404, "GET", "/templates/"+id+"/versions/"+wrong, nil); details(answer) != `{"resource":"template_version"}` {
				t.Errorf("%s: %s", wrong, answer.Raw)
			}
		}
	})
}

func TestTheBodyMayBeMissingOrBroken(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.create(nil)
		h.must(200, "PATCH", "/templates/"+id, "")
		for _, body := range []string{"[", `"x"`, `{"html":{}}`, `{"variables":{}}`, `{"variables":[1]}`, `{"reply_to":5}`} {
			answer := h.must(400, "PATCH", "/templates/"+id, body)
			if code(answer) != "validation_error" || answer.Problems() == "" {
				t.Errorf("%s: %s", body, answer.Raw)
			}
		}
		var list struct {
			Data []json.RawMessage `json:"data"`
		}
		if err := json.Unmarshal(h.must(200, "GET", "/templates/"+id+"/versions", nil).Raw, &list); err != nil || len(list.Data) != 1 {
			t.Errorf("%d versions, %v", len(list.Data), err)
		}
	})
}

func TestAKeyOfOneDomainPublishesNoTemplateOfAnother(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		other := h.VerifiedDomain(h.Workspace, "other.test")
		narrow := h.Browse("POST", "/v1/api-keys", fields{"name": "narrow", "preset": "full_access", "domain_ids": []string{other}}).Text("key")
		own, foreign := h.create(fields{"from": "a@other.test"}), h.create(fields{"from": "a@acme.test"})
		plain := h.create(nil)
		h.must(200, "PUT", "/templates/"+own+"/draft", fields{"from": "a@acme.test", "html": "<p>Draft</p>"})
		h.must(200, "PATCH", "/templates/"+plain, fields{"from": "a@acme.test"})
		h.must(200, "PATCH", "/templates/"+plain, fields{"from": ""})
		moved := h.create(fields{"from": "a@other.test"})
		h.must(200, "PATCH", "/templates/"+moved, fields{"from": "a@acme.test"})

		for title, c := range map[string]struct {
			method, path string
			body         any
		}{
			"a new template":             {"POST", "/templates", fields{"name": "New", "from": "Acme <a@ACME.test>", "html": "<p>Hi</p>"}},
			"another sender":             {"PATCH", "/templates/" + own, fields{"from": "a@acme.test"}},
			"a sender for one without":   {"PATCH", "/templates/" + plain, fields{"from": "a@acme.test"}},
			"a draft":                    {"POST", "/templates/" + own + "/publish", nil},
			"an old version":             {"POST", "/templates/" + plain + "/publish", fields{"version": 2}},
			"a copy":                     {"POST", "/templates/" + foreign + "/duplicate", fields{}},
			"the text of another":        {"PATCH", "/templates/" + foreign, fields{"html": "<p>Mine</p>"}},
			"the sender of another":      {"PATCH", "/templates/" + foreign, fields{"from": "a@other.test"}},
			"the alias of another":       {"PATCH", "/templates/" + foreign, fields{"alias": "mine"}},
			"the end of another":         {"DELETE", "/templates/" + foreign, nil},
			"an old version of another":  {"POST", "/templates/" + foreign + "/publish", fields{"version": 1}},
			"one that was its own":       {"POST", "/templates/" + moved + "/publish", fields{"version": 1}},
			"a domain that is not there": {"PATCH", "/templates/" + own, fields{"from": "a@nowhere.test"}},
		} {
			if refused := h.as(narrow, c.method, c.path, c.body); refused.Status != 403 || code(refused) != "domain_not_allowed" {
				t.Errorf("%s: %d %s", title, refused.Status, refused.Raw)
			}
		}
		for id, want := range map[string]string{own: `["a@other.test",1]`, foreign: `["a@acme.test",1]`, plain: `[null,3]`, moved: `["a@acme.test",2]`} {
			if got := h.must(200, "GET", "/templates/"+id, nil).Pick("from", "active_version"); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}

		for title, answer := range map[string]apptest.Answer{
			"its own sender":    h.as(narrow, "PATCH", "/templates/"+own, fields{"html": "<p>Changed</p>", "from": "b@other.test"}),
			"no sender":         h.as(narrow, "PATCH", "/templates/"+plain, fields{"html": "<p>Changed</p>"}),
			"a template":        h.as(narrow, "POST", "/templates", fields{"name": "New", "from": "a@other.test", "html": "<p>Hi</p>"}),
			"one that is saved": h.as(narrow, "POST", "/templates", fields{"name": "New", "from": "a@acme.test", "html": "<p>Hi</p>", "draft": true}),
			"a free key":        h.as(h.Key, "POST", "/templates/"+own+"/publish", nil),
		} {
			if answer.Status >= 300 {
				t.Errorf("%s: %d %s", title, answer.Status, answer.Raw)
			}
		}
	})
}

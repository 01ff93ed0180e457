package template_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"postrider/product/plan"
)

func TestNewTemplateIsAnsweredWhole(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		answer := h.must(201, "POST", "/templates", fields{"name": " Welcome ", "alias": "welcome", "from": "Acme <hello@acme.test>", "subject": "Hi {{{FIRST_NAME|there}}}",
			"reply_to": "support@acme.test", "preview_text": "Two minutes", "html": "<p>Hi {{FIRST_NAME}}</p>{{#if plan}}<p>{{plan}}</p>{{/if}}", "text": "Hi {{FIRST_NAME}}",
			"variables": []fields{{"key": "FIRST_NAME", "type": "string", "fallback_value": "there"}}, "note": "First"})

		body := answer.Body
		variable := body["variables"].([]any)[0].(fields)
		for _, known := range []string{"id", "current_version_id", "created_at", "updated_at", "published_at"} {
			if text, _ := body[known].(string); text == "" {
				t.Errorf("%s is %v", known, body[known])
			}
		}
		version, id := answer.Text("current_version_id"), answer.Text("id")
		want := fields{"object": "template", "id": id, "name": "Welcome", "alias": "welcome", "description": nil, "status": "published", "active_version": 1.0,
			"latest_version": 1.0, "version_count": 1.0, "current_version_id": version, "has_draft": false, "has_unpublished_versions": false,
			"from": "Acme <hello@acme.test>", "subject": "Hi {{{FIRST_NAME|there}}}", "reply_to": []any{"support@acme.test"}, "preview_text": "Two minutes",
			"html": "<p>Hi {{FIRST_NAME}}</p>{{#if plan}}<p>{{plan}}</p>{{/if}}", "text": "Hi {{FIRST_NAME}}", "engine": "handlebars", "inline_css": false,
			"variables": []any{fields{"id": variable["id"], "key": "FIRST_NAME", "type": "string", "fallback_value": "there", "required": false,
				"created_at": variable["created_at"], "updated_at": variable["updated_at"]}},
			"draft": nil, "created_at": body["created_at"], "updated_at": body["created_at"], "published_at": body["created_at"], "archived_at": nil}
		if fmt.Sprint(body) != fmt.Sprint(want) {
			t.Errorf("got  %v\nwant %v", body, want)
		}
		for _, name := range []string{id, "welcome"} {
			read := h.must(200, "GET", "/templates/"+name, nil)
			if fmt.Sprint(read.Body) != fmt.Sprint(body) || read.Header.Get("ETag") != `"1"` {
				t.Errorf("GET %s: %v", name, read.Body)
			}
		}
		first := h.must(200, "GET", "/templates/welcome/versions/1", nil)
		if got := first.Pick("object", "id", "template_id", "version", "active", "subject", "html", "text", "note"); got !=
			fmt.Sprintf(`["template_version",%q,%q,1,true,"Hi {{{FIRST_NAME|there}}}","\u003cp\u003eHi {{FIRST_NAME}}\u003c/p\u003e{{#if plan}}\u003cp\u003e{{plan}}\u003c/p\u003e{{/if}}","Hi {{FIRST_NAME}}","First"]`, version, id) {
			t.Errorf("version: %s", got)
		}
		if !strings.HasPrefix(first.Text("checksum"), "sha256:") || len(first.Text("checksum")) != 71 || first.Text("created_by") == "" {
			t.Errorf("version: %s", first.Raw)
		}
	})
}

func TestWrongFieldsOfATemplateAreNamed(t *testing.T) {
	t.Parallel()
	variable := func(more fields) fields {
		v := fields{"key": "A", "type": "string"}
		maps.Copy(v, more)
		return fields{"variables": []fields{v}}
	}
	var many []fields
	for i := range 51 {
		many = append(many, fields{"key": fmt.Sprint("V", i)})
	}
	const alias = "alias: Must have 1 to 64 lower-case letters, digits or hyphens and begin with a letter or a digit."
	each(t, func(t *testing.T, h *house) {
		for title, c := range map[string]struct {
			change fields
			want   string
		}{
			"no name":              {fields{"name": ""}, "name: Must be one line of 1 to 120 characters."},
			"long name":            {fields{"name": strings.Repeat("ü", 121)}, "name: Must be one line of 1 to 120 characters."},
			"lines in a name":      {fields{"name": "a\nb"}, "name: Must be one line of 1 to 120 characters."},
			"no body":              {fields{"html": ""}, "html: Either html or text is required."},
			"capital alias":        {fields{"alias": "Welcome"}, alias},
			"long alias":           {fields{"alias": strings.Repeat("a", 65)}, alias},
			"hyphen first":         {fields{"alias": "-a"}, alias},
			"line end in alias":    {fields{"alias": "a\n"}, alias},
			"render":               {fields{"alias": "render"}, "alias: This alias is reserved. Choose another one."},
			"test-send":            {fields{"alias": "test-send"}, "alias: This alias is reserved. Choose another one."},
			"an id":                {fields{"alias": nobody}, "alias: This alias is reserved. Choose another one."},
			"sender":               {fields{"from": "nobody"}, "from: Not an email address: "},
			"sender with a header": {fields{"from": "a@b.test\r\nBcc: c@d.test"}, "from: Not an email address: "},
			"reply to":             {fields{"reply_to": []string{"a@b.test", "x"}}, "reply_to[1]: Not an email address: "},
			"eleven replies":       {fields{"reply_to": slices.Repeat([]string{"a@b.test"}, 11)}, "reply_to: At most 10 addresses are allowed."},
			"subject with a line":  {fields{"subject": "a\r\nBcc: b"}, "subject: Must be one line of at most 998 characters."},
			"long subject":         {fields{"subject": strings.Repeat("x", 999)}, "subject: Must be one line of at most 998 characters."},
			"preview with a line":  {fields{"preview_text": "a\nb"}, "preview_text: Must be one line of at most 500 characters."},
			"long preview":         {fields{"preview_text": strings.Repeat("x", 501)}, "preview_text: Must be one line of at most 500 characters."},
			"NUL":                  {fields{"html": "a\x00"}, "html: Must have at most 5 MB and no NUL characters."},
			"program in a text":    {fields{"text": "begin 644 x.exe\n#0V%T\n`\nend\n"}, "text: File type .exe is not allowed."},
			"long note":            {fields{"note": strings.Repeat("x", 501)}, "note: Must have at most 500 characters and no NUL."},
			"syntax":               {fields{"html": "<p>\n {{#if a}}"}, "html: Line 2, column 2: The block if is never closed: {{/if}} is missing."},
			"syntax of parts":      {fields{"subject": "{{", "text": "{{/x}}"}, "subject: Line 1, column 1: The tag is not closed: }} is missing.; text: Line 1, column 1: {{/x}} closes a block that was not opened."},
			"helper":               {fields{"html": `{{env "PATH"}}`}, "html: Line 1, column 1: Only names can stand between braces; there are no helpers to call: env \"PATH\"."},
			"51 variables":         {fields{"variables": many}, "variables: At most 50 variables are allowed."},
			"key":                  {variable(fields{"key": "a-b"}), "variables[0].key: Must have 1 to 50 letters, digits or underscores and not begin with a digit."},
			"type":                 {variable(fields{"type": "date"}), "variables[0].type: Must be string, number, boolean, object or list."},
			"fallback":             {variable(fields{"type": "number", "fallback_value": "x"}), "variables[0].fallback_value: Must be a number, as the type says."},
			"long fallback":        {variable(fields{"fallback_value": strings.Repeat("x", 8<<10)}), "variables[0].fallback_value: Must have at most 8192 bytes."},
			"fallback and require": {variable(fields{"fallback_value": "x", "required": true}), "variables[0].required: A variable with a fallback is never required."},
			"twice":                {fields{"variables": []fields{{"key": "A"}, {"key": "A"}}}, "variables[1].key: The variable is declared twice."},
			"html is a number":     {fields{"html": 5}, "html: Must be a string."},
			"variables is text":    {fields{"variables": "A"}, "variables: Must be "},
		} {
			body := fields{"name": "Welcome", "html": "<p>Hi</p>"}
			maps.Copy(body, c.change)
			if answer := h.must(400, "POST", "/templates", body); !strings.HasPrefix(answer.Problems(), c.want) {
				t.Errorf("%s: %s", title, answer.Problems())
			}
		}
		if answer := h.must(413, "POST", "/templates", fields{"name": "x", "html": strings.Repeat("x", 4<<20)}); code(answer) != "payload_too_large" {
			t.Errorf("%s", answer.Raw)
		}
		if total := h.must(200, "GET", "/templates", nil).Body["total"]; total != 0.0 {
			t.Errorf("%v templates were made", total)
		}
	})
}

func TestOddTextIsReturnedAsItWasSent(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		for _, odd := range []string{"\u202eابجد", "👩‍👩‍👧‍👦", "a\u200bb", `'"\` + "`", "'; DROP TABLE template; --", "%_{in $1}$1", "<script>&amp;", "{% x %} ${7*7}"} {
			id := h.create(fields{"name": odd, "html": odd, "subject": odd, "description": odd, "note": odd})
			read := h.must(200, "GET", "/templates/"+id, nil)
			for _, field := range []string{"name", "html", "subject", "description"} {
				if read.Text(field) != odd {
					t.Errorf("%s is %q, want %q", field, read.Text(field), odd)
				}
			}
		}
	})
}

func TestAnAliasBelongsToOneTemplate(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		first := h.create(fields{"alias": "welcome"})
		second := h.create(nil)

		for _, answer := range []struct{ method, path string }{{"POST", "/templates"}, {"PATCH", "/templates/" + second}} {
			refused := h.must(409, answer.method, answer.path, fields{"name": "x", "html": "x", "alias": "welcome"})
			if code(refused) != "already_exists" || details(refused) != fmt.Sprintf(`{"id":%q,"resource":"template"}`, first) {
				t.Errorf("%s", refused.Raw)
			}
		}
		if read := h.must(200, "GET", "/templates/"+second, nil); read.Pick("name", "latest_version", "alias") != `["Welcome",1,null]` {
			t.Errorf("a refused change left %s", read.Raw)
		}
		_, other := h.NewWorkspace(plan.Pro)
		if answer := h.as(other, "POST", "/templates", fields{"name": "x", "html": "x", "alias": "welcome"}); answer.Status != 201 {
			t.Errorf("another workspace: %s", answer.Raw)
		}
		h.must(200, "PATCH", "/templates/welcome", fields{"alias": nil})
		h.must(404, "GET", "/templates/welcome", nil)
		h.must(200, "PATCH", "/templates/"+second, fields{"alias": "welcome"})
		h.must(200, "PATCH", "/templates/"+second, fields{"alias": "welcome"})
		if got := h.must(200, "GET", "/templates/welcome", nil).Text("id"); got != second {
			t.Errorf("the alias names %s", got)
		}
	})
}

func TestTheLastSlotOfThePlanIsTakenOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		_, key := h.NewWorkspace(plan.Free)
		var mu sync.Mutex
		var all sync.WaitGroup
		made := []string{}
		for i := range 14 {
			all.Go(func() {
				answer := h.as(key, "POST", "/templates", fields{"name": fmt.Sprint(i), "html": "x"})
				mu.Lock()
				defer mu.Unlock()
				switch {
				case answer.Status == 201:
					made = append(made, answer.Text("id"))
				case answer.Status != 402 || code(answer) != "template_quota_exceeded" || details(answer) != `{"limit":10,"plan":"free","used":10}`:
					t.Errorf("%d %s", answer.Status, answer.Raw)
				}
			})
		}
		all.Wait()
		if len(made) != 10 {
			t.Fatalf("%d templates", len(made))
		}
		if answer := h.as(key, "POST", "/templates/"+made[0]+"/duplicate", nil); answer.Status != 402 {
			t.Errorf("duplicate: %s", answer.Raw)
		}
		h.Clock.Advance(1e10)
		if answer := h.as(key, "DELETE", "/templates/"+made[0], nil); answer.Status != 200 {
			t.Fatalf("%s", answer.Raw)
		}
		if answer := h.as(key, "POST", "/templates/"+made[0]+"/duplicate", nil); answer.Status != 201 {
			t.Errorf("duplicate after archive: %s", answer.Raw)
		}
	})
}

func TestTemplatesOfOthersAreNotFound(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.create(fields{"alias": "welcome"})
		_, other := h.NewWorkspace(plan.Pro)
		for _, route := range []struct{ method, path string }{
			{"GET", ""}, {"PATCH", ""}, {"DELETE", ""}, {"POST", "/publish"}, {"POST", "/duplicate"}, {"POST", "/preview"}, {"PUT", "/draft"}, {"GET", "/versions"},
			{"GET", "/versions/1"}, {"GET", "/stats"},
		} {
			var first string
			for _, name := range []string{id, "welcome", nobody, "nothing", "A%20b", "..%2f", strings.Repeat("x", 3000)} {
				answer := h.as(other, route.method, "/templates/"+name+route.path, fields{"html": "x"})
				refused := answer.Body["error"].(fields)
				delete(refused, "request_id")
				raw, _ := json.Marshal(refused)
				if first == "" {
					first = string(raw)
				}
				if answer.Status != 404 || string(raw) != first {
					t.Errorf("%s %s%s: %d %s", route.method, name, route.path, answer.Status, answer.Raw)
				}
			}
		}
		if read := h.must(200, "GET", "/templates/"+id, nil); read.Pick("status", "latest_version", "has_draft") != `["published",1,false]` {
			t.Errorf("%s", read.Raw)
		}
	})
}

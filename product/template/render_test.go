package template_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/product/template"
)

// theActive selects the active version.
var theActive = template.Select{}

func TestAMailIsMadeFromTheActiveVersion(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		h.create(fields{"alias": "welcome", "from": "Acme <a@acme.test>", "reply_to": "b@acme.test", "subject": "Hi {{NAME}} & {{{NAME}}}", "html": "<p>Hi {{NAME}}, {{plan}}</p>", "text": "Hi {{NAME}}",
			"variables": []fields{{"key": "plan", "fallback_value": "Free"}}})

		mail, err := h.render("welcome", theActive, template.Values{"NAME": "Ann <3", "extra": 1, "plan": nil})

		if err != nil || mail.Version != 1 || mail.Template == "" || mail.From != "Acme <a@acme.test>" || fmt.Sprint(mail.ReplyTo) != "[b@acme.test]" ||
			mail.Subject != "Hi Ann <3 & Ann <3" || mail.HTML != "<p>Hi Ann &lt;3, Free</p>" || mail.Text != "Hi Ann <3" || fmt.Sprint(mail.Used, mail.Missing) != "[NAME plan] []" {
			t.Errorf("%+v, %v", mail, err)
		}
		h.must(200, "PATCH", "/templates/welcome", fields{"html": "<p>Two</p>", "text": nil, "subject": "S"})
		if mail, err := h.render("welcome", theActive, nil); err != nil || mail.Version != 2 || mail.HTML != "<p>Two</p>" || mail.Text != "Two" {
			t.Errorf("%+v, %v", mail, err)
		}
		if mail, err := h.render("welcome", template.Select{Version: 1}, template.Values{"NAME": "Bo"}); err != nil || mail.Version != 1 || mail.Text != "Hi Bo" {
			t.Errorf("%+v, %v", mail, err)
		}
		h.must(200, "PUT", "/templates/welcome/draft", fields{"html": "<p>Draft</p>"})
		if mail, err := h.render("welcome", template.Select{Draft: true}, nil); err != nil || mail.Version != 0 || mail.HTML != "<p>Draft</p>" {
			t.Errorf("%+v, %v", mail, err)
		}
		for name, which := range map[string]template.Select{"gone": theActive, nobody: theActive, "welcome": {Version: 9}} {
			if _, err := h.render(name, which, nil); !errors.Is(err, api.ErrNotFound) {
				t.Errorf("%s %v: %v", name, which, err)
			}
		}
	})
}

func TestAVersionIsReadOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.create(nil)
		var ready [3]*template.Ready
		for i := range ready {
			if err := h.App.DB.Read(context.Background(), func(tx *db.Tx) (err error) {
				ready[i], err = h.templates.Load(tx, h.Workspace, id, theActive)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			if i == 1 {
				h.must(200, "PATCH", "/templates/"+id, fields{"html": "2"})
			}
		}
		if ready[0] != ready[1] || ready[1] == ready[2] || ready[2].Version != 2 {
			t.Errorf("versions %d, %d and %d", ready[0].Version, ready[1].Version, ready[2].Version)
		}
	})
}

func TestAMissingValueStopsASend(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.create(fields{"subject": "Hi", "html": "<style>p{color:red}</style>\n<p>{{NAME}} {{order.id}}</p>{{#if vip}}{{/if}}", "inline_css": true,
			"variables": []fields{{"key": "vip", "type": "boolean", "required": true}, {"key": "NAME"}}})
		_, err := h.render(id, theActive, template.Values{"order": map[string]any{}})
		var refused *api.Error
		if !errors.As(err, &refused) {
			t.Fatal(err)
		}
		raw, _ := json.Marshal(refused.Details)
		if refused.Status != 422 || refused.Code != "template_render_failed" || string(raw) != `{"column":4,"line":2,"missing":["NAME","order.id","vip"]}` ||
			refused.Message != "The template needs a value for NAME." {
			t.Errorf("%s %s", refused.Message, raw)
		}
		if _, err := h.render(id, theActive, template.Values{"NAME": "a", "order": map[string]any{"id": 1}, "vip": false}); err != nil {
			t.Error(err)
		}
		for _, wrong := range []template.Values{{"NAME": map[string]any{}}, {"vip": "yes"}} {
			if _, err := h.render(id, theActive, wrong); !errors.Is(err, api.ErrValidation) {
				t.Errorf("%v: %v", wrong, err)
			}
		}
		if _, err := h.render(id, theActive, template.Values{"NAME": "a", "order": map[string]any{"id": map[string]any{}}, "vip": true}); !errors.Is(err, template.ErrRender) {
			t.Errorf("an object was printed: %v", err)
		}
	})
}

func TestNoValueEndsTheSubjectLine(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.create(fields{"subject": "Hi {{{NAME}}}!", "preview_text": "For {{NAME}}"})
		mail, err := h.render(id, theActive, template.Values{"NAME": "x\r\nBcc: evil@x.test\r\n\r\nbody\u2028\u0085\x00"})
		if err != nil || strings.ContainsAny(mail.Subject+mail.PreviewText, "\r\n\u2028\u0085\x00") || !strings.HasPrefix(mail.Subject, "Hi x  Bcc: evil@x.test    body") {
			t.Errorf("%q, %v", mail.Subject, err)
		}
		if _, err := h.render(id, theActive, template.Values{"NAME": strings.Repeat("x", 999)}); !errors.Is(err, template.ErrRender) {
			t.Errorf("a subject of 1002 characters: %v", err)
		}
	})
}

func TestAPreviewWarnsWhereASendFails(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.create(fields{"subject": "Hi {{NAME}}", "preview_text": "Soon", "html": `<p>Hi {{NAME}}</p><a href="{{url}}">x</a><img src=a>{{o}}`})
		answer := h.must(200, "POST", "/templates/"+id+"/preview", fields{"variables": fields{"url": "javascript:x", "o": fields{}, "more": 1}})
		if got := answer.Pick("object", "template_id", "version", "subject", "preview_text", "variables_used", "missing_variables", "unused_variables"); got !=
			fmt.Sprintf(`["template_render",%q,1,"Hi","Soon",["NAME","url","o"],["NAME"],["more"]]`, id) {
			t.Errorf("%s", got)
		}
		var codes []string
		for _, w := range answer.Body["warnings"].([]any) {
			codes = append(codes, w.(fields)["code"].(string))
		}
		if got := strings.Join(codes, " "); got != "missing_variable unsafe_url not_text image_without_alt" {
			t.Errorf("%s", got)
		}
		if page := answer.Text("html"); !strings.Contains(page, `<p>Hi </p><a href="#">x</a>`) || !strings.Contains(page, ">Soon&#847;") || answer.Body["size_bytes"] != float64(len(page)) {
			t.Errorf("%s", page)
		}
		if text := answer.Text("text"); strings.Contains(text, "Soon") || !strings.Contains(text, "Hi") {
			t.Errorf("%q", text)
		}
		h.must(200, "PUT", "/templates/"+id+"/draft", fields{"html": "{{#if", "subject": "D"})
		refused := h.must(422, "POST", "/templates/"+id+"/preview", fields{"version": "draft"})
		if details(refused) != `{"column":1,"line":1,"missing":[],"part":"html"}` {
			t.Errorf("%s", refused.Raw)
		}
		for body, status := range map[string]int{`{"version":1}`: 200, `{"version":"1"}`: 200, `{"version":null}`: 200, `{"version":7}`: 404, `{"version":0}`: 400, `{"version":"x"}`: 400, `{"variables":[]}`: 400,
			`{"variables":{"NAME":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}}`: 400, `{"variables":{"a":"` + strings.Repeat("x", 1<<20) + `"}}`: 400} {
			if answer := h.as(h.Key, "POST", "/templates/"+id+"/preview", body); answer.Status != status {
				t.Errorf("%.40s: %d %.200s", body, answer.Status, answer.Raw)
			}
		}
	})
}

func TestASourceIsRenderedWithoutBeingSaved(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		answer := h.must(200, "POST", "/templates/render", fields{"subject": "Hi {{FIRST_NAME|there}}", "html": "<p>Hi {{FIRST_NAME|there}}</p>", "variables": fields{}})
		want := fields{"object": "template_render", "template_id": nil, "version": nil, "subject": "Hi there", "html": "<p>Hi there</p>", "text": "Hi there", "preview_text": nil,
			"variables_used": []any{"FIRST_NAME"}, "missing_variables": []any{}, "unused_variables": []any{}, "warnings": []any{}, "size_bytes": 15.0}
		if fmt.Sprint(answer.Body) != fmt.Sprint(want) {
			t.Errorf("got  %v\nwant %v", answer.Body, want)
		}
		bulk := h.must(200, "POST", "/templates/render", fields{"html": "<p>" + strings.Repeat("x", 103<<10) + "</p>", "bulk": true})
		if got := fmt.Sprint(bulk.Body["warnings"]); !strings.Contains(got, "html_too_large") || !strings.Contains(got, "no_unsubscribe_link") || !strings.Contains(got, "no_subject") {
			t.Errorf("%s", got)
		}
		styled := h.must(200, "POST", "/templates/render", fields{"html": "<style>.a{color:red}</style><p class=a>{{x}}</p>", "inline_css": true, "variables": fields{"x": "y"}})
		if !strings.Contains(styled.Text("html"), `<p style="color:red" class=a>y</p>`) {
			t.Errorf("%s", styled.Text("html"))
		}
		declared := h.must(200, "POST", "/templates/render", fields{"text": "{{a}} {{b}}", "declared_variables": []fields{{"key": "a", "type": "number", "fallback_value": 1.50}}, "variables": fields{"b": json.Number("19.90")}})
		if got := declared.Text("text"); got != "1.5 19.90" {
			t.Errorf("%s", got)
		}
		for body, status := range map[string]int{`{}`: 400, `{"html":"{{#each x}}"}`: 422, `{"html":"{{#each x}}{{#each ../x}}{{/each}}{{/each}}","variables":{"x":` + longList + `}}`: 422, `{"text":"{{#repeat 1000000000}}x{{/repeat}}"}`: 422} {
			answer := h.as(h.Key, "POST", "/templates/render", body)
			if answer.Status != status || status == 422 && code(answer) != "template_render_failed" {
				t.Errorf("%.60s: %d %s", body, answer.Status, answer.Raw)
			}
		}
	})
}

func TestABulkPreviewIsForSomebody(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		body := fields{"subject": "{{FIRST_NAME}} {{contact.email}}", "html": `<a href="{{{UNSUBSCRIBE_URL}}}">x</a>{{plan}}`, "bulk": true, "variables": fields{"FIRST_NAME": "Bo", "EMAIL": "x"}}
		answer := h.must(200, "POST", "/templates/render", body)
		if got := answer.Pick("subject", "missing_variables", "unused_variables"); got != `["Bo ann@example.com",["plan"],["EMAIL"]]` || !strings.Contains(answer.Text("html"), "https://example.com/unsubscribe") {
			t.Errorf("%s", answer.Raw)
		}
		if warnings := answer.Body["warnings"].([]any); len(warnings) != 1 {
			t.Errorf("%v", warnings)
		}
		body["bulk"] = false
		if got := h.must(200, "POST", "/templates/render", body).Pick("missing_variables"); got != `[["contact.email","UNSUBSCRIBE_URL","plan"]]` {
			t.Errorf("%s", got)
		}
	})
}

// longList loops over itself too often.
var longList = "[" + strings.Repeat("1,", 200) + "1]"

func TestValuesAreNeverEvaluated(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		for _, value := range []string{`{{env "PATH"}}`, "{{.}}", "{{secret}}", "{{{secret}}}", "{{#each .}}", "{% include '/etc/passwd' %}", "${7*7}", "{{ self.__class__ }}"} {
			answer := h.must(200, "POST", "/templates/render", fields{"text": "{{x}} {{{x}}}", "subject": "{{{x}}}", "variables": fields{"x": value, "secret": "s3cret"}})
			if answer.Text("text") != value+" "+value || answer.Text("subject") != value {
				t.Errorf("%s became %s", value, answer.Raw)
			}
		}
	})
}

package web_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"postrider/app/apptest"
	"postrider/platform/api"
)

func TestAnAutomationWithoutATriggerOffersThem(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	wait := map[string]any{"key": "wait", "type": "delay", "config": map[string]any{"duration": "1 day"}}
	for name, one := range map[string]struct {
		steps []any
		leads string
	}{"empty": {nil, "[[]]"}, "headless": {[]any{wait}, `[[{"from":"trigger","to":"wait","type":"default"}]]`}} {
		owner := signedIn(t, in, api.Owner)
		body := map[string]any{"name": name}
		if one.steps != nil {
			body["steps"] = one.steps
		}
		path := "/automations/" + in.Must(http.StatusCreated, http.MethodPost, "/automations", body).Text("id")
		page := owner.open(path)
		if written := owner.filled(page, path+"/draft").Get("definition"); !strings.HasPrefix(written, "{\n  \"steps\": [") {
			t.Errorf("%s: the text does not begin with the steps: %s", name, written)
		}
		if words := owner.words(path); strings.Contains(words, "Nothing is missing") ||
			!strings.Contains(words, "Nothing begins it yet. Choose a trigger.") {
			t.Errorf("%s: the checks do not say what is missing: %s", name, words)
		}
		if strings.Contains(page, path+"/publish") {
			t.Errorf("%s: it can be published, though nothing begins it", name)
		}
		form := owner.filled(page, path+"/add")
		if form.Get("kind") != "event" {
			t.Errorf("%s: %v is offered first", name, form)
		}
		form.Set("kind", "system:schedule")
		if added := owner.post(path+"/add", form); added.Code != http.StatusSeeOther {
			t.Fatalf("%s: %d %s", name, added.Code, said(added))
		}
		made := in.Call(http.MethodGet, path, nil)
		if begins := made.Pick("steps"); !strings.Contains(begins, `"event_name":"system:schedule"`) || made.Pick("connections") != one.leads {
			t.Errorf("%s: it begins with %s and goes on with %s", name, begins, made.Pick("connections"))
		}
		if page := owner.open(path); !strings.Contains(page, path+"/publish") || strings.Contains(page, "Choose what begins it") || !strings.Contains(page, `class="add"`) {
			t.Errorf("%s: with a trigger, there is no place for a step: %.3000s", name, main(page))
		}
		viewer := signedIn(t, in, api.Viewer)
		if page := viewer.open(path); strings.Contains(page, path+"/add") {
			t.Errorf("%s: a viewer is offered to add a step", name)
		}
	}
}

func TestHintsOfAStepBelongToTheirInputs(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	steps := []any{map[string]any{"key": "trigger", "type": "trigger", "config": map[string]any{"event_name": "order.placed", "re_entry": "always"}},
		map[string]any{"key": "ways", "type": "split", "config": map[string]any{"branches": []any{map[string]any{"key": "a", "weight": 1}, map[string]any{"key": "b", "weight": 1}}}},
		map[string]any{"key": "call", "type": "http_request", "config": map[string]any{"method": "POST", "url": "https://example.net"}}}
	path := "/automations/" + in.Must(http.StatusCreated, http.MethodPost, "/automations", map[string]any{"name": "Steps", "steps": steps}).Text("id")
	owner := signedIn(t, in, api.Owner)
	hint := regexp.MustCompile(`<p class="hint"(?: id="([^"]*)")?>`)
	for _, step := range []string{"trigger", "ways", "call"} {
		page := owner.open(path + "?step=" + step)
		_, form, _ := strings.Cut(page, `<form id="f-step"`)
		form, _, _ = strings.Cut(form, "</form>")
		hints := hint.FindAllStringSubmatch(form, -1)
		for _, one := range hints {
			if one[1] == "" || !strings.Contains(form, `aria-describedby="`+one[1]+`"`) {
				t.Errorf("%s: no input is described by %s", step, one[0])
			}
		}
		if len(hints) == 0 {
			t.Errorf("%s: there are no hints", step)
		}
	}
}

package web_test

import (
	"net/http"
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
		if words := owner.words(path); strings.Contains(words, "Nothing is missing") ||
			!strings.Contains(words, "Nothing begins it yet. Choose a trigger.") {
			t.Errorf("%s: the checks do not say what is missing: %s", name, words)
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
		if page := owner.open(path); strings.Contains(page, "Choose what begins it") || !strings.Contains(page, `class="add"`) {
			t.Errorf("%s: with a trigger, there is no place for a step: %.3000s", name, main(page))
		}
		viewer := signedIn(t, in, api.Viewer)
		if page := viewer.open(path); strings.Contains(page, path+"/add") {
			t.Errorf("%s: a viewer is offered to add a step", name)
		}
	}
}

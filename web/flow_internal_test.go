package web

import (
	"encoding/json"
	"net/url"
	"testing"

	"postrider/web/internal/tree"
)

// someMeta is a part of what the API tells of steps.
const someMeta = `{"step_types":[
	{"type":"delay","label":"Delay","connections":["default"],"config_schema":{"type":"object","required":["duration"],"properties":{"duration":{"type":"string"}}}},
	{"type":"condition","label":"Condition","connections":["condition_met","condition_not_met"],"config_schema":{"type":"object","properties":{"type":{"type":"string","enum":["rule","and","or","not"]}}}},
	{"type":"split","label":"Split","connections":["branch"],"config_schema":{"type":"object","properties":{"branches":{"type":"array","items":{"type":"object"}}}}},
	{"type":"send_email","label":"Send email","connections":["default"],"config_schema":{"type":"object","properties":{"template":{"type":"object","properties":{"id":{"type":"string"},"variables":{"type":"object"}}},
		"subject":{"type":"string"},"text":{"type":"string"},"reply_to":{"type":["string","array"]}}}},
	{"type":"contact_update","label":"Update contact","connections":["default"],"config_schema":{"type":"object","properties":{"first_name":{},"unsubscribed":{},"properties":{"type":"object"}}}}],
	"trigger_types":[{"type":"event","label":"Event","connections":["default"],"config_schema":{"type":"object","properties":{"event_name":{"type":"string"},"re_entry":{"type":"string","enum":["always"]}}}},
	{"type":"system:schedule","label":"schedule","connections":["default"],"config_schema":{"type":"object","properties":{"event_name":{"type":"string"},"cron":{"type":"string"},"timezone":{"type":"string"}}}}],
	"operators":["eq","gt","in","exists","member_of"],"fields":[{"name":"engagement.open_count","type":"number"},{"name":"first_name","type":"string"},{"name":"unsubscribed","type":"boolean"}]}`

func TestFormAboutAStepBecomesItsConfig(t *testing.T) {
	t.Parallel()
	f := &flow{names: map[string][]choice{}}
	if err := json.Unmarshal([]byte(someMeta), &f.meta); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, kind, was, form, want string }{
		{"a number and a unit", "delay", `{}`, `c.duration=3&c.duration.unit=day`, `{"duration":"3 days"}`},
		{"one has no plural", "delay", `{}`, `c.duration=1&c.duration.unit=hour`, `{"duration":"1 hour"}`},
		{"what the form does not ask stays", "delay", `{"more":1}`, `c.duration=2&c.duration.unit=week`, `{"duration":"2 weeks","more":1}`},
		{"one rule", "condition", `{}`, `c..match=and&c..field=engagement.open_count&c..operator=gt&c..value=3&c..field=&c..operator=eq&c..value=`, `{"field":"engagement.open_count","operator":"gt","type":"rule","value":3}`},
		{"two rules", "condition", `{}`, `c..match=or&c..field=first_name&c..operator=eq&c..value=7&c..field=unsubscribed&c..operator=eq&c..value=true`,
			`{"rules":[{"field":"first_name","operator":"eq","type":"rule","value":"7"},{"field":"unsubscribed","operator":"eq","type":"rule","value":true}],"type":"or"}`},
		{"a list of values", "condition", `{}`, `c..match=and&c..field=first_name&c..operator=in&c..value=Ann, Bob`, `{"field":"first_name","operator":"in","type":"rule","value":["Ann","Bob"]}`},
		{"an operator that does not fit", "condition", `{}`, `c..match=and&c..field=unsubscribed&c..operator=gt&c..value=false`, `{"field":"unsubscribed","operator":"eq","type":"rule","value":false}`},
		{"a rule without a value", "condition", `{}`, `c..match=and&c..field=first_name&c..operator=exists&c..value=`, `{"field":"first_name","operator":"exists","type":"rule"}`},
		{"branches", "split", `{}`, `c.branches.key=a&c.branches.weight=50&c.branches.key=&c.branches.weight=`, `{"branches":[{"key":"a","weight":50}]}`},
		{"parts of an object", "send_email", `{"template":{"version":2}}`, `c.template.id=welcome&c.template.variables={"x":{"var":"event.x"}}`, `{"template":{"id":"welcome","variables":{"x":{"var":"event.x"}},"version":2}}`},
		{"an object that is empty is gone", "send_email", `{"template":{"id":"welcome"},"subject":"Hi"}`, `c.template.id=&c.subject=Hi`, `{"subject":"Hi"}`},
		{"several addresses", "send_email", `{}`, `c.reply_to=a@x.test, b@x.test`, `{"reply_to":["a@x.test","b@x.test"]}`},
		{"any value", "contact_update", `{}`, `c.first_name=Ann&c.unsubscribed=true`, `{"first_name":"Ann","unsubscribed":true}`},
		{"another kind of trigger", "trigger", `{"event_name":"a.b","re_entry":"always"}`, `kind=system:schedule&c.event_name=a.b`, `{"cron":"0 9 * * 1","event_name":"system:schedule","re_entry":"always"}`},
		{"back to an event", "trigger", `{"event_name":"system:schedule","cron":"0 9 * * 1"}`, `kind=event&c.event_name=system:schedule&c.cron=0 9 * * 1`, `{}`},
	} {
		form, err := url.ParseQuery(c.form)
		if err != nil {
			t.Fatal(err)
		}
		got, wrong := f.readStep(tree.Step{Key: "x", Type: c.kind, Config: json.RawMessage(c.was)}, form)
		if len(wrong) > 0 || string(got) != c.want {
			t.Errorf("%s:\n got %s %v\nwant %s", c.name, got, wrong, c.want)
		}
	}
}

func TestWhatIsNoJSONIsToldAtItsInput(t *testing.T) {
	t.Parallel()
	f := &flow{names: map[string][]choice{}}
	if err := json.Unmarshal([]byte(someMeta), &f.meta); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"{", "[]", "1", `{} {}`} {
		_, wrong := f.readStep(tree.Step{Type: "contact_update", Config: json.RawMessage(`{}`)}, url.Values{"c.properties": {text}})
		if wrong["properties"] == "" {
			t.Errorf("%s is taken", text)
		}
	}
}

func TestStartersJoinAndEndAsTheyShould(t *testing.T) {
	t.Parallel()
	for _, s := range append(starters, blank) {
		d := s.definition("hello@acme.test")
		seen := map[string]bool{}
		for _, step := range d.Steps {
			if seen[step.Key] || !json.Valid(step.Config) {
				t.Errorf("%s: step %s", s.ID, step.Key)
			}
			seen[step.Key] = true
		}
		for _, c := range d.Connections {
			if !seen[c.From] || !seen[c.To] {
				t.Errorf("%s: %+v", s.ID, c)
			}
		}
	}
}

package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"postrider/web/internal/tree"
)

// changed stores another draft, and goes on to the step that the change was about. A draft that is refused is shown as it is, with
// what is wrong with it.
func (v *visit) changed(a automationRecord, d tree.Definition, step, said string) error {
	if d.Connections == nil {
		d.Connections = []tree.Connection{}
	}
	var err error
	if !a.Same(d) { // a draft that is stored counts as changed, even if nothing is different
		err = v.send(http.MethodPatch, apiPath("automations", a.ID), map[string]any{"steps": d.Steps, "connections": d.Connections}, nil)
	}
	if wrong := refusal(err); wrong != nil {
		a.Definition = d
		return v.showBuilder(wrong.Status, a, wrong)
	}
	if err != nil {
		return err
	}
	if left := v.keptWrong().without(d, step); left != nil { // what is wrong with other steps is still to be seen
		a.Definition, a.Changed = d, true
		return v.showBuilder(http.StatusOK, a, left)
	}
	to := v.link("automations", a.ID)
	if step != "" {
		to += "?" + url.Values{"step": {step}}.Encode()
	}
	return v.redirect(to, said)
}

// without returns what is wrong with other steps than one; nil if nothing is.
func (p *problem) without(d tree.Definition, step string) *problem {
	if p == nil {
		return nil
	}
	left := &problem{Message: p.Message, Fields: map[string]string{}}
	at := fmt.Sprintf("steps[%d]", slices.IndexFunc(d.Steps, func(s tree.Step) bool { return s.Key == step }))
	for field, text := range p.Fields {
		if field != at && !strings.HasPrefix(field, at+".") {
			left.Fields[field] = text
		}
	}
	if len(left.Fields) == 0 {
		return nil
	}
	return left
}

// editing loads the draft, and how it is drawn.
func (v *visit) editing() (automationRecord, *flow, error) {
	a, err := v.automation("draft")
	if err != nil {
		return a, nil, err
	}
	f, err := v.newFlow()
	return a, f, err
}

// saveDraft takes the steps as text: for those who write them, and for going back and forth between changes.
func saveDraft(v *visit) error {
	a, err := v.automation("draft")
	if err != nil {
		return err
	}
	var d tree.Definition
	if err := json.Unmarshal([]byte(v.value("definition")), &d); err != nil {
		return v.showText(a, v.value("definition"), &problem{Status: http.StatusBadRequest, Code: "validation_error", Message: "The steps could not be read: " + err.Error() + "."})
	}
	if d.Steps == nil {
		d.Steps = []tree.Step{}
	}
	said := "The draft is saved."
	if v.value("quiet") != "" {
		said = ""
	}
	return v.changed(a, d, v.value("step"), said)
}

// showText draws the builder with a text that is no definition, so that it is not lost.
func (v *visit) showText(a automationRecord, text string, wrong *problem) error {
	f, err := v.newFlow()
	if err != nil {
		return err
	}
	p := builderPage{automationHead: v.automationHead(a, "build"), Definition: text, Tree: f.grow(a.Definition)}
	p.shell = p.with("flow.js", "unsaved.js")
	p.Problem = wrong
	return v.showStatus(wrong.Status, "automations/build", p)
}

// newConfigs are what steps begin with.
var newConfigs = map[string]string{"delay": `{"duration":"1 day"}`, "wait_for_event": `{"event_name":"","timeout":"3 days"}`, "http_request": `{"method":"POST","url":""}`,
	"condition": `{"type":"rule","field":"engagement.open_count","operator":"gt","value":0}`, "split": `{"branches":[{"key":"a","weight":50},{"key":"b","weight":50}]}`,
	"set_topic": `{"subscription":"opt_in"}`, "trigger": `{"event_name":"","re_entry":"once_per_contact"}`}

// newKeys are the words that keys of new steps are made of; of the others it is their type.
var newKeys = map[string]string{"send_email": "mail", "delay": "wait", "wait_for_event": "wait_event", "condition": "ask", "http_request": "call", "contact_update": "update", "contact_delete": "delete"}

func addStep(v *visit) error {
	a, f, err := v.editing()
	if err != nil {
		return err
	}
	kind := v.value("type")
	config := newConfigs[kind]
	if kind == "send_email" {
		from, err := v.sender()
		if err != nil {
			return err
		}
		raw, err := json.Marshal(map[string]string{"from": from})
		if err != nil {
			return err
		}
		config = string(raw)
	}
	step := tree.Step{Key: a.NewKey(orElse(newKeys[kind], kind)), Type: kind, Config: json.RawMessage(orElse(config, "{}"))}
	t := f.grow(a.Definition)
	gap := t.Gap(v.value("gap"))
	if key, isFailure := strings.CutSuffix(v.value("gap"), ":error:"); isFailure && gap == nil {
		gap = &tree.Gap{Edges: []tree.Edge{{From: key, Way: "error"}}}
	}
	if kind == "trigger" {
		step.Config, _ = f.readStep(step, v.form)
		return v.changed(a, withTrigger(a.Definition, step), step.Key, "")
	}
	if gap == nil {
		return &problem{Status: http.StatusConflict, Code: "conflict", Message: "That place is gone: somebody changed the automation. Go back and choose another."}
	}
	return v.changed(a, a.Insert(gap, step, f.meta.ways()), step.Key, "")
}

// withTrigger adds a trigger that leads to the same step as the first one. The first of all leads to where nothing leads yet.
func withTrigger(d tree.Definition, step tree.Step) tree.Definition {
	out := tree.Definition{Steps: append(slices.Clone(d.Steps), step), Connections: slices.Clone(d.Connections)}
	first := slices.IndexFunc(d.Steps, func(s tree.Step) bool { return s.Type == "trigger" })
	if first < 0 {
		start := slices.IndexFunc(d.Steps, func(s tree.Step) bool {
			return !slices.ContainsFunc(d.Connections, func(c tree.Connection) bool { return c.To == s.Key })
		})
		if start >= 0 {
			out.Connections = append(out.Connections, tree.Connection{From: step.Key, To: d.Steps[start].Key, Type: "default"})
		}
		return out
	}
	for _, c := range d.Connections {
		if c.From == d.Steps[first].Key {
			out.Connections = append(out.Connections, tree.Connection{From: step.Key, To: c.To, Type: "default"})
		}
	}
	return out
}

func changeStep(v *visit) error {
	a, f, err := v.editing()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(a.Steps, func(s tree.Step) bool { return s.Key == v.value("key") })
	if i < 0 {
		return &problem{Status: http.StatusNotFound, Code: "not_found", Message: "There is no such step any more."}
	}
	config, wrong := f.readStep(a.Steps[i], v.form)
	if len(wrong) > 0 {
		refused := &problem{Status: http.StatusBadRequest, Code: "validation_error", Message: "The step is not saved yet.", Fields: map[string]string{}}
		for path, text := range wrong {
			refused.Fields[strings.TrimSuffix(fmt.Sprintf("steps[%d].config.%s", i, path), ".")] = text
		}
		return v.showBuilder(refused.Status, a, refused)
	}
	return v.changed(a, a.Change(f.grow(a.Definition), a.Steps[i].Key, config), a.Steps[i].Key, "")
}

func removeStep(v *visit) error {
	a, f, err := v.editing()
	if err != nil {
		return err
	}
	key := v.value("key")
	i := slices.IndexFunc(a.Steps, func(s tree.Step) bool { return s.Key == key })
	if i < 0 {
		return v.redirect(v.link("automations", a.ID), "")
	}
	t := f.grow(a.Definition)
	before := a.Before(t, key)
	said := f.face(a.Steps[i], i).Title + " is removed."
	if n := len(t.Inside(key)); n > 0 {
		said = f.face(a.Steps[i], i).Title + " is removed, with " + v.plural(int64(n), "step", "steps") + " in its ways."
	}
	return v.changed(a, a.Remove(t, key), before, said)
}

func publishAutomation(v *visit) error {
	a, err := v.automation("draft")
	if err != nil {
		return err
	}
	err = v.send(http.MethodPost, apiPath("automations", a.ID, "publish"), map[string]string{"note": v.value("note")}, nil)
	if wrong := refusal(err); wrong != nil {
		return v.showBuilder(wrong.Status, a, wrong)
	}
	if err != nil {
		return err
	}
	said := "Published. Runs that have begun stay on their version."
	if v.checked("enable") {
		err = v.send(http.MethodPatch, apiPath("automations", a.ID), map[string]string{"status": "enabled"}, nil)
		if wrong := refusal(err); wrong != nil {
			if a, err = v.automation("draft"); err != nil { // it is published by now
				return err
			}
			return v.showBuilder(wrong.Status, a, wrong)
		}
		said = "Published and enabled. It begins with the next event."
	}
	if err != nil {
		return err
	}
	return v.redirect(v.link("automations", a.ID), said)
}

func switchAutomation(v *visit) error {
	a, err := v.automation("draft")
	if err != nil {
		return err
	}
	status := v.value("status")
	err = v.send(http.MethodPatch, apiPath("automations", a.ID), map[string]string{"status": status}, nil)
	if wrong := refusal(err); wrong != nil {
		return v.showBuilder(wrong.Status, a, wrong)
	}
	if err != nil {
		return err
	}
	said := "Enabled. It begins with the next event."
	if status == "disabled" {
		said = "Disabled. No new run begins; those inside go on to their end."
	}
	return v.redirect(v.link("automations", a.ID), said)
}

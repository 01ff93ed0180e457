package web

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"postrider/web/internal/tree"
)

// automationHead is what all pages about one automation show.
type automationHead struct {
	shell
	Automation automationRecord
	State      string
	Tabs       []tab
	Inside     string
	// Version is the one that runs begin with, and Next the number that the draft would get; empty if there is none.
	Version, Next string
	Editable      bool
	// Publish tells that there is something new that could begin.
	Publish bool
	Problem *problem
}

// builderPage is where an automation is made: its steps as a tree, and beside it what can be said about one of them.
type builderPage struct {
	automationHead
	Tree   *tree.Tree
	Step   *inspector
	Choose *chooseStep
	// Begin are the triggers to choose from while nothing begins it.
	Begin      []choice
	Checks     []flowCheck
	Fields     []choice
	Definition string
	// Wrong is what was refused, for forms that only look at another step.
	Wrong string
	// Focus is the id of the element that should have the focus.
	Focus string
}

// inspector is the form about one step.
type inspector struct {
	Key, Label, Icon, State string
	Fields                  []flowField
	Problems                []string
	// Kinds are those of triggers.
	Kinds []choice
	// Inside is how many steps go with it if it is taken out; Removable whether it can be.
	Inside    int
	Removable bool
	// FailureGap is where steps are added for the case that it fails.
	FailureGap string
}

// chooseStep offers the types of steps for a gap.
type chooseStep struct {
	Gap   *tree.Gap
	Kinds []stepChoice
}

type stepChoice struct{ Type, Label, Text, Icon, State string }

// flowCheck is something that keeps an automation from being published, and the step where it can be mended.
type flowCheck struct{ Key, Title, Text string }

func (v *visit) automation(version string) (automationRecord, error) {
	var a automationRecord
	query := url.Values{}
	if version != "" {
		query.Set("version", version)
	}
	return a, v.get(apiPath("automations", v.path("id")), query, &a)
}

func (v *visit) automationHead(a automationRecord, current string) automationHead {
	a.Name = visible(a.Name)
	h := automationHead{shell: v.shell(a.Name, "automations").with("flow.css"), Automation: a, State: a.State(), Editable: v.can("automation:manage") && !a.Archived()}
	h.shell, h.Publish = h.under(crumb{"Automations", v.link("automations")}), h.Editable && a.Changed && hasTrigger(a.Definition)
	if a.Stats.Running > 0 {
		h.Inside = v.number(a.Stats.Running)
	}
	if a.Published != nil {
		h.Version = fmt.Sprint(*a.Published)
	}
	if a.Draft != nil {
		h.Next = fmt.Sprint(*a.Draft)
	}
	here := func(parts ...string) string { return v.link(append([]string{"automations", a.ID}, parts...)...) }
	h.Tabs = []tab{{Name: "build", Label: "Build", Href: here()}, {Name: "try", Label: "Try it", Href: here("try")},
		{Name: "runs", Label: "Runs", Href: here("runs"), Count: v.number(a.Stats.Total)}, {Name: "versions", Label: "Versions", Href: here("versions")},
		{Name: "settings", Label: "Settings", Href: here("settings")}}
	for i := range h.Tabs {
		h.Tabs[i].Current = h.Tabs[i].Name == current
	}
	return h
}

func showBuilder(v *visit) error {
	a, err := v.automation("draft")
	if err != nil {
		return err
	}
	return v.showBuilder(200, a, nil)
}

// showBuilder draws the builder, with what is wrong if something was refused.
func (v *visit) showBuilder(status int, a automationRecord, wrong *problem) error {
	f, err := v.newFlow()
	if err != nil {
		return err
	}
	f.problems, f.current = wrong, cmp.Or(v.value("key"), v.value("step"), v.query("step"))
	p := builderPage{automationHead: v.automationHead(a, "build"), Definition: definitionText(a.Definition)}
	p.shell = p.with("flow.js", "unsaved.js")
	p.Problem, p.Wrong = wrong, keepWrong(wrong)
	p.Tree = f.grow(a.Definition)
	if gap := p.Tree.Gap(orElse(v.value("add"), v.query("add"))); gap != nil && p.Editable {
		gap.Current = true
		p.Choose, p.Focus = f.kindsFor(gap), "pick-0"
	} else if i := slices.IndexFunc(a.Steps, func(s tree.Step) bool { return s.Key == f.current }); i >= 0 {
		p.Step, p.Focus = f.inspect(p.Tree, a.Definition, i), "n-"+a.Steps[i].Key
	}
	if !p.Editable {
		p.Tree.Still()
	}
	p.Checks = f.checks(a.Definition)
	if !hasTrigger(a.Definition) && p.Editable {
		p.Begin = f.triggerKinds("")
	}
	for _, field := range f.meta.Fields {
		p.Fields = append(p.Fields, choice{Value: field.Name, Label: fieldTitle(field.Name)})
	}
	if f.err != nil {
		return f.err
	}
	return v.showStatus(status, "automations/build", p)
}

// lookAgain shows another step of an automation that was refused: the API tells what is wrong with it only when it refuses.
func lookAgain(v *visit) error {
	a, err := v.automation("draft")
	if err != nil {
		return err
	}
	return v.showBuilder(200, a, v.keptWrong())
}

// keepWrong writes down what is wrong, and keptWrong reads it again.
func keepWrong(wrong *problem) string {
	if wrong == nil || len(wrong.Fields) == 0 {
		return ""
	}
	raw, err := json.Marshal(wrong)
	if err != nil {
		return ""
	}
	return string(raw)
}

func (v *visit) keptWrong() *problem {
	var wrong problem
	if json.Unmarshal([]byte(v.value("wrong")), &wrong) != nil || len(wrong.Fields) == 0 {
		return nil
	}
	return &wrong
}

// inspect makes the form about a step.
func (f *flow) inspect(t *tree.Tree, d tree.Definition, index int) *inspector {
	step := d.Steps[index]
	config := configOf(step.Config)
	face := f.face(step, index)
	in := &inspector{Key: step.Key, Label: face.Label, Icon: face.Icon, State: face.State, Problems: face.Problems, Fields: f.fields(step, index, config), Inside: len(t.Inside(step.Key)), Removable: true}
	if step.Type == "trigger" {
		name := textOf(config["event_name"])
		triggers := 0
		for _, s := range d.Steps {
			if s.Type == "trigger" {
				triggers++
			}
		}
		in.Removable = triggers > 1
		in.Kinds = f.triggerKinds(name)
	}
	if step.Type == "http_request" && !slices.ContainsFunc(d.Connections, func(c tree.Connection) bool { return c.From == step.Key && c.Type == "error" }) {
		in.FailureGap = step.Key + ":error:"
	}
	return in
}

// triggerKinds are the kinds of triggers to choose from; that of the event with the name is chosen.
func (f *flow) triggerKinds(name string) []choice {
	var kinds []choice
	for _, t := range f.meta.Triggers {
		title := eventTitle(t.Type)
		if t.Type == "event" {
			title = "An event that you send"
		}
		kinds = append(kinds, choice{Value: t.Type, Label: title, Chosen: t.Type == name || t.Type == "event" && !strings.HasPrefix(name, "system:")})
	}
	return kinds
}

func hasTrigger(d tree.Definition) bool {
	return slices.ContainsFunc(d.Steps, func(s tree.Step) bool { return s.Type == "trigger" })
}

// checks are what the API refused, or what the schemas of the steps ask for and is missing, each with the step to go to.
func (f *flow) checks(d tree.Definition) []flowCheck {
	var all []flowCheck
	if !hasTrigger(d) && f.problems == nil { // the API says so itself when it refuses
		all = append(all, flowCheck{"", "Trigger", "Nothing begins it yet. Choose a trigger."})
	}
	for i, step := range d.Steps {
		face := f.face(step, i)
		for _, text := range face.Problems {
			all = append(all, flowCheck{step.Key, face.Title, text})
		}
		if len(face.Problems) > 0 {
			continue
		}
		config := configOf(step.Config)
		for _, name := range f.meta.kind(step, config).Schema.Required {
			if config[name] == nil || config[name] == "" {
				all = append(all, flowCheck{step.Key, face.Title, flowLabel(name) + " is missing."})
			}
		}
	}
	return append(all, f.otherChecks()...)
}

// otherChecks are what was refused and belongs to no step.
func (f *flow) otherChecks() []flowCheck {
	var all []flowCheck
	if f.problems == nil {
		return nil
	}
	for _, field := range sortedKeys(f.problems.Fields) {
		if !strings.HasPrefix(field, "steps[") {
			all = append(all, flowCheck{"", words(field), f.problems.Fields[field]})
		}
	}
	return all
}

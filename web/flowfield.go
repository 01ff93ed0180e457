package web

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"postrider/web/internal/tree"
)

// flowField is one input of the form about a step. Its kind follows from the schema of the step's type.
type flowField struct {
	// Path is where the value stands in the config; empty is the config itself.
	Path, Label, Kind, Value, Hint, Error string
	Unit, Min, Max                        string
	Choices                               []choice
	Rules                                 []flowRule
	Match                                 []choice
	Branches                              []flowBranch
	// Redraw tells that another value asks for other inputs.
	Redraw bool
}

// Name is how the input is called in the form, and ID how its label finds it.
func (f flowField) Name() string { return "c." + f.Path }

// ID is how the label finds the input.
func (f flowField) ID() string { return "c-" + strings.ReplaceAll(cmp.Or(f.Path, "rules"), ".", "-") }

type flowBranch struct {
	Key, Weight, Label string
}

// The kinds of inputs.
const (
	fieldText, fieldLong, fieldCode, fieldSelect, fieldNumber = "text", "long", "code", "select", "number"
	fieldDuration, fieldRules, fieldBranches, fieldSuggest    = "duration", "rules", "branches", "suggest"
	fieldAny, fieldList, fieldFixed                           = "any", "list", "fixed"
)

// flowOrder is the order of inputs; what is not in it comes last.
var flowOrder = []string{"event_name", "list_id", "segment_id", "cron", "timezone", "re_entry", "filter_rule", "template", "id", "version", "variables", "from", "subject", "text", "html",
	"reply_to", "topic_id", "subscription", "method", "url", "credential_id", "query", "headers", "body", "timeout_ms", "retry", "duration", "timeout", "payload", "first_name", "last_name",
	"unsubscribed", "properties"}

// flowLabels are how inputs are called whose names in the API do not read well.
var flowLabels = map[string]string{"event_name": "Event", "list_id": "List", "segment_id": "Segment", "topic_id": "Topic", "credential_id": "Credential", "re_entry": "May begin again",
	"filter_rule": "Only if", "html": "HTML", "url": "URL", "cron": "When", "timezone": "Time zone", "timeout_ms": "Time limit in ms", "retry": "Tries after a failure", "duration": "Wait for",
	"timeout": "At most", "template.id": "Template", "template.version": "Version of the template", "template.variables": "Variables of the template", "query": "Query parameters"}

// flowWords are how people read the values of a choice.
var flowWords = map[string]string{"once_per_contact": "No, once per contact", "after_exit": "After it ended", "always": "Every time", "opt_in": "Subscribed", "opt_out": "Unsubscribed"}

// references are the inputs that name something by its id.
var references = map[string]string{"list_id": "list", "segment_id": "segment", "topic_id": "topic", "credential_id": "credential", "template.id": "template"}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// inOrder are the properties of a schema as a form shows them.
func (s flowSchema) inOrder() []string {
	place := func(name string) int {
		if i := slices.Index(flowOrder, name); i >= 0 {
			return i
		}
		return len(flowOrder)
	}
	return slices.SortedStableFunc(slices.Values(sortedKeys(s.Properties)), func(a, b string) int { return cmp.Compare(place(a), place(b)) })
}

// isRules tells a tree of rules from other objects.
func (s flowSchema) isRules() bool {
	return slices.Contains(s.Properties["type"].Enum, "rule") && len(s.Properties) == 1
}

// inputKind says which input a value of a schema has.
func inputKind(path string, s flowSchema) string {
	name := path[strings.LastIndex(path, ".")+1:]
	switch {
	case s.isRules():
		return fieldRules
	case s.Type == "array":
		return fieldBranches
	case s.Type == "object":
		return fieldCode
	case references[path] != "" || len(s.Enum) > 0:
		return fieldSelect
	case s.Type == "integer":
		return fieldNumber
	case path == "duration" || path == "timeout":
		return fieldDuration
	case path == "event_name":
		return fieldSuggest
	case name == "html" || name == "text":
		return fieldLong
	case s.Type == nil:
		return fieldAny
	case s.Type != "string":
		return fieldList
	}
	return fieldText
}

// leaves visits the values that a form about a schema asks for. Objects whose parts are known are asked for part by part.
func (s flowSchema) leaves(path string, visit func(path string, s flowSchema)) {
	if s.isRules() {
		visit(path, s)
		return
	}
	for _, name := range s.inOrder() {
		sub, at := s.Properties[name], strings.TrimPrefix(path+"."+name, ".")
		if sub.Type == "object" && len(sub.Properties) > 0 && !sub.isRules() {
			sub.leaves(at, visit)
			continue
		}
		visit(at, sub)
	}
}

// fields are the inputs about a step.
func (f *flow) fields(step tree.Step, index int, config map[string]any) []flowField {
	var all []flowField
	f.meta.kind(step, config).Schema.leaves("", func(path string, s flowSchema) {
		if superfluous(path, config) {
			return
		}
		field := flowField{Path: path, Kind: inputKind(path, s), Hint: s.Description, Label: flowLabel(path), Error: f.problems.Field(strings.TrimSuffix(fmt.Sprintf("steps[%d].config.%s", index, path), "."))}
		f.fill(&field, s, valueAt(config, path))
		if step.Type == "trigger" && path == "event_name" && strings.HasPrefix(field.Value, "system:") {
			field.Kind = fieldFixed
		}
		if field.Error != "" && f.v.form.Has(field.Name()) {
			field.Value = f.v.form.Get(field.Name()) // what was typed is not lost
		}
		all = append(all, field)
	})
	return all
}

// superfluous tells that a value means nothing beside the others: a mail has a template, or a text of its own.
func superfluous(path string, config map[string]any) bool {
	chosen := textOf(valueAt(config, "template.id")) != ""
	switch path {
	case "template.version", "template.variables":
		return !chosen
	case "text", "html":
		return chosen && textOf(config[path]) == ""
	}
	return false
}

func flowLabel(path string) string {
	name := path[strings.LastIndex(path, ".")+1:]
	return cmp.Or(flowLabels[path], flowLabels[name], words(name), "Conditions")
}

// fill puts the value of the config into an input.
func (f *flow) fill(field *flowField, s flowSchema, value any) {
	field.Value = textOf(value)
	switch field.Kind {
	case fieldSelect:
		f.fillChoices(field, s)
	case fieldNumber:
		field.Min, field.Max = limitText(s.Minimum), limitText(s.Maximum)
	case fieldDuration:
		field.Value, field.Unit, _ = strings.Cut(field.Value, " ")
		field.Choices = choices(strings.TrimSuffix(field.Unit, "s"), "minute", "minutes", "hour", "hours", "day", "days", "week", "weeks")
	case fieldSuggest:
		field.Choices = f.choicesOf("event")
	case fieldCode:
		if field.Value != "" {
			field.Value = indented(json.RawMessage(field.Value))
		}
	case fieldRules:
		f.fillRules(field, objectOf(value))
	case fieldBranches:
		list, _ := value.([]any)
		for i, one := range append(list, map[string]any{}) {
			b := flowBranch{textOf(objectOf(one)["key"]), textOf(objectOf(one)["weight"]), fmt.Sprintf("%d", i+1)}
			field.Branches = append(field.Branches, b)
		}
	}
}

func (f *flow) fillChoices(field *flowField, s flowSchema) {
	kind := references[field.Path]
	if kind == "" {
		field.Choices = append(field.Choices, choice{Label: "Not said"})
		for _, value := range s.Enum {
			field.Choices = append(field.Choices, choice{Value: value, Label: cmp.Or(flowWords[value], value), Chosen: value == field.Value})
		}
		return
	}
	field.Choices = append(field.Choices, choice{Label: "None", Chosen: field.Value == ""})
	field.Hint, field.Redraw = "", field.Path == "template.id" // what is chosen from has names, no ids
	found := field.Value == ""
	for _, c := range f.choicesOf(kind) {
		if c.Chosen = c.Value == field.Value || c.Hint != "" && c.Hint == field.Value; c.Chosen {
			c.Value, found = field.Value, true // an alias stays one
		}
		field.Choices = append(field.Choices, c)
	}
	if !found {
		field.Choices = append(field.Choices, choice{Value: field.Value, Label: visible(field.Value), Chosen: true})
	}
}

func limitText(limit *int64) string {
	if limit == nil {
		return ""
	}
	return fmt.Sprint(*limit)
}

// valueAt returns what stands at a path of a config; the empty path is the config itself.
func valueAt(config map[string]any, path string) any {
	if path == "" {
		return config
	}
	name, rest, deeper := strings.Cut(path, ".")
	if deeper {
		return valueAt(objectOf(config[name]), rest)
	}
	return config[name]
}

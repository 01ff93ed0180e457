package web

import (
	"encoding/json"
	"fmt"
	"strings"

	"postrider/web/internal/tree"
)

// flowMeta is what the API tells of the steps that an automation can have.
type flowMeta struct {
	Steps     []flowKind `json:"step_types"`
	Triggers  []flowKind `json:"trigger_types"`
	Operators []string   `json:"operators"`
	Fields    []struct {
		Name string `json:"name"`
		Type string `json:"type"`
	} `json:"fields"`
}

type flowKind struct {
	Type   string     `json:"type"`
	Label  string     `json:"label"`
	Ways   []string   `json:"connections"`
	Schema flowSchema `json:"config_schema"`
}

// flowSchema is the part of JSON Schema that configs of steps are described with.
type flowSchema struct {
	Type        any                   `json:"type"`
	Description string                `json:"description"`
	Enum        []string              `json:"enum"`
	Properties  map[string]flowSchema `json:"properties"`
	Required    []string              `json:"required"`
	Minimum     *int64                `json:"minimum"`
	Maximum     *int64                `json:"maximum"`
	Items       *flowSchema           `json:"items"`
}

func (m flowMeta) ways() tree.Ways {
	all := tree.Ways{}
	for _, kind := range m.Steps {
		all[kind.Type] = kind.Ways
	}
	return all
}

// kind returns what is known of a type of step; of a trigger, it depends on the event that it waits for.
func (m flowMeta) kind(step tree.Step, config map[string]any) flowKind {
	if step.Type == "trigger" {
		name := textOf(config["event_name"])
		for _, t := range m.Triggers {
			if t.Type == name || t.Type == "event" && !strings.HasPrefix(name, "system:") {
				return flowKind{Type: "trigger", Label: "Trigger", Ways: t.Ways, Schema: t.Schema}
			}
		}
	}
	for _, kind := range m.Steps {
		if kind.Type == step.Type {
			return kind
		}
	}
	return flowKind{Type: step.Type, Label: words(step.Type)}
}

func (m flowMeta) fieldType(name string) string {
	for _, f := range m.Fields {
		if f.Name == name {
			return f.Type
		}
	}
	return ""
}

// flow is an automation on a page: what it is made of, and how its steps look.
type flow struct {
	v        *visit
	meta     flowMeta
	problems *problem
	current  string
	taken    map[string]takenStep
	names    map[string][]choice
	err      error
}

func (v *visit) newFlow() (*flow, error) {
	f := &flow{v: v, names: map[string][]choice{}}
	return f, v.get("/v1/automations/_meta", nil, &f.meta)
}

func (f *flow) grow(d tree.Definition) *tree.Tree { return tree.Grow(d, f.meta.ways(), f.face) }

// sources are where the names of what steps refer to come from, and the right that it takes to read them.
var flowSources = map[string]struct{ path, scope, value string }{
	"template": {"/v1/templates", "template:read", "id"}, "list": {"/v1/audience/lists", "audience:read", "id"}, "segment": {"/v1/segments", "audience:read", "id"},
	"topic": {"/v1/topics", "audience:read", "id"}, "credential": {"/v1/automation-credentials", "automation:read", "id"}, "event": {"/v1/events", "automation:read", "name"},
}

// choicesOf are the things of a kind that a step can refer to, asked for once.
func (f *flow) choicesOf(kind string) []choice {
	if known, ok := f.names[kind]; ok {
		return known
	}
	f.names[kind] = nil
	source, ok := flowSources[kind]
	if !ok || !f.v.can(source.scope) {
		return nil
	}
	found, err := every[struct {
		ID, Name, Status string
		Alias            *string
	}](f.v, source.path, nil, maxOffered)
	if err != nil {
		f.err = err
		return nil
	}
	for _, one := range found {
		c := choice{Value: one.ID, Label: visible(one.Name)}
		if source.value == "name" {
			c.Value = one.Name
		}
		if kind == "template" && one.Status != "published" {
			c.Label += " (not published)"
		}
		if one.Alias != nil {
			c.Hint = *one.Alias
		}
		f.names[kind] = append(f.names[kind], c)
	}
	return f.names[kind]
}

// nameOf returns how a thing is called that a step refers to by its id or alias.
func (f *flow) nameOf(kind, id string) string {
	if id == "" {
		return ""
	}
	for _, c := range f.choicesOf(kind) {
		if c.Value == id || c.Hint != "" && c.Hint == id {
			return c.Label
		}
	}
	return visible(id)
}

// configOf reads the config of a step. Numbers keep their digits.
func configOf(raw json.RawMessage) map[string]any {
	config := map[string]any{}
	decoder := json.NewDecoder(strings.NewReader(string(raw)))
	decoder.UseNumber()
	if decoder.Decode(&config) != nil || config == nil {
		return map[string]any{}
	}
	return config
}

// textOf writes a value as a person would type it.
func textOf(value any) string {
	switch value := value.(type) {
	case nil:
		return ""
	case string:
		return value
	case json.Number, bool, float64:
		return fmt.Sprint(value)
	case []any:
		var parts []string
		for _, one := range value {
			parts = append(parts, textOf(one))
		}
		return strings.Join(parts, ", ")
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(raw)
}

func objectOf(value any) map[string]any {
	object, _ := value.(map[string]any)
	return object
}

package web

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// document is as much of the OpenAPI document as the reference shows.
type document struct {
	Paths      map[string]map[string]operation
	Components struct{ Schemas map[string]schema }
}

type operation struct {
	ID          string `json:"operationId"`
	Summary     string
	Description string
	Tags        []string
	Parameters  []struct {
		Name, In, Description string
		Required              bool
		Schema                schema
	}
	RequestBody *struct{ Content map[string]content } `json:"requestBody"`
	Responses   map[string]struct {
		Description string
		Content     map[string]content
	}
}

type content struct {
	Schema  schema
	Example json.RawMessage
}

type schema struct {
	Ref         string `json:"$ref"`
	Type        any
	Description string
	Format      string
	Enum        []any
	Properties  map[string]schema
	Required    []string
	Items       *schema
	OneOf       []schema `json:"oneOf"`
}

// referencePage lists the families of endpoints, or all endpoints of one.
type referencePage struct {
	shell
	Volumes    []volume
	Families   []family
	Family     string
	Operations []operationRow
}

type family struct {
	Name, Href string
	Count      int
	Current    bool
}

type operationRow struct {
	ID, Method, Path, Summary, Text string
	Inputs                          []inputRow
	Fields                          []inputRow
	Answers                         []outcomeRow
}

type inputRow struct {
	Name, Where, Type, Text string
	Required                bool
}

type outcomeRow struct{ Status, Text, Example string }

func showReference(v *visit) error {
	var d document
	if err := v.get("/v1/openapi.json", nil, &d); err != nil {
		return err
	}
	wanted := v.path("tag")
	p := referencePage{shell: v.shell("API reference", "").with("manual.css"), Volumes: volumesAt("api"), Family: wanted}
	counts := map[string]int{}
	for _, at := range slices.Sorted(maps.Keys(d.Paths)) {
		for _, method := range []string{"get", "post", "put", "patch", "delete", "head"} {
			o, ok := d.Paths[at][method]
			if !ok {
				continue
			}
			name := familyOf(o, at)
			counts[name]++
			if name == wanted {
				p.Operations = append(p.Operations, d.row(method, at, o))
			}
		}
	}
	if wanted != "" && len(p.Operations) == 0 {
		return &problem{Status: http.StatusNotFound, Code: "not_found", Message: "There is no such family of endpoints."}
	}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		p.Families = append(p.Families, family{name, "/docs/api/" + name, counts[name], name == wanted})
	}
	return v.show("manual/reference", p)
}

// familyOf is the tag of an endpoint, or the first word of its path.
func familyOf(o operation, path string) string {
	if len(o.Tags) > 0 {
		return strings.ReplaceAll(strings.ToLower(o.Tags[0]), " ", "-")
	}
	parts := strings.Split(strings.TrimPrefix(path, "/v1/"), "/")
	return parts[0]
}

func (d document) row(method, path string, o operation) operationRow {
	row := operationRow{ID: o.ID, Method: strings.ToUpper(method), Path: path, Summary: o.Summary, Text: o.Description}
	if row.Text == row.Summary {
		row.Text = ""
	}
	for _, p := range o.Parameters {
		row.Inputs = append(row.Inputs, inputRow{Name: p.Name, Where: p.In, Type: d.typeOf(p.Schema), Text: p.Description, Required: p.Required})
	}
	if o.RequestBody != nil {
		row.Fields = d.fields(o.RequestBody.Content["application/json"].Schema)
	}
	for _, status := range slices.Sorted(maps.Keys(o.Responses)) {
		said := o.Responses[status]
		answer := outcomeRow{Status: status, Text: said.Description}
		if example := said.Content["application/json"].Example; strings.HasPrefix(status, "2") && len(example) > 0 {
			answer.Example = indented(example)
		}
		row.Answers = append(row.Answers, answer)
	}
	return row
}

func (d document) resolve(s schema) schema {
	if name, ok := strings.CutPrefix(s.Ref, "#/components/schemas/"); ok {
		return d.Components.Schemas[name]
	}
	return s
}

func (d document) fields(s schema) []inputRow {
	s = d.resolve(s)
	for _, one := range s.OneOf {
		if s.Properties == nil {
			s = d.resolve(one)
		}
	}
	var rows []inputRow
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		field := s.Properties[name]
		rows = append(rows, inputRow{Name: name, Type: d.typeOf(field), Text: field.Description, Required: slices.Contains(s.Required, name)})
	}
	return rows
}

// typeOf names the type of a value in a word or two.
func (d document) typeOf(s schema) string {
	s = d.resolve(s)
	var names []string
	switch t := s.Type.(type) {
	case string:
		names = []string{t}
	case []any:
		for _, one := range t {
			if name, ok := one.(string); ok && name != "null" {
				names = append(names, name)
			}
		}
	}
	for _, one := range s.OneOf {
		names = append(names, d.typeOf(one))
	}
	name := strings.Join(names, " or ")
	if s.Items != nil {
		name = "list of " + d.typeOf(*s.Items)
	}
	if s.Format != "" {
		name += ", " + s.Format
	}
	return name
}

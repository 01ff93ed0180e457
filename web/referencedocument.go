package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
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
		Example               any
	}
	RequestBody *struct{ Content map[string]content } `json:"requestBody"`
	Responses   map[string]struct {
		Description string
		Content     map[string]content
	}
	Security []map[string][]string
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
	Properties  properties
	Required    []string
	Items       *schema
	OneOf       []schema `json:"oneOf"`
}

// properties are the fields of an object, in the order in which the document has them.
type properties struct {
	names []string
	of    map[string]schema
}

// UnmarshalJSON keeps the order.
func (p *properties) UnmarshalJSON(raw []byte) error {
	if err := json.Unmarshal(raw, &p.of); err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if _, err := decoder.Token(); err != nil {
		return err
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return err
		}
		p.names = append(p.names, fmt.Sprint(name))
		var skipped json.RawMessage
		if err := decoder.Decode(&skipped); err != nil {
			return err
		}
	}
	return nil
}

// row tells of an endpoint of the installation at an address.
func (d document) row(base, method, path string, o operation) operationRow {
	row := operationRow{ID: o.ID, Method: strings.ToUpper(method), Path: path, Summary: o.Summary, Request: o.request(base, method, path)}
	if o.Description != o.Summary {
		row.Text = passages(o.Description)
	}
	for _, p := range o.Parameters {
		row.Inputs = append(row.Inputs, inputRow{Name: p.Name, Where: p.In, Type: d.typeOf(p.Schema), Text: p.Description, Required: p.Required})
	}
	if o.RequestBody != nil {
		row.Fields = d.fields(o.RequestBody.Content["application/json"].Schema, "", nil)
	}
	for _, status := range slices.Sorted(maps.Keys(o.Responses)) {
		said := o.Responses[status]
		answer := outcomeRow{Status: status, Text: passages(said.Description)}
		if example := said.Content["application/json"].Example; strings.HasPrefix(status, "2") && len(example) > 0 {
			answer.Example = asGiven(example)
		}
		row.Answers = append(row.Answers, answer)
	}
	return row
}

// request is a call with the examples of the parameters and of the body.
func (o operation) request(base, method, path string) string {
	opens := func(way string) bool {
		return slices.ContainsFunc(o.Security, func(one map[string][]string) bool { return one[way] != nil })
	}
	if len(o.Security) > 0 && !opens("key") {
		return ""
	}
	for _, p := range o.Parameters {
		if p.In == "path" && p.Example != nil {
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(fmt.Sprint(p.Example)))
		}
	}
	body := ""
	if o.RequestBody != nil {
		body = asGiven(o.RequestBody.Content["application/json"].Example)
	}
	return curl(strings.ToUpper(method), base+path, opens("key"), body)
}

// asGiven writes JSON for people and keeps the order of its fields.
func asGiven(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

func (d document) resolve(s schema) schema {
	if name, ok := strings.CutPrefix(s.Ref, "#/components/schemas/"); ok {
		return d.Components.Schemas[name]
	}
	return s
}

// object returns a schema, or that among its variants or of its elements that has fields, and how these are reached from it.
func (d document) object(s schema) (found schema, by string) {
	s = d.resolve(s)
	if s.Items != nil {
		found, by = d.object(*s.Items)
		return found, "[]" + by
	}
	for _, one := range s.OneOf {
		if found, by := d.object(one); found.Properties.of != nil {
			return found, by
		}
	}
	return s, ""
}

// deepestField is how many objects in each other are told of; those of rules go on.
const deepestField = 2

// fields are those of an object and of the objects in it, under the names by which they are reached from a place.
func (d document) fields(s schema, at string, around []string) (rows []inputRow) {
	s, by := d.object(s)
	at += by
	if at != "" {
		at += "."
	}
	for _, name := range s.Properties.names {
		field := s.Properties.of[name]
		kind := d.typeOf(field)
		rows = append(rows, inputRow{Name: at + name, Type: kind, Text: field.Description, Required: slices.Contains(s.Required, name)})
		if (kind == "object" || kind == "list of object") && len(around) < deepestField && !slices.Contains(around, name) {
			rows = append(rows, d.fields(field, at+name, append(around, name))...)
		}
	}
	return rows
}

// typeOf names the type of a value in a word or two.
func (d document) typeOf(s schema) string {
	s = d.resolve(s)
	var names []string
	add := func(name string) {
		if name != "null" && name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	switch t := s.Type.(type) {
	case string:
		add(t)
	case []any:
		for _, one := range t {
			add(fmt.Sprint(one))
		}
	}
	for _, one := range s.OneOf {
		add(d.typeOf(one))
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

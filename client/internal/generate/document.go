// Package generate writes the parts of the client that follow from the API's OpenAPI document: a service for every tag, a method for
// every operation and a type for every schema.
package generate

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Document is an OpenAPI document, as far as the client is made from it.
type Document struct {
	Tags  []Tag                           `json:"tags"`
	Paths map[string]map[string]Operation `json:"paths"`
	Parts struct {
		Schemas map[string]Schema `json:"schemas"`
	} `json:"components"`
}

// Tag is a group of operations.
type Tag struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// Operation is one route.
type Operation struct {
	ID          string              `json:"operationId"`
	Summary     string              `json:"summary"`
	Description string              `json:"description"`
	Tags        []string            `json:"tags"`
	Parameters  []Parameter         `json:"parameters"`
	Body        *Content            `json:"requestBody"`
	Responses   map[string]*Content `json:"responses"`

	Method, Path string `json:"-"`
}

// Parameter is a part of a path, a query or a header.
type Parameter struct {
	Name        string `json:"name"`
	In          string `json:"in"`
	Description string `json:"description"`
	Schema      Schema `json:"schema"`
}

// Content is what a body may be, by media type.
type Content struct {
	Media map[string]struct {
		Schema  *Schema         `json:"schema"`
		Example json.RawMessage `json:"example"`
	} `json:"content"`
}

// Schema describes a value.
type Schema struct {
	Ref         string            `json:"$ref"`
	Type        types             `json:"type"`
	Format      string            `json:"format"`
	Encoding    string            `json:"contentEncoding"`
	Description string            `json:"description"`
	Properties  map[string]Schema `json:"properties"`
	Additional  *Schema           `json:"additionalProperties"`
	Items       *Schema           `json:"items"`
	OneOf       []Schema          `json:"oneOf"`
}

// types is one type or several.
type types []string

// UnmarshalJSON reads a text or a list.
func (t *types) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '"' {
		*t = types{""}
		return json.Unmarshal(raw, &(*t)[0])
	}
	return json.Unmarshal(raw, (*[]string)(t))
}

// Parse reads a document.
func Parse(raw []byte) (Document, error) {
	var d Document
	if err := json.Unmarshal(raw, &d); err != nil {
		return d, fmt.Errorf("read document: %w", err)
	}
	if len(d.Paths) == 0 {
		return d, fmt.Errorf("the document has no paths")
	}
	return d, nil
}

// Operations returns all operations, ordered by path and method.
func (d Document) Operations() []Operation {
	var all []Operation
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(d.Paths[path])) {
			op := d.Paths[path][method]
			op.Method, op.Path = strings.ToUpper(method), path
			all = append(all, op)
		}
	}
	return all
}

// Answer returns the media type, the schema and the example of the answer to a request that went well.
func (o Operation) Answer() (media string, schema *Schema, example json.RawMessage) {
	for _, status := range slices.Sorted(maps.Keys(o.Responses)) {
		if status >= "4" {
			continue
		}
		if content, ok := o.Responses[status].Media[mediaJSON]; ok {
			return mediaJSON, content.Schema, content.Example
		}
		for _, media := range slices.Sorted(maps.Keys(o.Responses[status].Media)) {
			return media, nil, nil
		}
	}
	return "", nil, nil
}

// Leads tells whether the operation answers with where to go on.
func (o Operation) Leads() bool {
	for status := range o.Responses {
		if strings.HasPrefix(status, "3") {
			return true
		}
	}
	return false
}

const mediaJSON = "application/json"

func (s Schema) refName() string { return strings.TrimPrefix(s.Ref, "#/components/schemas/") }

// nullable tells whether null is among the types.
func (s Schema) nullable() bool { return slices.Contains(s.Type, "null") }

func (s Schema) kind() string {
	for _, t := range s.Type {
		if t != "null" {
			return t
		}
	}
	return ""
}

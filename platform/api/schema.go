package api

import (
	"encoding/json"
	"path"
	"reflect"
	"slices"
	"strings"
	"time"
)

// shape is what a handler reads or writes, as types.
type shape struct {
	body       reflect.Type // nil if there is none
	parameters []parameter
}

type parameter struct {
	name, in, doc, example string
	least                  int64
	kind                   reflect.Type
}

func shapeOf[T any]() shape { return shape{body: reflect.TypeFor[T]()} }

func (b *binding) shape() shape {
	var s shape
	for _, field := range b.fields {
		f := b.request.FieldByIndex(field.index)
		s.parameters = append(s.parameters, parameter{field.name, field.source, f.Tag.Get("doc"), f.Tag.Get("example"), field.least, f.Type})
	}
	if b.body != nil {
		s.body = b.request.FieldByIndex(b.body).Type
	}
	return s
}

// schema is a JSON Schema, as far as this API needs it.
type schema map[string]any

// schemas turns Go types into JSON Schemas, naming each struct once.
type schemas struct {
	named map[string]schema
	// asked are the names of what callers send. They may leave out what we always answer.
	asked map[string]bool
	// answering is true while an answer is being described.
	answering bool
}

// newSchemas returns the schemas of the routes' requests; those of answers are added as they are asked for.
func newSchemas(routes []Route) *schemas {
	s := &schemas{named: map[string]schema{}}
	for _, route := range routes {
		if body := route.Handler.input.body; body != nil && !route.Private {
			s.ask(body)
		}
	}
	s.asked = map[string]bool{}
	for name := range s.named {
		s.asked[name] = true
	}
	return s
}

// ask describes what a caller sends, answer what is sent back.
func (s *schemas) ask(t reflect.Type) schema {
	s.answering = false
	return s.of(t)
}

func (s *schemas) answer(t reflect.Type) schema {
	s.answering = true
	return s.of(t)
}

// Schemed is a type that writes its own JSON and so describes it itself.
type Schemed interface{ JSONSchema() map[string]any }

func (s *schemas) of(t reflect.Type) schema {
	if described, ok := reflect.Zero(t).Interface().(Schemed); ok {
		return described.JSONSchema()
	}
	switch t {
	case reflect.TypeFor[Time](), reflect.TypeFor[time.Time]():
		return schema{"type": []string{"string", "null"}, "format": "date-time"}
	case reflect.TypeFor[Strings]():
		if s.answering {
			return schema{"type": "array", "items": schema{"type": "string"}}
		}
		return schema{"oneOf": []schema{{"type": "string"}, {"type": "array", "items": schema{"type": "string"}}}}
	case reflect.TypeFor[Ref]():
		return schema{"type": []string{"string", "null"}}
	case reflect.TypeFor[json.RawMessage](), reflect.TypeFor[Raw](), reflect.TypeFor[rawJSON]():
		return schema{}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.nullable(t.Elem())
	case reflect.String:
		return schema{"type": "string"}
	case reflect.Bool:
		return schema{"type": "boolean"}
	case reflect.Int, reflect.Int32, reflect.Int64:
		return schema{"type": "integer"}
	case reflect.Float64:
		return schema{"type": "number"}
	case reflect.Slice:
		return schema{"type": "array", "items": s.of(t.Elem())}
	case reflect.Map:
		return schema{"type": "object", "additionalProperties": s.of(t.Elem())}
	case reflect.Struct:
		return s.ofStruct(t)
	}
	return schema{}
}

func (s *schemas) nullable(t reflect.Type) schema {
	inner := s.of(t)
	if _, already := inner["type"].([]string); already || len(inner) == 0 {
		return inner
	}
	if kind, ok := inner["type"].(string); ok {
		inner["type"] = []string{kind, "null"}
		return inner
	}
	if variants, ok := inner["oneOf"].([]schema); ok {
		if variants[len(variants)-1]["type"] == "null" {
			return inner
		}
		return schema{"oneOf": append(slices.Clip(variants), schema{"type": "null"})}
	}
	return schema{"oneOf": []schema{inner, {"type": "null"}}}
}

func (s *schemas) ofStruct(t reflect.Type) schema {
	if value, ok := optionalValue(t); ok {
		return s.nullable(value) // null clears
	}
	name := schemaName(t)
	if name == "" {
		return s.object(t)
	}
	if _, known := s.named[name]; !known {
		s.named[name] = schema{} // a type that contains itself finds its name
		s.named[name] = s.object(t)
	}
	return schema{"$ref": "#/components/schemas/" + name}
}

// schemaName is the package and the type: email.Record is EmailRecord. Types without a name are described in place.
func schemaName(t reflect.Type) string {
	name := t.Name()
	if name == "" {
		return ""
	}
	if generic, argument, ok := strings.Cut(name, "["); ok {
		argument = strings.TrimSuffix(argument, "]")
		parts := strings.Split(path.Base(argument), ".")
		return capital(generic) + "Of" + capital(parts[0]) + capital(parts[len(parts)-1])
	}
	return capital(path.Base(t.PkgPath())) + capital(name)
}

func capital(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func (s *schemas) object(t reflect.Type) schema {
	properties, required := newOrdered(), []string{}
	for _, field := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" || name == "-" || !field.IsExported() {
			continue
		}
		property := s.of(field.Type)
		if doc := field.Tag.Get("doc"); doc != "" {
			property["description"] = doc
		}
		if example, ok := exampleOf(field.Type, field.Tag.Get("example")); ok {
			property["examples"] = []any{example}
		}
		properties.set(name, property)
		if options == "" && len(field.Index) == 1+embeddedByValue(t, field.Index) {
			required = append(required, name)
		}
	}
	described := schema{"type": "object", "properties": properties}
	if s.answering && !s.asked[schemaName(t)] && len(required) > 0 {
		slices.Sort(required)
		described["required"] = slices.Compact(required)
	}
	return described
}

// embeddedByValue counts the structs a field is promoted from; one that is a pointer may be missing with all its fields.
func embeddedByValue(t reflect.Type, index []int) int {
	count := 0
	for _, i := range index[:len(index)-1] {
		t = t.Field(i).Type
		if t.Kind() == reflect.Pointer {
			return -1
		}
		count++
	}
	return count
}

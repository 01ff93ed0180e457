package api

import (
	"encoding/json"
	"path"
	"reflect"
	"strconv"
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
	kind                   reflect.Type
}

func shapeOf[T any]() shape { return shape{body: reflect.TypeFor[T]()} }

func (b *binding) shape() shape {
	var s shape
	for _, field := range b.fields {
		f := b.request.FieldByIndex(field.index)
		s.parameters = append(s.parameters, parameter{field.name, field.source, f.Tag.Get("doc"), f.Tag.Get("example"), f.Type})
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
	if kind, ok := inner["type"].(string); ok {
		inner["type"] = []string{kind, "null"}
		return inner
	}
	return schema{"oneOf": []schema{inner, {"type": "null"}}}
}

func (s *schemas) ofStruct(t reflect.Type) schema {
	if value, ok := t.FieldByName("Value"); ok && strings.HasPrefix(t.Name(), "Optional[") {
		return s.of(value.Type)
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
		return generic + "Of" + capital(parts[0]) + capital(parts[len(parts)-1])
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
	properties := schema{}
	for _, field := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
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
		properties[name] = property
	}
	return schema{"type": "object", "properties": properties}
}

// exampleOf reads the example tag as a value of the field's type.
func exampleOf(t reflect.Type, text string) (any, bool) {
	if text == "" {
		return nil, false
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Int, reflect.Int64, reflect.Float64:
		number, err := strconv.ParseFloat(text, 64)
		return number, err == nil
	case reflect.Bool:
		value, err := strconv.ParseBool(text)
		return value, err == nil
	}
	var value any
	if strings.ContainsAny(text[:1], "[{") && json.Unmarshal([]byte(text), &value) == nil {
		return value, true
	}
	return text, true
}

// example builds a whole value of a type from the examples of its fields.
func example(t reflect.Type, depth int) any {
	const deepest = 6
	if depth > deepest {
		return nil
	}
	switch {
	case t == reflect.TypeFor[Time]():
		return "2026-11-15T02:13:00.123Z"
	case t.Kind() == reflect.Pointer:
		return example(t.Elem(), depth)
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct:
		return []any{example(t.Elem(), depth+1)}
	case t.Kind() == reflect.Struct:
		object := map[string]any{}
		for _, field := range reflect.VisibleFields(t) {
			name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name == "" || name == "-" || !field.IsExported() {
				continue
			}
			if value, ok := exampleOf(field.Type, field.Tag.Get("example")); ok {
				object[name] = value
				continue
			}
			value := example(field.Type, depth+1)
			if value != nil || options != "omitempty" {
				object[name] = value
			}
		}
		return object
	case t.Kind() == reflect.Slice:
		return []any{}
	case t.Kind() == reflect.Map:
		return map[string]any{}
	case t.Kind() == reflect.Bool:
		return false
	case t.Kind() == reflect.Int, t.Kind() == reflect.Int64:
		return 0
	}
	return nil
}

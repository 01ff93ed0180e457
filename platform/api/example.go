package api

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// exampleOf reads the example tag as a value of the field's type.
func exampleOf(t reflect.Type, text string) (any, bool) {
	if text == "" {
		return nil, false
	}
	t = bare(t)
	if _, ok := reflect.Zero(t).Interface().(Schemed); ok && json.Valid([]byte(text)) {
		return json.RawMessage(text), true
	}
	switch t.Kind() {
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Float64:
		number, err := strconv.ParseFloat(text, 64)
		return number, err == nil
	case reflect.Bool:
		value, err := strconv.ParseBool(text)
		return value, err == nil
	}
	if strings.ContainsAny(text[:1], "[{") && json.Valid([]byte(text)) {
		return json.RawMessage(text), true // its fields keep their order
	}
	if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.String {
		return []any{text}, true
	}
	return text, true
}

// bare takes pointers and Optional off a type.
func bare(t reflect.Type) reflect.Type {
	for {
		if value, ok := optionalValue(t); ok {
			t = value
		} else if t.Kind() == reflect.Pointer {
			t = t.Elem()
		} else {
			return t
		}
	}
}

// exampleMoment is the time in all examples.
const exampleMoment = "2026-11-15T02:13:00.123Z"

// deepestExample bounds types that contain themselves.
const deepestExample = 6

// examples builds whole values from the examples of fields.
type examples struct {
	// sparse leaves out what has no example, as a caller would, and what is given instead of another field, whose name is its tag "instead".
	sparse bool
}

func exampleRequest(t reflect.Type) any {
	if value := (examples{sparse: true}).of(t, 0); value != nil {
		return value
	}
	return map[string]any{}
}

func exampleAnswer(t reflect.Type) any { return examples{}.of(t, 0) }

func (e examples) of(t reflect.Type, depth int) any {
	if described, ok := reflect.Zero(t).Interface().(Schemed); ok {
		return sample(described.JSONSchema())
	}
	switch t {
	case reflect.TypeFor[Time](), reflect.TypeFor[time.Time]():
		return exampleMoment
	case reflect.TypeFor[json.RawMessage](), reflect.TypeFor[Raw](), reflect.TypeFor[rawJSON](), reflect.TypeFor[Ref]():
		return nil
	}
	if value, ok := optionalValue(t); ok {
		return e.of(value, depth)
	}
	switch t.Kind() {
	case reflect.Pointer:
		if depth > deepestExample {
			return nil
		}
		return e.of(t.Elem(), depth+1)
	case reflect.Slice:
		if bare(t.Elem()).Kind() != reflect.Struct || depth > deepestExample {
			return []any{}
		}
		return []any{e.of(t.Elem(), depth+1)}
	case reflect.Struct:
		return e.object(t, depth)
	case reflect.Map:
		return map[string]any{}
	case reflect.String:
		return ""
	case reflect.Bool:
		return false
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Float64:
		return 0
	}
	return nil
}

func (e examples) object(t reflect.Type, depth int) any {
	object := newOrdered()
	for _, field := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" || name == "-" || !field.IsExported() || e.sparse && field.Tag.Get("instead") != "" {
			continue
		}
		if value, ok := exampleOf(field.Type, field.Tag.Get("example")); ok {
			object.set(name, value)
			continue
		}
		value := e.of(field.Type, depth+1)
		if says(value) || !e.sparse && options == "" {
			object.set(name, value)
		}
	}
	return object
}

// says tells whether an example has anything in it.
func says(value any) bool {
	switch v := value.(type) {
	case nil:
		return false
	case string:
		return v != ""
	case bool:
		return v
	case int:
		return v != 0
	case map[string]any:
		return len(v) > 0
	case *ordered:
		return len(v.names) > 0
	case []any:
		return len(v) > 0 && says(v[0])
	}
	return true
}

// sample is a value that a type's own schema allows: its first example, or the least there is.
func sample(s map[string]any) any {
	if given, ok := s["examples"].([]any); ok && len(given) > 0 {
		return given[0]
	}
	if variants, ok := s["oneOf"].([]any); ok && len(variants) > 0 {
		first, _ := variants[0].(map[string]any)
		return sample(first)
	}
	if value, ok := s["const"]; ok {
		return value
	}
	switch s["type"] {
	case "string":
		return ""
	case "integer", "number":
		if least, ok := s["minimum"]; ok {
			return least
		}
		return 0
	case "boolean":
		return false
	case "array":
		return []any{}
	case "object":
		return map[string]any{}
	}
	return nil
}

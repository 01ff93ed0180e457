package flow

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// maxValueDepth bounds how deep the values of a step may be nested.
const maxValueDepth = 20

// variable returns the name of a variable if the value is one: an object with the single key var.
func variable(value any) (string, bool) {
	object, ok := value.(map[string]any)
	if !ok || len(object) != 1 {
		return "", false
	}
	name, ok := object["var"].(string)
	return name, ok
}

var variableForm = regexp.MustCompile(`^[a-z]+(\.[A-Za-z0-9_@:-]{1,100}){1,10}$`)

// contactFields are what every contact has.
var contactFields = map[string]bool{"id": true, "email": true, "first_name": true, "last_name": true, "status": true, "unsubscribed": true, "created_at": true}

// visit calls each for every variable inside a value, with its path.
func visit(value any, path string, depth int, each func(path, name string)) bool {
	if depth > maxValueDepth {
		return false
	}
	if name, ok := variable(value); ok {
		each(path, name)
		return true
	}
	deep := true
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			deep = visit(value[key], path+"."+key, depth+1, each) && deep
		}
	case []any:
		for i, child := range value {
			deep = visit(child, fmt.Sprintf("%s[%d]", path, i), depth+1, each) && deep
		}
	}
	return deep
}

// Scope is what variables are looked up in: the words event, contact and steps, each with what it holds.
type Scope map[string]any

// Resolve returns a value with its variables replaced by what they stand for. What is not there is null.
func (s Scope) Resolve(value any) any {
	if name, ok := variable(value); ok {
		return s.lookUp(name)
	}
	switch value := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(value))
		for key, child := range value {
			out[key] = s.Resolve(child)
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, child := range value {
			out[i] = s.Resolve(child)
		}
		return out
	}
	return value
}

// lookUp follows the names of a variable. steps.<key>.output.x also finds x in the body of an answer, which is what people mean.
func (s Scope) lookUp(name string) any {
	parts := strings.Split(name, ".")
	value := s.follow(parts)
	if value == nil && len(parts) > 3 && parts[0] == "steps" && parts[2] == "output" {
		value = s.follow(append([]string{"steps", parts[1], "output", "body"}, parts[3:]...))
	}
	if value == nil && len(parts) == 2 && parts[0] == "contact" {
		value = s.follow([]string{"contact", "properties", parts[1]})
	}
	return value
}

func (s Scope) follow(parts []string) any {
	var value any = map[string]any(s)
	for _, part := range parts {
		object, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = object[part]
	}
	return value
}

// Text returns a value as it is written into a header or a query.
func Text(value any) string {
	switch value := value.(type) {
	case nil:
		return ""
	case string:
		return value
	case json.Number:
		return value.String()
	case bool:
		return fmt.Sprint(value)
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(raw)
}

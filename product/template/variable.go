package template

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"
	"unicode/utf8"

	"postrider/platform/api"
)

const (
	// maxVariables is how many variables a template can declare.
	maxVariables = 50
	// maxFallback is the length of a fallback in bytes.
	maxFallback = 8 << 10
	// maxVariablesBytes bounds the values of one mail.
	maxVariablesBytes = 1 << 20
)

var variableKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,49}$`)

// Type is what a variable can hold.
type Type string

// Types of variables.
const (
	String  Type = "string"
	Number  Type = "number"
	Boolean Type = "boolean"
	Object  Type = "object"
	List    Type = "list"
)

// Variable is a value that a template declares.
type Variable struct {
	ID   string `json:"id" example:"0193a1f4-0000-7000-8000-000000000421"`
	Key  string `json:"key" example:"FIRST_NAME"`
	Type Type   `json:"type" example:"string"`
	// Fallback is JSON, null if there is none.
	Fallback  json.RawMessage `json:"fallback_value" example:"there"`
	Required  bool            `json:"required" example:"false"`
	CreatedAt api.Time        `json:"created_at"`
	UpdatedAt api.Time        `json:"updated_at"`
}

// newVariable is a variable as it is asked for.
type newVariable struct {
	Key      string          `json:"key" doc:"Letters, digits and underscores, at most 50." example:"FIRST_NAME"`
	Type     Type            `json:"type" doc:"string, number, boolean, object or list." example:"string"`
	Fallback json.RawMessage `json:"fallback_value" doc:"What stands in for the variable when it is not sent." example:"there"`
	Required bool            `json:"required" doc:"Refuse a mail without the variable even if only a condition asks for it." example:"false"`
}

// Values are the values of variables, as a request sends them. Numbers keep their digits.
type Values map[string]any

// UnmarshalJSON reads an object; null is an empty one.
func (v *Values) UnmarshalJSON(raw []byte) error {
	if len(raw) > maxVariablesBytes {
		return errors.New("must have at most 1 MB")
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var values map[string]any
	if err := decoder.Decode(&values); err != nil {
		return errors.New("must be an object")
	}
	*v = values
	return nil
}

// checkVariables returns the variables that are asked for. One that was there before stays the same variable.
func checkVariables(wrong *api.Fields, asked []newVariable, before []Variable, now time.Time, newID func() string) []Variable {
	if len(asked) > maxVariables {
		wrong.Add("variables", fmt.Sprintf("At most %d variables are allowed.", maxVariables))
		return nil
	}
	known := map[string]Variable{}
	for _, v := range before {
		known[v.Key] = v
	}
	seen := map[string]bool{}
	variables := make([]Variable, 0, len(asked))
	for i, in := range asked {
		in.check(wrong, fmt.Sprintf("variables[%d].", i))
		if seen[in.Key] {
			wrong.Add(fmt.Sprintf("variables[%d].key", i), "The variable is declared twice.")
		}
		seen[in.Key] = true
		v, ok := known[in.Key]
		if !ok {
			v = Variable{ID: newID(), Key: in.Key, CreatedAt: api.Time(now)}
		}
		if !ok || v.Type != in.kind() || v.Required != in.Required || !bytes.Equal(v.Fallback, in.fallback()) {
			v.UpdatedAt = api.Time(now)
		}
		v.Type, v.Required, v.Fallback = in.kind(), in.Required, in.fallback()
		variables = append(variables, v)
	}
	return variables
}

func (in newVariable) kind() Type {
	if in.Type == "" {
		return String
	}
	return in.Type
}

// fallback returns the fallback as it is stored; null for none.
func (in newVariable) fallback() json.RawMessage {
	var compact bytes.Buffer
	if json.Compact(&compact, in.Fallback) != nil {
		return json.RawMessage("null")
	}
	return compact.Bytes()
}

func (in newVariable) check(wrong *api.Fields, path string) {
	if !variableKey.MatchString(in.Key) {
		wrong.Add(path+"key", "Must have 1 to 50 letters, digits or underscores and not begin with a digit.")
	}
	if _, known := typeNames[in.kind()]; !known {
		wrong.Add(path+"type", "Must be string, number, boolean, object or list.")
		return
	}
	value, present := (Variable{Fallback: in.fallback()}).fallbackValue()
	switch {
	case !present:
	case len(in.Fallback) > maxFallback:
		wrong.Add(path+"fallback_value", fmt.Sprintf("Must have at most %d bytes.", maxFallback))
	case !in.kind().fits(value):
		wrong.Add(path+"fallback_value", "Must be "+typeNames[in.kind()]+", as the type says.")
	case in.Required:
		wrong.Add(path+"required", "A variable with a fallback is never required.")
	}
}

// fallbackValue returns the fallback, if there is one.
func (v Variable) fallbackValue() (any, bool) {
	var values Values
	wrapped := append(append([]byte(`{"v":`), v.Fallback...), '}')
	if len(v.Fallback) == 0 || !utf8.Valid(wrapped) || values.UnmarshalJSON(wrapped) != nil {
		return nil, false
	}
	return values["v"], values["v"] != nil
}

var typeNames = map[Type]string{String: "a string", Number: "a number", Boolean: "true or false", Object: "an object", List: "a list"}

// fits tells whether a value has the type. Numbers and truth can be written where text is expected.
func (t Type) fits(value any) bool {
	switch value.(type) {
	case string:
		return t == String
	case json.Number, float64, int, int64:
		return t == Number || t == String
	case bool:
		return t == Boolean || t == String
	case map[string]any:
		return t == Object
	case []any:
		return t == List
	}
	return false
}

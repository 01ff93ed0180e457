package web

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// flowRule is one line of a question: what, how, and with what it is compared.
type flowRule struct {
	Field, Value string
	Operators    []choice
	// Choices are what the value can be, where that is known.
	Choices []choice
	// Silent tells that nothing is compared.
	Silent bool
}

// fillRules shows rules as lines, with an empty one to add more. Rules inside rules are shown as they are written.
func (f *flow) fillRules(field *flowField, rules map[string]any) {
	match, lines := "and", []any{}
	switch kind := textOf(rules["type"]); {
	case kind == "rule" || kind == "" && rules["field"] != nil:
		lines = append(lines, rules)
	case kind == "and" || kind == "or":
		match = kind
		lines, _ = rules["rules"].([]any)
	case kind != "":
		field.Kind = fieldCode
	}
	for _, line := range lines {
		if kind := textOf(objectOf(line)["type"]); kind != "rule" && kind != "" {
			field.Kind = fieldCode
		}
	}
	if field.Kind == fieldCode {
		if raw, err := json.Marshal(rules); err == nil {
			field.Value = indented(raw)
		}
		return
	}
	field.Match = choices(match, "and", "All of these are true", "or", "One of these is true")
	for _, line := range append(slices.Clone(lines), map[string]any{}) {
		field.Rules = append(field.Rules, f.ruleLine(objectOf(line)))
	}
}

func (f *flow) ruleLine(rule map[string]any) flowRule {
	name, operator := textOf(rule["field"]), textOf(rule["operator"])
	r := flowRule{Field: name, Value: textOf(rule["value"]), Silent: operator == "exists" || operator == "is_empty"}
	kind := f.meta.fieldType(name)
	for _, o := range f.meta.Operators {
		if fits := operatorsOf[kind]; fits == nil || slices.Contains(fits, o) || o == operator {
			r.Operators = append(r.Operators, choice{Value: o, Label: orElse(operatorWords[o], o), Chosen: o == operator})
		}
	}
	switch kind {
	case "list", "segment":
		for _, c := range f.choicesOf(kind) {
			c.Chosen = c.Value == r.Value
			r.Choices = append(r.Choices, c)
		}
		r.Choices = keeping(r.Choices, r.Value)
	case "boolean":
		r.Choices = choices(r.Value, "true", "true", "false", "false")
	}
	return r
}

// operatorsOf are those that a field of a type takes; of what an event says, the type is not known.
var operatorsOf = map[string][]string{
	"string":  {"eq", "neq", "contains", "not_contains", "starts_with", "ends_with", "in", "not_in", "exists", "is_empty"},
	"number":  {"eq", "neq", "gt", "gte", "lt", "lte", "in", "not_in", "exists", "is_empty"},
	"boolean": {"eq", "neq", "exists"}, "list": {"member_of", "not_member_of"}, "segment": {"member_of", "not_member_of"},
	"date": {"gt", "gte", "lt", "lte", "within_last", "not_within_last", "exists", "is_empty"},
}

// readRules makes rules from the lines of a form; nil if there are none.
func (f *flow) readRules(name string, form url.Values) any {
	fields, operators, values := form[name+".field"], form[name+".operator"], form[name+".value"]
	var rules []any
	for i, field := range fields {
		if field = strings.TrimSpace(field); field == "" || i >= len(operators) || i >= len(values) {
			continue
		}
		rule := map[string]any{"type": "rule", "field": field, "operator": f.fitting(field, operators[i])}
		if value := f.ruleValue(field, textOf(rule["operator"]), strings.TrimSpace(values[i])); value != nil {
			rule["value"] = value
		}
		rules = append(rules, rule)
	}
	switch {
	case len(rules) == 1:
		return rules[0]
	case len(rules) == 0 && name == "c.":
		return map[string]any{"type": "and", "rules": []any{}} // a condition is its rules; it cannot be nothing
	case len(rules) == 0:
		return nil
	}
	return map[string]any{"type": form.Get(name + ".match"), "rules": rules}
}

// fitting returns the operator, or the first that the field takes if it does not take this one.
func (f *flow) fitting(field, operator string) string {
	if fits := operatorsOf[f.meta.fieldType(field)]; fits != nil && !slices.Contains(fits, operator) {
		return fits[0]
	}
	return operator
}

func (f *flow) ruleValue(field, operator, text string) any {
	kind := f.meta.fieldType(field)
	switch {
	case operator == "exists" || operator == "is_empty":
		if text == "false" {
			return false
		}
		return nil
	case operator == "in" || operator == "not_in":
		all := []any{}
		for _, one := range strings.Split(text, ",") {
			if one = strings.TrimSpace(one); one != "" {
				all = append(all, scalar(kind, one))
			}
		}
		return all
	}
	return scalar(kind, text)
}

// scalar reads a value of a type. What an event says may be of any.
func scalar(kind, text string) any {
	if kind == "number" || kind == "boolean" || kind == "" {
		switch parsed, err := parseJSON(text); parsed.(type) {
		case json.Number, bool:
			if err == nil {
				return parsed
			}
		}
	}
	return text
}

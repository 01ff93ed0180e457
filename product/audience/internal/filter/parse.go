package filter

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Problem is what is wrong with a tree, and where: a path such as rules[1].value below the tree itself.
type Problem struct{ Path, Message string }

// Error returns the path and the message.
func (p *Problem) Error() string { return p.Path + ": " + p.Message }

type wireNode struct {
	Type     string          `json:"type"`
	Rules    []wireNode      `json:"rules"`
	Field    string          `json:"field"`
	Operator string          `json:"operator"`
	Value    json.RawMessage `json:"value"`
}

// Parse reads a tree and checks it against what the workspace has. Its error is a *Problem.
func Parse(raw json.RawMessage, schema Schema) (*Tree, error) {
	var wire wireNode
	if err := json.Unmarshal(raw, &wire); err != nil {
		return nil, &Problem{"", "Must be a tree of rules, such as {\"type\":\"rule\",\"field\":\"email_domain\",\"operator\":\"eq\",\"value\":\"example.net\"}."}
	}
	p := parser{schema: schema}
	root, err := p.node(wire, "", 1)
	if err != nil {
		return nil, err
	}
	tree := &Tree{root}
	if tree.Size(MaxExpanded) > MaxExpanded {
		return nil, &Problem{"", fmt.Sprintf("Must have at most %d rules, those of the segments it names included.", MaxExpanded)}
	}
	return tree, nil
}

type parser struct {
	schema Schema
	rules  int
}

func (p *parser) node(w wireNode, path string, depth int) (node, error) {
	if w.Type == "rule" || w.Type == "" && w.Field != "" {
		if p.rules++; p.rules > MaxRules {
			return node{}, &Problem{path, fmt.Sprintf("Must have at most %d rules.", MaxRules)}
		}
		r, err := p.rule(w, path)
		return node{kind: leafNode, rule: r}, err
	}
	group, known := map[string]kind{"and": andNode, "or": orNode, "not": notNode}[w.Type]
	switch {
	case !known:
		return node{}, &Problem{path + ".type", "Must be rule, and, or or not."}
	case depth > MaxDepth:
		return node{}, &Problem{path, fmt.Sprintf("Must be nested at most %d deep.", MaxDepth)}
	case len(w.Rules) == 0:
		return node{}, &Problem{path + ".rules", "At least one rule is required."}
	case group == notNode && len(w.Rules) > 1:
		return node{}, &Problem{path + ".rules", "A not has exactly one rule. Use and or or inside it."}
	}
	n := node{kind: group}
	for i, child := range w.Rules {
		c, err := p.node(child, fmt.Sprintf("%s.rules[%d]", path, i), depth+1)
		if err != nil {
			return n, err
		}
		n.rules = append(n.rules, c)
	}
	return n, nil
}

func (p *parser) rule(w wireNode, path string) (rule, error) {
	r := rule{operator: w.Operator}
	if problem := p.findField(&r, w.Field); problem != "" {
		return r, &Problem{path + ".field", problem}
	}
	if !r.field.kind.knows(w.Operator) {
		return r, &Problem{path + ".operator", fmt.Sprintf("Must be one of: %s.", strings.Join(r.field.operators(), ", "))}
	}
	if problem := p.readValue(&r, w.Value); problem != "" {
		return r, &Problem{path + ".value", problem}
	}
	return r, nil
}

func (f field) operators() []string {
	if f.kind == eventField {
		return eventOperators
	}
	return operators[f.kind]
}

// findField fills in the field, and what it names.
func (p *parser) findField(r *rule, name string) (problem string) {
	if known, ok := contactFields[name]; ok {
		r.field = known
		return ""
	}
	family, key, _ := strings.Cut(name, ".")
	switch {
	case family == "properties":
		property, ok := p.schema.Properties[key]
		if !ok {
			return "There is no such property. Define it first."
		}
		r.field, r.id = field{kind: kindOf[property.Type], property: property.Number, key: key}, key
	case family == "topics":
		topic, ok := p.schema.Topics[key]
		if !ok {
			return "There is no such topic."
		}
		r.field, r.topic, r.id = field{kind: topicField}, topic, key
	case family == "event" && p.schema.Events && key != "":
		r.field = field{kind: eventField, key: key}
	case family == "event":
		return "Only automations know an event."
	default:
		return "There is no such field."
	}
	return ""
}

// readValue fills in what the rule compares with. A value of an event takes the kind of what it is compared with.
func (p *parser) readValue(r *rule, raw json.RawMessage) (problem string) {
	if r.operator == "exists" || r.operator == "is_empty" {
		r.truth = true
		if len(raw) > 0 && string(raw) != "null" && json.Unmarshal(raw, &r.truth) != nil {
			return "Must be true, false or absent."
		}
		return ""
	}
	kind := r.field.kind
	if kind == eventField {
		kind = kindOfValue(r.operator, raw)
		if !kind.knows(r.operator) {
			return fmt.Sprintf("Cannot be compared by %s.", r.operator)
		}
		key := r.field.key
		r.field = field{kind: kind, key: key, of: func(c *Contact) Value { return eventValue(c.Event[key], kind) }}
	}
	switch kind {
	case textField:
		return readTexts(r, raw)
	case numberField:
		return readAmounts(r, raw)
	case booleanField:
		if json.Unmarshal(raw, &r.truth) != nil || string(raw) == "null" {
			return "Must be true or false."
		}
		return ""
	case dateField:
		return readMoment(r, raw)
	case topicField:
		var text string
		if json.Unmarshal(raw, &text) != nil || text != "opt_in" && text != "opt_out" {
			return "Must be opt_in or opt_out."
		}
		r.truth = text == "opt_in"
		return ""
	}
	return p.readName(r, raw)
}

func (p *parser) readName(r *rule, raw json.RawMessage) string {
	if json.Unmarshal(raw, &r.id) != nil {
		return "Must be an id."
	}
	ok := false
	if r.field.kind == listField {
		r.list, ok = p.schema.Lists[r.id]
		if !ok {
			return "There is no such list."
		}
		return ""
	}
	if r.segment, ok = p.schema.Segments[r.id]; !ok {
		return "There is no such segment."
	}
	return ""
}

// isList tells whether an operator compares with several values.
func isList(operator string) bool { return operator == "in" || operator == "not_in" }

// readList reads the one value, or the values, of an operator.
func readList[T any](r *rule, raw json.RawMessage) ([]T, bool) {
	var list []T
	if isList(r.operator) {
		return list, json.Unmarshal(raw, &list) == nil && len(list) > 0 && len(list) <= maxList && !slices.Contains(words(raw), "null")
	}
	list = make([]T, 1)
	return list, len(raw) > 0 && string(raw) != "null" && json.Unmarshal(raw, &list[0]) == nil
}

// words are the elements of a JSON list as they are written, roughly: enough to see a null.
func words(raw json.RawMessage) []string {
	var parts []json.RawMessage
	_ = json.Unmarshal(raw, &parts) // what is no list has no elements
	texts := make([]string, len(parts))
	for i, part := range parts {
		texts[i] = string(part)
	}
	return texts
}

func readTexts(r *rule, raw json.RawMessage) string {
	list, ok := readList[string](r, raw)
	if !ok {
		return ofList(r, "text")
	}
	for _, text := range list {
		if len(text) > maxText || strings.ContainsRune(text, 0) || !utf8.ValidString(text) {
			return fmt.Sprintf("Must be text of at most %d bytes without NUL characters.", maxText)
		}
		r.texts = append(r.texts, Fold(text))
	}
	return ""
}

func readAmounts(r *rule, raw json.RawMessage) string {
	list, ok := readList[float64](r, raw)
	if !ok || slices.ContainsFunc(list, func(f float64) bool { return math.IsInf(f, 0) || math.IsNaN(f) }) {
		return ofList(r, "a number")
	}
	r.amounts = list
	return ""
}

func ofList(r *rule, what string) string {
	if isList(r.operator) {
		return fmt.Sprintf("Must be a list of 1 to %d values, each %s.", maxList, what)
	}
	return fmt.Sprintf("Must be %s.", what)
}

var spanForm = regexp.MustCompile(`^(\d{1,5}) (hour|day|week)s?$`)

// mostHours are a century, before which nothing happened. A span of more than three would turn round.
const mostHours = 100 * 365 * 24

// readMoment reads a time, or how long ago something may be.
func readMoment(r *rule, raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return "Must be text."
	}
	if strings.HasSuffix(r.operator, "within_last") {
		found := spanForm.FindStringSubmatch(text)
		if found == nil {
			return `Must be a number of hours, days or weeks, such as "30 days".`
		}
		count, _ := strconv.Atoi(found[1]) // the form has digits only
		hours := count * map[string]int{"hour": 1, "day": 24, "week": 7 * 24}[found[2]]
		r.span = time.Duration(min(hours, mostHours)) * time.Hour
		return ""
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return "Must be an RFC 3339 time, such as 2026-11-01T00:00:00Z."
	}
	r.at = at.UTC().Truncate(time.Microsecond)
	return ""
}

// kindOfValue is how a value of an event is compared.
func kindOfValue(operator string, raw json.RawMessage) fieldKind {
	if strings.HasSuffix(operator, "within_last") {
		return dateField
	}
	var value any
	_ = json.Unmarshal(raw, &value) // what cannot be read is no text either, and is refused as such
	if list, ok := value.([]any); ok && len(list) > 0 {
		value = list[0]
	}
	switch v := value.(type) {
	case float64:
		return numberField
	case bool:
		return booleanField
	case string:
		if _, err := time.Parse(time.RFC3339, v); err == nil && slices.Contains(operators[dateField], operator) {
			return dateField
		}
	}
	return textField
}

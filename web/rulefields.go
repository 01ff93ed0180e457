package web

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ruleBook knows what rules can ask about in a workspace, and how people call it.
type ruleBook struct {
	zone   *time.Location
	fields []ruleField
	// self is the name of the segment that the rules are those of; empty while it has none.
	self string
}

// ruleField is something that a rule can ask about.
type ruleField struct {
	Name, Label, Family string
	// Kind decides which operators there are, and what they compare with.
	Kind string
	// Choices are the values there are, where they can be named.
	Choices []choice
}

// ruleOperators are what can be asked about each kind of field, each followed by how people say it.
var ruleOperators = map[string][]string{
	"text": {"eq", "is", "neq", "is not", "contains", "contains", "not_contains", "does not contain", "starts_with", "starts with", "ends_with", "ends with",
		"in", "is one of", "not_in", "is none of", "exists", "has a value", "is_empty", "has no value"},
	"number": {"eq", "is", "neq", "is not", "gt", "is more than", "gte", "is at least", "lt", "is less than", "lte", "is at most",
		"in", "is one of", "not_in", "is none of", "exists", "has a value", "is_empty", "has no value"},
	"boolean": {"eq", "is", "neq", "is not", "exists", "has a value"},
	"date": {"within_last", "is within the last", "not_within_last", "is not within the last", "gte", "is on or after", "lt", "is before", "gt", "is after", "lte", "is on or before",
		"exists", "is known", "is_empty", "is not known"},
	"list":    {"member_of", "is on", "not_member_of", "is not on"},
	"segment": {"member_of", "is in", "not_member_of", "is not in"},
	"topic":   {"eq", "is"},
}

// contactFields are those that every contact has.
func contactFields() []ruleField {
	statuses := contactStates("")[1:]
	truth := []choice{{Value: "true", Label: "Yes"}, {Value: "false", Label: "No"}}
	return []ruleField{
		{"email", "Email address", "Contact", "text", nil}, {"email_domain", "Domain of the address", "Contact", "text", nil}, {"first_name", "First name", "Contact", "text", nil},
		{"last_name", "Last name", "Contact", "text", nil}, {"status", "Status", "Contact", "text", statuses}, {"created_at", "Added", "Contact", "date", nil},
		{"updated_at", "Changed", "Contact", "date", nil}, {"unsubscribed", "Unsubscribed from everything", "Contact", "boolean", truth},
		{"suppressed", "On the suppression list", "Contact", "boolean", truth},
		{"engagement.last_sent_at", "Last mail", "Activity", "date", nil}, {"engagement.last_opened_at", "Last open", "Activity", "date", nil},
		{"engagement.last_clicked_at", "Last click", "Activity", "date", nil}, {"engagement.sent_count", "Mails sent", "Activity", "number", nil},
		{"engagement.open_count", "Opens", "Activity", "number", nil}, {"engagement.click_count", "Clicks", "Activity", "number", nil},
	}
}

// ruleBook reads what the workspace has. A segment cannot ask about itself.
func (v *visit) ruleBook(self string) (*ruleBook, error) {
	book := &ruleBook{zone: v.zone(), fields: contactFields()}
	properties, err := v.properties()
	if err != nil {
		return nil, err
	}
	kinds := map[string]string{"string": "text", "number": "number", "boolean": "boolean", "date": "date"}
	for _, p := range properties {
		f := ruleField{Name: "properties." + p.Key, Label: p.title(), Family: "Properties", Kind: kinds[p.Type]}
		if p.Type == "boolean" {
			f.Choices = []choice{{Value: "true", Label: "Yes"}, {Value: "false", Label: "No"}}
		}
		book.fields = append(book.fields, f)
	}
	lists, err := v.named("/v1/audience/lists", nil)
	if err != nil {
		return nil, err
	}
	segments, err := v.named("/v1/segments", nil)
	if err != nil {
		return nil, err
	}
	topics, err := v.named("/v1/topics", url.Values{})
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(segments, func(s namedRecord) bool { return s.ID == self }); i >= 0 {
		book.self = segments[i].Name
		segments = slices.Delete(segments, i, i+1)
	}
	if len(lists) > 0 {
		book.fields = append(book.fields, ruleField{"lists", "List", "Lists, segments and topics", "list", namesOf(lists, "", "")[1:]})
	}
	if len(segments) > 0 {
		book.fields = append(book.fields, ruleField{"segments", "Segment", "Lists, segments and topics", "segment", namesOf(segments, "", "")[1:]})
	}
	for _, t := range topics {
		book.fields = append(book.fields, ruleField{"topics." + t.ID, "Topic " + visible(t.Name), "Lists, segments and topics", "topic", []choice{{Value: "opt_in", Label: "subscribed"}, {Value: "opt_out", Label: "unsubscribed"}}})
	}
	return book, nil
}

// field returns a field by its name. One that is gone is called by its name.
func (b *ruleBook) field(name string) ruleField {
	for _, f := range b.fields {
		if f.Name == name {
			return f
		}
	}
	return ruleField{Name: name, Label: name, Family: "Gone", Kind: "text"}
}

func (f ruleField) operators(current string) []choice {
	return choices(current, ruleOperators[f.Kind]...)
}

// knows tells whether an operator can be asked about the field.
func (f ruleField) knows(operator string) bool {
	return slices.ContainsFunc(f.operators(operator), func(c choice) bool { return c.Chosen })
}

// input is how a value is entered: as text, number, moment, span, choice, or not at all.
func (f ruleField) input(operator string) string {
	switch {
	case operator == "exists" || operator == "is_empty":
		return "none"
	case strings.HasSuffix(operator, "within_last"):
		return "span"
	case f.Kind == "date":
		return "moment"
	case operator == "in" || operator == "not_in":
		return "several"
	case len(f.Choices) > 0 && (f.Kind != "text" || operator == "eq" || operator == "neq"):
		return "choice"
	case f.Kind == "number":
		return "number"
	}
	return "text"
}

const momentLayout = "2006-01-02T15:04"

// encode writes a value as the API compares with it; what cannot be read is left for the API to refuse.
func (b *ruleBook) encode(f ruleField, n *ruleNode) any {
	switch f.input(n.Operator) {
	case "none":
		return true
	case "span":
		return strings.TrimSpace(n.Value) + " " + n.Unit
	case "moment":
		if at, err := time.ParseInLocation(momentLayout, n.Value, b.zone); err == nil {
			return at.UTC().Format(time.RFC3339)
		}
		return n.Value
	case "several":
		all := []any{}
		for _, part := range strings.Split(n.Value, ",") {
			if part = strings.TrimSpace(part); part != "" {
				all = append(all, f.scalar(part))
			}
		}
		return all
	}
	return f.scalar(n.Value)
}

func (f ruleField) scalar(text string) any {
	switch {
	case f.Kind == "number":
		if amount, err := strconv.ParseFloat(strings.TrimSpace(text), 64); err == nil {
			return amount
		}
	case f.Kind == "boolean":
		return text == "true"
	}
	return text
}

// decode fills in what a rule compares with, as inputs show it.
func (b *ruleBook) decode(f ruleField, n *ruleNode, raw json.RawMessage) {
	var value any
	_ = json.Unmarshal(raw, &value) // a rule without a value compares with nothing
	switch text, _ := value.(string); f.input(n.Operator) {
	case "span":
		n.Value, n.Unit, _ = strings.Cut(text, " ")
		n.Unit = strings.TrimSuffix(n.Unit, "s") + "s"
	case "moment":
		if n.Value = text; text != "" {
			if at, err := time.Parse(time.RFC3339, text); err == nil {
				n.Value = at.In(b.zone).Format(momentLayout)
			}
		}
	case "several":
		list, _ := value.([]any)
		var parts []string
		for _, one := range list {
			parts = append(parts, scalarText(one))
		}
		n.Value = strings.Join(parts, ", ")
	default:
		n.Value = scalarText(value)
	}
}

func scalarText(value any) string {
	switch known := value.(type) {
	case string:
		return known
	case bool:
		return strconv.FormatBool(known)
	case float64:
		return strconv.FormatFloat(known, 'f', -1, 64)
	}
	return ""
}

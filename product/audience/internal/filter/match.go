package filter

import (
	"slices"
	"strings"
	"time"
)

// Contact is what trees can ask about one contact. Empty names and zero times are missing.
type Contact struct {
	// Email and Domain are in the form in which spellings are equal.
	Email, Domain       string
	FirstName, LastName string
	Status              string

	Unsubscribed, Suppressed                                      bool
	Sent, Opened, Clicked                                         int64
	CreatedAt, UpdatedAt, LastSentAt, LastOpenedAt, LastClickedAt time.Time

	// Values are those of properties, by key; Lists the lists that the contact is subscribed to, by number; Topics what the contact said
	// about topics (true is opt-in), by number; In and Out the segments that it was put in and taken out of by hand, by number.
	Values map[string]Value
	Lists  map[int64]bool
	Topics map[int64]bool
	In     map[int64]bool
	Out    map[int64]bool
	// Event is what the event says that set an automation off.
	Event map[string]any
}

// Value is the value of a field. The zero Value is a missing one.
type Value struct {
	Present bool
	Text    string
	// Amount is that of a number, 0 or 1 for a boolean.
	Amount float64
	At     time.Time
}

// Text returns the value of a string.
func Text(text string) Value { return Value{Present: true, Text: text} }

// Amount returns the value of a number.
func Amount(f float64) Value { return Value{Present: true, Amount: f} }

// Truth returns the value of a boolean.
func Truth(b bool) Value {
	if b {
		return Amount(1)
	}
	return Amount(0)
}

// Moment returns the value of a date.
func Moment(at time.Time) Value { return Value{Present: true, At: at} }

func present(text string) Value { return Text(text) }

func optional(text string) Value { return Value{Present: text != "", Text: text} }

func moment(at time.Time) Value { return Value{Present: !at.IsZero(), At: at} }

// eventValue returns a value of an event as the kind it is compared as; of another kind it counts as missing.
func eventValue(raw any, kind fieldKind) Value {
	switch v := raw.(type) {
	case string:
		if kind == textField {
			return Text(v)
		}
		for _, layout := range []string{time.RFC3339, time.DateOnly} { // what the schema of an event takes as a date
			if at, err := time.Parse(layout, v); err == nil && kind == dateField {
				return Moment(at)
			}
		}
	case float64:
		if kind == numberField {
			return Amount(v)
		}
	case bool:
		if kind == booleanField {
			return Truth(v)
		}
	}
	return Value{}
}

// Matches tells whether the tree is true of a contact at a moment.
func (t *Tree) Matches(c *Contact, now time.Time) bool { return t.root.matches(c, now) }

func (n node) matches(c *Contact, now time.Time) bool {
	is := func(child node) bool { return child.matches(c, now) }
	switch n.kind {
	case andNode:
		return !slices.ContainsFunc(n.rules, func(child node) bool { return !is(child) })
	case orNode:
		return slices.ContainsFunc(n.rules, is)
	case notNode:
		return !is(n.rules[0])
	}
	return n.rule.matches(c, now)
}

func (r rule) matches(c *Contact, now time.Time) bool {
	switch r.field.kind {
	case listField:
		return c.Lists[r.list] == (r.operator == "member_of")
	case segmentField:
		return r.segment.has(c, now) == (r.operator == "member_of")
	case topicField:
		said, ok := c.Topics[r.topic.Number]
		if !ok {
			said = r.topic.OptIn
		}
		return said == r.truth
	case eventField: // exists and is_empty, whatever the type
		value, ok := c.Event[r.field.key]
		exists := ok && value != nil
		if r.operator == "is_empty" {
			return (!exists || value == "") == r.truth
		}
		return exists == r.truth
	}
	value := r.valueOf(c)
	switch r.operator {
	case "exists":
		return value.Present == r.truth
	case "is_empty":
		return (!value.Present || r.field.kind == textField && value.Text == "") == r.truth
	}
	switch r.field.kind {
	case textField:
		return r.comparesText(value)
	case dateField:
		return r.comparesMoment(value, now)
	case booleanField:
		return (value.Present && (value.Amount == 1) == r.truth) == (r.operator == "eq")
	}
	return r.comparesAmount(value)
}

// has tells whether a contact is in the segment.
func (s *Segment) has(c *Contact, now time.Time) bool {
	return (c.In[s.Number] || s.Filter != nil && s.Filter.Matches(c, now)) && !c.Out[s.Number]
}

func (r rule) valueOf(c *Contact) Value {
	if r.field.of != nil {
		return r.field.of(c)
	}
	return c.Values[r.field.key]
}

func (r rule) comparesText(v Value) bool {
	text := Fold(v.Text)
	compare := map[string]func() bool{
		"eq":          func() bool { return text == r.texts[0] },
		"contains":    func() bool { return strings.Contains(text, r.texts[0]) },
		"starts_with": func() bool { return strings.HasPrefix(text, r.texts[0]) },
		"ends_with":   func() bool { return strings.HasSuffix(text, r.texts[0]) },
		"in":          func() bool { return slices.Contains(r.texts, text) },
	}[affirmative(r.operator)]
	return (v.Present && compare()) == (affirmative(r.operator) == r.operator)
}

func (r rule) comparesAmount(v Value) bool {
	a := v.Amount
	compare := map[string]func() bool{
		"eq":  func() bool { return a == r.amounts[0] },
		"gt":  func() bool { return a > r.amounts[0] },
		"gte": func() bool { return a >= r.amounts[0] },
		"lt":  func() bool { return a < r.amounts[0] },
		"lte": func() bool { return a <= r.amounts[0] },
		"in":  func() bool { return slices.Contains(r.amounts, a) },
	}[affirmative(r.operator)]
	return (v.Present && compare()) == (affirmative(r.operator) == r.operator)
}

func (r rule) comparesMoment(v Value, now time.Time) bool {
	if !v.Present {
		return false
	}
	at, than := v.At, r.at
	if r.field.property != 0 { // such dates are kept in milliseconds
		at, than, now = at.Truncate(time.Millisecond), than.Truncate(time.Millisecond), now.Truncate(time.Millisecond)
	}
	switch r.operator {
	case "gt":
		return at.After(than)
	case "gte":
		return !at.Before(than)
	case "lt":
		return at.Before(than)
	case "lte":
		return !at.After(than)
	}
	within := !at.Before(now.Add(-r.span)) && !at.After(now)
	return within == (r.operator == "within_last")
}

// affirmative is the operator whose opposite a negative one is. A missing value never matches an affirmative one.
func affirmative(operator string) string {
	if opposite, ok := map[string]string{"neq": "eq", "not_contains": "contains", "not_in": "in"}[operator]; ok {
		return opposite
	}
	return operator
}

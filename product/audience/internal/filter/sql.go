package filter

import (
	"fmt"
	"strings"
	"time"
)

// Style is how the conditions of a tree reach the tables beside that of contacts. Both find the same.
type Style int

const (
	// Whole collects what each condition finds first. It is the way to ask about all contacts.
	Whole Style = iota
	// Stepwise looks conditions up contact by contact. It is the way to find the next few.
	Stepwise
)

// Writer writes conditions as SQL. Values become arguments; the text is made of the tables of this package alone.
type Writer struct {
	Style Style
	Now   time.Time
	// Args are the arguments so far. The text numbers its own after them.
	Args []any
}

// Argument adds a value and returns its place in the text.
func (w *Writer) Argument(value any) string {
	w.Args = append(w.Args, value)
	return fmt.Sprintf("$%d", len(w.Args))
}

// Tree returns a condition on the table contact that is true or false, never unknown.
func (w *Writer) Tree(t *Tree) string { return w.node(t.root) }

// Segment returns the condition of being in a segment. Its form also matters for speed: no part of it alone can lead SQLite, which
// without statistics would follow one set of numbers into another. It reads the contacts once and looks each up in all sets.
func (w *Writer) Segment(s *Segment) string {
	condition := w.among("segment_contact", "segment", s.Number, "NOT segment_contact.excluded")
	if s.Filter != nil {
		condition = "(" + w.Tree(s.Filter) + " OR " + condition + ")"
	}
	return "(" + condition + " AND NOT " + w.among("segment_contact", "segment", s.Number, "segment_contact.excluded") + ")"
}

// List returns the condition of being subscribed to a list.
func (w *Writer) List(list int64) string {
	return w.among("list_contact", "list", list, "list_contact.status = 'subscribed'")
}

// Topic returns the condition of getting, or not getting, mail about a topic.
func (w *Writer) Topic(t Topic, optIn bool) string {
	if t.OptIn == optIn {
		return "NOT " + w.said(t.Number, !optIn)
	}
	return w.said(t.Number, optIn)
}

func (w *Writer) said(topic int64, optIn bool) string {
	subscription := "contact_topic.subscription = 'opt_out'"
	if optIn {
		subscription = "contact_topic.subscription = 'opt_in'"
	}
	return w.among("contact_topic", "topic", topic, subscription)
}

// among returns the condition that another table has a row of the contact. The names are ours.
func (w *Writer) among(table, of string, number int64, condition string) string {
	owner := table + "." + of + " = " + w.Argument(number)
	if w.Style == Whole {
		return fmt.Sprintf("contact.number IN (SELECT %[1]s.contact FROM %[1]s WHERE %[2]s AND %[3]s)", table, owner, condition)
	}
	return fmt.Sprintf("EXISTS (SELECT 1 FROM %[1]s WHERE %[1]s.contact = contact.number AND %[2]s AND %[3]s)", table, owner, condition)
}

func (w *Writer) node(n node) string {
	switch n.kind {
	case leafNode:
		return w.rule(n.rule)
	case notNode:
		return "NOT " + w.node(n.rules[0])
	}
	joint := " AND "
	if n.kind == orNode {
		joint = " OR "
	}
	parts := make([]string, len(n.rules))
	for i, child := range n.rules {
		parts[i] = w.node(child)
	}
	return "(" + strings.Join(parts, joint) + ")"
}

func (w *Writer) rule(r rule) string {
	switch r.field.kind {
	case listField:
		return negated(r.operator == "not_member_of", w.List(r.list))
	case segmentField:
		return negated(r.operator == "not_member_of", w.Segment(r.segment))
	case topicField:
		return w.Topic(r.topic, r.truth)
	case eventField:
		return "(1 = 0)" // no contact has an event; conditions about one are asked in Go
	}
	if r.field.of != nil && r.field.column == "" {
		return "(1 = 0)"
	}
	if r.field.property != 0 {
		return w.property(r)
	}
	return w.column(r)
}

func negated(not bool, condition string) string {
	if not {
		return "NOT " + condition
	}
	return condition
}

// column asks about a column of the contact. IS NOT NULL keeps the answer from being unknown.
func (w *Writer) column(r rule) string {
	column := r.field.column
	exists := column + " IS NOT NULL"
	switch r.operator {
	case "exists":
		return negated(!r.truth, "("+exists+")")
	case "is_empty": // names that are empty are missing
		return negated(r.truth, "("+exists+w.notBlank(r, column)+")")
	}
	condition := "(" + exists + " AND " + w.compare(r, column) + ")"
	return negated(isNegative(r), condition)
}

// property asks about the values of a property.
func (w *Writer) property(r rule) string {
	column := "contact_value.amount"
	if r.field.kind == textField {
		column = "contact_value.folded"
	}
	switch r.operator {
	case "exists":
		return negated(!r.truth, w.among("contact_value", "property", r.field.property, column+" IS NOT NULL"))
	case "is_empty":
		return negated(r.truth, w.among("contact_value", "property", r.field.property, column+" IS NOT NULL"+w.notBlank(r, column)))
	}
	return negated(isNegative(r), w.among("contact_value", "property", r.field.property, w.compare(r, column)))
}

// notBlank makes a text that exists one that says something.
func (w *Writer) notBlank(r rule, column string) string {
	if r.field.kind != textField {
		return ""
	}
	return " AND " + column + " <> ''"
}

// isNegative tells whether the rule is the opposite of what compare writes. A date that is not within a span still has to be one.
func isNegative(r rule) bool { return affirmative(r.operator) != r.operator }

func (w *Writer) compare(r rule, column string) string {
	switch r.field.kind {
	case textField:
		return w.compareText(r, column)
	case dateField:
		return w.compareMoment(r, column)
	case booleanField:
		if r.field.property != 0 {
			return column + " = " + w.Argument(Truth(r.truth).Amount)
		}
		return column + " = " + w.Argument(r.truth)
	}
	return w.compareAmount(r, column)
}

var escapes = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

func (w *Writer) compareText(r rule, column string) string {
	like := func(pattern string) string { return column + " LIKE " + w.Argument(pattern) + ` ESCAPE '\'` }
	switch affirmative(r.operator) {
	case "contains":
		return like("%" + escapes.Replace(r.texts[0]) + "%")
	case "starts_with":
		return like(escapes.Replace(r.texts[0]) + "%")
	case "ends_with":
		return like("%" + escapes.Replace(r.texts[0]))
	case "in":
		return column + " {in " + w.Argument(r.texts) + "}"
	}
	return column + " = " + w.Argument(r.texts[0])
}

// signs are how comparisons are written.
var signs = map[string]string{"eq": "=", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}

func (w *Writer) compareAmount(r rule, column string) string {
	if r.field.property == 0 { // counts are whole numbers, which an engine would not compare with others by itself
		column = "CAST(" + column + " AS DOUBLE PRECISION)"
	}
	if affirmative(r.operator) != "in" {
		return column + " " + signs[affirmative(r.operator)] + " " + w.Argument(r.amounts[0])
	}
	any := make([]string, len(r.amounts))
	for i, amount := range r.amounts {
		any[i] = column + " = " + w.Argument(amount)
	}
	return "(" + strings.Join(any, " OR ") + ")"
}

func (w *Writer) compareMoment(r rule, column string) string {
	argument := func(at time.Time) string {
		if r.field.property != 0 {
			return w.Argument(Millis(at))
		}
		return w.Argument(at.UnixMicro())
	}
	if sign, ok := signs[r.operator]; ok {
		return column + " " + sign + " " + argument(r.at)
	}
	now := w.Now
	if r.field.property != 0 {
		now = now.Truncate(time.Millisecond)
	}
	within := "(" + column + " >= " + argument(now.Add(-r.span)) + " AND " + column + " <= " + argument(now) + ")"
	return negated(r.operator == "not_within_last", within)
}

// Millis is how a date is kept among values: a number that is exact until the year 287396.
func Millis(at time.Time) float64 { return float64(at.UnixMilli()) }

package filter

import "slices"

// field is what a rule asks about.
type field struct {
	kind fieldKind
	// column is that of the contact, for fields that are one.
	column string
	// of picks the same value of a contact at hand.
	of func(*Contact) Value
	// property and key name a property; key also names a value of an event.
	property int64
	key      string
}

type fieldKind int

const (
	textField fieldKind = iota
	numberField
	booleanField
	dateField
	listField
	segmentField
	topicField
	eventField
)

// operators are what can be asked about each kind of field.
var operators = map[fieldKind][]string{
	textField:    {"eq", "neq", "contains", "not_contains", "starts_with", "ends_with", "in", "not_in", "exists", "is_empty"},
	numberField:  {"eq", "neq", "gt", "gte", "lt", "lte", "in", "not_in", "exists", "is_empty"},
	booleanField: {"eq", "neq", "exists"},
	dateField:    {"gt", "gte", "lt", "lte", "within_last", "not_within_last", "exists", "is_empty"},
	listField:    {"member_of", "not_member_of"},
	segmentField: {"member_of", "not_member_of"},
	topicField:   {"eq"},
}

// eventOperators are what can be asked about a value of an event, whose type is that of what it is compared with.
var eventOperators = []string{"eq", "neq", "contains", "not_contains", "starts_with", "ends_with", "gt", "gte", "lt", "lte", "in", "not_in",
	"within_last", "not_within_last", "exists", "is_empty"}

func (k fieldKind) knows(operator string) bool {
	if k == eventField {
		return slices.Contains(eventOperators, operator)
	}
	return slices.Contains(operators[k], operator)
}

// contactFields are those that every contact has.
var contactFields = map[string]field{
	"email":        {kind: textField, column: "contact.address", of: func(c *Contact) Value { return present(c.Email) }},
	"email_domain": {kind: textField, column: "contact.host", of: func(c *Contact) Value { return present(c.Domain) }},
	"first_name":   {kind: textField, column: "contact.first_folded", of: func(c *Contact) Value { return optional(c.FirstName) }},
	"last_name":    {kind: textField, column: "contact.last_folded", of: func(c *Contact) Value { return optional(c.LastName) }},
	"status":       {kind: textField, column: "contact.status", of: func(c *Contact) Value { return present(c.Status) }},

	"unsubscribed": {kind: booleanField, column: "contact.unsubscribed", of: func(c *Contact) Value { return Truth(c.Unsubscribed) }},
	"suppressed":   {kind: booleanField, column: "(contact.suppression IS NOT NULL)", of: func(c *Contact) Value { return Truth(c.Suppressed) }},

	"engagement.sent_count":  {kind: numberField, column: "contact.sent_count", of: func(c *Contact) Value { return Amount(float64(c.Sent)) }},
	"engagement.open_count":  {kind: numberField, column: "contact.open_count", of: func(c *Contact) Value { return Amount(float64(c.Opened)) }},
	"engagement.click_count": {kind: numberField, column: "contact.click_count", of: func(c *Contact) Value { return Amount(float64(c.Clicked)) }},

	"created_at":                 {kind: dateField, column: "contact.created_at", of: func(c *Contact) Value { return moment(c.CreatedAt) }},
	"updated_at":                 {kind: dateField, column: "contact.updated_at", of: func(c *Contact) Value { return moment(c.UpdatedAt) }},
	"engagement.last_sent_at":    {kind: dateField, column: "contact.last_sent_at", of: func(c *Contact) Value { return moment(c.LastSentAt) }},
	"engagement.last_opened_at":  {kind: dateField, column: "contact.last_opened_at", of: func(c *Contact) Value { return moment(c.LastOpenedAt) }},
	"engagement.last_clicked_at": {kind: dateField, column: "contact.last_clicked_at", of: func(c *Contact) Value { return moment(c.LastClickedAt) }},

	"lists":    {kind: listField},
	"segments": {kind: segmentField},
}

// kindOf is how properties of a type are compared.
var kindOf = map[Type]fieldKind{String: textField, Number: numberField, Boolean: booleanField, Date: dateField}

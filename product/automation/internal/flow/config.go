package flow

import (
	"bytes"
	"encoding/json"
	"time"
)

// Config is what a step says about how it is to be done. Only the fields of its type are set.
type Config struct {
	// Trigger, wait_for_event and emit_event.
	EventName string
	ReEntry   ReEntry
	ListID    string
	SegmentID string
	// Rules are the tree of a condition, of a trigger's filter or of a wait's filter; nil if there are none.
	Rules    json.RawMessage
	Cron     *Cron
	Duration time.Duration
	Mail     *Mail
	Request  *Request
	Branches []Branch
	TopicID  string
	// Subscription is opt_in or opt_out.
	Subscription string
	// Values are what emit_event and contact_update say; each may be a variable.
	Values map[string]any
}

// ReEntry says when a contact may begin an automation again.
type ReEntry string

// Rules of re-entry.
const (
	Once      ReEntry = "once_per_contact"
	AfterExit ReEntry = "after_exit"
	Always    ReEntry = "always"
)

// Mail is what send_email sends: a template, or a subject and texts of its own.
type Mail struct {
	Template  string
	Version   int64
	Variables map[string]any
	From      string
	ReplyTo   []string
	Subject   string
	HTML      string
	Text      string
	TopicID   string
}

// Request is what http_request asks.
type Request struct {
	Method       string
	URL          string
	CredentialID string
	Headers      map[string]any
	Query        map[string]any
	Body         any
	Timeout      time.Duration // 0 leaves it to the credential
	Retry        int
}

// Branch is one way out of a split.
type Branch struct {
	Key    string `json:"key"`
	Weight int    `json:"weight"`
}

// Kind of a thing that a step mentions.
type Kind string

// Kinds of mentioned things.
const (
	ACredential Kind = "credential"
	AList       Kind = "list"
	ASegment    Kind = "segment"
	ATopic      Kind = "topic"
	ATemplate   Kind = "template"
	// SomeRules are a tree of rules, whose own names are to be checked.
	SomeRules Kind = "rules"
	// AProperty is a contact property that a variable or an update names.
	AProperty Kind = "property"
	// AURL is an address of the outside.
	AURL Kind = "url"
)

// Mention is something outside the definition that a step needs, and where it says so.
type Mention struct {
	Kind  Kind
	Name  string
	Rules json.RawMessage
	Path  string
}

// decode reads JSON and keeps the digits of numbers.
func decode(raw json.RawMessage, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	return decoder.Decode(into)
}

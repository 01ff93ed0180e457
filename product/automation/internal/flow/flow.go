// Package flow is what an automation does, as data: a graph of steps. It reads definitions, tells what is wrong with them and where,
// and says which step comes next. It is pure: nothing outside its arguments is asked or changed.
package flow

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// Limits of a definition.
const (
	MaxSteps = 150
	// MaxConnections leaves every step several ways out.
	MaxConnections = 600
	// MaxPasses is how often a run may come to one step.
	MaxPasses = 20
	// maxConfigBytes bounds what a single step says.
	maxConfigBytes = 128 << 10
	// maxProblems is how many mistakes are told at once.
	maxProblems = 100
)

// Type is what a step does.
type Type string

// Types of steps.
const (
	Trigger           Type = "trigger"
	SendEmail         Type = "send_email"
	Delay             Type = "delay"
	WaitForEvent      Type = "wait_for_event"
	Condition         Type = "condition"
	ContactUpdate     Type = "contact_update"
	ContactDelete     Type = "contact_delete"
	AddToSegment      Type = "add_to_segment"
	RemoveFromSegment Type = "remove_from_segment"
	AddToList         Type = "add_to_list"
	RemoveFromList    Type = "remove_from_list"
	SetTopic          Type = "set_topic"
	EmitEvent         Type = "emit_event"
	HTTPRequest       Type = "http_request"
	Split             Type = "split"
	Exit              Type = "exit"
)

// Way is the kind of a connection: what must have happened in a step for the run to go along it.
type Way string

// Kinds of connections.
const (
	Default      Way = "default"
	Met          Way = "condition_met"
	NotMet       Way = "condition_not_met"
	Received     Way = "event_received"
	TimedOut     Way = "timeout"
	Failed       Way = "error"
	AlongABranch Way = "branch"
)

// waysOf are the connections that may leave a step of a type.
var waysOf = map[Type][]Way{
	Trigger: {Default}, SendEmail: {Default}, Delay: {Default}, WaitForEvent: {Received, TimedOut}, Condition: {Met, NotMet},
	ContactUpdate: {Default}, ContactDelete: {Default}, AddToSegment: {Default}, RemoveFromSegment: {Default}, AddToList: {Default},
	RemoveFromList: {Default}, SetTopic: {Default}, EmitEvent: {Default}, HTTPRequest: {Default, Failed}, Split: {AlongABranch}, Exit: {},
}

// Definition is a graph as people write it.
type Definition struct {
	Steps       []Step       `json:"steps"`
	Connections []Connection `json:"connections"`
}

// Step is one thing to do. Config depends on the type.
type Step struct {
	Key    string          `json:"key" example:"wait"`
	Type   Type            `json:"type" example:"delay"`
	Config json.RawMessage `json:"config" example:"{\"duration\":\"3 days\"}"`
}

// Connection says which step comes after another.
type Connection struct {
	From string `json:"from" example:"start"`
	To   string `json:"to" example:"wait"`
	Type Way    `json:"type" example:"default"`
	// Branch names the branch of a split.
	Branch string `json:"branch,omitempty"`
}

// Problem is a mistake, and where it is.
type Problem struct{ Path, Message string }

var keyForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// CheckKey tells whether text can be the key of a step.
func CheckKey(text string) bool { return keyForm.MatchString(text) }

// Graph is a definition that has been read and is sound. It never changes.
type Graph struct {
	steps map[string]*Node
	order []*Node
	// Cyclic tells that a run can come to a step more than once.
	Cyclic bool
	// NeedsContact tells that some step is about a contact.
	NeedsContact bool
	// Mentions are the things outside that the steps need, each with the place where they say so.
	Mentions []Mention
}

// Node is a step that has been read.
type Node struct {
	Key    string
	Type   Type
	Config Config
	index  int
	next   map[exit]string
}

type exit struct {
	way    Way
	branch string
}

// Step returns the step of a key; nil if there is none.
func (g *Graph) Step(key string) *Node { return g.steps[key] }

// Triggers returns the steps that begin a run.
func (g *Graph) Triggers() []*Node {
	var found []*Node
	for _, n := range g.order {
		if n.Type == Trigger {
			found = append(found, n)
		}
	}
	return found
}

// Mails returns what the steps send.
func (g *Graph) Mails() []*Mail {
	var found []*Mail
	for _, n := range g.order {
		if n.Type == SendEmail {
			found = append(found, n.Config.Mail)
		}
	}
	return found
}

// HearsMail tells whether a step begins or waits for what happens to mail, whichever domain it is of.
func (g *Graph) HearsMail() bool {
	return slices.ContainsFunc(g.order, func(n *Node) bool { return IsOfMail(n.Config.EventName) })
}

// IsOfMail tells whether an event says what happened to mail.
func IsOfMail(event string) bool { return strings.HasPrefix(event, SystemPrefix+"email.") }

// Next returns the key of the step that comes after this one; empty is the end. The branch is that of a split.
func (n *Node) Next(way Way, branch string) string { return n.next[exit{way, branch}] }

// contactTypes are steps that are about a contact and cannot be done without one.
var contactTypes = map[Type]bool{SendEmail: true, WaitForEvent: true, ContactUpdate: true, ContactDelete: true, AddToSegment: true, RemoveFromSegment: true,
	AddToList: true, RemoveFromList: true, SetTopic: true}

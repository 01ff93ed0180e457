package flow

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// SystemPrefix begins the names of events that the installation itself sends.
const SystemPrefix = "system:"

// Names of system events that a trigger can name.
const (
	ListJoined     = "system:list.joined"
	SegmentEntered = "system:segment.entered"
	SegmentLeft    = "system:segment.left"
	Schedule       = "system:schedule"
	OnlyAPI        = "system:api"
)

// SystemEvents are those that a trigger can name, in the order in which they are shown.
var SystemEvents = []string{"system:contact.created", "system:contact.updated", "system:contact.confirmed", "system:contact.unsubscribed", ListJoined,
	SegmentEntered, SegmentLeft, "system:email.opened", "system:email.clicked", "system:email.bounced", "system:email.received", Schedule, OnlyAPI}

var eventForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,99}$`)

// routes are parts of paths under /events, where an event could not be asked for by such a name.
var routes = []string{"send", "stream"}

// ValidEventName tells whether customers may use a name for an event of their own.
func ValidEventName(name string) bool {
	return eventForm.MatchString(name) && !strings.HasPrefix(name, SystemPrefix) && !strings.HasPrefix(name, "resend:") && !slices.Contains(routes, name)
}

// wire is every field that some step has.
type wire struct {
	EventName    string          `json:"event_name"`
	ReEntry      ReEntry         `json:"re_entry"`
	ListID       string          `json:"list_id"`
	SegmentID    string          `json:"segment_id"`
	TopicID      string          `json:"topic_id"`
	Subscription string          `json:"subscription"`
	FilterRule   json.RawMessage `json:"filter_rule"`
	Cron         string          `json:"cron"`
	Timezone     string          `json:"timezone"`
	Duration     string          `json:"duration"`
	Timeout      string          `json:"timeout"`
	Payload      map[string]any  `json:"payload"`
	Branches     []Branch        `json:"branches"`
}

func (r *reader) readConfig(n *Node, raw json.RawMessage) {
	at := fmt.Sprintf("steps[%d].config", n.index)
	if len(raw) == 0 || string(raw) == "null" {
		raw = json.RawMessage(`{}`)
	}
	switch n.Type {
	case SendEmail:
		r.readMail(n, at, raw)
	case HTTPRequest:
		r.readRequest(n, at, raw)
	case ContactUpdate:
		r.readUpdate(n, at, raw)
	case Condition:
		n.Config.Rules = raw
		r.graph.NeedsContact = r.graph.NeedsContact || AboutContact(raw)
		r.mention(SomeRules, at, "", raw)
	default:
		var w wire
		if err := decode(raw, &w); err != nil {
			r.add(at, "Must be an object with the fields of a %s step.", n.Type)
			return
		}
		r.readPlain(n, at, w)
	}
}

func (r *reader) mention(kind Kind, path, name string, rules json.RawMessage) {
	r.graph.Mentions = append(r.graph.Mentions, Mention{Kind: kind, Name: name, Rules: rules, Path: path})
}

// need mentions something by its id, which must be there.
func (r *reader) need(kind Kind, path, id string) string {
	if id == "" {
		r.add(path, "An id is required.")
		return ""
	}
	r.mention(kind, path, id, nil)
	return id
}

func (r *reader) readPlain(n *Node, at string, w wire) {
	c := &n.Config
	switch n.Type {
	case Trigger:
		r.readTrigger(n, at, w)
	case Delay:
		c.Duration = r.durationBetween(at+".duration", w.Duration, "3 days", minDelay, maxDelay, "Must be between 1 minute and 365 days.")
	case WaitForEvent:
		c.EventName = w.EventName
		if !eventForm.MatchString(w.EventName) || w.EventName == Schedule || w.EventName == OnlyAPI {
			r.add(at+".event_name", "Must be the name of an event.")
		}
		c.Duration = r.durationBetween(at+".timeout", w.Timeout, "3 days", time.Second, maxWait, "Must be between 1 second and 90 days.")
		r.readFilter(n, at, w.FilterRule)
	case AddToSegment, RemoveFromSegment:
		c.SegmentID = r.need(ASegment, at+".segment_id", w.SegmentID)
	case AddToList, RemoveFromList:
		c.ListID = r.need(AList, at+".list_id", w.ListID)
	case SetTopic:
		c.TopicID, c.Subscription = r.need(ATopic, at+".topic_id", w.TopicID), w.Subscription
		if w.Subscription != "opt_in" && w.Subscription != "opt_out" {
			r.add(at+".subscription", "Must be opt_in or opt_out.")
		}
	case EmitEvent:
		c.EventName, c.Values = w.EventName, w.Payload
		if !ValidEventName(w.EventName) {
			r.add(at+".event_name", "Must be the name of an event of your own.")
		}
		r.note(n, at+".payload", anyMap(w.Payload))
	case Split:
		r.readBranches(n, at+".branches", w.Branches)
	}
}

func anyMap(values map[string]any) any {
	if values == nil {
		return nil
	}
	return values
}

func (r *reader) readTrigger(n *Node, at string, w wire) {
	c := &n.Config
	c.EventName, c.ReEntry = w.EventName, w.ReEntry
	if w.ReEntry == "" {
		c.ReEntry = Once
	}
	if c.ReEntry != Once && c.ReEntry != AfterExit && c.ReEntry != Always {
		r.add(at+".re_entry", "Must be once_per_contact, after_exit or always.")
	}
	switch {
	case w.EventName == "":
		r.add(at+".event_name", "The name of an event is required.")
	case strings.HasPrefix(w.EventName, SystemPrefix):
		if !isSystem(w.EventName) {
			r.add(at+".event_name", "There is no such system event. GET /automations/_meta lists all of them.")
		}
	case !ValidEventName(w.EventName):
		r.add(at+".event_name", "Must begin with a letter or digit and have at most 100 letters, digits, dots, colons, hyphens and underscores.")
	}
	switch w.EventName {
	case ListJoined:
		c.ListID = r.need(AList, at+".list_id", w.ListID)
	case SegmentEntered, SegmentLeft:
		c.SegmentID = r.need(ASegment, at+".segment_id", w.SegmentID)
	case Schedule:
		r.readSchedule(n, at, w)
	}
	r.readFilter(n, at, w.FilterRule)
}

func isSystem(name string) bool {
	for _, known := range SystemEvents {
		if known == name {
			return true
		}
	}
	return false
}

func (r *reader) readSchedule(n *Node, at string, w wire) {
	if w.SegmentID != "" {
		n.Config.SegmentID = r.need(ASegment, at+".segment_id", w.SegmentID)
	}
	zone := w.Timezone
	if zone == "" {
		zone = "UTC"
	}
	if _, err := ParseCron("0 0 * * *", zone); err != nil {
		r.add(at+".timezone", "Must be a time zone such as Europe/Berlin.")
		return
	}
	cron, err := ParseCron(w.Cron, zone)
	if err != nil {
		r.add(at+".cron", "Must be minute, hour, day, month and day of the week, such as 0 9 * * 1.")
		return
	}
	n.Config.Cron = cron
}

func (r *reader) readFilter(n *Node, at string, rules json.RawMessage) {
	if len(rules) == 0 || string(rules) == "null" {
		return
	}
	n.Config.Rules = rules
	r.mention(SomeRules, at+".filter_rule", "", rules)
}

// AboutContact tells whether rules ask about more than an event.
func AboutContact(rules json.RawMessage) bool {
	var node struct {
		Field string            `json:"field"`
		Rules []json.RawMessage `json:"rules"`
	}
	if json.Unmarshal(rules, &node) != nil {
		return false
	}
	if node.Field != "" && !strings.HasPrefix(node.Field, "event.") {
		return true
	}
	return slices.ContainsFunc(node.Rules, AboutContact)
}

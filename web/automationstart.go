package web

import (
	"encoding/json"
	"strings"

	"postrider/web/internal/tree"
)

// starter is an automation that works as it is, to begin with.
type starter struct {
	ID, Name, Text, Icon string
	Steps                []string
	plan                 []tree.Step
	lines                []tree.Connection
}

// starters are offered where there is no automation yet. SENDER stands for an address of the workspace.
var starters = []starter{
	{ID: "welcome", Name: "Welcome series", Text: "Greets everybody who signs up, and comes back to those who have not opened the first mail.", Icon: "mail-open",
		Steps: []string{"user.signed_up", "Welcome mail", "2 days", "Opened?", "Tips, or another try"},
		plan: []tree.Step{
			{Key: "start", Type: "trigger", Config: json.RawMessage(`{"event_name":"user.signed_up","re_entry":"once_per_contact"}`)},
			{Key: "welcome", Type: "send_email", Config: json.RawMessage(`{"from":"SENDER","subject":"Welcome","text":"Hello, and thank you for joining us.\n\nReply to this mail if you have a question; a person reads it."}`)},
			{Key: "wait", Type: "delay", Config: json.RawMessage(`{"duration":"2 days"}`)},
			{Key: "opened", Type: "condition", Config: json.RawMessage(`{"type":"rule","field":"engagement.open_count","operator":"gt","value":0}`)},
			{Key: "tips", Type: "send_email", Config: json.RawMessage(`{"from":"SENDER","subject":"Three things to try first","text":"Here is what people find useful in their first week."}`)},
			{Key: "again", Type: "send_email", Config: json.RawMessage(`{"from":"SENDER","subject":"Did our first mail reach you?","text":"In case it was lost: welcome, and here is how to begin."}`)},
		},
		lines: []tree.Connection{{From: "start", To: "welcome", Type: "default"}, {From: "welcome", To: "wait", Type: "default"}, {From: "wait", To: "opened", Type: "default"},
			{From: "opened", To: "tips", Type: "condition_met"}, {From: "opened", To: "again", Type: "condition_not_met"}}},
	{ID: "reengage", Name: "Re-engage", Text: "Writes to people who have gone quiet, waits for a sign of life, and leaves in peace who gives none.", Icon: "heart-pulse",
		Steps: []string{"user.inactive", "We miss you", "Back within 7 days?", "Last mail", "Unsubscribe"},
		plan: []tree.Step{
			{Key: "start", Type: "trigger", Config: json.RawMessage(`{"event_name":"user.inactive","re_entry":"after_exit"}`)},
			{Key: "miss_you", Type: "send_email", Config: json.RawMessage(`{"from":"SENDER","subject":"It has been a while","text":"We have not seen you for some time. Here is what is new."}`)},
			{Key: "back", Type: "wait_for_event", Config: json.RawMessage(`{"event_name":"user.active","timeout":"7 days"}`)},
			{Key: "done", Type: "exit", Config: json.RawMessage(`{}`)},
			{Key: "last", Type: "send_email", Config: json.RawMessage(`{"from":"SENDER","subject":"Shall we stop writing?","text":"If we hear nothing from you, this was our last mail."}`)},
			{Key: "back_late", Type: "wait_for_event", Config: json.RawMessage(`{"event_name":"user.active","timeout":"14 days"}`)},
			{Key: "done_late", Type: "exit", Config: json.RawMessage(`{}`)},
			{Key: "quiet", Type: "contact_update", Config: json.RawMessage(`{"unsubscribed":true}`)},
		},
		lines: []tree.Connection{{From: "start", To: "miss_you", Type: "default"}, {From: "miss_you", To: "back", Type: "default"},
			{From: "back", To: "done", Type: "event_received"}, {From: "back", To: "last", Type: "timeout"}, {From: "last", To: "back_late", Type: "default"},
			{From: "back_late", To: "done_late", Type: "event_received"}, {From: "back_late", To: "quiet", Type: "timeout"}}},
}

// blank has nothing but a trigger.
var blank = starter{Steps: []string{"user.signed_up"}, plan: []tree.Step{{Key: "start", Type: "trigger", Config: json.RawMessage(`{"event_name":"user.signed_up","re_entry":"once_per_contact"}`)}},
	lines: []tree.Connection{}}

func starterOf(id string) starter {
	for _, s := range starters {
		if s.ID == id {
			return s
		}
	}
	return blank
}

// definition returns the steps with mail that comes from an address.
func (s starter) definition(from string) tree.Definition {
	d := tree.Definition{Connections: s.lines}
	quoted, err := json.Marshal(from)
	if err != nil {
		return d
	}
	for _, step := range s.plan {
		step.Config = json.RawMessage(strings.ReplaceAll(string(step.Config), `"SENDER"`, string(quoted)))
		d.Steps = append(d.Steps, step)
	}
	return d
}

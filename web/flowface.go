package web

import (
	"fmt"
	"net/url"
	"strings"

	"postrider/web/internal/tree"
)

// flowLooks are the picture and the colour of every type of step.
var flowLooks = map[string][2]string{
	"trigger": {"zap", "scheduled"}, "send_email": {"mail", "opened"}, "delay": {"timer", "queued"}, "wait_for_event": {"hourglass", "queued"},
	"condition": {"git-branch", "sending"}, "split": {"shuffle", "sending"}, "contact_update": {"user-pen", "clicked"}, "contact_delete": {"user-x", "bounced"},
	"add_to_segment": {"users", "clicked"}, "remove_from_segment": {"users", "clicked"}, "add_to_list": {"list-plus", "clicked"}, "remove_from_list": {"list-minus", "clicked"},
	"set_topic": {"tag", "clicked"}, "emit_event": {"activity", "scheduled"}, "http_request": {"globe", "accepted_by_remote_mx"}, "exit": {"door-open", "cancelled"},
}

// face says in a few words what a step does, and what became of it if there is a run.
func (f *flow) face(step tree.Step, index int) tree.Face {
	config := configOf(step.Config)
	look, known := flowLooks[step.Type]
	if !known {
		look = [2]string{"circle-dot", "queued"}
	}
	face := tree.Face{Type: step.Type, Label: f.meta.kind(step, config).Label, Icon: look[0], State: look[1], Current: step.Key == f.current}
	face.Title, face.Text = f.say(step.Type, config)
	if face.Title = visible(face.Title); face.Title == "" {
		face.Title = face.Label
	}
	face.Text = visible(face.Text)
	if f.problems != nil {
		at := fmt.Sprintf("steps[%d]", index)
		for _, field := range sortedKeys(f.problems.Fields) {
			if field == at || strings.HasPrefix(field, at+".") {
				face.Problems = append(face.Problems, f.problems.Fields[field])
			}
		}
	}
	if t, ok := f.taken[step.Key]; ok {
		face.Status, face.Note, face.Time, face.Href = t.Status, t.Note, t.Took, "#t-"+step.Key
	}
	return face
}

// say tells what a step with a config does: in a few words, and in a few more.
func (f *flow) say(kind string, c map[string]any) (title, text string) {
	switch kind {
	case "trigger":
		return f.sayTrigger(c)
	case "send_email":
		if id := textOf(objectOf(c["template"])["id"]); id != "" {
			return f.nameOf("template", id), "Template"
		}
		if textOf(c["subject"]) == "" {
			return "Mail without a subject", ""
		}
		return textOf(c["subject"]), "from " + textOf(c["from"])
	case "delay":
		return "Wait " + orElse(textOf(c["duration"]), "some time"), ""
	case "wait_for_event":
		return "Wait for " + orElse(eventTitle(textOf(c["event_name"])), "an event"), "at most " + orElse(textOf(c["timeout"]), "some time")
	case "condition":
		return f.sayRules(c), ""
	case "split":
		return "Split by chance", sayBranches(c)
	case "http_request":
		return f.sayRequest(c)
	case "contact_update":
		return "Change the contact", strings.Join(sortedKeys(c), ", ")
	case "contact_delete":
		return "Delete the contact", ""
	case "add_to_segment", "remove_from_segment":
		return orElse(f.nameOf("segment", textOf(c["segment_id"])), "Choose a segment"), ""
	case "add_to_list", "remove_from_list":
		return orElse(f.nameOf("list", textOf(c["list_id"])), "Choose a list"), ""
	case "set_topic":
		return orElse(f.nameOf("topic", textOf(c["topic_id"])), "Choose a topic"), strings.ReplaceAll(textOf(c["subscription"]), "_", " ")
	case "emit_event":
		return orElse(textOf(c["event_name"]), "Name an event"), ""
	case "exit":
		return "Leave the automation", ""
	}
	return words(kind), ""
}

func (f *flow) sayTrigger(c map[string]any) (title, text string) {
	name := textOf(c["event_name"])
	title = orElse(eventTitle(name), "Choose an event")
	switch name {
	case "system:list.joined":
		text = f.nameOf("list", textOf(c["list_id"]))
	case "system:segment.entered", "system:segment.left":
		text = f.nameOf("segment", textOf(c["segment_id"]))
	case "system:schedule":
		text = textOf(c["cron"]) + " " + orElse(textOf(c["timezone"]), "UTC")
	case "system:api":
	default:
		text = map[string]string{"after_exit": "Again after it ended", "always": "Every time"}[textOf(c["re_entry"])]
		if text == "" {
			text = "Once per contact"
		}
	}
	if c["filter_rule"] != nil {
		text += ", only if " + f.sayRules(objectOf(c["filter_rule"]))
	}
	return title, strings.TrimPrefix(text, ", ")
}

// eventTitle names an event: those of the customer as they are, those of the system in words.
func eventTitle(name string) string {
	names := map[string]string{"system:schedule": "On a schedule", "system:api": "Started by hand or by the API", "system:list.joined": "List joined",
		"system:segment.entered": "Segment entered", "system:segment.left": "Segment left"}
	if title := names[name]; title != "" {
		return title
	}
	if own, isSystem := strings.CutPrefix(name, "system:"); isSystem {
		return words(own)
	}
	return name
}

func (f *flow) sayRequest(c map[string]any) (title, text string) {
	method, target := orElse(textOf(c["method"]), "POST"), textOf(c["url"])
	if u, err := url.Parse(target); err == nil && u.Host != "" {
		return method + " " + u.Host, u.Path
	}
	if target == "" {
		return "Ask a server", "No address yet"
	}
	return method + " " + target, f.nameOf("credential", textOf(c["credential_id"]))
}

func sayBranches(c map[string]any) string {
	var parts []string
	branches, _ := c["branches"].([]any)
	for _, one := range branches {
		parts = append(parts, textOf(objectOf(one)["key"])+" "+textOf(objectOf(one)["weight"]))
	}
	return strings.Join(parts, ", ")
}

// sayRules writes rules as a sentence, as far as that is short.
func (f *flow) sayRules(c map[string]any) string {
	rules, _ := c["rules"].([]any)
	switch textOf(c["type"]) {
	case "and", "or":
		if len(rules) == 1 {
			return f.sayRules(objectOf(rules[0]))
		}
		if textOf(c["type"]) == "or" {
			return fmt.Sprintf("One of %d things is true", len(rules))
		}
		return fmt.Sprintf("All of %d things are true", len(rules))
	case "not":
		if len(rules) == 1 {
			return "Not: " + f.sayRules(objectOf(rules[0]))
		}
	}
	name, operator, value := textOf(c["field"]), textOf(c["operator"]), textOf(c["value"])
	if name == "" {
		return "Choose what to ask"
	}
	switch f.meta.fieldType(name) {
	case "list", "segment":
		value = f.nameOf(f.meta.fieldType(name), value)
	}
	return strings.TrimSpace(fieldTitle(name) + " " + operatorWords[operator] + " " + value)
}

// fieldTitle names what a rule asks of a contact or an event.
func fieldTitle(name string) string {
	for _, prefix := range []string{"engagement.", "properties.", "topics."} {
		if rest, found := strings.CutPrefix(name, prefix); found {
			return words(rest)
		}
	}
	if strings.HasPrefix(name, "event.") {
		return name
	}
	return words(name)
}

// operatorWords are how people say what a rule compares by.
var operatorWords = map[string]string{"eq": "is", "neq": "is not", "contains": "contains", "not_contains": "does not contain", "starts_with": "begins with", "ends_with": "ends with",
	"in": "is one of", "not_in": "is none of", "gt": "is more than", "gte": "is at least", "lt": "is less than", "lte": "is at most", "within_last": "is within the last",
	"not_within_last": "is not within the last", "exists": "is known", "is_empty": "is empty", "member_of": "include", "not_member_of": "do not include"}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

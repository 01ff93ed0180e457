package web

import (
	"slices"

	"postrider/web/internal/tree"
)

// stepTexts say what a type of step is for, where somebody chooses one.
var stepTexts = map[string]string{"trigger": "Another event that begins it", "send_email": "A template, or a text of its own", "delay": "Minutes, hours, days or weeks", "wait_for_event": "Go on when something happens, or when it is too late",
	"condition": "Yes or no, by what is known of the contact or the event", "split": "Some this way, some another, by chance", "contact_update": "Set names and properties",
	"contact_delete": "Remove for good", "add_to_segment": "Put the contact in by hand", "remove_from_segment": "Take the contact out", "add_to_list": "Put the contact on a list",
	"remove_from_list": "Take the contact off a list", "set_topic": "Subscribe to a topic, or unsubscribe", "emit_event": "Begin other automations, tell webhooks", "http_request": "Call another service",
	"exit": "Stop here"}

// stepsByUse is the order in which types of steps are offered.
var stepsByUse = []string{"send_email", "delay", "condition", "wait_for_event", "split", "http_request", "contact_update", "add_to_list", "remove_from_list", "add_to_segment", "remove_from_segment",
	"set_topic", "emit_event", "contact_delete", "exit"}

// kindsFor are the types of steps that fit into a gap. To leave in the middle would cut off what follows.
func (f *flow) kindsFor(gap *tree.Gap) *chooseStep {
	c := &chooseStep{Gap: gap}
	for _, kind := range f.meta.Steps {
		if kind.Type == "trigger" || kind.Type == "exit" && gap.Target != "" && !gap.Shared {
			continue
		}
		look := flowLooks[kind.Type]
		c.Kinds = append(c.Kinds, stepChoice{kind.Type, kind.Label, stepTexts[kind.Type], orElse(look[0], "circle-dot"), orElse(look[1], "queued")})
	}
	slices.SortStableFunc(c.Kinds, func(a, b stepChoice) int { return slices.Index(stepsByUse, a.Type) - slices.Index(stepsByUse, b.Type) })
	return c
}

package automation

import (
	"slices"
	"strings"

	"postrider/mail/address"
	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/platform/space"
	"postrider/product/audience"
	"postrider/product/automation/internal/flow"
)

// Followers returns what reads the record of events.
func (s *Service) Followers() []event.Follower {
	return []event.Follower{{Name: "automations", Gather: event.Promptly, Types: followed, Handle: s.follow}}
}

// followed are the events that can begin runs.
var followed = []string{"contact.created", "contact.updated", "contact.confirmed", "contact.unsubscribed", "contact.deleted",
	"email.opened", "email.clicked", "email.bounced", "email.received"}

// placeTriggers watch where a contact is, and so look at every event of one.
var placeTriggers = []string{flow.ListJoined, flow.SegmentEntered, flow.SegmentLeft}

// follow begins runs for what happens in the installation, and lets runs go on that wait for it.
func (s *Service) follow(tx *db.Tx, events []event.Event) error {
	heard, err := s.hearing(tx, events)
	if err != nil {
		return err
	}
	for _, e := range events {
		h, ok, err := s.happened(tx, e)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if e.Type != "contact.deleted" {
			if err := s.take(tx, e, h, heard[e.Workspace]); err != nil {
				return err
			}
		}
		if err := s.watch(tx, e, h, heard[e.Workspace]); err != nil {
			return err
		}
	}
	return nil
}

// hearing returns the triggers of system events in the workspaces that the events happened in.
func (s *Service) hearing(tx *db.Tx, events []event.Event) (map[space.ID][]listener, error) {
	var workspaces []space.ID
	for _, e := range events {
		if !slices.Contains(workspaces, e.Workspace) {
			workspaces = append(workspaces, e.Workspace)
		}
	}
	heard := map[space.ID][]listener{}
	if len(workspaces) == 0 {
		return heard, nil
	}
	listeners, err := selectSystemListeners(tx, workspaces, flow.SystemEvents)
	for _, l := range listeners {
		heard[l.workspace] = append(heard[l.workspace], l)
	}
	return heard, err
}

// take lets an event begin and move on runs. What was recorded before an automation was enabled begins none of it, however late that is heard.
func (s *Service) take(tx *db.Tx, e event.Event, h happening, listeners []listener) error {
	var taking []listener
	for _, l := range listeners {
		if l.event == h.name && e.Number() > l.after {
			taking = append(taking, l)
		}
	}
	if _, err := s.begin(tx, h, taking); err != nil {
		return err
	}
	return s.resume(tx, h)
}

// happened turns an event of the record into one that triggers name. ok is false if it was made by a program, or says nothing.
func (s *Service) happened(tx *db.Tx, e event.Event) (h happening, ok bool, err error) {
	h = happening{workspace: e.Workspace, name: flow.SystemPrefix + e.Type, id: e.ID, kind: "system", payload: map[string]any{}}
	if err := decodeExactly(e.Data, &h.payload); err != nil || automated(h.payload) {
		return h, false, nil
	}
	if !strings.HasPrefix(e.Type, "email.") {
		h.contact = audience.ContactID(e.Subject)
		h.email, _ = h.payload["email"].(string)
		return h, true, nil
	}
	if len(h.payload) == 0 && e.Recipient == "" {
		return h, false, nil // the mail was deleted in the meantime, or the person forgotten
	}
	who := e.Recipient
	if e.Type == "email.received" {
		from, _ := h.payload["from"].(string)
		sender, err := address.Parse(from)
		if err != nil {
			return h, true, nil
		}
		who = sender.Key()
	}
	c, err := s.parts.Audience.Find(tx, e.Workspace, who)
	if isAnswer(err) {
		return h, true, nil
	}
	h.contact, h.email = c.ID, c.Address
	return h, true, err
}

// automated tells whether a program, and no person, opened, clicked or wrote.
func automated(data map[string]any) bool {
	for _, key := range []string{"open", "click"} {
		facts, _ := data[key].(map[string]any)
		if by, _ := facts["automated"].(bool); by {
			return true
		}
	}
	by, _ := data["auto_submitted"].(bool)
	return by
}

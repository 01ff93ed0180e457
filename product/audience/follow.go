package audience

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/platform/space"
	"postrider/product/suppression"
)

// Followers returns what reads the record of events.
func (s *Service) Followers() []event.Follower {
	return []event.Follower{{Name: "audience", Gather: event.Leisurely, Types: []string{"suppression.added", "suppression.removed", "email.accepted", "email.opened", "email.clicked"}, Handle: s.follow}}
}

// mailbox is an address of a workspace.
type mailbox struct {
	workspace space.ID
	address   string
}

// engagement is what happened to mail for an address.
type engagement struct {
	sent, opened, clicked       int64
	sentAt, openedAt, clickedAt time.Time
}

// follow keeps contacts in step with the suppression list, and counts what becomes of mail for them.
func (s *Service) follow(tx *db.Tx, events []event.Event) error {
	listed, engaged := map[mailbox]bool{}, map[mailbox]engagement{}
	for _, e := range events {
		at := mailbox{e.Workspace, suppression.Key(e.Recipient)}
		sum := engaged[at]
		switch e.Type {
		case "suppression.added", "suppression.removed":
			listed[at] = true
			continue
		case "email.accepted": // the recipient's server took it; email.sent tells of all recipients at once
			sum.sent, sum.sentAt = sum.sent+1, later(sum.sentAt, e.OccurredAt)
		case "email.opened":
			if automated(e.Data) {
				continue
			}
			sum.opened, sum.openedAt = sum.opened+1, later(sum.openedAt, e.OccurredAt)
		case "email.clicked":
			if automated(e.Data) {
				continue
			}
			sum.clicked, sum.clickedAt = sum.clicked+1, later(sum.clickedAt, e.OccurredAt)
		}
		engaged[at] = sum
	}
	for _, at := range slices.SortedFunc(maps.Keys(listed), byPlace) {
		if err := s.mirror(tx, at); err != nil {
			return err
		}
	}
	return countEngaged(tx, engaged)
}

// countEngaged writes what happened to mail for those who are contacts. Most mail is for people who are not.
func countEngaged(tx *db.Tx, engaged map[mailbox]engagement) error {
	addresses := map[space.ID][]string{}
	for _, at := range slices.SortedFunc(maps.Keys(engaged), byPlace) {
		addresses[at.workspace] = append(addresses[at.workspace], at.address)
	}
	for _, ws := range slices.Sorted(maps.Keys(addresses)) {
		known, err := selectNumbersOf(tx, ws, addresses[ws])
		if err != nil {
			return err
		}
		at := make([]mailbox, 0, len(known))
		for _, address := range slices.Sorted(maps.Keys(known)) {
			at = append(at, mailbox{ws, address})
		}
		if err := addEngagement(tx, at, engaged); err != nil {
			return err
		}
	}
	return nil
}

func byPlace(a, b mailbox) int {
	return cmp.Or(cmp.Compare(a.workspace, b.workspace), cmp.Compare(a.address, b.address))
}

// automated tells whether a program, and no person, opened or clicked.
func automated(data json.RawMessage) bool {
	var facts struct {
		Open, Click struct{ Automated bool }
	}
	_ = json.Unmarshal(data, &facts) // an event without these facts was made by a person
	return facts.Open.Automated || facts.Click.Automated
}

// mirror writes what the suppression list says now. Events only say that it changed: the last word counts, not the last event.
func (s *Service) mirror(tx *db.Tx, at mailbox) error {
	rows, err := lockContacts(tx, at.workspace, []string{at.address})
	if err != nil || len(rows) == 0 {
		return err
	}
	c := rows[0]
	if c.Suppression, err = s.suppressionOf(tx, at.workspace, at.address); err != nil {
		return err
	}
	c.settle()
	return updateStatus(tx, c)
}

package webhook

import (
	"encoding/json"
	"slices"
	"time"

	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/platform/queue"
	"postrider/platform/space"
	"postrider/product/plan"
)

// Followers returns what reads the record of events.
func (s *Service) Followers() []event.Follower {
	return []event.Follower{{Name: "webhooks", Gather: event.Promptly, Choose: s.choose, Handle: s.follow}}
}

// choose leaves out events of workspaces without endpoints, about which there is nothing to write. An endpoint that is disabled counts: if
// it is enabled later, what it missed must have been passed for good. One that is made later does not hear of what was before.
func (s *Service) choose(tx *db.Tx, events []event.Event) ([]event.Event, error) {
	have, err := selectWorkspaces(tx, s.workspacesOf(events))
	if err != nil || len(have) == 0 {
		return nil, err
	}
	var chosen []event.Event
	for _, e := range events {
		if slices.Contains(have, e.Workspace) {
			chosen = append(chosen, e)
		}
	}
	return chosen, nil
}

// workspacesOf returns where the events happened of which endpoints can be told.
func (s *Service) workspacesOf(events []event.Event) (workspaces []space.ID) {
	seen := map[space.ID]bool{}
	for _, e := range events {
		if _, known := s.catalogue.byType[e.Type]; known && !seen[e.Workspace] {
			seen[e.Workspace] = true
			workspaces = append(workspaces, e.Workspace)
		}
	}
	return workspaces
}

// follow writes a delivery for each event and each endpoint that wants it, and makes these endpoints due.
func (s *Service) follow(tx *db.Tx, events []event.Event) error {
	endpoints, err := s.listening(tx, events)
	if err != nil || len(endpoints) == 0 {
		return err
	}
	told, err := s.match(tx, events, endpoints)
	if err != nil || len(told.deliveries) == 0 {
		return err
	}
	if err := insertPayloads(tx, told.payloads); err != nil {
		return err
	}
	if err := insertDeliveries(tx, told.deliveries); err != nil {
		return err
	}
	return awaken(tx, told.endpoints)
}

// awaken makes endpoints due. One that is leased already is in the hands of a process, which looks again before it gives it back;
// the endpoints are locked by this transaction, so that cannot happen in between.
func awaken(tx *db.Tx, ids []ID) error {
	tx.Wake(Lane.Topic())
	for _, id := range ids {
		if _, err := queue.Reschedule(tx, Lane, string(id), tx.Now()); err != nil {
			return err
		}
	}
	return nil
}

// listening locks and returns the enabled endpoints of the workspaces that the events happened in.
func (s *Service) listening(tx *db.Tx, events []event.Event) (map[space.ID][]*Endpoint, error) {
	workspaces := s.workspacesOf(events)
	if len(workspaces) == 0 {
		return nil, nil
	}
	rows, err := lockListening(tx, workspaces)
	found := map[space.ID][]*Endpoint{}
	for i := range rows {
		found[rows[i].Workspace] = append(found[rows[i].Workspace], &rows[i].Endpoint)
	}
	return found, err
}

// told is what follows from a batch of events.
type told struct {
	payloads   []payload
	deliveries []Delivery
	endpoints  []ID // each once
}

// precedes tells whether an endpoint was there before an event: it hears of what comes later, however late the record is read. The clocks of
// two nodes, and of one that was set back, cannot tell.
func (e *Endpoint) precedes(what event.Event) bool {
	if e.since == nil {
		return !what.OccurredAt.Before(e.CreatedAt)
	}
	return what.Number() > *e.since
}

func (s *Service) match(tx *db.Tx, events []event.Event, endpoints map[space.ID][]*Endpoint) (told, error) {
	var t told
	keep, err := s.retentions(tx, endpoints)
	if err != nil {
		return t, err
	}
	names := externalIDs{service: s, tx: tx, known: map[string]string{}}
	due := map[ID]bool{}
	for _, e := range events {
		if _, known := s.catalogue.byType[e.Type]; !known {
			continue
		}
		matched := false
		for _, endpoint := range endpoints[e.Workspace] {
			if !endpoint.hears(e.Type) || !endpoint.concerns(e.Domain, e.Tenant) || !endpoint.precedes(e) {
				continue
			}
			matched = true
			t.deliveries = append(t.deliveries, s.newDelivery(endpoint, e.ID, e.Type, tx.Now()))
			if !due[endpoint.ID] {
				due[endpoint.ID] = true
				t.endpoints = append(t.endpoints, endpoint.ID)
			}
		}
		if !matched {
			continue
		}
		external, err := names.of(e)
		if err != nil {
			return t, err
		}
		body := newEnvelope(e, external).write()
		t.payloads = append(t.payloads, payload{e.ID, e.Workspace, string(body), tx.Now().Add(keep[e.Workspace])})
	}
	return t, nil
}

// externalIDs remembers, for one batch, what workspaces call their managed customers.
type externalIDs struct {
	service *Service
	tx      *db.Tx
	known   map[string]string
}

func (x externalIDs) of(e event.Event) (string, error) {
	if e.Tenant == "" {
		return "", nil
	}
	if external, ok := x.known[e.Tenant]; ok {
		return external, nil
	}
	external, err := x.service.parts.ExternalID(x.tx, e.Workspace, e.Tenant)
	if external == "" && e.Subject == e.Tenant { // the customer is gone, but the event of its end remembers
		var customer struct {
			ExternalID string `json:"external_id"`
		}
		_ = json.Unmarshal(e.Data, &customer) // what cannot be read has no name
		external = customer.ExternalID
	}
	x.known[e.Tenant] = external
	return external, err
}

// longestKept is how long deliveries can be looked at on plans that keep their logs longer.
const longestKept = 30 * 24 * time.Hour

// retentions returns how long the workspaces may look at what is written now.
func (s *Service) retentions(tx *db.Tx, endpoints map[space.ID][]*Endpoint) (map[space.ID]time.Duration, error) {
	var workspaces []space.ID
	for ws := range endpoints {
		workspaces = append(workspaces, ws)
	}
	plans, err := s.parts.Accounts.Plans(tx, workspaces)
	keep := map[space.ID]time.Duration{}
	for ws, name := range plans {
		keep[ws] = s.retention(name)
	}
	return keep, err
}

func (s *Service) retention(name plan.Name) time.Duration {
	p, err := s.parts.Plans.Get(name)
	if err != nil || p.Limits.LogRetentionDays == nil {
		return longestKept
	}
	return min(longestKept, plan.Days(*p.Limits.LogRetentionDays))
}

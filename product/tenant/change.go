package tenant

import (
	"context"
	"encoding/json"
	"errors"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/platform/space"
)

// Change is what a platform wants to be different. What it does not send stays.
type Change struct {
	ExternalID string                 `json:"external_id" doc:"Cannot be changed; only its present value is taken." example:"shop_4711"`
	Name       string                 `json:"name" example:"Shop 4711"`
	Provider   Provider               `json:"provider" doc:"inherit, direct, relay or node:<id of a sending node>." example:"direct"`
	Metadata   api.Optional[metadata] `json:"metadata" doc:"Replaces all metadata; null clears it." example:"{\"country\":\"DE\"}"`
	Status     Status                 `json:"status" doc:"active or paused." example:"paused"`
	Paused     *bool                  `json:"paused" doc:"The same as status." example:"true"`
	Reason     api.Optional[string]   `json:"pause_reason" doc:"Why; kept while the customer is paused." example:"abuse report"`
}

// edit is a change that has been checked.
type edit struct {
	Change
	metadata json.RawMessage
}

func (c Change) check() (edit, error) {
	var wrong api.Fields
	e := edit{Change: c}
	if c.Name != "" {
		e.Name = api.CheckName(&wrong, "name", c.Name, maxName)
	}
	if c.Provider != "" {
		checkProvider(&wrong, c.Provider)
	}
	if c.Metadata.Set {
		e.metadata = checkMetadata(&wrong, c.Metadata.Value)
	}
	e.Reason.Value = api.CheckLine(&wrong, "pause_reason", c.Reason.Value, maxReason)
	if c.Status != "" && c.Status != Active && c.Status != Paused {
		wrong.Add("status", "Must be active or paused.")
	}
	if c.Paused != nil {
		e.Status = Active
		if *c.Paused {
			e.Status = Paused
		}
		if c.Status != "" && c.Status != e.Status {
			wrong.Add("paused", "Contradicts status.")
		}
	}
	return e, wrong.Err()
}

// apply returns the customer after the change. Pausing twice is pausing once: the first moment stands.
func (e edit) apply(t Tenant, tx *db.Tx) Tenant {
	if e.Name != "" {
		t.Name = e.Name
	}
	if e.Provider != "" {
		t.Provider = e.Provider
	}
	if e.Metadata.Set {
		t.Metadata = e.metadata
	}
	if e.Status != "" && e.Status != t.Status {
		t.Status, t.PausedAt = e.Status, tx.Now()
	}
	if e.Reason.Set {
		t.PauseReason = e.Reason.Value
	}
	if t.Status == Active {
		t.PausedAt, t.PauseReason = Tenant{}.PausedAt, ""
	}
	return t
}

// Update changes a customer. A change that changes nothing leaves no trace.
func (s *Service) Update(ctx context.Context, ws space.ID, id string, c Change) (after Tenant, err error) {
	e, err := c.check()
	if err != nil {
		return Tenant{}, err
	}
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		before, err := lock(tx, ws, id)
		if err != nil {
			return err
		}
		if e.ExternalID != "" && e.ExternalID != before.ExternalID {
			return api.Invalid("external_id", "Cannot be changed.")
		}
		if after = e.apply(before, tx); after.Provider != before.Provider {
			if err := s.checkNode(tx, ws, after.Provider); err != nil {
				return err
			}
		}
		news := newsOf(before, after)
		if len(news) == 0 {
			return nil
		}
		after.UpdatedAt = tx.Now()
		if err := updateTenant(tx, after); err != nil {
			return err
		}
		return s.tell(tx, after, news)
	})
	s.sending.forget(ws, ID(id))
	return after, err
}

// newsOf returns the events that tell of a change.
func newsOf(before, after Tenant) []string {
	var news []string
	described := before.Name != after.Name || before.Provider != after.Provider || string(before.Metadata) != string(after.Metadata)
	if described || before.Status == after.Status && before.PauseReason != after.PauseReason {
		news = append(news, "managed_tenant.updated")
	}
	switch {
	case before.Status == after.Status:
	case after.Status == Paused:
		news = append(news, "managed_tenant.paused")
	default:
		news = append(news, "managed_tenant.resumed")
	}
	return news
}

func (s *Service) tell(tx *db.Tx, t Tenant, news []string) error {
	events := make([]event.Event, len(news))
	for i, kind := range news {
		events[i] = s.newEvent(t, kind)
	}
	return event.Append(tx, events...)
}

// Delete removes a customer that has no domains any more.
func (s *Service) Delete(ctx context.Context, ws space.ID, id string) error {
	err := s.db.Write(ctx, func(tx *db.Tx) error {
		t, err := lock(tx, ws, id)
		if err != nil {
			return err
		}
		if t.Domains > 0 {
			return ErrHasDomains.With("domain_count", t.Domains)
		}
		if err := errors.Join(deleteTenant(tx, ws, t.ID), deleteUsage(tx, ws, t.ID), total.Down(tx, ws)); err != nil {
			return err
		}
		t.UpdatedAt = tx.Now()
		return event.Append(tx, s.newEvent(t, "managed_tenant.deleted"))
	})
	s.sending.forget(ws, ID(id))
	return err
}

// lock holds a customer until the transaction ends, so that adding domains, pausing and deleting come one after the other. It
// reads after it locks: what a statement that had to wait has counted is older than its lock.
func lock(tx *db.Tx, ws space.ID, id string) (Tenant, error) {
	if !api.IsID(id) {
		return Tenant{}, ErrNotFound
	}
	if err := lockTenant(tx, ws, ID(id)); err != nil {
		return Tenant{}, db.OrMissing(err, ErrNotFound)
	}
	return selectTenant(tx, ws, ID(id))
}

package webhook

import (
	"context"
	"errors"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/platform/space"
)

// Change is what a customer wants to be different. What it does not send stays.
type Change struct {
	URL         string                          `json:"url" example:"https://app.example.com/hooks/mail"`
	Endpoint    string                          `json:"endpoint" doc:"Another name of url."`
	Events      []string                        `json:"events" example:"[\"email.*\"]"`
	Description api.Optional[string]            `json:"description" example:"Production"`
	DomainIDs   api.Optional[[]string]          `json:"domain_ids" example:"[]"`
	TenantIDs   api.Optional[[]string]          `json:"managed_tenant_ids" example:"[]"`
	IncludeBody *bool                           `json:"include_body" example:"false"`
	Headers     api.Optional[map[string]string] `json:"custom_headers" doc:"Replaces all; a value of *** stays as it is." example:"{}"`
	Status      Status                          `json:"status" doc:"enabled or disabled. Enabling forgets earlier failures." example:"enabled"`
	Enabled     *bool                           `json:"enabled" doc:"The same as status." example:"true"`
}

// checkChange returns the endpoint after the change.
func (s *Service) checkChange(before Endpoint, c Change) (Endpoint, error) {
	var wrong api.Fields
	after := before
	if field, target := (NewEndpoint{URL: c.URL, Endpoint: c.Endpoint}).target(); target != "" {
		s.checkURL(&wrong, field, target)
		after.URL = target
	}
	if c.Events != nil {
		after.Events = s.checkEvents(&wrong, "events", c.Events)
	}
	if c.Description.Set {
		after.Description = api.CheckLine(&wrong, "description", c.Description.Value, maxDescription)
	}
	if c.DomainIDs.Set {
		after.Domains = checkIDs(&wrong, "domain_ids", c.DomainIDs.Value)
	}
	if c.TenantIDs.Set {
		after.Tenants = checkIDs(&wrong, "managed_tenant_ids", c.TenantIDs.Value)
	}
	if c.IncludeBody != nil {
		after.IncludeBody = *c.IncludeBody
	}
	if c.Headers.Set {
		after.Headers = checkHeaders(&wrong, c.Headers.Value, before.Headers)
	}
	after.setStatus(c.status(&wrong))
	return after, wrong.Err()
}

// status returns the status that is asked for, or the empty one.
func (c Change) status(wrong *api.Fields) Status {
	if c.Status != "" && c.Status != Enabled && c.Status != Disabled {
		wrong.Add("status", "Must be enabled or disabled.")
	}
	if c.Enabled == nil {
		return c.Status
	}
	asked := Disabled
	if *c.Enabled {
		asked = Enabled
	}
	if c.Status != "" && c.Status != asked {
		wrong.Add("enabled", "Contradicts status.")
	}
	return asked
}

// setStatus enables or disables by hand; asking for what is already so changes nothing.
func (e *Endpoint) setStatus(asked Status) {
	if asked == "" || asked == e.Status {
		return
	}
	e.Status, e.DisabledReason = asked, ""
	if asked == Disabled {
		e.DisabledReason = Manual
		return
	}
	e.failures, e.firstFailureAt, e.warnedAt = 0, time.Time{}, time.Time{}
}

// Update changes an endpoint. What waits for it goes to its new address; what waits when it is disabled is cancelled.
func (s *Service) Update(ctx context.Context, caller api.Caller, id string, c Change) (Endpoint, error) {
	if api.IsID(id) && c.status(new(api.Fields)) == Enabled { // what is left to cancel must not be posted
		if err := s.cancelRest(ctx, leftover{caller.Workspace, ID(id)}); err != nil {
			return Endpoint{}, err
		}
	}
	return s.change(ctx, caller.Workspace, id, func(tx *db.Tx, before Endpoint) (Endpoint, error) {
		if err := mayManage(caller, before); err != nil {
			return before, err
		}
		after, err := s.checkChange(before, c)
		if err != nil {
			return after, err
		}
		if err := mayManage(caller, after); err != nil {
			return after, err
		}
		if c.DomainIDs.Set || c.TenantIDs.Set {
			if err := s.checkFilters(tx, after); err != nil {
				return after, err
			}
		}
		if after.Status == Disabled {
			if err := s.cancelWaiting(tx, leftover{after.Workspace, after.ID}); err != nil {
				return after, err
			}
		}
		return after, s.audit(tx, caller, EndpointChanged, after)
	})
}

// change locks an endpoint, lets decide say what it becomes, and writes that.
func (s *Service) change(ctx context.Context, ws space.ID, id string, decide func(*db.Tx, Endpoint) (Endpoint, error)) (after Endpoint, err error) {
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		before, err := s.lock(tx, ws, id)
		if err != nil {
			return err
		}
		if after, err = decide(tx, before); err != nil {
			return err
		}
		after.UpdatedAt = tx.Now()
		return updateEndpoint(tx, after, s.seal(after))
	})
	s.doubt(ID(id))
	return after, err
}

// Delete removes an endpoint. What waits for it is cancelled, and stays in the list of deliveries.
func (s *Service) Delete(ctx context.Context, caller api.Caller, id string) error {
	ws := caller.Workspace
	err := s.db.Write(ctx, func(tx *db.Tx) error {
		e, err := s.lock(tx, ws, id)
		if err != nil {
			return err
		}
		if err := mayManage(caller, e); err != nil {
			return err
		}
		return errors.Join(s.cancelWaiting(tx, leftover{ws, e.ID}), deleteEndpoint(tx, ws, e.ID), total.Down(tx, ws), queue.Finish(tx, id),
			s.audit(tx, caller, EndpointDeleted, e))
	})
	s.doubt(ID(id))
	return err
}

// lock holds an endpoint until the transaction ends. Everything that adds to what waits for it, or takes the right to post to
// it, locks it first; see line.go for why.
func (s *Service) lock(tx *db.Tx, ws space.ID, id string) (Endpoint, error) {
	if !api.IsID(id) {
		return Endpoint{}, ErrNotFound
	}
	return s.opened(lockEndpoint(tx, ws, ID(id)))
}

// find returns an endpoint of the workspace.
func (s *Service) find(tx *db.Tx, ws space.ID, id string) (Endpoint, error) {
	if !api.IsID(id) {
		return Endpoint{}, ErrNotFound
	}
	return s.opened(selectEndpoint(tx, ws, ID(id)))
}

func (s *Service) opened(row endpointRow, err error) (Endpoint, error) {
	if errors.Is(err, db.ErrNotFound) {
		return Endpoint{}, ErrNotFound
	}
	if err != nil {
		return Endpoint{}, err
	}
	err = s.open(&row.Endpoint, row.sealed)
	return row.Endpoint, err
}

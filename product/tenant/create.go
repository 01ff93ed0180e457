package tenant

import (
	"context"
	"errors"
	"fmt"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/platform/space"
	"postrider/product/plan"
)

// NewTenant is a customer as a platform asks for it.
type NewTenant struct {
	ExternalID string   `json:"external_id" doc:"Your own id of the customer; it never changes." example:"shop_4711"`
	Name       string   `json:"name" example:"Shop 4711"`
	Provider   Provider `json:"provider" doc:"inherit, direct, relay or node:<id of a sending node>." example:"inherit"`
	Metadata   metadata `json:"metadata" doc:"At most 50 keys and 8 KB." example:"{\"country\":\"DE\"}"`
}

// check returns the customer that is asked for, still without id, and names everything that is wrong.
func (in NewTenant) check(ws space.ID) (Tenant, error) {
	var wrong api.Fields
	t := Tenant{Workspace: ws, ExternalID: in.ExternalID, Status: Active, Provider: in.Provider}
	if t.Provider == "" {
		t.Provider = Inherit
	}
	if !isExternalID(t.ExternalID) {
		wrong.Add("external_id", fmt.Sprintf("Must have 1 to %d letters, digits or . _ : @ / - and begin with a letter or a digit.", maxExternalID))
	}
	t.Name = api.CheckName(&wrong, "name", in.Name, maxName)
	checkProvider(&wrong, t.Provider)
	t.Metadata = checkMetadata(&wrong, in.Metadata)
	return t, wrong.Err()
}

// Create adds a customer, or returns the one that has the external id already, unchanged: then existed is true and everything
// else that was asked for is ignored.
func (s *Service) Create(ctx context.Context, ws space.ID, name plan.Name, in NewTenant) (t Tenant, existed bool, err error) {
	p, err := s.planOf(name)
	if err != nil {
		return Tenant{}, false, err
	}
	if isExternalID(in.ExternalID) {
		t, err := s.ByExternalID(ctx, ws, in.ExternalID)
		if !errors.Is(err, ErrNotFound) {
			return t, true, err
		}
	}
	asked, err := in.check(ws)
	if err != nil {
		return Tenant{}, false, err
	}
	asked.ID = ID(s.world.NewID())
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		t, existed, err = s.add(tx, p, asked)
		return err
	})
	return t, existed, err
}

// add inserts before it counts: a twin then waits for the first of them to commit, and finds it even if it took the last slot.
func (s *Service) add(tx *db.Tx, p plan.Plan, t Tenant) (Tenant, bool, error) {
	if err := s.checkNode(tx, t.Workspace, t.Provider); err != nil {
		return Tenant{}, false, err
	}
	t.CreatedAt, t.UpdatedAt = tx.Now(), tx.Now()
	inserted, err := insertTenant(tx, t)
	if err != nil {
		return Tenant{}, false, err
	}
	if !inserted {
		t, err = selectByExternalID(tx, t.Workspace, t.ExternalID)
		if errors.Is(err, db.ErrNotFound) {
			err = db.ErrConflict // deleted in this very moment; the next try inserts
		}
		return t, true, err
	}
	counted, err := total.Up(tx, t.Workspace, p.Limits.ManagedTenants)
	if err != nil {
		return Tenant{}, false, err
	}
	if !counted {
		return Tenant{}, false, fullError(tx, p, t.Workspace)
	}
	return t, false, event.Append(tx, s.newEvent(t, "managed_tenant.created"))
}

func fullError(tx *db.Tx, p plan.Plan, ws space.ID) error {
	used, err := total.Of(tx, ws)
	if err != nil {
		return err
	}
	return ErrLimit.With("plan", p.Name).With("limit", *p.Limits.ManagedTenants).With("used", used)
}

// planOf returns the plan, if it has managed customers.
func (s *Service) planOf(name plan.Name) (plan.Plan, error) {
	p, err := s.plans.Get(name)
	if err != nil {
		return p, err
	}
	if limit := p.Limits.ManagedTenants; limit != nil && *limit == 0 {
		return p, ErrPlan.With("plan", name)
	}
	return p, nil
}

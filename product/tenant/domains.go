package tenant

import (
	"context"
	"slices"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/domain"
	"postrider/product/plan"
)

// AddDomain registers a domain for a customer. It takes none of the workspace's own slots; each customer has a quota.
func (s *Service) AddDomain(ctx context.Context, ws space.ID, name plan.Name, id string, r domain.Registration) (domain.Domain, error) {
	if _, err := s.planOf(name); err != nil {
		return domain.Domain{}, err
	}
	stored, err := r.Check()
	if err != nil {
		return domain.Domain{}, err
	}
	// Asked first, because making a key for a domain that will be refused is slow.
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		t, err := find(tx, ws, id)
		if err != nil {
			return err
		}
		if err := s.checkRoom(tx, t, name, stored); err != nil {
			return err
		}
		return s.domains.CheckWay(tx, ws, r)
	})
	if err != nil {
		return domain.Domain{}, err
	}
	d, err := s.domains.Prepare(ws, r)
	if err != nil {
		return domain.Domain{}, err
	}
	d.TenantID = id
	return d, s.db.Write(ctx, func(tx *db.Tx) error {
		t, err := lock(tx, ws, id)
		if err != nil {
			return err
		}
		if err := s.checkRoom(tx, t, name, d.Name); err != nil {
			return err
		}
		return s.domains.Add(tx, d)
	})
}

// checkRoom tells whether the customer may have another domain.
func (s *Service) checkRoom(tx *db.Tx, t Tenant, name plan.Name, domainName string) error {
	p, err := s.planOf(name)
	if err != nil {
		return err
	}
	if err := t.active(); err != nil {
		return err
	}
	limit := p.Limits.DomainsPerTenant
	if limit == nil || t.Domains < *limit {
		return nil
	}
	attached, err := s.domains.OfTenant(tx, t.Workspace, string(t.ID))
	if err != nil {
		return err
	}
	if slices.ContainsFunc(attached, func(d domain.Domain) bool { return d.Name == domainName }) {
		return nil // the better answer comes later: it is here already
	}
	return ErrDomainLimit.With("plan", p.Name).With("limit", *limit).With("used", t.Domains)
}

// RemoveDomain deletes a domain of a customer, paused or not.
func (s *Service) RemoveDomain(ctx context.Context, ws space.ID, id, domainID string) error {
	var removed domain.Domain
	err := s.db.Write(ctx, func(tx *db.Tx) error {
		t, err := lock(tx, ws, id)
		if err != nil {
			return err
		}
		attached, err := s.domains.OfTenant(tx, ws, string(t.ID))
		if err != nil {
			return err
		}
		i := slices.IndexFunc(attached, func(d domain.Domain) bool { return string(d.ID) == domainID })
		if i < 0 {
			return api.NotFound("domain")
		}
		removed = attached[i]
		return s.domains.Remove(tx, ws, removed.ID)
	})
	if err == nil {
		s.domains.Forget(removed)
	}
	return err
}

// Verify looks at the DNS of a domain now, unless it belongs to a customer who is paused.
func (s *Service) Verify(ctx context.Context, ws space.ID, domainID string) (domain.Domain, error) {
	d, err := s.domains.Get(ctx, ws, domainID)
	if err != nil {
		return domain.Domain{}, err
	}
	if d.TenantID != "" {
		t, err := s.Get(ctx, ws, d.TenantID)
		if err != nil {
			return domain.Domain{}, err
		}
		if err := t.active(); err != nil {
			return domain.Domain{}, err
		}
	}
	return s.domains.VerifyLimited(ctx, ws, domainID)
}

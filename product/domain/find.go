package domain

import (
	"context"
	"errors"
	"slices"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
)

// Get returns a domain of the workspace.
func (s *Service) Get(ctx context.Context, ws space.ID, id string) (Domain, error) {
	var d Domain
	if !api.IsID(id) {
		return d, api.NotFound("domain")
	}
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if d, err = selectDomain(tx, ws, ID(id)); err != nil {
			return err
		}
		return loadKeys(tx, &d)
	})
	return d, db.OrMissing(err, api.NotFound("domain"))
}

// Exist tells whether all ids are domains of the workspace.
func (s *Service) Exist(tx *db.Tx, ws space.ID, ids []string) (bool, error) {
	if slices.ContainsFunc(ids, func(id string) bool { return !api.IsID(id) }) {
		return false, nil
	}
	distinct := slices.Compact(slices.Sorted(slices.Values(ids)))
	found, err := countNamed(tx, ws, distinct)
	return found == int64(len(distinct)), err
}

// RecordsFor returns what has to be published for a domain, whoever registered it: the sandbox plays every registrar. What
// several workspaces ask for is there once.
func (s *Service) RecordsFor(ctx context.Context, name string) ([]DNSRecord, error) {
	var records []DNSRecord
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		domains, err := selectAnyByName(tx, name)
		if err != nil {
			return err
		}
		for _, d := range domains {
			if err := loadKeys(tx, &d); err != nil {
				return err
			}
			for _, r := range s.records(d) {
				if !slices.ContainsFunc(records, func(o DNSRecord) bool { return o.Type == r.Type && o.Name == r.Name && o.Value == r.Value }) {
					records = append(records, r)
				}
			}
		}
		return nil
	})
	return records, err
}

// Count tells how many slots of the plan are in use.
func (s *Service) Count(tx *db.Tx, ws space.ID) (int64, error) {
	count, err := selectTotal(tx, ws)
	return count.all - count.ofTenants, err
}

// CountOfTenants tells how many domains the managed customers of the workspace have together.
func (s *Service) CountOfTenants(tx *db.Tx, ws space.ID) (int64, error) {
	count, err := selectTotal(tx, ws)
	return count.ofTenants, err
}

// ByName returns a domain of the workspace by its name, or ErrNotYours.
func (s *Service) ByName(ctx context.Context, ws space.ID, name string) (Domain, error) {
	var d Domain
	err := s.db.Glance(ctx, func(tx *db.Tx) (err error) {
		d, err = selectByName(tx, ws, name)
		return err
	})
	if errors.Is(err, db.ErrNotFound) {
		return Domain{}, ErrNotYours.With("domain", name)
	}
	return d, err
}

// Holder returns the domain of the one workspace that has verified the name, if any has.
func (s *Service) Holder(ctx context.Context, name string) (d Domain, held bool, err error) {
	err = s.db.Glance(ctx, func(tx *db.Tx) error {
		holders, err := selectHolder(tx, name)
		if len(holders) > 0 {
			d, held = holders[0], true
		}
		return err
	})
	return d, held, err
}

// Load returns domains by id for delivery, which works across workspaces.
func (s *Service) Load(tx *db.Tx, ids []ID) (map[ID]Domain, error) {
	found, err := selectByIDs(tx, ids)
	domains := make(map[ID]Domain, len(found))
	for _, d := range found {
		domains[d.ID] = d
	}
	return domains, err
}

// OfWorkspace returns up to limit domains of a workspace, oldest first: those with the given ids, or all if there are none.
func (s *Service) OfWorkspace(tx *db.Tx, ws space.ID, ids []string, limit int) ([]Domain, error) {
	if len(ids) > 0 {
		return selectNamed(tx, ws, ids, limit)
	}
	return selectOfWorkspace(tx, ws, limit)
}

// Known tells whether some workspace has proven the name to be its own.
func (s *Service) Known(tx *db.Tx, name string) (bool, error) {
	holders, err := selectHolder(tx, name)
	return len(holders) > 0, err
}

// OfTenant returns the domains of a managed customer, oldest first.
func (s *Service) OfTenant(tx *db.Tx, ws space.ID, tenant string) ([]Domain, error) {
	domains, err := selectOfTenant(tx, ws, tenant)
	if err != nil {
		return nil, err
	}
	return domains, loadAllKeys(tx, domains)
}

// Failing returns up to limit domains of all workspaces whose records no longer are, or never were, as they must be.
func (s *Service) Failing(tx *db.Tx, limit int) ([]Domain, error) { return selectFailing(tx, limit) }

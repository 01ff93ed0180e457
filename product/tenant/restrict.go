package tenant

import (
	"context"
	"errors"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/product/domain"
)

// domainsFor returns the domains of a customer that the caller may use, and how many others there are. For a key that is restricted to
// some domains a customer of others is not there.
func (s *Service) domainsFor(tx *db.Tx, caller api.Caller, t Tenant) (usable []domain.Domain, others int, err error) {
	attached, err := s.domains.OfTenant(tx, t.Workspace, string(t.ID))
	for _, d := range attached {
		if caller.MayUseDomain(string(d.ID)) {
			usable = append(usable, d)
		}
	}
	others = len(attached) - len(usable)
	if err == nil && others > 0 && len(usable) == 0 {
		err = ErrNotFound
	}
	return usable, others, err
}

// mayChange refuses a key that is restricted to domains and would stop or divert the mail of others.
func (s *Service) mayChange(ctx context.Context, caller api.Caller, id string) error {
	if len(caller.DomainIDs) == 0 {
		return nil
	}
	return s.db.Read(ctx, func(tx *db.Tx) error {
		t, err := find(tx, caller.Workspace, id)
		if err != nil {
			return err
		}
		_, others, err := s.domainsFor(tx, caller, t)
		if err == nil && others > 0 {
			err = api.ErrDomainNotAllowed.Saying("This API key is restricted to domains; it can only change managed customers that have no others.")
		}
		return err
	})
}

// mayHave refuses to hand out a customer that is there, but not for the caller.
func (s *Service) mayHave(ctx context.Context, caller api.Caller, t Tenant) error {
	if len(caller.DomainIDs) == 0 {
		return nil
	}
	return s.db.Read(ctx, func(tx *db.Tx) error {
		_, _, err := s.domainsFor(tx, caller, t)
		if errors.Is(err, ErrNotFound) {
			err = api.ErrDomainNotAllowed.Saying("The external id is of a managed customer whose domains this API key may not use.")
		}
		return err
	})
}

package email

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"postrider/platform/db"
	"postrider/platform/space"
)

// use is recipients that count for one customer of a workspace, or for the workspace alone, on one day.
type use struct {
	workspace space.ID
	tenant    string
	day       time.Time
}

func useOf(e *Email) use {
	return use{e.Workspace, e.Tenant, e.CreatedAt.UTC().Truncate(24 * time.Hour)}
}

func (u use) compare(other use) int {
	return cmp.Or(cmp.Compare(u.workspace, other.workspace), cmp.Compare(u.tenant, other.tenant), u.day.Compare(other.day))
}

// uses are the recipients of many emails. They are written in one order everywhere: two nodes that lock the same rows in two orders
// would wait for each other.
type uses map[use]int64

func (u uses) inOrder() []use { return slices.SortedFunc(maps.Keys(u), use.compare) }

// useTenants counts emails that are accepted for the customers they belong to.
func (s *Service) useTenants(tx *db.Tx, all []acceptance) error {
	counted, last := uses{}, map[use]time.Time{}
	for _, a := range all {
		of := useOf(&a.email)
		counted[of] += int64(len(a.recipients))
		if a.email.CreatedAt.After(last[of]) {
			last[of] = a.email.CreatedAt
		}
	}
	for _, of := range counted.inOrder() {
		if err := s.tenants.Use(tx, of.workspace, of.tenant, counted[of], last[of]); err != nil {
			return err
		}
	}
	return nil
}

// giveBack returns what was counted for mail that was never sent.
func (s *Service) giveBack(tx *db.Tx, unsent uses) error {
	order := unsent.inOrder()
	for _, of := range order {
		if err := s.plans.ReturnEmails(tx, of.workspace, of.day, unsent[of]); err != nil {
			return err
		}
	}
	for _, of := range order {
		if err := s.tenants.Return(tx, of.workspace, of.tenant, unsent[of], of.day); err != nil {
			return err
		}
	}
	return nil
}

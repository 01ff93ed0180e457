package tenant

import (
	"context"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/plan"
)

// maxSearch is the length of the longest text that a search can find; a database refuses patterns that are much longer.
const maxSearch = maxName + 1 + maxExternalID

type listQuery struct {
	api.PageQuery
	Status     []string `query:"status" doc:"active or paused." example:"active"`
	Search     string   `query:"search" doc:"Part of the name or of the external id."`
	ExternalID []string `query:"external_id" doc:"One or more external ids." example:"shop_4711"`

	// domains are those of a key that is restricted to some.
	domains []string
}

func (q *listQuery) check() error {
	for _, status := range q.Status {
		if Status(status) != Active && Status(status) != Paused {
			return api.Invalid("status", fmt.Sprintf("%q is not a status of a managed customer.", status))
		}
	}
	if utf8.RuneCountInString(q.Search) > maxSearch {
		return api.Invalid("search", fmt.Sprintf("Must have at most %d characters.", maxSearch))
	}
	slices.Sort(q.Status)
	if q.Status = slices.Compact(q.Status); len(q.Status) == 2 {
		q.Status = nil // every customer is one or the other
	}
	return q.Check(maxPage)
}

// list returns a page of customers, newest first, with what the plan allows.
func (s *Service) list(ctx context.Context, ws space.ID, p plan.Plan, q listQuery) (answer page, err error) {
	if err := q.check(); err != nil {
		return page{}, err
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		used, err := s.Count(tx, ws)
		if err != nil {
			return err
		}
		domains, err := s.domains.CountOfTenants(tx, ws)
		if err != nil {
			return err
		}
		part, err := q.Newest(func(id string) (time.Time, error) {
			t, err := selectTenant(tx, ws, ID(id))
			return t.CreatedAt, err
		})
		if err != nil {
			return err
		}
		tenants, err := selectPage(tx, ws, q, part)
		if err != nil {
			return err
		}
		records := make([]Record, len(tenants))
		for i, t := range tenants {
			records[i] = newRecord(t, tx.Now())
		}
		answer = page{api.NewPlacedPage(records, q.PageQuery, Record.place), newLimits(p, used, domains)}
		if q.Placed() {
			return nil
		}
		total, err := q.total(tx, ws, used)
		answer.Total = &total
		return err
	})
	return answer, err
}

// total is how many customers the query finds over all pages, out of the number that there are. The many are never counted one
// by one: those who are active are all but the paused.
func (q listQuery) total(tx *db.Tx, ws space.ID, all int64) (int64, error) {
	if q.Search != "" || len(q.ExternalID) > 0 || len(q.domains) > 0 {
		return countTenants(tx, ws, q)
	}
	if len(q.Status) == 0 {
		return all, nil
	}
	paused, err := countTenants(tx, ws, listQuery{Status: []string{string(Paused)}})
	if Status(q.Status[0]) == Active {
		return all - paused, err
	}
	return paused, err
}

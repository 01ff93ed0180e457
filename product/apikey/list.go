package apikey

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
)

// maxPage is the largest page of keys.
const maxPage = 200

type listRequest struct {
	api.PageQuery
	Status []string `query:"status" doc:"active, expired or revoked." example:"active"`
	Search string   `query:"search" doc:"Part of the name or of the prefix."`
}

func (r *listRequest) check() (filter, error) {
	f := filter{search: r.Search}
	for _, text := range r.Status {
		if !slices.Contains(Statuses, Status(text)) {
			return f, api.Invalid("status", fmt.Sprintf("%q is not a state of a key.", text))
		}
		f.status = append(f.status, Status(text))
	}
	return f, errors.Join(api.CheckSearch(r.Search), r.Check(maxPage))
}

// list returns a page of the keys of a workspace, the newest first, and how many there are unless the page begins at one of them.
func (s *Service) list(ctx context.Context, ws space.ID, f filter, q api.PageQuery) (keys []Key, total *int64, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		part, err := q.Newest(func(id string) (time.Time, error) { return selectCreated(tx, ws, ID(id)) })
		if err != nil {
			return err
		}
		if keys, err = selectKeys(tx, ws, f, q, part); err != nil || q.Placed() {
			return err
		}
		count, err := countKeys(tx, ws, f)
		total = &count
		return err
	})
	return keys, total, err
}

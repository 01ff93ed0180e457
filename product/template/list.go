package template

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
)

// maxPage is the largest page of templates, and of versions.
const maxPage = 200

type listQuery struct {
	api.OffsetQuery
	After  string   `query:"after" doc:"Id of the last template of the page before."`
	Before string   `query:"before" doc:"Id of the first template of the page after."`
	Status []string `query:"status" doc:"published, draft or archived; by default all but those that are archived." example:"published"`
	Search string   `query:"search" doc:"Part of the name or of the alias."`
}

func (q *listQuery) check() error {
	var wrong api.Fields
	for _, status := range q.Status {
		if !slices.Contains([]Status{Published, Drafted, Archived}, Status(status)) {
			wrong.Add("status", fmt.Sprintf("%q is not a status of a template: use published, draft or archived.", status))
		}
	}
	places := 0
	for _, given := range []bool{q.After != "", q.Before != "", q.Offset != 0} {
		if given {
			places++
		}
	}
	if places > 1 {
		wrong.Add("after", "Only one of after, before and offset can be given.")
	}
	if len(q.Status) == 0 {
		q.Status = []string{string(Published), string(Drafted)}
	}
	if err := wrong.Err(); err != nil {
		return err
	}
	if err := api.CheckSearch(q.Search); err != nil {
		return err
	}
	return q.OffsetQuery.Check(maxPage)
}

// list returns a page of templates. One that begins at a template does not count all.
func (s *Service) list(ctx context.Context, ws space.ID, q listQuery) (page api.Page[Row], err error) {
	if err := q.check(); err != nil {
		return page, err
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		place, err := q.place(tx, ws)
		if err != nil {
			return err
		}
		found, err := selectPage(tx, ws, q, place)
		if err != nil {
			return err
		}
		rows := make([]Row, len(found))
		for i, t := range found {
			rows[i] = newRow(t)
		}
		page = api.NewOpenPage(rows, q.OffsetQuery)
		if q.Before != "" {
			slices.Reverse(page.Data)
		}
		if place != nil {
			return nil
		}
		total, err := countTemplates(tx, ws, q)
		page.Total = &total
		return err
	})
	return page, err
}

// place returns the template that the page begins after or ends before, if one is named.
func (q listQuery) place(tx *db.Tx, ws space.ID) (*Template, error) {
	name := q.After + q.Before
	if name == "" {
		return nil, nil
	}
	t, err := find(tx, ws, name)
	if errors.Is(err, ErrNotFound) {
		return nil, api.ErrInvalidCursor
	}
	return &t, err
}

// versions returns a page of the versions of a template, the newest first.
func (s *Service) versions(ctx context.Context, ws space.ID, name string, q api.OffsetQuery) (page api.Page[VersionRow], err error) {
	if err := q.Check(maxPage); err != nil {
		return page, err
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		t, err := find(tx, ws, name)
		if err != nil {
			return err
		}
		found, err := selectVersions(tx, ws, t.ID, q)
		rows := make([]VersionRow, len(found))
		for i, v := range found {
			rows[i] = newVersionRow(v, t.Active)
		}
		page = api.NewPage(rows, q, t.Latest) // versions are never removed
		return err
	})
	return page, err
}

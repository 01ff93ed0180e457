package template

import (
	"context"
	"fmt"
	"slices"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
)

// maxPage is the largest page of templates, and of versions.
const maxPage = 200

type listQuery struct {
	api.PageQuery
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
	if len(q.Status) == 0 {
		q.Status = []string{string(Published), string(Drafted)}
	}
	if err := wrong.Err(); err != nil {
		return err
	}
	if err := api.CheckSearch(q.Search); err != nil {
		return err
	}
	return q.Check(maxPage)
}

// list returns a page of templates. One that begins at a template does not count all.
func (s *Service) list(ctx context.Context, ws space.ID, q listQuery) (page api.Page[Row], err error) {
	if err := q.check(); err != nil {
		return page, err
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		part, err := q.Newest(func(id string) (time.Time, error) {
			t, err := find(tx, ws, id)
			return t.CreatedAt, err
		})
		if err != nil {
			return err
		}
		found, err := selectPage(tx, ws, q, part)
		if err != nil {
			return err
		}
		rows := make([]Row, len(found))
		for i, t := range found {
			rows[i] = newRow(t)
		}
		page = api.NewPlacedPage(rows, q.PageQuery, Row.place)
		if q.Placed() {
			return nil
		}
		total, err := countTemplates(tx, ws, q)
		page.Total = &total
		return err
	})
	return page, err
}

// versions returns a page of the versions of a template, the newest first.
func (s *Service) versions(ctx context.Context, ws space.ID, name string, q api.PageQuery) (page api.Page[VersionRow], err error) {
	if err := q.Check(maxPage); err != nil {
		return page, err
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		t, err := find(tx, ws, name)
		if err != nil {
			return err
		}
		part, err := q.Part(api.Descending, func(id string) ([]any, error) {
			number, err := selectVersionNumber(tx, ws, t.ID, VersionID(id))
			return []any{number}, err
		})
		if err != nil {
			return err
		}
		found, err := selectVersions(tx, ws, t.ID, q, part)
		rows := make([]VersionRow, len(found))
		for i, v := range found {
			rows[i] = newVersionRow(v, t.Active)
		}
		page = api.NewPlacedPage(rows, q, VersionRow.place)
		if !q.Placed() {
			page.Total = &t.Latest // versions are never removed
		}
		return err
	})
	return page, err
}

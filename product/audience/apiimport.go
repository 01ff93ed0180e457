package audience

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
)

func (s *Service) importRoutes() []api.Route {
	var all []api.Route
	for _, path := range []string{"/audience/contacts/import", "/contacts/imports"} {
		r := accepted(change(http.MethodPost, path, "Import contacts, from JSON or from a file. Never brings back somebody who left.", api.Handle(s.handleImport), ErrQuota, ErrSenderDomain, api.ErrTooLarge))
		r.Upload, r.MaxBody, r.MaxValues = true, maxImportBody, maxJSONRows*maxRowValues
		all = append(all, r)
	}
	for _, path := range []string{"/audience/contacts/imports", "/contacts/imports"} {
		all = append(all, get(path, "List imports, newest first.", api.Handle(s.handleImports)),
			get(path+"/{id}", "Get an import with its progress and what failed.", api.Handle(s.handleGetImport)))
	}
	return all
}

func (s *Service) handleImport(ctx context.Context, caller api.Caller, r struct{ Body importBody }) (importRecord, error) {
	im, err := s.startImport(ctx, caller, r.Body)
	return s.newImportRecord(im, nil), err
}

func (s *Service) handleGetImport(ctx context.Context, caller api.Caller, r idRequest) (record importRecord, err error) {
	if !api.IsID(r.ID) {
		return record, ErrImportNotFound
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		im, err := selectImport(tx, caller.Workspace, r.ID)
		if errors.Is(err, db.ErrNotFound) {
			return ErrImportNotFound
		}
		if err != nil {
			return err
		}
		record, err = s.readImport(tx, im)
		return err
	})
	return record, err
}

// readImport returns an import with the first of what failed.
func (s *Service) readImport(tx *db.Tx, im Import) (importRecord, error) {
	var shown []importError
	var err error
	if im.Counts.Failed > 0 {
		shown, err = selectImportErrors(tx, im.ID, 0, maxErrorsShown)
	}
	return s.newImportRecord(im, shown), err
}

func (s *Service) handleImports(ctx context.Context, caller api.Caller, q struct {
	api.PageQuery
	Status []string `query:"status" doc:"queued, in_progress, completed or failed." example:"completed"`
}) (page api.Page[importRecord], err error) {
	if err := q.Check(maxPage); err != nil {
		return page, err
	}
	statuses := []string{string(Queued), string(InProgress), string(Completed), string(Failed)}
	var wrong api.Fields
	for _, status := range q.Status {
		if !slices.Contains(statuses, status) {
			wrong.Add("status", fmt.Sprintf("%q is not a status of an import: use queued, in_progress, completed or failed.", status))
		}
	}
	if err := wrong.Err(); err != nil {
		return page, err
	}
	if len(q.Status) == 0 {
		q.Status = statuses
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		part, err := q.Newest(func(id string) (time.Time, error) {
			im, err := selectImport(tx, caller.Workspace, id)
			return im.CreatedAt, err
		})
		if err != nil {
			return err
		}
		found, err := selectImports(tx, caller.Workspace, q.Status, part, q.Limit+1, q.Offset)
		if err != nil {
			return err
		}
		records := make([]importRecord, len(found))
		for i, im := range found {
			if records[i], err = s.readImport(tx, im); err != nil {
				return err
			}
		}
		page = api.NewPlacedPage(records, q.PageQuery, importRecord.place)
		if q.Placed() {
			return nil
		}
		count, err := countImports(tx, caller.Workspace, q.Status)
		page.Total = &count
		return err
	})
	return page, err
}

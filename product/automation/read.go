package automation

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/product/automation/internal/flow"
)

type listQuery struct {
	api.PageQuery
	Status  []string `query:"status" doc:"enabled, disabled or archived; by default all but those that are archived." example:"enabled"`
	Enabled *bool    `query:"enabled" doc:"Only those that are enabled, or only those that are not."`
	Search  string   `query:"search" doc:"Part of the name."`
}

func (q *listQuery) check() error {
	for _, status := range q.Status {
		if !slices.Contains([]Status{Enabled, Disabled, Archived}, Status(status)) {
			return api.Invalid("status", fmt.Sprintf("%q is not a status of an automation: use enabled, disabled or archived.", status))
		}
	}
	if err := api.CheckSearch(q.Search); err != nil {
		return err
	}
	return q.Check(maxPage)
}

func (s *Service) list(ctx context.Context, caller api.Caller, q listQuery) (page api.Page[Row], err error) {
	if err := q.check(); err != nil {
		return page, err
	}
	var w where
	w.and("workspace_id = %s", caller.Workspace)
	if len(q.Status) > 0 {
		w.and("status {in %s}", q.Status)
	} else {
		w.and("status <> %s", string(Archived))
	}
	if q.Enabled != nil && *q.Enabled {
		w.and("status = %s", string(Enabled))
	} else if q.Enabled != nil {
		w.and("status <> %s", string(Enabled))
	}
	if q.Search != "" {
		w.and(`search LIKE %s ESCAPE '\'`, db.Contains(lower(q.Search)))
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		found, err := automationTable.page(tx, w, q.PageQuery)
		if err != nil {
			return err
		}
		ids := make([]ID, len(found.Data))
		for i, a := range found.Data {
			ids[i] = a.ID
		}
		counts, err := selectTallies(tx, ids)
		if err != nil {
			return err
		}
		shownAs := make(map[ID]flow.Definition, len(found.Data))
		for _, a := range found.Data {
			if shownAs[a.ID] = a.Draft; a.Published > 0 {
				v, err := findVersion(tx, a.ID, a.Published)
				if err != nil {
					return err
				}
				shownAs[a.ID] = v.Definition
			}
		}
		page = mapPage(found, func(a Automation) Row { return newRow(a, shownAs[a.ID], counts) })
		return nil
	})
	return page, err
}

// recentRuns is how many runs are shown with an automation.
const recentRuns = 10

// record shows an automation with the steps of a version: a number, draft, or what is published if it says nothing.
func (s *Service) record(ctx context.Context, caller api.Caller, id, version string) (record Record, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		a, err := findAutomation(tx, caller.Workspace, id)
		if err != nil {
			return err
		}
		definition, number := a.Draft, a.Published
		if version != "" && version != "draft" {
			if number, err = strconv.ParseInt(version, 10, 64); err != nil || number < 1 {
				return api.Invalid("version", "Must be the number of a version, or draft.")
			}
		}
		if version != "draft" && number > 0 {
			v, err := findVersion(tx, a.ID, number)
			if err != nil {
				return err
			}
			definition = v.Definition
		}
		counts, err := selectTallies(tx, []ID{a.ID})
		if err != nil {
			return err
		}
		var w where
		w.and("automation_id = %s", a.ID)
		runs, err := runTable.page(tx, w, api.PageQuery{OffsetQuery: api.OffsetQuery{Limit: recentRuns}})
		record = Record{Row: newRow(a, definition, counts), Steps: orNone(definition.Steps), Connections: orNone(definition.Connections), RecentRuns: []recentRun{}}
		for _, r := range runs.Data {
			record.RecentRuns = append(record.RecentRuns, recentRun{r.ID, r.Status, api.Time(r.StartedAt)})
		}
		return err
	})
	return record, err
}

func (s *Service) versions(ctx context.Context, caller api.Caller, id string, q api.PageQuery) (page api.Page[VersionRecord], err error) {
	if err := q.Check(maxPage); err != nil {
		return page, err
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		a, err := findAutomation(tx, caller.Workspace, id)
		if err != nil {
			return err
		}
		part, err := q.Part(api.Descending, func(id string) ([]any, error) {
			number, err := selectNumber(tx, a.ID, id)
			return []any{number}, err
		})
		if err != nil {
			return err
		}
		found, err := selectVersions(tx, a.ID, q, part)
		if err != nil {
			return err
		}
		counts, err := selectTallies(tx, []ID{a.ID})
		rows := make([]VersionRecord, len(found))
		for i, v := range found {
			rows[i] = newVersionRecord(v, a.Published, counts)
		}
		page = api.NewPlacedPage(rows, q, VersionRecord.place)
		if !q.Placed() {
			page.Total = &a.Latest // versions are never removed
		}
		return err
	})
	return page, err
}

type runQuery struct {
	api.PageQuery
	Status  []string `query:"status" doc:"running, completed, failed or cancelled." example:"running"`
	Contact []string `query:"contact_id" doc:"Ids of contacts."`
	Since   string   `query:"since" doc:"Begun at this moment or later."`
	Until   string   `query:"until" doc:"Begun before this moment."`
}

func (s *Service) runs(ctx context.Context, caller api.Caller, id string, q runQuery) (page api.Page[RunRow], err error) {
	var wrong api.Fields
	since, until := moment(&wrong, "since", q.Since), moment(&wrong, "until", q.Until)
	for _, status := range q.Status {
		if !slices.Contains([]RunStatus{Running, Completed, Failed, Cancelled}, RunStatus(status)) {
			wrong.Add("status", fmt.Sprintf("%q is not a status of a run: use running, completed, failed or cancelled.", status))
		}
	}
	if len(q.Contact) > maxPage || slices.ContainsFunc(q.Contact, func(id string) bool { return !api.IsID(id) }) {
		wrong.Add("contact_id", fmt.Sprintf("Must be ids of contacts, at most %d.", maxPage))
	}
	if err := wrong.Err(); err != nil {
		return page, err
	}
	if err := q.Check(maxPage); err != nil {
		return page, err
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		a, err := findAutomation(tx, caller.Workspace, id)
		if err != nil {
			return err
		}
		var w where
		w.and("automation_id = %s", a.ID)
		if len(q.Status) > 0 {
			w.and("status {in %s}", q.Status)
		}
		if len(q.Contact) > 0 {
			w.and("contact_id {in %s}", q.Contact)
		}
		if !since.IsZero() {
			w.and("started_at >= %s", since)
		}
		if !until.IsZero() {
			w.and("started_at < %s", until)
		}
		found, err := runTable.page(tx, w, q.PageQuery)
		page = mapPage(found, rowFor(caller))
		return err
	})
	return page, err
}

// rowFor shows runs to a caller. A key of some domains is not told what happened to mail, which may be that of others.
func rowFor(caller api.Caller) func(Run) RunRow {
	return func(r Run) RunRow {
		if len(caller.DomainIDs) > 0 && flow.IsOfMail(r.Cause.EventName) {
			r.Payload = nil
		}
		return newRunRow(r)
	}
}

// readRun shows a run with its steps.
func (s *Service) readRun(tx *db.Tx, caller api.Caller, automation ID, id string) (RunRecord, error) {
	r, err := findRun(tx, caller.Workspace, automation, id)
	if err != nil {
		return RunRecord{}, err
	}
	steps, err := selectTaken(tx, r.ID)
	if err != nil {
		return RunRecord{}, err
	}
	if r.Test {
		return newRunRecord(r, steps, nil), nil
	}
	graph, err := s.graph(tx, r.Automation, r.Version)
	if err == nil && len(caller.DomainIDs) > 0 && graph.HearsMail() {
		err = api.ErrDomainNotAllowed.Saying("This API key is restricted to domains; this run tells of the mail of all.")
	}
	return newRunRecord(r, steps, graph), err
}

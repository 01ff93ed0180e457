package logs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/plan"
)

const (
	// maxPage is the largest page of entries.
	maxPage = 200
	// countedDays is the time that is counted when nobody asks for another, up to now or to the end that is given.
	countedDays = 7
)

type listQuery struct {
	api.PageQuery
	filter
}

func (s *Service) handleList(ctx context.Context, caller api.Caller, q listQuery) (page api.Page[Row], err error) {
	if err := s.check(&q.filter, caller); err != nil {
		return page, err
	}
	if err := q.Check(maxPage); err != nil {
		return page, err
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		var row Entry
		part, err := q.Newest(func(id string) (at time.Time, err error) {
			row, err = s.find(tx, caller, id)
			return row.CreatedAt, err
		})
		if err != nil {
			return err
		}
		if row.ID != "" { // the id of a mail stands for its entry, which may have another
			part.Beyond = []any{row.CreatedAt, string(row.ID)}
		}
		chosen, err := newSelection(tx, caller.Workspace, q.filter, part)
		if err != nil {
			return err
		}
		entries, err := chosen.page(tx, q.Limit, q.Offset)
		if err != nil {
			return err
		}
		rows, err := newRows(tx, caller.Workspace, entries)
		page = api.NewPlacedPage(rows, q.PageQuery, Row.place)
		return err
	})
	return page, err
}

// newRows shows entries, those about a mail with what is known of it.
func newRows(tx *db.Tx, ws space.ID, entries []Entry) ([]Row, error) {
	var ids []string
	for _, e := range entries {
		if e.Kind != Email && e.Email != "" {
			ids = append(ids, e.Email)
		}
	}
	mails := map[string]Entry{}
	if len(ids) > 0 {
		var err error
		if mails, err = selectMails(tx, ws, ids); err != nil {
			return nil, err
		}
	}
	rows := make([]Row, len(entries))
	for i, e := range entries {
		if mail, ok := mails[e.Email]; ok && e.Kind != Email {
			e.Status, e.Domain, e.Tenant = first(mail.Status, e.Status), first(e.Domain, mail.Domain), first(e.Tenant, mail.Tenant)
		}
		rows[i] = newRow(e)
	}
	return rows, nil
}

type countQuery struct {
	filter
	GroupBy string `query:"group_by" doc:"status, kind, endpoint or hour." example:"status"`
}

// groupings are the text and the number that entries are counted by, and how both make a key.
var groupings = map[string]struct {
	text, number string
	key          func(group) string
}{
	"status": {"status", "response_status / 100", func(g group) string {
		if g.number > 0 {
			return fmt.Sprintf("%dxx", g.number)
		}
		return g.text
	}},
	"kind":     {"kind", "CAST(0 AS BIGINT)", func(g group) string { return g.text }},
	"endpoint": {"method || ' ' || route", "CAST(0 AS BIGINT)", func(g group) string { return g.text }},
	"hour": {"CAST('' AS TEXT)", "created_at / 3600000000", func(g group) string {
		return time.Unix(g.number*3600, 0).UTC().Format("2006-01-02T15:04:05.000Z")
	}},
}

func (s *Service) handleCounts(ctx context.Context, caller api.Caller, q countQuery) (answer counts, err error) {
	if q.GroupBy == "" {
		q.GroupBy = "status"
	}
	by, ok := groupings[q.GroupBy]
	if !ok {
		return answer, api.Invalid("group_by", "Must be status, kind, endpoint or hour.")
	}
	now := s.world.Clock.Now()
	switch {
	case q.Days != 0 || !q.Since.IsZero():
	case q.Until.IsZero():
		q.Days = countedDays
	default:
		q.Since = q.Until.AddDate(0, 0, -countedDays)
	}
	if err := s.check(&q.filter, caller); err != nil {
		return answer, err
	}
	if q.Until.IsZero() {
		q.Until = now.Add(time.Millisecond)
	}
	found := map[string]int64{}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		chosen, err := newSelection(tx, caller.Workspace, q.filter, db.Keyset{})
		if err != nil {
			return err
		}
		if q.GroupBy == "endpoint" {
			chosen.add("route <> ''")
		}
		groups, err := chosen.groups(tx, by.text, by.number)
		clear(found)
		for _, g := range groups {
			found[by.key(g)] += g.count
		}
		return err
	})
	return newCounts(q, found), err
}

// find returns an entry that the caller may see, by its id or by that of the mail it tells of.
func (s *Service) find(tx *db.Tx, caller api.Caller, id string) (Entry, error) {
	if !api.IsID(id) {
		return Entry{}, ErrNotFound
	}
	e, err := selectEntry(tx, caller.Workspace, ID(id))
	if errors.Is(err, db.ErrNotFound) {
		e, err = selectEntryOf(tx, caller.Workspace, id)
	}
	oldest := tx.Now().Add(-s.retention(plan.Name(caller.Plan)))
	if errors.Is(err, db.ErrNotFound) || err == nil && (e.CreatedAt.Before(oldest) || !caller.MayUseDomain(e.Domain)) {
		return Entry{}, ErrNotFound
	}
	return e, err
}

func (s *Service) handleGet(ctx context.Context, caller api.Caller, r struct {
	ID string `path:"id" doc:"Id of the entry." example:"0193a1fa-0000-7000-8000-000000000a01"`
}) (record Record, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		e, err := s.find(tx, caller, r.ID)
		if err != nil {
			return err
		}
		rows, err := newRows(tx, caller.Workspace, []Entry{e})
		if err != nil {
			return err
		}
		record = Record{Row: rows[0], RequestBody: orNull(e.Details.RequestBody), ResponseBody: orNull(e.Details.ResponseBody)}
		record.Events, err = s.tape(tx, e)
		return err
	})
	return record, err
}

package broadcast

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/email"
)

const (
	// maxPage is the largest page of broadcasts and links, maxRoster that of recipients.
	maxPage   = 200
	maxRoster = 500
)

// pageQuery are the parameters of every list.
type pageQuery struct {
	api.OffsetQuery
	After  string `query:"after" doc:"Id of the last row of the page before."`
	Before string `query:"before" doc:"Id of the first row of the page after."`
}

func (q *pageQuery) check(most int) error {
	places := 0
	for _, given := range []bool{q.After != "", q.Before != "", q.Offset != 0} {
		if given {
			places++
		}
	}
	if places > 1 {
		return api.Invalid("after", "Only one of after, before and offset can be given.")
	}
	return q.OffsetQuery.Check(most)
}

type listQuery struct {
	pageQuery
	Status   []string  `query:"status" doc:"One or more statuses." example:"sent"`
	Audience string    `query:"audience_id" doc:"For this list, or this segment."`
	Segment  string    `query:"segment_id" doc:"For this segment."`
	Search   string    `query:"search" doc:"Part of the name or the subject."`
	Since    time.Time `query:"since" doc:"Created at or after."`
	Until    time.Time `query:"until" doc:"Created before."`
}

func (q *listQuery) check() error {
	var wrong api.Fields
	for _, status := range q.Status {
		if !slices.Contains(Statuses, Status(status)) {
			wrong.Add("status", fmt.Sprintf("%q is not a status of a broadcast.", status))
		}
	}
	if q.Audience != "" && !api.IsID(q.Audience) {
		wrong.Add("audience_id", "Must be the id of a list or a segment.")
	}
	if q.Segment != "" && !api.IsID(q.Segment) {
		wrong.Add("segment_id", "Must be the id of a segment.")
	}
	if err := wrong.Err(); err != nil {
		return err
	}
	if err := api.CheckSearch(q.Search); err != nil {
		return err
	}
	return q.pageQuery.check(maxPage)
}

// list returns a page of broadcasts. One that begins at a broadcast does not count all.
func (s *Service) list(ctx context.Context, ws space.ID, q listQuery) (page api.Page[Row], err error) {
	if err := q.check(); err != nil {
		return page, err
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		var place *Broadcast
		if id := q.After + q.Before; id != "" {
			at, err := find(tx, ws, id)
			if errors.Is(err, ErrNotFound) {
				return api.ErrInvalidCursor
			}
			if err != nil {
				return err
			}
			place = &at
		}
		found, err := selectPage(tx, ws, q, place)
		if err != nil {
			return err
		}
		ids := make([]ID, len(found))
		for i, b := range found {
			ids[i] = b.ID
		}
		all, err := selectCounts(tx, ids)
		if err != nil {
			return err
		}
		rows := make([]Row, len(found))
		for i, b := range found {
			rows[i] = newRow(b, all[b.ID].counts)
		}
		page = turned(api.NewOpenPage(rows, q.OffsetQuery), q.pageQuery)
		if place != nil {
			return nil
		}
		total, err := countPage(tx, ws, q)
		page.Total = &total
		return err
	})
	return page, err
}

// turned puts the rows of a page before a place back into their order.
func turned[T any](page api.Page[T], q pageQuery) api.Page[T] {
	if q.Before != "" {
		slices.Reverse(page.Data)
	}
	return page
}

// recipientsQuery are the filters of a roster.
type recipientsQuery struct {
	pageQuery
	Status     []string `query:"status" doc:"States; opened includes clicked, delivered includes both." example:"delivered"`
	Type       []string `query:"type" doc:"The same as status."`
	Email      string   `query:"email" doc:"Part of the address."`
	BounceType string   `query:"bounce_type" doc:"permanent, transient or undetermined." example:"permanent"`
}

func (q recipientsQuery) roster() (r rosterQuery, err error) {
	var wrong api.Fields
	for _, status := range append(slices.Clone(q.Status), q.Type...) {
		if status = strings.ToLower(status); !slices.Contains(email.States, email.State(status)) && email.State(status) != Pending && email.State(status) != Skipped {
			wrong.Add("status", fmt.Sprintf("%q is not a state of a recipient.", status))
		}
		r.states = append(r.states, matching(status)...)
	}
	if q.BounceType != "" && !slices.Contains([]string{"permanent", "transient", "undetermined"}, q.BounceType) {
		wrong.Add("bounce_type", "Must be permanent, transient or undetermined.")
	}
	if api.CheckSearch(q.Email) != nil {
		wrong.Add("email", "Is too long to search for.")
	}
	r.pageQuery, r.email, r.bounceType = q.pageQuery, q.Email, q.BounceType
	if err := wrong.Err(); err != nil {
		return r, err
	}
	return r, r.pageQuery.check(maxRoster)
}

// visits is how often a recipient did what a filter asks for; nil for other filters.
func (q recipientsQuery) visits(r recipient) *int64 {
	asked := append(slices.Clone(q.Status), q.Type...)
	switch {
	case slices.Contains(asked, string(email.Clicked)):
		return &r.Clicks
	case slices.Contains(asked, string(email.Opened)):
		return &r.Opens
	}
	return nil
}

func (s *Service) recipients(ctx context.Context, ws space.ID, id string, q recipientsQuery) (page api.Page[recipientRecord], err error) {
	r, err := q.roster()
	if err != nil {
		return page, err
	}
	var clicks map[string][]clickRecord
	found, total, err := s.roster(ctx, ws, id, r, func(tx *db.Tx, rows []recipient) error {
		clicks, err = clicksOf(tx, rows)
		return err
	})
	if err != nil {
		return page, err
	}
	records := make([]recipientRecord, len(found))
	for i, row := range found {
		records[i] = newRecipientRecord(row, clicks[row.ID], q.visits(row))
	}
	page = turned(api.NewOpenPage(records, r.OffsetQuery), r.pageQuery)
	page.Total = total
	return page, nil
}

// roster reads a page of recipients, and how many there are unless the page begins at one. also reads what goes with them.
func (s *Service) roster(ctx context.Context, ws space.ID, id string, q rosterQuery, also func(*db.Tx, []recipient) error) (rows []recipient, total *int64, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		b, err := find(tx, ws, id)
		if err != nil {
			return err
		}
		if rows, err = selectRoster(tx, b, q); err != nil {
			return err
		}
		if err := also(tx, rows); err != nil || q.After+q.Before != "" {
			return err
		}
		count, err := countRoster(tx, b, q)
		total = &count
		return err
	})
	return rows, total, err
}

func clicksOf(tx *db.Tx, rows []recipient) (map[string][]clickRecord, error) {
	var who []string
	for _, r := range rows {
		if r.Clicks > 0 {
			who = append(who, r.ID)
		}
	}
	clicks := map[string][]clickRecord{}
	if len(who) == 0 {
		return clicks, nil
	}
	found, err := selectClicks(tx, who)
	for _, row := range found {
		clicks[row.recipient] = append(clicks[row.recipient], clickRecord{row.url, row.clicks})
	}
	return clicks, err
}

// errorsQuery are the filters of the errors of recipients.
type errorsQuery struct {
	pageQuery
	Reason []string `query:"reason" doc:"One or more reasons." example:"hard_bounce"`
	Email  string   `query:"email" doc:"Part of the address."`
}

func (s *Service) problems(ctx context.Context, ws space.ID, id string, q errorsQuery) (page api.Page[errorRecord], err error) {
	if api.CheckSearch(q.Email) != nil {
		return page, api.Invalid("email", "Is too long to search for.")
	}
	if err := q.pageQuery.check(maxRoster); err != nil {
		return page, err
	}
	found, total, err := s.roster(ctx, ws, id, rosterQuery{pageQuery: q.pageQuery, email: q.Email, reasons: q.Reason, failures: true},
		func(*db.Tx, []recipient) error { return nil })
	if err != nil {
		return page, err
	}
	records := make([]errorRecord, len(found))
	for i, row := range found {
		records[i] = newErrorRecord(row)
	}
	page = turned(api.NewOpenPage(records, q.OffsetQuery), q.pageQuery)
	page.Total = total
	return page, nil
}

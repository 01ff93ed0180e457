package broadcast

import (
	"context"
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

type listQuery struct {
	api.PageQuery
	Status   []string  `query:"status" doc:"One or more statuses." example:"sent"`
	Audience []string  `query:"audience_id" doc:"For one of these lists or segments."`
	Segment  []string  `query:"segment_id" doc:"For one of these segments."`
	Search   string    `query:"search" doc:"Part of the name or the subject."`
	Since    time.Time `query:"since" doc:"Created at or after."`
	Until    time.Time `query:"until" doc:"Created before."`

	// senders are what a restricted key finds; nil for everything.
	senders []string
}

func (q *listQuery) check() error {
	var wrong api.Fields
	for _, status := range q.Status {
		if !slices.Contains(Statuses, Status(status)) {
			wrong.Add("status", fmt.Sprintf("%q is not a status of a broadcast.", status))
		}
	}
	if !allIDs(q.Audience) {
		wrong.Add("audience_id", "Must be the id of a list or a segment.")
	}
	if !allIDs(q.Segment) {
		wrong.Add("segment_id", "Must be the id of a segment.")
	}
	if err := wrong.Err(); err != nil {
		return err
	}
	if err := api.CheckSearch(q.Search); err != nil {
		return err
	}
	return q.Check(maxPage)
}

func allIDs(texts []string) bool {
	return !slices.ContainsFunc(texts, func(text string) bool { return !api.IsID(text) })
}

// list returns a page of broadcasts. One that begins at a broadcast does not count all.
func (s *Service) list(ctx context.Context, caller api.Caller, q listQuery) (page api.Page[Row], err error) {
	if err := q.check(); err != nil {
		return page, err
	}
	ws := caller.Workspace
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		allowed, err := s.sendersOf(tx, caller)
		if err != nil {
			return err
		}
		q := q // the transaction may run again
		if q.senders, err = allowed.texts(tx, ws); err != nil {
			return err
		}
		part, err := q.Newest(func(id string) (time.Time, error) {
			b, err := find(tx, ws, id)
			if err == nil && !allowed.allow(b.From) {
				err = ErrNotFound
			}
			return b.CreatedAt, err
		})
		if err != nil {
			return err
		}
		found, err := selectPage(tx, ws, q, part)
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
		page = api.NewPlacedPage(rows, q.PageQuery, Row.place)
		if q.Placed() {
			return nil
		}
		total, err := countPage(tx, ws, q)
		page.Total = &total
		return err
	})
	return page, err
}

// recipientsQuery are the filters of a roster.
type recipientsQuery struct {
	api.PageQuery
	Status     []string `query:"status" doc:"States; opened includes clicked, delivered includes both." example:"delivered"`
	Type       []string `query:"type" doc:"The same as status."`
	Email      []string `query:"email" doc:"Part of the address; of several, one is enough."`
	BounceType []string `query:"bounce_type" doc:"permanent, transient or undetermined." example:"permanent"`
}

func (q recipientsQuery) roster() (r rosterQuery, err error) {
	var wrong api.Fields
	for _, status := range q.asked() {
		if !slices.Contains(email.States, email.State(status)) && email.State(status) != Pending && email.State(status) != Skipped {
			wrong.Add("status", fmt.Sprintf("%q is not a state of a recipient.", status))
		}
		r.states = append(r.states, matching(status)...)
		r.opened = r.opened || email.State(status) == email.Opened
		r.clicked = r.clicked || email.State(status) == email.Clicked
	}
	for _, kind := range q.BounceType {
		if !slices.Contains([]string{"permanent", "transient", "undetermined"}, kind) {
			wrong.Add("bounce_type", fmt.Sprintf("%q is no type of bounce: use permanent, transient or undetermined.", kind))
		}
	}
	checkParts(&wrong, q.Email)
	r.PageQuery, r.emails, r.bounceTypes = q.PageQuery, q.Email, q.BounceType
	if err := wrong.Err(); err != nil {
		return r, err
	}
	return r, r.Check(maxRoster)
}

// maxEmails is how many parts of addresses one request may look for: each is compared with every row.
const maxEmails = 100

// checkParts refuses parts of addresses that nobody would look for.
func checkParts(wrong *api.Fields, parts []string) {
	if len(parts) > maxEmails {
		wrong.Add("email", fmt.Sprintf("Must have at most %d values.", maxEmails))
	}
	if slices.ContainsFunc(parts, func(part string) bool { return api.CheckSearch(part) != nil }) {
		wrong.Add("email", "Is too long to search for.")
	}
}

// asked are the states that the query names.
func (q recipientsQuery) asked() []string {
	all := slices.Concat(q.Status, q.Type)
	for i, status := range all {
		all[i] = strings.ToLower(status)
	}
	return all
}

// visits is how often a recipient did what a filter asks for; nil for other filters.
func (q recipientsQuery) visits(r recipient) *int64 {
	asked := q.asked()
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
	page = api.NewPlacedPage(records, r.PageQuery, recipientRecord.place)
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
		part, err := q.Part(api.Descending, func(id string) ([]any, error) {
			contact, err := selectPlace(tx, b.ID, id)
			return []any{contact}, err
		})
		if err != nil {
			return err
		}
		if rows, err = selectRoster(tx, b, q, part); err != nil {
			return err
		}
		if err := also(tx, rows); err != nil || q.Placed() {
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
	api.PageQuery
	Reason []string `query:"reason" doc:"One or more reasons." example:"hard_bounce"`
	Email  []string `query:"email" doc:"Part of the address; of several, one is enough."`
}

func (s *Service) problems(ctx context.Context, ws space.ID, id string, q errorsQuery) (page api.Page[errorRecord], err error) {
	var wrong api.Fields
	checkParts(&wrong, q.Email)
	if err := wrong.Err(); err != nil {
		return page, err
	}
	if err := q.Check(maxRoster); err != nil {
		return page, err
	}
	found, total, err := s.roster(ctx, ws, id, rosterQuery{PageQuery: q.PageQuery, emails: q.Email, reasons: q.Reason, failures: true},
		func(*db.Tx, []recipient) error { return nil })
	if err != nil {
		return page, err
	}
	records := make([]errorRecord, len(found))
	for i, row := range found {
		records[i] = newErrorRecord(row)
	}
	page = api.NewPlacedPage(records, q.PageQuery, errorRecord.place)
	page.Total = total
	return page, nil
}

package email

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
)

// maxPage is the largest page of emails.
const maxPage = 200

// listQuery are the filters and the place of a page of emails.
type listQuery struct {
	api.OffsetQuery
	Cursor    string    `query:"cursor" doc:"next_cursor of the page before, unchanged."`
	After     string    `query:"after" doc:"Id of the last email of the page before."`
	Before    string    `query:"before" doc:"Id of the first email of the page after."`
	Order     string    `query:"order" doc:"desc (newest first) or asc." example:"desc"`
	Status    []string  `query:"status" doc:"One or more states." example:"delivered"`
	Domain    string    `query:"domain" doc:"Name or id of the sending domain." example:"acme.test"`
	Search    string    `query:"search" doc:"Part of the subject, an address, the message id or the id."`
	Q         string    `query:"q" doc:"The same as search."`
	To        string    `query:"to" doc:"Part of a recipient's address."`
	From      string    `query:"from" doc:"Part of the sender."`
	Tag       string    `query:"tag" doc:"name:value" example:"category:welcome"`
	Template  string    `query:"template_id" doc:"Id of the template it was made from."`
	Broadcast string    `query:"broadcast_id" doc:"Id of the broadcast it is part of."`
	Tenant    string    `query:"managed_tenant_id" doc:"Id of the managed customer whose mail it is."`
	Since     time.Time `query:"since" doc:"Created at or after."`
	Until     time.Time `query:"until" doc:"Created before."`
	Start     time.Time `query:"start" doc:"The same as since."`
	End       time.Time `query:"end" doc:"The same as until."`

	// domains are all that the caller may see, unless there are none.
	domains []string
}

func (q *listQuery) check() error {
	var wrong api.Fields
	places := 0
	for _, given := range []bool{q.Cursor != "", q.After != "", q.Before != "", q.Offset != 0} {
		if given {
			places++
		}
	}
	if places > 1 {
		wrong.Add("cursor", "Only one of cursor, after, before and offset can be given.")
	}
	if q.Order != "" && q.Order != "asc" && q.Order != "desc" {
		wrong.Add("order", "Must be asc or desc.")
	}
	for _, status := range q.Status {
		if !slices.Contains(States, State(status)) {
			wrong.Add("status", fmt.Sprintf("%q is not a state of an email.", status))
		}
	}
	if q.Template != "" && !api.IsID(q.Template) {
		wrong.Add("template_id", "Must be the id of a template.")
	}
	if q.Broadcast != "" && !api.IsID(q.Broadcast) {
		wrong.Add("broadcast_id", "Must be the id of a broadcast.")
	}
	if q.Tenant != "" && !api.IsID(q.Tenant) {
		wrong.Add("managed_tenant_id", "Must be the id of a managed customer.")
	}
	if q.Tag != "" && !strings.Contains(q.Tag, ":") {
		wrong.Add("tag", "Must have the form name:value.")
	}
	q.Search = strings.ToLower(first(q.Search, q.Q))
	for name, text := range map[string]string{"search": q.Search, "to": q.To, "from": q.From, "tag": q.Tag} {
		if api.CheckSearch(text) != nil {
			wrong.Add(name, "Is too long to search for.")
		}
	}
	if q.Since.IsZero() {
		q.Since = q.Start
	}
	if q.Until.IsZero() {
		q.Until = q.End
	}
	return errors.Join(wrong.Err(), q.OffsetQuery.Check(maxPage))
}

// name is the query without its place: a cursor is bound to it.
func (q listQuery) name() string {
	return fmt.Sprintf("emails %q %q %q %q %q %q %q %q %q %q %d %d", q.Order, q.Status, q.Domain, q.Search, q.To, q.From, q.Tag, q.Tenant, q.Template, q.Broadcast, q.Since.UnixMicro(), q.Until.UnixMicro())
}

// list returns a page of emails and the cursor of the next one, empty if there is none.
func (s *Service) list(ctx context.Context, ws space.ID, q listQuery) (rows []Email, next string, err error) {
	if err := q.check(); err != nil {
		return nil, "", err
	}
	var place *api.Cursor
	if q.Cursor != "" {
		at, err := s.cursors.Read(q.Cursor, ws, q.name())
		if err != nil {
			return nil, "", err
		}
		place = &at
	}
	err = s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if id := first(q.After, q.Before); id != "" {
			if place, err = placeOf(tx, ws, id); err != nil {
				return err
			}
		}
		rows, err = selectPage(tx, ws, q, place)
		return err
	})
	if err != nil {
		return nil, "", err
	}
	if len(rows) > q.Limit {
		rows = rows[:q.Limit]
		last := rows[len(rows)-1]
		next = s.cursors.Write(api.Cursor{ID: string(last.ID), At: last.CreatedAt}, ws, q.name())
	}
	if q.Before != "" {
		slices.Reverse(rows)
	}
	return rows, next, nil
}

func placeOf(tx *db.Tx, ws space.ID, id string) (*api.Cursor, error) {
	e, err := findEmail(tx, ws, id)
	if errors.Is(err, api.ErrNotFound) {
		return nil, api.ErrInvalidCursor
	}
	return &api.Cursor{ID: string(e.ID), At: e.CreatedAt}, err
}

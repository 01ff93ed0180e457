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

// maxChoices bounds the alternatives of a filter: for each that people typed the word index is asked once more.
const maxChoices = 100

// listQuery are the filters and the place of a page of emails.
type listQuery struct {
	api.PageQuery
	Status    []string  `query:"status" doc:"One or more states." example:"delivered"`
	Domain    []string  `query:"domain" doc:"Names or ids of sending domains." example:"acme.test"`
	Search    string    `query:"search" doc:"Part of the subject, an address, the message id or the id."`
	Q         string    `query:"q" doc:"The same as search."`
	To        []string  `query:"to" doc:"Part of a recipient's address. Several values are alternatives, here and in the other filters."`
	From      []string  `query:"from" doc:"Part of the sender."`
	Tag       []string  `query:"tag" doc:"name:value" example:"category:welcome"`
	Template  []string  `query:"template_id" doc:"Id of the template it was made from."`
	Broadcast []string  `query:"broadcast_id" doc:"Id of the broadcast it is part of."`
	Tenant    []string  `query:"managed_tenant_id" doc:"Id of the managed customer whose mail it is."`
	Since     time.Time `query:"since" doc:"Created at or after."`
	Until     time.Time `query:"until" doc:"Created before."`
	Start     time.Time `query:"start" doc:"The same as since."`
	End       time.Time `query:"end" doc:"The same as until."`

	// domains are all that the caller may see, unless there are none.
	domains []string
}

func (q *listQuery) check() error {
	var wrong api.Fields
	for _, status := range q.Status {
		if !slices.Contains(States, State(status)) {
			wrong.Add("status", fmt.Sprintf("%q is not a state of an email.", status))
		}
	}
	noID := func(id string) bool { return !api.IsID(id) }
	if slices.ContainsFunc(q.Template, noID) {
		wrong.Add("template_id", "Must be the id of a template.")
	}
	if slices.ContainsFunc(q.Broadcast, noID) {
		wrong.Add("broadcast_id", "Must be the id of a broadcast.")
	}
	if slices.ContainsFunc(q.Tenant, noID) {
		wrong.Add("managed_tenant_id", "Must be the id of a managed customer.")
	}
	if slices.ContainsFunc(q.Tag, func(tag string) bool { return !strings.Contains(tag, ":") }) {
		wrong.Add("tag", "Must have the form name:value.")
	}
	q.Search = strings.ToLower(first(q.Search, q.Q))
	for name, texts := range map[string][]string{"search": {q.Search}, "to": q.To, "from": q.From, "tag": q.Tag} {
		if slices.ContainsFunc(texts, func(text string) bool { return api.CheckSearch(text) != nil }) {
			wrong.Add(name, "Is too long to search for.")
		}
	}
	for name, values := range map[string][]string{"domain": q.Domain, "to": q.To, "from": q.From, "tag": q.Tag, "template_id": q.Template,
		"broadcast_id": q.Broadcast, "managed_tenant_id": q.Tenant} {
		if len(values) > maxChoices {
			wrong.Add(name, fmt.Sprintf("Must have at most %d values.", maxChoices))
		}
	}
	if q.Since.IsZero() {
		q.Since = q.Start
	}
	if q.Until.IsZero() {
		q.Until = q.End
	}
	return errors.Join(wrong.Err(), q.PageQuery.Check(maxPage))
}

// list returns a page of emails.
func (s *Service) list(ctx context.Context, ws space.ID, q listQuery) (page api.Page[Row], err error) {
	if err := q.check(); err != nil {
		return page, err
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		part, err := q.Newest(func(id string) (time.Time, error) {
			e, err := findEmail(tx, ws, id)
			if err == nil && len(q.domains) > 0 && !slices.Contains(q.domains, string(e.Domain)) {
				err = api.NotFound("email")
			}
			return e.CreatedAt, err
		})
		if err != nil {
			return err
		}
		emails, err := selectPage(tx, ws, q, part)
		if err != nil {
			return err
		}
		rows, err := rowsOf(tx, ws, emails)
		page = api.NewPlacedPage(rows, q.PageQuery, Row.place)
		return err
	})
	return page, err
}

// rowsOf makes rows of emails. Only those that were put off wait for another attempt; most pages have none.
func rowsOf(tx *db.Tx, ws space.ID, emails []Email) ([]Row, error) {
	rows := make([]Row, len(emails))
	var waiting []ID
	for i, e := range emails {
		rows[i] = newRow(e)
		if e.Delayed && !e.Status.Terminal() {
			waiting = append(waiting, e.ID)
		}
	}
	if len(waiting) == 0 {
		return rows, nil
	}
	next, err := selectNextAttempts(tx, ws, waiting)
	for i := range rows {
		rows[i].NextAttempt = api.Time(next[rows[i].ID])
	}
	return rows, err
}

package inbound

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"postrider/mail/address"
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/domain"
)

const (
	// maxPage is the largest page of any list here.
	maxPage = 200
	// maxCounted is how many matches of a filter are counted; past it a list says that there is more, and not how much.
	maxCounted = 10_000
	// maxChoices bounds the alternatives of a filter.
	maxChoices = 100
)

type listQuery struct {
	api.PageQuery
	Domain  []string  `query:"domain" doc:"Names or ids of domains." example:"acme.test"`
	To      []string  `query:"to" doc:"Part of a recipient's address. Several values are alternatives, here and in the other filters."`
	From    []string  `query:"from" doc:"Part of the sender."`
	Search  string    `query:"search" doc:"Part of the subject, an address, the message id or the id."`
	Read    *bool     `query:"read" doc:"Only read, or only unread messages."`
	Starred *bool     `query:"starred" doc:"Only messages with a star, or without."`
	Files   *bool     `query:"has_attachments" doc:"Only messages with attachments, or without."`
	Since   time.Time `query:"since" doc:"Received at or after."`
	Until   time.Time `query:"until" doc:"Received before."`

	domains []string // all that the caller may see; empty means any
}

func (q *listQuery) check() error {
	var wrong api.Fields
	for name, texts := range map[string][]string{"search": {q.Search}, "to": q.To, "from": q.From, "domain": q.Domain} {
		if slices.ContainsFunc(texts, func(text string) bool { return api.CheckSearch(text) != nil }) {
			wrong.Add(name, "Is too long to search for.")
		}
		if len(texts) > maxChoices {
			wrong.Add(name, fmt.Sprintf("Must have at most %d values.", maxChoices))
		}
	}
	return errors.Join(wrong.Err(), q.Check(maxPage))
}

// filtered tells whether the list is not simply all messages.
func (q listQuery) filtered() bool {
	return len(q.domains)+len(q.Domain)+len(q.To)+len(q.From) > 0 || q.Search != "" || q.Read != nil || q.Starred != nil || q.Files != nil ||
		!q.Since.IsZero() || !q.Until.IsZero()
}

func (s *Service) handleList(ctx context.Context, caller api.Caller, q listQuery) (page api.Page[Row], err error) {
	if err := q.check(); err != nil {
		return page, err
	}
	for i, text := range q.Domain {
		if q.Domain[i], err = s.domainID(ctx, caller.Workspace, text); err != nil {
			return page, err
		}
	}
	q.domains = caller.DomainIDs
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		part, err := q.Newest(func(id string) (time.Time, error) {
			m, err := find(tx, caller, id)
			return m.CreatedAt, err
		})
		if err != nil {
			return err
		}
		messages, err := selectPage(tx, caller.Workspace, q, part)
		if err != nil {
			return err
		}
		rows, err := rowsOf(tx, caller.Workspace, messages)
		if err != nil {
			return err
		}
		page = api.NewPlacedPage(rows, q.PageQuery, Row.place)
		if q.Placed() {
			return nil
		}
		page.Total, err = countList(tx, caller.Workspace, q)
		return err
	})
	return page, err
}

// nowhere is the id of no domain.
const nowhere = "00000000-0000-0000-0000-000000000000"

// domainID returns the id of a domain that is named by it or by its name. One that is not there has no messages.
func (s *Service) domainID(ctx context.Context, ws space.ID, text string) (string, error) {
	if api.IsID(text) {
		return text, nil
	}
	d, err := s.domains.ByName(ctx, ws, address.AskedDomain(text))
	if errors.Is(err, domain.ErrNotYours) {
		return nowhere, nil
	}
	return string(d.ID), err
}

func rowsOf(tx *db.Tx, ws space.ID, messages []Message) ([]Row, error) {
	ids := make([]ID, len(messages))
	for i, m := range messages {
		ids[i] = m.ID
	}
	passedOn, err := selectForwards(tx, ws, ids)
	rows := make([]Row, len(messages))
	for i, m := range messages {
		rows[i] = newRow(m, passedOn[m.ID])
	}
	return rows, err
}

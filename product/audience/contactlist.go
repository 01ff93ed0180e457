package audience

import (
	"context"
	"fmt"
	"slices"
	"time"

	"postrider/mail/address"
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
)

// contactQuery are the filters of a list of contacts.
type contactQuery struct {
	api.PageQuery
	ListID     []string  `query:"list_id" doc:"Only contacts on one of these lists, whatever they said to it."`
	AudienceID []string  `query:"audience_id" doc:"The same as list_id."`
	SegmentID  []string  `query:"segment_id" doc:"Only contacts in one of these segments."`
	TopicID    []string  `query:"topic_id" doc:"Only contacts that get mail about one of these topics."`
	Email      []string  `query:"email" doc:"One or more addresses, in any spelling." example:"ann@example.net"`
	Status     []string  `query:"status" doc:"subscribed, unsubscribed, pending, bounced or complained." example:"subscribed"`
	Search     string    `query:"search" doc:"Words of the address and of the name; the last may be the beginning of one." example:"ann exam"`
	Since      time.Time `query:"since" doc:"Only contacts made from this time on." example:"2026-11-01T00:00:00Z"`
	Until      time.Time `query:"until" doc:"Only contacts made before this time." example:"2026-12-01T00:00:00Z"`

	// part is what a page is cut from. Its keys are those of contactKeys.
	part db.Keyset
}

// contactKeys are by what contacts are ordered: their numbers, as moments, as the index of words has them too.
func contactKeys(number int64, id ContactID) []any { return []any{time.UnixMicro(number), string(id)} }

// beyond returns the number of the contact that the page begins after.
func (q contactQuery) beyond() (number int64, ok bool) {
	if q.part.Beyond == nil {
		return 0, false
	}
	return q.part.Beyond[0].(time.Time).UnixMicro(), true
}

const (
	// maxChoices bounds the lists, segments and topics of which one is enough: each asks a question about every contact.
	maxChoices = 20
	// maxCounted is the largest audience in which matches of a filter are counted for each page.
	maxCounted = 20_000
	// rareOneIn is how many contacts there must be for each in a segment before it is better collected than come across.
	rareOneIn = 200
)

func (q *contactQuery) check() error {
	var wrong api.Fields
	for _, status := range q.Status {
		if !slices.Contains([]Status{Subscribed, Unsubscribed, Pending, Bounced, Complained}, Status(status)) {
			wrong.Add("status", fmt.Sprintf("%q is not a status: use subscribed, unsubscribed, pending, bounced or complained.", status))
		}
	}
	if len(q.Email) > maxContactPage {
		wrong.Add("email", fmt.Sprintf("Must be at most %d addresses.", maxContactPage))
	}
	for i, text := range q.Email[:min(len(q.Email), maxContactPage)] {
		to, err := address.Parse(text)
		if err != nil {
			wrong.Add("email", fmt.Sprintf("Not an email address: %s.", err))
		}
		q.Email[i] = to.Key()
	}
	if len(q.ListID) == 0 {
		q.ListID = q.AudienceID
	}
	for name, ids := range map[string][]string{"list_id": q.ListID, "segment_id": q.SegmentID, "topic_id": q.TopicID} {
		if len(ids) > maxChoices {
			wrong.Add(name, fmt.Sprintf("Must have at most %d values.", maxChoices))
		}
	}
	if err := wrong.Err(); err != nil {
		return err
	}
	if err := api.CheckSearch(q.Search); err != nil {
		return err
	}
	return q.Check(maxContactPage)
}

// list returns a page of contacts, newest first.
func (s *Service) list(ctx context.Context, ws space.ID, q contactQuery) (page api.Page[contactRecord], err error) {
	if err := q.check(); err != nil {
		return page, err
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		known, err := loadSchema(tx, ws)
		if err != nil {
			return err
		}
		q := q // the transaction may run again
		if q.part, err = q.Newest(func(id string) (time.Time, error) {
			c, err := find(tx, ws, id)
			return time.UnixMicro(c.Number), err
		}); err != nil {
			return err
		}
		r, err := newReach(tx, ws, known, q)
		if err != nil {
			return err
		}
		found, err := selectReach(tx, r, q.part, q.Limit+1, q.Offset)
		if err != nil {
			return err
		}
		details, err := loadDetails(tx, found)
		if err != nil {
			return err
		}
		records := make([]contactRecord, len(details))
		for i, d := range details {
			records[i] = d.record(known, tx)
		}
		page = api.NewPlacedPage(records, q.PageQuery, contactRecord.place)
		if !q.Placed() {
			page.Total, err = r.total(tx)
		}
		return err
	})
	return page, err
}

package webhook

import (
	"context"
	"fmt"
	"slices"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
)

const (
	// maxPage is the largest page of any list of webhooks.
	maxPage = 200
	// maxChoices bounds how many alternatives a filter may name.
	maxChoices = 200
)

type endpointQuery struct {
	api.PageQuery
	Status []string `query:"status" doc:"enabled or disabled." example:"enabled"`
	Event  []string `query:"event" doc:"Only those that hear of one of these events." example:"email.bounced"`
}

func (q *endpointQuery) check() error {
	for _, status := range q.Status {
		if Status(status) != Enabled && Status(status) != Disabled {
			return api.Invalid("status", "Must be enabled or disabled.")
		}
	}
	return q.Check(maxPage)
}

// passes tells whether an endpoint is asked for.
func (q endpointQuery) passes(e Endpoint) bool {
	return (len(q.Status) == 0 || slices.Contains(q.Status, string(e.Status))) && (len(q.Event) == 0 || slices.ContainsFunc(q.Event, e.hears))
}

// list returns a page of endpoints, newest first. A workspace has so few that they are filtered here.
func (s *Service) list(ctx context.Context, caller api.Caller, q endpointQuery) (page api.Page[Record], err error) {
	if err := q.check(); err != nil {
		return page, err
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		rows, err := selectEndpoints(tx, caller.Workspace)
		if err != nil {
			return err
		}
		var found []Record
		for _, row := range rows {
			if !q.passes(row.Endpoint) || mayManage(caller, row.Endpoint) != nil {
				continue
			}
			e, err := s.opened(row, nil)
			if err != nil {
				return err
			}
			found = append(found, newRecord(e, tx.Now()))
		}
		page, err = api.Cut(found, q.PageQuery, api.Descending, Record.place)
		return err
	})
	return page, err
}

type deliveryQuery struct {
	api.PageQuery
	Status  []string  `query:"status" doc:"pending, retrying, delivered, failed or cancelled." example:"failed"`
	Event   []string  `query:"event" doc:"Types of events." example:"email.bounced"`
	Webhook []string  `query:"webhook_id" doc:"Ids of webhooks."`
	EventID []string  `query:"event_id" doc:"Ids of events."`
	Since   time.Time `query:"since" doc:"Created at or after this time."`
	Until   time.Time `query:"until" doc:"Created before this time."`
}

func (q *deliveryQuery) check() error {
	var wrong api.Fields
	for _, status := range q.Status {
		if !slices.Contains(deliveryStatuses, status) {
			wrong.Add("status", fmt.Sprintf("%q is not a status of a delivery.", shorten(status)))
		}
	}
	for field, ids := range map[string][]string{"webhook_id": q.Webhook, "event_id": q.EventID} {
		if slices.ContainsFunc(ids, func(id string) bool { return !api.IsID(id) }) {
			wrong.Add(field, "Must be an id.")
		}
	}
	for field, choices := range map[string][]string{"event": q.Event, "webhook_id": q.Webhook, "event_id": q.EventID} {
		if len(choices) > maxChoices {
			wrong.Add(field, fmt.Sprintf("Must name at most %d.", maxChoices))
		}
	}
	if err := wrong.Err(); err != nil {
		return err
	}
	return q.Check(maxPage)
}

// failedOnly tells whether only deliveries are asked for that ended without success.
func (q deliveryQuery) failedOnly() bool {
	return len(q.Status) > 0 && !slices.ContainsFunc(q.Status, func(status string) bool {
		return DeliveryStatus(status) != Failed && DeliveryStatus(status) != Cancelled
	})
}

// narrow leaves those webhooks in the query that the caller may manage, and tells whether any is left.
func (q *deliveryQuery) narrow(tx *db.Tx, caller api.Caller) (bool, error) {
	if len(caller.DomainIDs) == 0 {
		return true, nil
	}
	rows, err := selectEndpoints(tx, caller.Workspace)
	var own []string
	for _, row := range rows {
		id := string(row.ID)
		if mayManage(caller, row.Endpoint) == nil && (len(q.Webhook) == 0 || slices.Contains(q.Webhook, id)) {
			own = append(own, id)
		}
	}
	q.Webhook = own
	return len(own) > 0, err
}

// deliveries returns a page of deliveries, newest first.
func (s *Service) deliveries(ctx context.Context, caller api.Caller, q deliveryQuery) (page api.Page[DeliveryRecord], err error) {
	if err := q.check(); err != nil {
		return page, err
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		var rows []deliveryRow
		q := q // the transaction may run again
		part, err := q.Newest(func(id string) (time.Time, error) {
			d, err := selectDelivery(tx, caller.Workspace, DeliveryID(id))
			return d.CreatedAt, err
		})
		if err != nil {
			return err
		}
		some, err := q.narrow(tx, caller)
		if err == nil && some {
			rows, err = selectPage(tx, caller.Workspace, q, part)
		}
		records := make([]DeliveryRecord, len(rows))
		for i, row := range rows {
			records[i] = newDeliveryRecord(row)
		}
		page = api.NewPlacedPage(records, q.PageQuery, DeliveryRecord.place)
		return err
	})
	return page, err
}

// events returns a page of the catalogue.
func (s *Service) events(q api.OffsetQuery) (api.Page[eventRecord], error) {
	if q.Limit == 0 {
		q.Limit = maxPage // the catalogue is short, and a page of it would look like all of it
	}
	if err := q.Check(maxPage); err != nil {
		return api.Page[eventRecord]{}, err
	}
	kinds := s.catalogue.kinds
	start := min(q.Offset, len(kinds))
	var records []eventRecord
	for _, k := range kinds[start:min(start+q.Limit, len(kinds))] {
		records = append(records, newEventRecord(k))
	}
	return api.NewPage(records, q, int64(len(kinds))), nil
}

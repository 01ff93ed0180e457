package suppression

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"postrider/platform/api"
	"postrider/platform/event"
)

// Record is an entry of the list on the wire.
type Record struct {
	Object    string          `json:"object" example:"suppression"`
	ID        ID              `json:"id" example:"0193a1f9-0000-7000-8000-000000000901"`
	Email     string          `json:"email" example:"gone@example.net"`
	Reason    Reason          `json:"reason" example:"bounce"`
	Origin    Origin          `json:"origin" example:"bounce"`
	Detail    json.RawMessage `json:"detail" example:"{\"class\":\"hard\",\"category\":\"no_mailbox\",\"smtp_code\":550,\"enhanced_code\":\"5.1.1\",\"message\":\"550 5.1.1 user unknown\"}"`
	SourceID  api.Ref         `json:"source_id" example:"0193a1ef-0d5c-7c33-8e0a-2b7c1d9e4f00"`
	EmailID   api.Ref         `json:"email_id" example:"0193a1ef-0d5c-7c33-8e0a-2b7c1d9e4f00"`
	DomainID  api.Ref         `json:"domain_id" example:"0193a1e0-2222-7000-8000-0000000000d1"`
	TenantID  api.Ref         `json:"managed_tenant_id"`
	Note      api.Ref         `json:"note"`
	ExpiresAt api.Time        `json:"expires_at"`
	Hits      int64           `json:"hits" example:"2"`
	LastHitAt api.Time        `json:"last_hit_at"`
	CreatedBy api.Ref         `json:"created_by"`
	CreatedAt api.Time        `json:"created_at"`
}

func newRecord(s Suppression) Record {
	detail := s.Detail
	if detail == nil {
		detail = json.RawMessage("null")
	}
	return Record{Object: "suppression", ID: s.ID, Email: s.Address, Reason: s.Reason, Origin: s.Reason.Origin(), Detail: detail,
		SourceID: api.Ref(s.EmailID), EmailID: api.Ref(s.EmailID), DomainID: api.Ref(s.DomainID), TenantID: api.Ref(s.TenantID),
		Note: api.Ref(s.Note), ExpiresAt: api.Time(s.ExpiresAt), Hits: s.Hits, LastHitAt: api.Time(s.LastHitAt),
		CreatedBy: api.Ref(s.CreatedBy), CreatedAt: api.Time(s.CreatedAt)}
}

func newRecords(rows []Suppression) []Record {
	records := make([]Record, len(rows))
	for i, row := range rows {
		records[i] = newRecord(row)
	}
	return records
}

// place is where a page after the entry begins.
func (r Record) place() api.Cursor { return api.Cursor{ID: string(r.ID), At: time.Time(r.CreatedAt)} }

// addedRecord is the answer to somebody who adds an address.
type addedRecord struct {
	Record
	Created bool `json:"created" example:"true"`
}

func newAddedRecord(a Added) addedRecord { return addedRecord{newRecord(a.Suppression), a.Created} }

// Status tells a new entry from one that was there.
func (a addedRecord) Status() int {
	if a.Created {
		return http.StatusCreated
	}
	return http.StatusOK
}

// removedRecord is the answer to somebody who removes an address.
type removedRecord struct {
	Object  string `json:"object" example:"suppression"`
	ID      ID     `json:"id" example:"0193a1f9-0000-7000-8000-000000000901"`
	Email   string `json:"email" example:"gone@example.net"`
	Deleted bool   `json:"deleted" example:"true"`
}

func newRemovedRecord(s Suppression) removedRecord {
	return removedRecord{Object: "suppression", ID: s.ID, Email: s.Address, Deleted: true}
}

// batch is the answer to a request about many addresses.
type batch[T any] struct {
	Object string `json:"object" example:"list"`
	Data   []T    `json:"data"`
}

func newBatch[From, To any](rows []From, record func(From) To) batch[To] {
	data := make([]To, len(rows))
	for i, row := range rows {
		data[i] = record(row)
	}
	return batch[To]{"list", data}
}

// Types of the events that tell of the list.
const (
	addedEvent   = "suppression.added"
	removedEvent = "suppression.removed"
)

// eventData is what the events say of an entry.
type eventData struct {
	ID        ID       `json:"id"`
	Email     string   `json:"email"`
	Origin    Origin   `json:"origin"`
	Reason    Reason   `json:"reason"`
	SourceID  api.Ref  `json:"source_id"`
	CreatedAt api.Time `json:"created_at"`
}

func (s *Service) newEvent(row Suppression, kind string, at time.Time) event.Event {
	data, err := json.Marshal(eventData{row.ID, row.Address, row.Reason.Origin(), row.Reason, api.Ref(row.EmailID), api.Time(row.CreatedAt)})
	if err != nil {
		panic(fmt.Sprintf("suppression: event %s: %v", kind, err))
	}
	return event.Event{ID: s.world.NewID(), Workspace: row.Workspace, Type: kind, Subject: string(row.ID), Domain: row.DomainID, Tenant: row.TenantID,
		Recipient: row.Address, OccurredAt: at, Data: data}
}

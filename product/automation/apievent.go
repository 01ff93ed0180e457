package automation

import (
	"context"
	"errors"
	"net/http"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/product/audience"
)

func (s *Service) eventRoutes() []api.Route {
	notFound := []*api.Error{api.ErrNotFound}
	return []api.Route{
		{Method: http.MethodGet, Path: "/events", Scope: read, Bucket: api.BucketRead,
			Summary: "List events of your own, newest first.", Handler: api.Handle(s.handleEvents)},
		{Method: http.MethodPost, Path: "/events", Scope: manage, Bucket: api.BucketWrite, Success: 201, Errors: []*api.Error{api.ErrAlreadyExists},
			Summary: "Define an event of your own, with the types of what it says.", Handler: api.Handle(s.handleCreateEvent)},
		{Method: http.MethodPost, Path: "/events/send", Scope: begin, Bucket: api.BucketAutomationRun, Success: 202,
			Errors:  []*api.Error{api.ErrKeyReused, audience.ErrQuota},
			Summary: "Send an event by its name into automations and webhooks.", Handler: api.Handle(s.handleSendByName)},
		{Method: http.MethodGet, Path: "/events/{id}", Scope: read, Bucket: api.BucketRead, Errors: notFound,
			Summary: "Get an event by its id or name.", Handler: api.Handle(s.handleEvent)},
		{Method: http.MethodPatch, Path: "/events/{id}", Scope: manage, Bucket: api.BucketWrite, Errors: notFound,
			Summary: "Change what an event says.", Handler: api.Handle(s.handleUpdateEvent)},
		{Method: http.MethodDelete, Path: "/events/{id}", Scope: manage, Bucket: api.BucketWrite, Errors: []*api.Error{api.ErrNotFound, ErrInUse},
			Summary: "Delete an event that begins no automation.", Handler: api.Handle(s.handleDeleteEvent)},
		{Method: http.MethodPost, Path: "/events/{id}/send", Scope: begin, Bucket: api.BucketAutomationRun, Success: 202,
			Errors:  []*api.Error{api.ErrNotFound, api.ErrKeyReused, audience.ErrQuota},
			Summary: "Send an event into automations and webhooks.", Handler: api.Handle(s.handleSend)},
	}
}

type eventRecord struct {
	Object        string            `json:"object" example:"event"`
	ID            string            `json:"id" example:"0193a1f8-0000-7000-8000-000000000801"`
	Name          string            `json:"name" example:"user.signed_up"`
	Description   api.Ref           `json:"description"`
	Schema        map[string]string `json:"schema" example:"{\"plan\":\"string\",\"seats\":\"number\"}"`
	SamplePayload map[string]any    `json:"sample_payload" example:"{\"plan\":\"pro\",\"seats\":3}"`
	SendCount     int64             `json:"send_count" example:"42"`
	LastSentAt    api.Time          `json:"last_sent_at"`
	AutomationIDs []ID              `json:"automation_ids" example:"[\"0193a1f7-0000-7000-8000-000000000701\"]"`
	CreatedAt     api.Time          `json:"created_at"`
	UpdatedAt     api.Time          `json:"updated_at"`
}

func newEventRecord(e Event, used []ID) eventRecord {
	return eventRecord{Object: "event", ID: e.ID, Name: e.Name, Description: api.Ref(e.Description), Schema: e.Fields, SamplePayload: e.Sample, SendCount: e.Sent,
		LastSentAt: api.Time(e.SentAt), AutomationIDs: orNone(used), CreatedAt: api.Time(e.Created), UpdatedAt: api.Time(e.Updated)}
}

type eventQuery struct {
	api.PageQuery
	Name   []string `query:"name" doc:"Whole name." example:"user.signed_up"`
	Search string   `query:"search" doc:"Part of the name."`
}

func (s *Service) handleEvents(ctx context.Context, caller api.Caller, q eventQuery) (page api.Page[eventRecord], err error) {
	if err := errors.Join(api.CheckSearch(q.Search), q.Check(maxPage)); err != nil {
		return page, err
	}
	var w where
	w.and("workspace_id = %s", caller.Workspace)
	if len(q.Name) > 0 {
		w.and("name {in %s}", q.Name)
	}
	if q.Search != "" {
		w.and(`search LIKE %s ESCAPE '\'`, db.Contains(lower(q.Search)))
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		found, err := eventTable.page(tx, w, q.PageQuery)
		if err != nil {
			return err
		}
		used := map[string][]ID{}
		for _, e := range found.Data {
			if used[e.ID], err = selectTriggered(tx, caller.Workspace, e.Name); err != nil {
				return err
			}
		}
		page = mapPage(found, func(e Event) eventRecord { return newEventRecord(e, used[e.ID]) })
		page.Total = nil // the list of events is one of those that nobody counts
		return nil
	})
	return page, err
}

func (s *Service) handleCreateEvent(ctx context.Context, caller api.Caller, r struct{ Body newEvent }) (eventRecord, error) {
	e, err := s.createEvent(ctx, caller.Workspace, r.Body)
	return newEventRecord(e, nil), err
}

type eventRequest struct {
	ID string `path:"id" doc:"Id or name of the event." example:"user.signed_up"`
}

func (s *Service) handleEvent(ctx context.Context, caller api.Caller, r eventRequest) (record eventRecord, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		e, err := findEvent(tx, caller.Workspace, r.ID)
		if err != nil {
			return err
		}
		used, err := selectTriggered(tx, caller.Workspace, e.Name)
		record = newEventRecord(e, used)
		return err
	})
	return record, err
}

func (s *Service) handleUpdateEvent(ctx context.Context, caller api.Caller, r struct {
	eventRequest
	Body eventChange
}) (eventRecord, error) {
	e, used, err := s.updateEvent(ctx, caller.Workspace, r.ID, r.Body)
	return newEventRecord(e, used), err
}

func (s *Service) handleDeleteEvent(ctx context.Context, caller api.Caller, r eventRequest) (api.Deleted, error) {
	e, err := s.deleteEvent(ctx, caller.Workspace, r.ID)
	return api.Deleted{Object: "event", ID: e.ID, Deleted: true}, err
}

func (s *Service) handleSend(ctx context.Context, caller api.Caller, r struct {
	eventRequest
	Key  string `header:"Idempotency-Key" doc:"Makes a repeated request the same one."`
	Raw  api.Raw
	Body sending
}) (sentRecord, error) {
	request, err := idempotency(caller, "POST /events/"+r.ID+"/send", r.Key, r.Body.Key, r.Raw)
	if err != nil {
		return sentRecord{}, err
	}
	r.Body.Event = r.ID
	return s.sendEvent(ctx, caller, r.Body, true, request)
}

func (s *Service) handleSendByName(ctx context.Context, caller api.Caller, r struct {
	Key  string `header:"Idempotency-Key" doc:"Makes a repeated request the same one."`
	Raw  api.Raw
	Body sending
}) (sentRecord, error) {
	if r.Body.Event == "" {
		return sentRecord{}, api.Invalid("event", "The name of an event is required.")
	}
	request, err := idempotency(caller, "POST /events/send", r.Key, r.Body.Key, r.Raw)
	if err != nil {
		return sentRecord{}, err
	}
	return s.sendEvent(ctx, caller, r.Body, false, request)
}

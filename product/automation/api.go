package automation

import (
	"context"
	"fmt"
	"net/http"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/product/account"
	"postrider/product/audience"
)

// Routes returns the endpoints of automations, credentials and events.
func (s *Service) Routes() []api.Route {
	routes := append(s.definitionRoutes(), s.runRoutes()...)
	routes = append(routes, s.credentialRoutes()...)
	return append(routes, s.eventRoutes()...)
}

const (
	read   api.Scope = "automation:read"
	manage api.Scope = "automation:manage"
	begin  api.Scope = "automation:run"
)

func (s *Service) definitionRoutes() []api.Route {
	notFound := []*api.Error{api.ErrNotFound}
	changed := []*api.Error{api.ErrNotFound, api.ErrInvalidState, api.ErrDomainNotAllowed, ErrQuota}
	return []api.Route{
		{Method: http.MethodGet, Path: "/automations", Scope: read, Bucket: api.BucketRead,
			Summary: "List automations, newest first, without their steps.", Handler: api.Handle(s.list)},
		{Method: http.MethodPost, Path: "/automations", Scope: manage, Bucket: api.BucketWrite, Success: 201, Errors: []*api.Error{api.ErrDomainNotAllowed, ErrQuota},
			Summary: "Create an automation. With status enabled it is validated and published at once.", Handler: api.Handle(s.handleCreate)},
		{Method: http.MethodGet, Path: "/automations/_meta", Scope: read, Bucket: api.BucketRead,
			Summary: "Tell everything a builder needs: types of steps and triggers with JSON Schemas, fields, operators and limits.", Handler: api.Handle(s.handleMeta)},
		{Method: http.MethodGet, Path: "/automations/summary", Scope: read, Bucket: api.BucketRead,
			Summary: "Count automations and runs.", Handler: api.Handle(s.handleSummary)},
		{Method: http.MethodGet, Path: "/automations/{id}", Scope: read, Bucket: api.BucketRead, Errors: notFound,
			Summary: "Get an automation with its steps and its newest runs.", Handler: api.Handle(s.handleGet)},
		{Method: http.MethodPatch, Path: "/automations/{id}", Scope: manage, Bucket: api.BucketWrite, Errors: changed,
			Summary: "Change the draft, the name or the status of an automation.", Handler: api.Handle(s.handleUpdate)},
		{Method: http.MethodDelete, Path: "/automations/{id}", Scope: manage, Bucket: api.BucketWrite, Errors: notFound,
			Summary: "Archive an automation and cancel its runs.", Handler: api.Handle(s.handleArchive)},
		{Method: http.MethodPost, Path: "/automations/{id}/duplicate", Scope: manage, Bucket: api.BucketWrite, Success: 201, Errors: changed,
			Summary: "Make a disabled copy of an automation.", Handler: api.Handle(s.handleDuplicate)},
		{Method: http.MethodPost, Path: "/automations/{id}/publish", Scope: manage, Bucket: api.BucketWrite, Errors: changed,
			Summary: "Validate the draft and publish it as the next version.", Handler: api.Handle(s.handlePublish)},
		{Method: http.MethodGet, Path: "/automations/{id}/versions", Scope: read, Bucket: api.BucketRead, Errors: notFound,
			Summary: "List the published versions of an automation, newest first.", Handler: api.Handle(s.handleVersions)},
		{Method: http.MethodPost, Path: "/automations/{id}/versions/{version}/rollback", Scope: manage, Bucket: api.BucketWrite, Errors: changed,
			Summary: "Publish an earlier version again, as a new one.", Handler: api.Handle(s.handleRollback)},
	}
}

func (s *Service) runRoutes() []api.Route {
	begun := []*api.Error{api.ErrNotFound, api.ErrInvalidState, api.ErrKeyReused, audience.ErrQuota}
	return []api.Route{
		{Method: http.MethodPost, Path: "/automations/events", Scope: begin, Bucket: api.BucketAutomationRun, Success: 202,
			Errors:  []*api.Error{account.ErrUnverified, api.ErrKeyReused, audience.ErrQuota},
			Summary: "Send an event to the automations that wait for it.", Handler: api.Handle(s.handleTriggerEvent)},
		{Method: http.MethodPost, Path: "/automations/{id}/run", Scope: begin, Bucket: api.BucketAutomationRun, Success: 202, Errors: begun,
			Summary: "Begin a run.", Handler: api.Handle(s.handleRun)},
		{Method: http.MethodPost, Path: "/automations/{id}/test", Scope: begin, Bucket: api.BucketAutomationRun, Errors: []*api.Error{api.ErrNotFound, account.ErrUnverified},
			Summary: "Go through all steps at once without touching anything, and see what would happen.", Handler: api.Handle(s.handleTest)},
		{Method: http.MethodGet, Path: "/automations/{id}/runs", Scope: read, Bucket: api.BucketRead, Errors: []*api.Error{api.ErrNotFound},
			Summary: "List the runs of an automation, newest first.", Handler: api.Handle(s.handleRuns)},
		{Method: http.MethodGet, Path: "/automations/{id}/runs/{runId}", Scope: read, Bucket: api.BucketRead, Errors: []*api.Error{api.ErrNotFound, api.ErrDomainNotAllowed},
			Summary: "Get a run with its steps.", Handler: api.Handle(s.handleReadRun)},
		{Method: http.MethodPost, Path: "/automations/{id}/stop", Scope: manage, Bucket: api.BucketWrite, Errors: []*api.Error{api.ErrNotFound, api.ErrInvalidState, api.ErrDomainNotAllowed},
			Summary: "Cancel a run; without one, cancel all runs and disable the automation.", Handler: api.Handle(s.handleStop)},
	}
}

type idRequest struct {
	ID string `path:"id" doc:"Id of the automation." example:"0193a1f7-0000-7000-8000-000000000701"`
}

func (s *Service) handleCreate(ctx context.Context, caller api.Caller, r struct{ Body change }) (Record, error) {
	a, err := s.create(ctx, caller, r.Body)
	return s.after(ctx, caller, a, err)
}

// after shows an automation that has been changed: the draft, if that is what was changed.
func (s *Service) after(ctx context.Context, caller api.Caller, a Automation, err error) (Record, error) {
	if err != nil {
		return Record{}, err
	}
	version := ""
	if a.DraftChanged {
		version = "draft"
	}
	return s.record(ctx, caller, string(a.ID), version)
}

func (s *Service) handleGet(ctx context.Context, caller api.Caller, r struct {
	idRequest
	Version string `query:"version" doc:"Number of a version, or draft; what is published if absent." example:"draft"`
}) (Record, error) {
	return s.record(ctx, caller, r.ID, r.Version)
}

func (s *Service) handleUpdate(ctx context.Context, caller api.Caller, r struct {
	idRequest
	Body change
}) (Record, error) {
	a, err := s.update(ctx, caller, r.ID, r.Body)
	return s.after(ctx, caller, a, err)
}

func (s *Service) handleArchive(ctx context.Context, caller api.Caller, r idRequest) (api.Deleted, error) {
	a, _, err := s.quit(ctx, caller, r.ID, Archived)
	return api.Deleted{Object: "automation", ID: string(a.ID), Deleted: true}, err
}

func (s *Service) handleDuplicate(ctx context.Context, caller api.Caller, r struct {
	idRequest
	Body struct {
		Name string `json:"name" doc:"Name of the copy." example:"Welcome series (copy)"`
	}
}) (Record, error) {
	a, err := s.duplicate(ctx, caller, r.ID, r.Body.Name)
	return s.after(ctx, caller, a, err)
}

func (s *Service) handlePublish(ctx context.Context, caller api.Caller, r struct {
	idRequest
	Body struct {
		Note string `json:"note" doc:"A remark on the version." example:"CRM step"`
	}
}) (Record, error) {
	a, err := s.publishDraft(ctx, caller, r.ID, r.Body.Note)
	return s.after(ctx, caller, a, err)
}

func (s *Service) handleVersions(ctx context.Context, caller api.Caller, r struct {
	idRequest
	api.PageQuery
}) (api.Page[VersionRecord], error) {
	return s.versions(ctx, caller, r.ID, r.PageQuery)
}

func (s *Service) handleRollback(ctx context.Context, caller api.Caller, r struct {
	idRequest
	Version string `path:"version" doc:"Number of the version." example:"1"`
}) (Record, error) {
	var number int64
	if _, err := fmt.Sscanf(r.Version, "%d", &number); err != nil || fmt.Sprint(number) != r.Version {
		number = 0 // no version has it
	}
	a, err := s.rollback(ctx, caller, r.ID, number)
	if err != nil {
		return Record{}, err
	}
	return s.record(ctx, caller, string(a.ID), "")
}

func (s *Service) handleTriggerEvent(ctx context.Context, caller api.Caller, r struct {
	Key  string `header:"Idempotency-Key" doc:"Makes a repeated request the same one."`
	Raw  api.Raw
	Body sending
}) (sentRecord, error) {
	err := s.db.Read(ctx, func(tx *db.Tx) error { return s.parts.Accounts.RequireVerified(tx, caller) })
	if err != nil {
		return sentRecord{}, err
	}
	if r.Body.Event == "" {
		return sentRecord{}, api.Invalid("event", "The name of an event is required.")
	}
	request, err := idempotency(caller, "POST /automations/events", r.Key, r.Body.Key, r.Raw)
	if err != nil {
		return sentRecord{}, err
	}
	return s.sendEvent(ctx, caller, r.Body, false, request)
}

// idempotency names a request by its key; without one it has no name.
func idempotency(caller api.Caller, operation, header, body string, raw api.Raw) (api.Idempotency, error) {
	var wrong api.Fields
	key := api.CheckIdempotencyKey(&wrong, header, body)
	if err := wrong.Err(); err != nil || key == "" {
		return api.Idempotency{}, err
	}
	if len(raw) == 0 {
		raw = api.Raw(`{}`)
	}
	hash, err := api.HashBody(raw)
	return api.Idempotency{Workspace: caller.Workspace, Operation: operation, Key: key, Hash: hash, Test: caller.Test}, err
}

func (s *Service) handleRun(ctx context.Context, caller api.Caller, r struct {
	idRequest
	Key  string `header:"Idempotency-Key" doc:"Makes a repeated request the same one."`
	Raw  api.Raw
	Body runBody
}) (RunRecord, error) {
	request, err := idempotency(caller, "POST /automations/"+r.ID+"/run", r.Key, r.Body.Key, r.Raw)
	if err != nil {
		return RunRecord{}, err
	}
	return s.run(ctx, caller, r.ID, r.Body, request)
}

func (s *Service) handleTest(ctx context.Context, caller api.Caller, r struct {
	idRequest
	Body trialBody
}) (RunRecord, error) {
	return s.test(ctx, caller, r.ID, r.Body)
}

func (s *Service) handleRuns(ctx context.Context, caller api.Caller, r struct {
	idRequest
	runQuery
}) (api.Page[RunRow], error) {
	return s.runs(ctx, caller, r.ID, r.runQuery)
}

func (s *Service) handleReadRun(ctx context.Context, caller api.Caller, r struct {
	idRequest
	Run string `path:"runId" doc:"Id of the run." example:"0193a1f7-0000-7000-8000-000000000711"`
}) (record RunRecord, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		a, err := findAutomation(tx, caller.Workspace, r.ID)
		if err != nil {
			return err
		}
		record, err = s.readRun(tx, caller, a.ID, r.Run)
		return err
	})
	return record, err
}

// stopAnswer is the run that was stopped, or the automation.
type stopAnswer struct {
	*RunRecord
	Stopped *stoppedRecord
}

type stoppedRecord struct {
	Object      string `json:"object" example:"automation"`
	ID          ID     `json:"id" example:"0193a1f7-0000-7000-8000-000000000701"`
	Status      Status `json:"status" example:"disabled"`
	StoppedRuns int64  `json:"stopped_runs" example:"4"`
}

func (s *Service) handleStop(ctx context.Context, caller api.Caller, r struct {
	idRequest
	Body struct {
		RunID string `json:"run_id" doc:"The run to cancel; all if absent." example:"0193a1f7-0000-7000-8000-000000000711"`
	}
}) (stopAnswer, error) {
	if r.Body.RunID != "" {
		record, err := s.stopRun(ctx, caller, r.ID, r.Body.RunID)
		return stopAnswer{RunRecord: &record}, err
	}
	a, stopped, err := s.quit(ctx, caller, r.ID, Disabled)
	return stopAnswer{Stopped: &stoppedRecord{"automation", a.ID, a.Status, stopped}}, err
}

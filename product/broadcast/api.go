package broadcast

import (
	"context"
	"net/http"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/product/domain"
	"postrider/product/plan"
	"postrider/product/template"
	"postrider/product/tenant"
)

// Scopes of the endpoints.
const (
	read   api.Scope = "email:read"
	manage api.Scope = "email:send"
)

// Routes returns the endpoints of broadcasts.
func (s *Service) Routes() []api.Route {
	notFound := []*api.Error{api.ErrNotFound}
	paged := []*api.Error{api.ErrNotFound, api.ErrInvalidCursor}
	state := []*api.Error{api.ErrNotFound, api.ErrInvalidState}
	sending := []*api.Error{api.ErrNotFound, api.ErrInvalidState, domain.ErrNotYours, domain.ErrAuthBroken, api.ErrDomainNotAllowed, tenant.ErrPaused,
		plan.ErrMonthlyQuota, template.ErrRender}
	get := func(path, summary string, handler api.Handler, failures []*api.Error) api.Route {
		return api.Route{Method: http.MethodGet, Path: path, Scope: read, Bucket: api.BucketRead, Summary: summary, Handler: handler, Errors: failures}
	}
	post := func(path, summary string, handler api.Handler, success int, failures []*api.Error) api.Route {
		return api.Route{Method: http.MethodPost, Path: path, Scope: manage, Bucket: api.BucketWrite, Summary: summary, Handler: handler, Success: success, Errors: failures}
	}
	create := post("/broadcasts", "Draft a broadcast, or send it at once with send.", api.Handle(s.handleCreate), 201, sending[1:])
	create.MaxBody = maxBody
	estimate := post("/broadcasts/audience-estimate", "Estimate how many people a broadcast would reach.", api.Handle(s.handleEstimate), 200, nil)
	estimate.Scope = read
	return []api.Route{
		get("/broadcasts", "List broadcasts, newest first, without html and text.", api.Handle(s.handleList), []*api.Error{api.ErrInvalidCursor}),
		create,
		get("/broadcasts/summary", "Count broadcasts by status.", api.Handle(s.handleSummary), nil),
		estimate,
		get("/broadcasts/{id}", "Get a broadcast.", ofOne(s, s.handleGet), notFound),
		{Method: http.MethodPatch, Path: "/broadcasts/{id}", Scope: manage, Bucket: api.BucketWrite, MaxBody: maxBody, Errors: sending,
			Summary: "Change a broadcast that has not begun.", Handler: ofOne(s, s.handleUpdate)},
		{Method: http.MethodDelete, Path: "/broadcasts/{id}", Scope: manage, Bucket: api.BucketWrite, Errors: state,
			Summary: "Delete a draft, or a broadcast that was cancelled.", Handler: ofOne(s, s.handleDelete)},
		post("/broadcasts/{id}/send", "Send a broadcast now, or at a time.", ofOne(s, s.handleSend), 202, append([]*api.Error{api.ErrKeyReused}, sending...)),
		post("/broadcasts/{id}/cancel", "Stop a broadcast. What went out stays out.", ofOne(s, s.handleCancel), 200, state),
		post("/broadcasts/{id}/pause", "Hold a broadcast that is being sent.", ofOne(s, s.handlePause), 200, state),
		post("/broadcasts/{id}/resume", "Let a broadcast that is held go on.", ofOne(s, s.handleResume), 200, state),
		post("/broadcasts/{id}/retry", "Send to those again, and only to those, whose mail failed.", ofOne(s, s.handleRetry), 202, sending),
		post("/broadcasts/{id}/duplicate", "Make a draft from another broadcast.", ofOne(s, s.handleDuplicate), 201, notFound),
		get("/broadcasts/{id}/recipients", "List the recipients of a broadcast.", ofOne(s, s.handleRecipients), paged),
		get("/broadcasts/{id}/recipient-errors", "List who did not get a broadcast, and why.", ofOne(s, s.handleErrors), paged),
		get("/broadcasts/{id}/stats", "Tell what became of a broadcast.", ofOne(s, s.handleStats), notFound),
		get("/broadcasts/{id}/clicked-links", "List the links that people followed.", ofOne(s, s.handleLinks), paged),
	}
}

type idRequest struct {
	ID string `path:"id" doc:"Id of the broadcast." example:"0193a1f6-0000-7000-8000-000000000601"`
}

func (r idRequest) broadcast() string { return r.ID }

func (s *Service) handleList(ctx context.Context, caller api.Caller, q listQuery) (api.Page[Row], error) {
	return s.list(ctx, caller, q)
}

// sentRecord is the answer to a send. Idempotent is present only in replays.
type sentRecord struct {
	Record
	Idempotent bool `json:"idempotent,omitempty"`

	status int
}

// Status tells a draft from what goes out, and both from a replay.
func (r sentRecord) Status() int { return r.status }

func (s *Service) handleCreate(ctx context.Context, caller api.Caller, r struct {
	Body struct {
		Body
		Send bool `json:"send" doc:"Send it now, or at scheduled_at." example:"false"`
	}
}) (sentRecord, error) {
	record, err := s.create(ctx, caller, r.Body.Body, r.Body.Send)
	answer := sentRecord{Record: record, status: http.StatusCreated}
	if r.Body.Send {
		answer.status = http.StatusAccepted
	}
	return answer, err
}

func (s *Service) handleGet(ctx context.Context, caller api.Caller, r idRequest) (record Record, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		b, err := find(tx, caller.Workspace, r.ID)
		if err != nil {
			return err
		}
		all, err := selectCounts(tx, []ID{b.ID})
		record = newRecord(b, all[b.ID].counts)
		return err
	})
	return record, err
}

func (s *Service) handleUpdate(ctx context.Context, caller api.Caller, r struct {
	idRequest
	Body Body
}) (Record, error) {
	return s.update(ctx, caller, r.ID, r.Body)
}

func (s *Service) handleDelete(ctx context.Context, caller api.Caller, r idRequest) (api.Deleted, error) {
	err := s.erase(ctx, caller.Workspace, r.ID)
	return api.Deleted{Object: "broadcast", ID: r.ID, Deleted: true}, err
}

func (s *Service) handleSend(ctx context.Context, caller api.Caller, r struct {
	idRequest
	IdempotencyKey string `header:"Idempotency-Key" doc:"8 to 128 letters, digits, dots, underscores, colons or hyphens." example:"news:2026-11"`
	Raw            api.Raw
	Body           struct {
		ScheduledAt    string `json:"scheduled_at" doc:"RFC 3339, or like 'in 10 minutes'; at most 30 days ahead." example:"in 10 minutes"`
		ScheduledCamel string `json:"scheduledAt"`
		IdempotencyKey string `json:"idempotency_key" doc:"The same as the Idempotency-Key header."`
	}
}) (sentRecord, error) {
	var wrong api.Fields
	request := api.Idempotency{Workspace: caller.Workspace, Operation: "POST /broadcasts/" + r.ID + "/send",
		Key: api.CheckIdempotencyKey(&wrong, r.IdempotencyKey, r.Body.IdempotencyKey), Test: caller.Test}
	if err := wrong.Err(); err != nil {
		return sentRecord{}, err
	}
	if request.Key != "" {
		body := r.Raw
		if len(body) == 0 {
			body = api.Raw("{}") // a request without a body says the same
		}
		hash, err := api.HashBody(body)
		if err != nil {
			return sentRecord{}, api.Invalid("_body", "Malformed JSON.")
		}
		request.Hash = hash
	}
	at := r.Body.ScheduledAt
	if at == "" {
		at = r.Body.ScheduledCamel
	}
	record, replayed, err := s.send(ctx, caller, r.ID, at, request)
	answer := sentRecord{Record: record, Idempotent: replayed}
	if replayed {
		answer.status = http.StatusOK
	}
	return answer, err
}

func (s *Service) handleCancel(ctx context.Context, caller api.Caller, r idRequest) (Record, error) {
	return s.cancel(ctx, caller.Workspace, r.ID)
}

func (s *Service) handlePause(ctx context.Context, caller api.Caller, r idRequest) (Record, error) {
	return s.pause(ctx, caller.Workspace, r.ID)
}

func (s *Service) handleResume(ctx context.Context, caller api.Caller, r idRequest) (Record, error) {
	return s.resume(ctx, caller, r.ID)
}

func (s *Service) handleRetry(ctx context.Context, caller api.Caller, r idRequest) (Record, error) {
	return s.retry(ctx, caller, r.ID)
}

func (s *Service) handleDuplicate(ctx context.Context, caller api.Caller, r struct {
	idRequest
	Body struct {
		Name string `json:"name" doc:"Name of the copy." example:"December news"`
	}
}) (Record, error) {
	return s.duplicate(ctx, caller, r.ID, r.Body.Name)
}

func (s *Service) handleRecipients(ctx context.Context, caller api.Caller, r struct {
	idRequest
	recipientsQuery
}) (api.Page[recipientRecord], error) {
	return s.recipients(ctx, caller.Workspace, r.ID, r.recipientsQuery)
}

func (s *Service) handleErrors(ctx context.Context, caller api.Caller, r struct {
	idRequest
	errorsQuery
}) (api.Page[errorRecord], error) {
	return s.problems(ctx, caller.Workspace, r.ID, r.errorsQuery)
}

func (s *Service) handleSummary(ctx context.Context, caller api.Caller, _ api.None) (summaryRecord, error) {
	return s.summary(ctx, caller)
}

func (s *Service) handleEstimate(ctx context.Context, caller api.Caller, r struct{ Body estimateBody }) (estimateRecord, error) {
	return s.estimate(ctx, caller, r.Body)
}

func (s *Service) handleStats(ctx context.Context, caller api.Caller, r idRequest) (statisticsRecord, error) {
	return s.statistics(ctx, caller.Workspace, r.ID)
}

func (s *Service) handleLinks(ctx context.Context, caller api.Caller, r struct {
	idRequest
	api.PageQuery
}) (api.Page[linkRecord], error) {
	return s.links(ctx, caller.Workspace, r.ID, r.PageQuery)
}

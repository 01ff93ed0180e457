package inbound

import (
	"context"
	"net/http"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/product/domain"
	"postrider/product/plan"
	"postrider/product/tenant"
)

// maxIngestBody fits the largest message in base64, and what stands around it.
const maxIngestBody = 64 << 20

// Routes returns the endpoints of received mail.
func (s *Service) Routes() []api.Route {
	missing := []*api.Error{api.ErrNotFound}
	return append(s.ruleRoutes(), []api.Route{
		{Method: http.MethodGet, Path: "/emails/receiving", Scope: "email:read", Bucket: api.BucketRead, Errors: []*api.Error{api.ErrInvalidCursor},
			Summary: "List received messages, newest first.", Handler: api.Handle(s.handleList)},
		{Method: http.MethodPost, Path: "/emails/receiving", Scope: "email:send", Bucket: api.BucketWrite, MaxBody: maxIngestBody, Success: 201,
			Errors:  []*api.Error{api.ErrDomainNotAllowed, api.ErrTooLarge},
			Summary: "Hand in a message as if it had been received, to try what follows from it.", Handler: api.Handle(s.handleIngest)},
		{Method: http.MethodGet, Path: "/emails/receiving/health", Scope: "email:read", Bucket: api.BucketRead,
			Summary: "Tell whether mail for the domains would arrive.", Handler: api.Handle(s.handleHealth)},
		{Method: http.MethodGet, Path: "/emails/receiving/{id}", Scope: "email:read", Bucket: api.BucketRead, Errors: missing,
			Summary: "Get a received message with its header and body.", Handler: api.Handle(s.handleGet)},
		{Method: http.MethodPatch, Path: "/emails/receiving/{id}", Scope: "email:read", Bucket: api.BucketWrite, Errors: missing,
			Summary: "Mark a received message as read or with a star.", Handler: api.Handle(s.handleMark)},
		{Method: http.MethodDelete, Path: "/emails/receiving/{id}", Scope: "domain:manage", Bucket: api.BucketWrite, Errors: []*api.Error{api.ErrNotFound, api.ErrInvalidState},
			Summary: "Delete a received message for good.", Handler: api.Handle(s.handleDelete)},
		{Method: http.MethodGet, Path: "/emails/receiving/{id}/attachments", Scope: "email:read", Bucket: api.BucketRead, Errors: missing,
			Summary: "List the attachments of a received message.", Handler: api.Handle(s.handleAttachments)},
		{Method: http.MethodGet, Path: "/emails/receiving/{id}/attachments/{attachmentId}", Scope: "email:read", Bucket: api.BucketRead, Errors: missing,
			Summary: "Get one attachment of a received message with a link to its content.", Handler: api.Handle(s.handleAttachment)},
		{Method: http.MethodPost, Path: "/emails/receiving/{id}/reply", Scope: "email:send", Bucket: api.BucketSend, MaxBody: maxIngestBody, Success: 202,
			Errors: []*api.Error{api.ErrNotFound, domain.ErrNotYours, domain.ErrAuthBroken, api.ErrDomainNotAllowed, tenant.ErrPaused, plan.ErrMonthlyQuota,
				api.ErrKeyReused, api.ErrTooLarge},
			Summary: "Answer a received message.", Handler: api.Handle(s.handleReply)},
	}...)
}

type idRequest struct {
	ID string `path:"id" doc:"Id of the received message." example:"0193a1f2-0000-7000-8000-000000000101"`
}

func (s *Service) handleGet(ctx context.Context, caller api.Caller, r struct {
	idRequest
	Format string `query:"html_format" doc:"data_uri puts inline images into the page; cid keeps the references." example:"data_uri"`
}) (Record, error) {
	if r.Format != "" && r.Format != "data_uri" && r.Format != "cid" {
		return Record{}, api.Invalid("html_format", "Must be data_uri or cid.")
	}
	return s.record(ctx, caller, r.ID, r.Format != "cid")
}

func (s *Service) handleMark(ctx context.Context, caller api.Caller, r struct {
	idRequest
	Body struct {
		Read    *bool `json:"read" example:"true"`
		Starred *bool `json:"starred" example:"false"`
	}
}) (Record, error) {
	err := s.db.Write(ctx, func(tx *db.Tx) error {
		m, err := find(tx, caller, r.ID)
		if err != nil {
			return err
		}
		if r.Body.Read == nil && r.Body.Starred == nil {
			return api.Invalid("read", "One of read and starred is required.")
		}
		if r.Body.Read != nil {
			if err := updateRead(tx, caller.Workspace, m.ID, *r.Body.Read); err != nil {
				return err
			}
		}
		if r.Body.Starred != nil {
			return updateStarred(tx, caller.Workspace, m.ID, *r.Body.Starred)
		}
		return nil
	})
	if err != nil {
		return Record{}, err
	}
	return s.record(ctx, caller, r.ID, true)
}

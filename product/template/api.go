package template

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"postrider/platform/api"
	"postrider/platform/db"
)

// maxBody is the largest request that brings a source. Gmail shows a fortieth of it.
const maxBody = 4 << 20

// Routes returns the endpoints of templates that send nothing.
func (s *Service) Routes() []api.Route {
	return append(s.sourceRoutes(), s.recordRoutes()...)
}

// sourceRoutes are the endpoints that take a source or values.
func (s *Service) sourceRoutes() []api.Route {
	return []api.Route{
		{Method: http.MethodPost, Path: "/templates", Scope: "template:manage", Bucket: api.BucketWrite, Success: 201, MaxBody: maxBody,
			Errors:  []*api.Error{ErrQuota, api.ErrAlreadyExists, api.ErrDomainNotAllowed},
			Summary: "Create a template. Its first version is active at once.", Handler: api.Handle(s.handleCreate)},
		{Method: http.MethodPatch, Path: "/templates/{id}", Scope: "template:manage", Bucket: api.BucketWrite, MaxBody: maxBody,
			Errors:  []*api.Error{api.ErrNotFound, api.ErrInvalidState, api.ErrAlreadyExists, api.ErrDomainNotAllowed},
			Summary: "Change a template. A change of its source is the next version, and active at once.", Handler: api.Handle(s.handleUpdate)},
		{Method: http.MethodPut, Path: "/templates/{id}/draft", Scope: "template:manage", Bucket: api.BucketWrite, MaxBody: maxBody,
			Errors:  []*api.Error{api.ErrNotFound, api.ErrInvalidState},
			Summary: "Save a draft without publishing it.", Handler: api.Handle(s.handleDraft)},
		{Method: http.MethodPost, Path: "/templates/{id}/preview", Scope: "template:manage", Bucket: api.BucketSpamCheck, MaxBody: maxBody,
			Errors:  []*api.Error{api.ErrNotFound, ErrRender},
			Summary: "Render a template with values to look at.", Handler: api.Handle(s.handlePreview)},
		{Method: http.MethodPost, Path: "/templates/render", Scope: "template:manage", Bucket: api.BucketSpamCheck, MaxBody: maxBody,
			Errors: []*api.Error{ErrRender}, Summary: "Render a source without saving it.", Handler: api.Handle(s.handleRender)},
	}
}

// recordRoutes are the endpoints about templates that exist.
func (s *Service) recordRoutes() []api.Route {
	notFound := []*api.Error{api.ErrNotFound}
	return []api.Route{
		{Method: http.MethodGet, Path: "/templates", Scope: "template:read", Bucket: api.BucketRead,
			Summary: "List templates, newest first.", Handler: api.Handle(s.handleList)},
		{Method: http.MethodGet, Path: "/templates/{id}", Scope: "template:read", Bucket: api.BucketRead, Errors: notFound,
			Summary: "Get a template with the source of its active version.", Handler: api.Handle(s.handleGet)},
		{Method: http.MethodDelete, Path: "/templates/{id}", Scope: "template:manage", Bucket: api.BucketWrite, Errors: notFound,
			Summary: "Archive a template.", Handler: api.Handle(s.handleArchive)},
		{Method: http.MethodPost, Path: "/templates/{id}/publish", Scope: "template:manage", Bucket: api.BucketWrite,
			Errors:  []*api.Error{api.ErrNotFound, api.ErrInvalidState, api.ErrDomainNotAllowed, ErrRender},
			Summary: "Activate a version, or publish the draft.", Handler: api.Handle(s.handlePublish)},
		{Method: http.MethodPost, Path: "/templates/{id}/duplicate", Scope: "template:manage", Bucket: api.BucketWrite, Success: 201,
			Errors: []*api.Error{api.ErrNotFound, api.ErrDomainNotAllowed, ErrQuota}, Summary: "Make a new template from another.", Handler: api.Handle(s.handleDuplicate)},
		{Method: http.MethodGet, Path: "/templates/{id}/versions", Scope: "template:read", Bucket: api.BucketRead, Errors: notFound,
			Summary: "List the versions of a template, newest first, without their html and text.", Handler: api.Handle(s.handleVersions)},
		{Method: http.MethodGet, Path: "/templates/{id}/versions/{version}", Scope: "template:read", Bucket: api.BucketRead, Errors: notFound,
			Summary: "Get a version with its source.", Handler: api.Handle(s.handleVersion)},
		{Method: http.MethodGet, Path: "/templates/{id}/stats", Scope: "template:read", Bucket: api.BucketRead, Errors: notFound,
			Summary: "Tell what became of the mails that were made from a template.", Handler: api.Handle(s.handleStats)},
	}
}

type idRequest struct {
	ID string `path:"id" doc:"Id or alias of the template." example:"welcome"`
}

func (s *Service) handleList(ctx context.Context, caller api.Caller, q listQuery) (api.Page[Row], error) {
	return s.list(ctx, caller.Workspace, q)
}

func (s *Service) handleCreate(ctx context.Context, caller api.Caller, r struct{ Body NewTemplate }) (Record, error) {
	d, err := s.Create(ctx, caller, r.Body)
	return newRecord(d), err
}

func (s *Service) handleGet(ctx context.Context, caller api.Caller, r idRequest) (Record, error) {
	d, err := s.detail(ctx, caller.Workspace, r.ID)
	return newRecord(d), err
}

func (s *Service) handleUpdate(ctx context.Context, caller api.Caller, r struct {
	idRequest
	IfMatch string `header:"If-Match" doc:"Change the template only if this is its latest version." example:"\"3\""`
	Body    Change
}) (Record, error) {
	d, err := s.Update(ctx, caller, r.ID, r.Body, r.IfMatch)
	return newRecord(d), err
}

func (s *Service) handleArchive(ctx context.Context, caller api.Caller, r idRequest) (api.Deleted, error) {
	t, err := s.Archive(ctx, caller, r.ID)
	return api.Deleted{Object: "template", ID: string(t.ID), Deleted: true}, err
}

func (s *Service) handleDraft(ctx context.Context, caller api.Caller, r struct {
	idRequest
	Body DraftSource
}) (Record, error) {
	d, err := s.SaveDraft(ctx, caller.Workspace, r.ID, r.Body)
	return newRecord(d), err
}

func (s *Service) handlePublish(ctx context.Context, caller api.Caller, r struct {
	idRequest
	Body struct {
		Version *int64 `json:"version" doc:"The version to activate; without one the draft is published." example:"2"`
	}
}) (Record, error) {
	number := int64(0)
	if r.Body.Version != nil {
		if number = *r.Body.Version; number < 1 {
			return Record{}, api.Invalid("version", "Must be the number of a version.")
		}
	}
	d, err := s.Publish(ctx, caller, r.ID, number)
	return newRecord(d), err
}

func (s *Service) handleDuplicate(ctx context.Context, caller api.Caller, r struct {
	idRequest
	Body struct {
		Name string `json:"name" doc:"Name of the copy." example:"Welcome (copy)"`
	}
}) (Record, error) {
	d, err := s.Duplicate(ctx, caller, r.ID, r.Body.Name)
	return newRecord(d), err
}

func (s *Service) handleVersions(ctx context.Context, caller api.Caller, r struct {
	idRequest
	api.PageQuery
}) (api.Page[VersionRow], error) {
	return s.versions(ctx, caller.Workspace, r.ID, r.PageQuery)
}

func (s *Service) handleVersion(ctx context.Context, caller api.Caller, r struct {
	idRequest
	Version string `path:"version" doc:"Number of the version." example:"3"`
}) (record VersionRecord, err error) {
	number, err := strconv.ParseInt(r.Version, 10, 64)
	if err != nil {
		return record, ErrVersionNotFound
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		t, err := find(tx, caller.Workspace, r.ID)
		if err != nil {
			return err
		}
		v, err := selectVersion(tx, caller.Workspace, t.ID, number)
		record = VersionRecord{newVersionRow(v, t.Active), newBodies(v.Source)}
		return orVersionNotFound(err)
	})
	return record, err
}

func (s *Service) handleStats(ctx context.Context, caller api.Caller, r struct {
	idRequest
	period
}) (statsRecord, error) {
	return s.stats(ctx, caller.Workspace, r.ID, r.period)
}

// versionChoice is the number of a version or the word draft.
type versionChoice struct{ Select }

// UnmarshalJSON reads a number, a number in a string, or draft; null and "" mean the active version.
func (c *versionChoice) UnmarshalJSON(raw []byte) error {
	wrong := errors.New(`must be the number of a version or "draft"`)
	text := string(raw)
	if json.Unmarshal(raw, &text) != nil {
		text = string(raw)
	}
	*c = versionChoice{}
	switch text {
	case "", "null":
		return nil
	case "draft":
		c.Draft = true
		return nil
	}
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil || number < 1 {
		return wrong
	}
	c.Version = number
	return nil
}

// JSONSchema describes the choice.
func (versionChoice) JSONSchema() map[string]any {
	return map[string]any{"oneOf": []map[string]any{{"type": "integer"}, {"type": "string", "enum": []string{"draft"}}}}
}

func (s *Service) handlePreview(ctx context.Context, caller api.Caller, r struct {
	idRequest
	Body struct {
		Variables Values        `json:"variables" doc:"Values of the variables." example:"{\"FIRST_NAME\":\"Ann\"}"`
		Version   versionChoice `json:"version" doc:"A version or draft; by default the active version." example:"2"`
		Bulk      bool          `json:"bulk" doc:"Also warn of what bulk mail must have." example:"false"`
	}
}) (renderRecord, error) {
	var ready *Ready
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		t, err := find(tx, caller.Workspace, r.ID)
		if err != nil {
			return err
		}
		which := r.Body.Version.Select
		if which.Version == 0 && t.Active == 0 {
			which.Draft = true
		}
		ready, err = s.load(tx, t, which)
		return err
	})
	if err != nil {
		return renderRecord{}, err
	}
	rendered, err := ready.Preview(r.Body.Variables, r.Body.Bulk)
	return newRenderRecord(rendered), err
}

// looseSource is a source that is rendered without being saved.
type looseSource struct {
	Subject     string        `json:"subject" example:"Hi {{FIRST_NAME|there}}"`
	HTML        string        `json:"html" doc:"Either html or text is required." example:"<p>Hi {{FIRST_NAME}}</p>"`
	Text        string        `json:"text" example:"Hi {{FIRST_NAME}}"`
	PreviewText string        `json:"preview_text"`
	Declared    []newVariable `json:"declared_variables" doc:"Variables as a template would declare them, with their fallbacks."`
	InlineCSS   bool          `json:"inline_css" example:"false"`
	Variables   Values        `json:"variables" doc:"Values of the variables." example:"{\"FIRST_NAME\":\"Ann\"}"`
	Bulk        bool          `json:"bulk" doc:"Also warn of what bulk mail must have." example:"false"`
}

func (s *Service) handleRender(_ context.Context, _ api.Caller, r struct{ Body looseSource }) (renderRecord, error) {
	in := r.Body
	var wrong api.Fields
	source := Source{Subject: in.Subject, HTML: in.HTML, Text: in.Text, PreviewText: in.PreviewText, InlineCSS: in.InlineCSS}
	source.Variables = checkVariables(&wrong, in.Declared, nil, s.world.Clock.Now(), s.world.NewID)
	source.check(&wrong)
	if err := wrong.Err(); err != nil {
		return renderRecord{}, err
	}
	ready, err := Compile(source)
	if err != nil {
		return renderRecord{}, err
	}
	rendered, err := ready.Preview(in.Variables, in.Bulk)
	return newRenderRecord(rendered), err
}

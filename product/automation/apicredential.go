package automation

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
)

func (s *Service) credentialRoutes() []api.Route {
	notFound := []*api.Error{api.ErrNotFound}
	return []api.Route{
		{Method: http.MethodGet, Path: "/automation-credentials", Scope: read, Bucket: api.BucketRead,
			Summary: "List credentials, newest first, without their secrets.", Handler: api.Handle(s.handleCredentials)},
		{Method: http.MethodPost, Path: "/automation-credentials", Scope: manage, Bucket: api.BucketWrite, Success: 201, Errors: []*api.Error{api.ErrAlreadyExists},
			Summary: "Create a credential for HTTP steps. Its secret is kept encrypted and never shown.", Handler: api.Handle(s.handleCreateCredential)},
		{Method: http.MethodPatch, Path: "/automation-credentials/{id}", Scope: manage, Bucket: api.BucketWrite, Errors: []*api.Error{api.ErrNotFound, api.ErrAlreadyExists},
			Summary: "Change a credential, but for its type and its secret.", Handler: api.Handle(s.handleUpdateCredential)},
		{Method: http.MethodPost, Path: "/automation-credentials/{id}/rotate", Scope: manage, Bucket: api.BucketWrite, Errors: notFound,
			Summary: "Replace the secret of a credential.", Handler: api.Handle(s.handleRotateCredential)},
		{Method: http.MethodPost, Path: "/automation-credentials/{id}/test", Scope: manage, Bucket: api.BucketWebhookTest, Errors: notFound,
			Summary: "Make a request with a credential to one of its hosts.", Handler: api.Handle(s.handleTestCredential)},
		{Method: http.MethodDelete, Path: "/automation-credentials/{id}", Scope: manage, Bucket: api.BucketWrite, Errors: []*api.Error{api.ErrNotFound, ErrInUse},
			Summary: "Delete a credential that no automation uses.", Handler: api.Handle(s.handleDeleteCredential)},
	}
}

type credentialRecord struct {
	Object       string             `json:"object" example:"automation_credential"`
	ID           string             `json:"id" example:"0193a1f7-0000-7000-8000-0000000007c1"`
	Name         string             `json:"name" example:"CRM"`
	Type         string             `json:"type" example:"bearer"`
	SecretPrefix api.Ref            `json:"secret_prefix" example:"eyJh"`
	Username     api.Ref            `json:"username"`
	HeaderName   api.Ref            `json:"header_name"`
	AllowedHosts []string           `json:"allowed_hosts" example:"[\"crm.example.com\"]"`
	BaseURL      api.Ref            `json:"base_url" example:"https://crm.example.com"`
	Settings     credentialSettings `json:"settings"`
	InUseBy      []ID               `json:"in_use_by" example:"[\"0193a1f7-0000-7000-8000-000000000701\"]"`
	LastUsedAt   api.Time           `json:"last_used_at"`
	LastTest     *testResult        `json:"last_test"`
	CreatedAt    api.Time           `json:"created_at"`
	UpdatedAt    api.Time           `json:"updated_at"`
	RotatedAt    api.Time           `json:"rotated_at"`
}

// testResult is what a test of a credential showed.
type testResult struct {
	OK         bool     `json:"ok" example:"true"`
	StatusCode *int     `json:"status_code" example:"200"`
	DurationMS int64    `json:"duration_ms" example:"80"`
	Error      api.Ref  `json:"error"`
	TestedAt   api.Time `json:"tested_at"`
}

func newCredentialRecord(c Credential, uses []ID) credentialRecord {
	if c.Settings.DefaultHeaders == nil {
		c.Settings.DefaultHeaders = map[string]string{}
	}
	return credentialRecord{Object: "automation_credential", ID: c.ID, Name: c.Name, Type: c.Type, SecretPrefix: api.Ref(c.SecretPrefix), Username: api.Ref(c.Username),
		HeaderName: api.Ref(c.HeaderName), AllowedHosts: orNone(c.AllowedHosts), BaseURL: api.Ref(c.BaseURL), Settings: c.Settings, InUseBy: orNone(uses),
		LastUsedAt: api.Time(c.LastUsedAt), LastTest: c.LastTest, CreatedAt: api.Time(c.CreatedAt), UpdatedAt: api.Time(c.UpdatedAt), RotatedAt: api.Time(c.RotatedAt)}
}

type credentialQuery struct {
	api.PageQuery
	Type   []string `query:"type" doc:"bearer, basic, header or query."`
	Search string   `query:"search" doc:"Part of the name."`
}

func (s *Service) handleCredentials(ctx context.Context, caller api.Caller, q credentialQuery) (page api.Page[credentialRecord], err error) {
	for _, kind := range q.Type {
		if !slices.Contains([]string{bearer, basic, headerType, query}, kind) {
			return page, api.Invalid("type", "Must be bearer, basic, header or query.")
		}
	}
	if err := errors.Join(api.CheckSearch(q.Search), q.Check(maxPage)); err != nil {
		return page, err
	}
	var w where
	w.and("workspace_id = %s", caller.Workspace)
	if len(q.Type) > 0 {
		w.and("type {in %s}", q.Type)
	}
	if q.Search != "" {
		w.and(`search LIKE %s ESCAPE '\'`, db.Contains(lower(q.Search)))
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		found, err := credentialTable.page(tx, w, q.PageQuery)
		if err != nil {
			return err
		}
		uses := map[string][]ID{}
		for _, c := range found.Data {
			if uses[c.ID], err = selectUses(tx, caller.Workspace, c.ID); err != nil {
				return err
			}
		}
		page = mapPage(found, func(c Credential) credentialRecord { return newCredentialRecord(c, uses[c.ID]) })
		return nil
	})
	return page, err
}

func (s *Service) handleCreateCredential(ctx context.Context, caller api.Caller, r struct{ Body newCredential }) (credentialRecord, error) {
	c, err := s.createCredential(ctx, caller.Workspace, r.Body)
	return newCredentialRecord(c, nil), err
}

type credentialRequest struct {
	ID string `path:"id" doc:"Id of the credential." example:"0193a1f7-0000-7000-8000-0000000007c1"`
}

func (s *Service) handleUpdateCredential(ctx context.Context, caller api.Caller, r struct {
	credentialRequest
	Body credentialChange
}) (credentialRecord, error) {
	c, uses, err := s.changeCredential(ctx, caller.Workspace, r.ID, func(c *Credential) error {
		var wrong api.Fields
		s.applyCredential(&wrong, r.Body, c)
		return wrong.Err()
	})
	return newCredentialRecord(c, uses), err
}

func (s *Service) handleRotateCredential(ctx context.Context, caller api.Caller, r struct {
	credentialRequest
	Body struct {
		Secret string `json:"secret" doc:"The new secret." example:"eyJhbGciOi"`
	}
}) (credentialRecord, error) {
	c, uses, err := s.changeCredential(ctx, caller.Workspace, r.ID, func(c *Credential) error {
		var wrong api.Fields
		if checkSecret(&wrong, r.Body.Secret); len(wrong) > 0 {
			return wrong.Err()
		}
		c.sealed, c.SecretPrefix = s.parts.Keys.Seal([]byte(r.Body.Secret), sealContext(c.ID)), prefixOf(r.Body.Secret)
		c.RotatedAt = s.world.Clock.Now().Truncate(time.Microsecond)
		return nil
	})
	return newCredentialRecord(c, uses), err
}

func (s *Service) handleDeleteCredential(ctx context.Context, caller api.Caller, r credentialRequest) (api.Deleted, error) {
	return api.Deleted{Object: "automation_credential", ID: r.ID, Deleted: true}, s.deleteCredential(ctx, caller.Workspace, r.ID)
}

func (s *Service) handleTestCredential(ctx context.Context, caller api.Caller, r struct {
	credentialRequest
	Body struct {
		URL    string `json:"url" doc:"At one of the allowed hosts; the base URL if absent." example:"https://crm.example.com/ping"`
		Method string `json:"method" doc:"GET, HEAD or OPTIONS." example:"GET"`
	}
}) (result testResult, err error) {
	var c Credential
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		c, err = findCredential(tx, caller.Workspace, r.ID)
		return err
	})
	if err != nil {
		return result, err
	}
	var wrong api.Fields
	target := fullURL(first(r.Body.URL, c.BaseURL), &c)
	method := first(r.Body.Method, http.MethodGet)
	if !slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodOptions}, method) {
		wrong.Add("method", "Must be GET, HEAD or OPTIONS: a test changes nothing.")
	}
	if s.checkTarget(&wrong, "url", target, &c); len(wrong) > 0 {
		return result, wrong.Err()
	}
	result = s.tryCredential(ctx, &c, method, target)
	err = s.db.Write(ctx, func(tx *db.Tx) error { return noteTest(tx, caller.Workspace, c.ID, result) })
	return result, err
}

// tryCredential makes one request. Of the answer only the status is told: what a server says may hold the secret.
func (s *Service) tryCredential(ctx context.Context, c *Credential, method, target string) testResult {
	began := s.world.Clock.Now()
	answer, err := s.exchange(ctx, &call{method: method, url: target, header: http.Header{}, credential: c})
	now := s.world.Clock.Now()
	result := testResult{DurationMS: now.Sub(began).Milliseconds(), TestedAt: api.Time(now.Truncate(time.Millisecond))}
	if err != nil {
		result.Error = api.Ref(err.Error())
		return result
	}
	result.StatusCode, result.OK = &answer.status, answer.status >= 200 && answer.status < 300
	return result
}

package apikey

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"postrider/platform/api"
)

// Routes returns the endpoints of keys. No key can reach them: keys are made by people.
func (s *Service) Routes() []api.Route {
	return []api.Route{
		{Method: http.MethodGet, Path: "/api-keys", Access: api.SessionOnly, Roles: api.Managers, Bucket: api.BucketRead,
			Errors: []*api.Error{api.ErrSessionRequired, api.ErrRole}, Summary: "List API keys, newest first.", Handler: api.Handle(s.handleList)},
		{Method: http.MethodPost, Path: "/api-keys", Access: api.SessionOnly, Roles: api.Managers, FreshTwoFactor: true, Bucket: api.BucketWrite, Success: 201,
			Errors: []*api.Error{api.ErrSessionRequired, api.ErrRole, api.ErrTwoFactor}, Summary: "Make an API key.", Handler: api.Handle(s.handleCreate)},
		{Method: http.MethodPost, Path: "/api-keys/{id}/rotate", Access: api.SessionOnly, Roles: api.Managers, FreshTwoFactor: true, Bucket: api.BucketWrite,
			Errors:  []*api.Error{api.ErrSessionRequired, api.ErrRole, api.ErrTwoFactor, api.ErrNotFound, api.ErrInvalidState},
			Summary: "Give an API key a new secret.", Handler: api.Handle(s.handleRotate)},
		{Method: http.MethodDelete, Path: "/api-keys/{id}", Access: api.SessionOnly, Roles: api.Managers, FreshTwoFactor: true, Bucket: api.BucketWrite,
			Errors:  []*api.Error{api.ErrSessionRequired, api.ErrRole, api.ErrTwoFactor, api.ErrNotFound},
			Summary: "Revoke an API key at once.", Handler: api.Handle(s.handleRevoke)},
	}
}

// Record is a key as it is shown.
type Record struct {
	Object     string      `json:"object" example:"api_key"`
	ID         ID          `json:"id" example:"0193a1e0-2222-7000-8000-0000000000a1"`
	Name       string      `json:"name" example:"Production"`
	KeyPrefix  string      `json:"key_prefix" example:"pr_live_7Q2Z9K4M8T"`
	Mode       Mode        `json:"mode" example:"live"`
	Scopes     []api.Scope `json:"scopes" example:"[\"email:send\",\"email:read\"]"`
	Preset     api.Ref     `json:"preset"`
	DomainIDs  api.Strings `json:"domain_ids"`
	Networks   api.Strings `json:"ip_allowlist" example:"[\"198.51.100.0/24\"]"`
	Status     Status      `json:"status" example:"active"`
	ExpiresAt  api.Time    `json:"expires_at"`
	LastUsedAt api.Time    `json:"last_used_at"`
	LastUsedIP api.Ref     `json:"last_used_ip"`
	CreatedBy  api.Ref     `json:"created_by" example:"0193a1e0-2222-7000-8000-000000000501"`
	CreatedAt  api.Time    `json:"created_at"`
	RotatedAt  api.Time    `json:"rotated_at"`
	RevokedAt  api.Time    `json:"revoked_at"`
}

// SecretRecord is a key with its secret, which is shown this once. Token and key are the same under two names.
type SecretRecord struct {
	Record
	Token string `json:"token" example:"pr_live_7Q2Z9K4M8T_4vYpQn0b2RkT6sXw9zAe1uGh3mJc5LdF2OWJ0h"`
	Key   string `json:"key" example:"pr_live_7Q2Z9K4M8T_4vYpQn0b2RkT6sXw9zAe1uGh3mJc5LdF2OWJ0h"`
}

func newRecord(k Key, now time.Time) Record {
	return Record{Object: "api_key", ID: k.ID, Name: k.Name, KeyPrefix: k.Prefix(), Mode: k.Mode, Scopes: k.Scopes, Preset: api.Ref(k.Preset),
		DomainIDs: k.DomainIDs, Networks: k.Networks, Status: k.Status(now), ExpiresAt: api.Time(k.ExpiresAt), LastUsedAt: api.Time(k.LastUsedAt),
		LastUsedIP: api.Ref(k.LastUsedIP), CreatedBy: api.Ref(k.CreatedBy), CreatedAt: api.Time(k.CreatedAt), RotatedAt: api.Time(k.RotatedAt),
		RevokedAt: api.Time(k.RevokedAt)}
}

// place is where a page after the key begins.
func (r Record) place() api.Cursor { return api.Cursor{ID: string(r.ID), At: time.Time(r.CreatedAt)} }

func (s *Service) handleList(ctx context.Context, caller api.Caller, r listRequest) (api.Page[Record], error) {
	f, err := r.check()
	if err != nil {
		return api.Page[Record]{}, err
	}
	keys, total, err := s.list(ctx, caller.Workspace, f, r.PageQuery)
	if err != nil {
		return api.Page[Record]{}, err
	}
	records := make([]Record, len(keys))
	for i, k := range keys {
		records[i] = newRecord(k, s.world.Clock.Now())
	}
	page := api.NewPlacedPage(records, r.PageQuery, Record.place)
	page.Total = total
	return page, nil
}

// createBody is a key as it is asked for. domain_id and permission are what another vocabulary calls them.
type createBody struct {
	Name       string      `json:"name" example:"Production"`
	Scopes     []api.Scope `json:"scopes" doc:"Exactly one of scopes, preset and permission." example:"[\"email:send\",\"email:read\"]"`
	Preset     Preset      `json:"preset" doc:"full_access, sending_access, customer_platform, webhooks or read_only."`
	Permission Preset      `json:"permission" doc:"full_access or sending_access."`
	Mode       Mode        `json:"mode" doc:"live, or test for a key whose mail stays in the sandbox." example:"live"`
	DomainIDs  api.Strings `json:"domain_ids" doc:"Restricts the key to these domains."`
	DomainID   api.Strings `json:"domain_id"`
	Networks   api.Strings `json:"ip_allowlist" doc:"At most 50 addresses or networks." example:"[\"198.51.100.0/24\"]"`
	ExpiresAt  api.Time    `json:"expires_at" example:"2035-01-01T00:00:00Z"`
}

func (b createBody) newKey(caller api.Caller) (NewKey, error) {
	ways := 0
	for _, given := range []bool{len(b.Scopes) > 0, b.Preset != "", b.Permission != ""} {
		if given {
			ways++
		}
	}
	var wrong api.Fields
	if ways != 1 {
		wrong.Add("scopes", "Give exactly one of scopes, preset and permission.")
	}
	if b.Permission != "" && !slices.Contains(permissions, b.Permission) {
		wrong.Add("permission", "Must be full_access or sending_access.")
	}
	if len(wrong) > 0 {
		api.CheckName(&wrong, "name", b.Name, maxName) // the rest is looked at when it is known what the key is to do
		return NewKey{}, wrong.Err()
	}
	in := NewKey{Workspace: caller.Workspace, Name: b.Name, Scopes: b.Scopes, Preset: cmp.Or(b.Preset, b.Permission), Mode: b.Mode,
		DomainIDs: append(slices.Clone(b.DomainIDs), b.DomainID...), Networks: b.Networks, ExpiresAt: time.Time(b.ExpiresAt),
		CreatedBy: caller.UserID, IP: caller.IP}
	return in, nil
}

func (s *Service) handleCreate(ctx context.Context, caller api.Caller, r struct{ Body createBody }) (SecretRecord, error) {
	in, err := r.Body.newKey(caller)
	if err != nil {
		return SecretRecord{}, err
	}
	key, token, err := s.Create(ctx, in)
	return SecretRecord{newRecord(key, s.world.Clock.Now()), token, token}, err
}

type idRequest struct {
	ID string `path:"id" doc:"Id of the key." example:"0193a1e0-2222-7000-8000-0000000000a1"`
}

func (s *Service) handleRotate(ctx context.Context, caller api.Caller, r struct {
	idRequest
	Body struct {
		GraceSeconds int64 `json:"grace_sec" doc:"How long the old secret stays good." example:"0"`
	}
}) (SecretRecord, error) {
	// Cut to just beyond what Rotate allows, because more could overflow.
	grace := time.Duration(min(max(r.Body.GraceSeconds, -1), int64(maxGrace/time.Second)+1)) * time.Second
	key, token, err := s.Rotate(ctx, caller, r.ID, grace)
	return SecretRecord{newRecord(key, s.world.Clock.Now()), token, token}, err
}

func (s *Service) handleRevoke(ctx context.Context, caller api.Caller, r idRequest) (api.Deleted, error) {
	key, err := s.Revoke(ctx, caller, r.ID)
	return api.Deleted{Object: "api_key", ID: string(key.ID), Deleted: true}, err
}

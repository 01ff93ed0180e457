package relay

import (
	"context"
	"net/http"

	"postrider/platform/api"
	"postrider/product/account"
)

// Routes returns the endpoints of relays: a workspace has at most one.
func (s *Service) Routes() []api.Route {
	return []api.Route{
		{Method: http.MethodGet, Path: "/workspaces/{id}/relay", Private: true, Access: api.SessionOnly, Roles: api.Managers, Bucket: api.BucketRead,
			Errors: []*api.Error{api.ErrNotFound}, Summary: "Get the relay of a workspace.", Handler: api.Handle(s.handleGet)},
		{Method: http.MethodPut, Path: "/workspaces/{id}/relay", Private: true, Access: api.SessionOnly, Roles: api.Managers, FreshTwoFactor: true,
			Bucket: api.BucketWrite, Errors: []*api.Error{api.ErrNotFound, ErrRefused}, Summary: "Set the relay of a workspace; it is tried first.",
			Handler: api.Handle(s.handleSet)},
		{Method: http.MethodDelete, Path: "/workspaces/{id}/relay", Private: true, Access: api.SessionOnly, Roles: api.Managers, FreshTwoFactor: true,
			Bucket: api.BucketWrite, Errors: []*api.Error{api.ErrNotFound}, Summary: "Remove the relay of a workspace.", Handler: api.Handle(s.handleRemove)},
	}
}

// record is a relay on the wire; its password is never shown.
type record struct {
	Object    string   `json:"object" example:"relay"`
	Host      string   `json:"host" example:"smtp.example.net"`
	Port      int      `json:"port" example:"587"`
	Security  Security `json:"security" example:"starttls"`
	Username  string   `json:"username" example:"acme"`
	CreatedAt api.Time `json:"created_at"`
	UpdatedAt api.Time `json:"updated_at"`
}

func newRecord(r Relay) record {
	return record{Object: "relay", Host: r.Host, Port: r.Port, Security: r.Security, Username: r.Username, CreatedAt: api.Time(r.CreatedAt),
		UpdatedAt: api.Time(r.UpdatedAt)}
}

func (s *Service) handleGet(ctx context.Context, caller api.Caller, r account.WorkspaceRequest) (record, error) {
	if err := r.CheckWorkspace(caller); err != nil {
		return record{}, err
	}
	found, err := s.Of(ctx, caller.Workspace)
	return newRecord(found), err
}

func (s *Service) handleSet(ctx context.Context, caller api.Caller, r struct {
	account.WorkspaceRequest
	Body change
}) (record, error) {
	if err := r.CheckWorkspace(caller); err != nil {
		return record{}, err
	}
	set, err := s.Set(ctx, caller, r.Body)
	return newRecord(set), err
}

func (s *Service) handleRemove(ctx context.Context, caller api.Caller, r account.WorkspaceRequest) (api.Deleted, error) {
	if err := r.CheckWorkspace(caller); err != nil {
		return api.Deleted{}, err
	}
	return api.Deleted{Object: "relay", ID: r.ID, Deleted: true}, s.Remove(ctx, caller)
}

package dnsprovider

import (
	"context"
	"net/http"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/product/account"
)

// Routes returns the endpoints of DNS providers.
func (s *Service) Routes() []api.Route {
	return []api.Route{
		{Method: http.MethodGet, Path: "/workspaces/{id}/dns-connections", Private: true, Access: api.SessionOnly, Roles: api.Managers, Bucket: api.BucketRead,
			Errors: []*api.Error{api.ErrNotFound}, Summary: "List connected DNS accounts, newest first.", Handler: api.Handle(s.handleList)},
		{Method: http.MethodPost, Path: "/workspaces/{id}/dns-connections", Private: true, Access: api.SessionOnly, Roles: api.Managers, FreshTwoFactor: true,
			Bucket: api.BucketWrite, Success: 201, Errors: []*api.Error{api.ErrNotFound, api.ErrAlreadyExists, api.ErrInvalidState, ErrProvider},
			Summary: "Connect a DNS account.", Handler: api.Handle(s.handleConnect)},
		{Method: http.MethodDelete, Path: "/workspaces/{id}/dns-connections/{connection_id}", Private: true, Access: api.SessionOnly, Roles: api.Managers,
			FreshTwoFactor: true, Bucket: api.BucketWrite, Errors: []*api.Error{api.ErrNotFound}, Summary: "Forget a DNS account.",
			Handler: api.Handle(s.handleDisconnect)},
		{Method: http.MethodPost, Path: "/domains/{id}/cloudflare/apply", Scope: "domain:manage", Bucket: api.BucketWrite,
			Errors:  []*api.Error{api.ErrNotFound, api.ErrDomainNotAllowed, ErrNotConnected, ErrProvider},
			Summary: "Publish the DNS records of a domain at Cloudflare.", Handler: api.Handle(s.handleApply)},
		{Method: http.MethodPost, Path: "/domains/{id}/domain-connect/cloudflare-url", Scope: "domain:manage", Bucket: api.BucketWrite,
			Errors:  []*api.Error{api.ErrNotFound, api.ErrDomainNotAllowed, ErrNotConnected},
			Summary: "Make a signed link to Cloudflare that sets up the DNS records of a domain.", Handler: api.Handle(s.handleLink)},
	}
}

func (s *Service) handleList(ctx context.Context, caller api.Caller, r struct {
	account.WorkspaceRequest
	api.OffsetQuery
}) (page api.Page[ConnectionRecord], err error) {
	if err := r.CheckWorkspace(caller); err != nil {
		return page, err
	}
	if err := r.Check(maxConnections); err != nil {
		return page, err
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		total, err := countConnections(tx, caller.Workspace)
		if err != nil {
			return err
		}
		connections, err := selectNewest(tx, caller.Workspace, r.Limit, r.Offset)
		records := make([]ConnectionRecord, len(connections))
		for i, c := range connections {
			records[i] = newConnectionRecord(c)
		}
		page = api.NewPage(records, r.OffsetQuery, total)
		return err
	})
	return page, err
}

func (s *Service) handleConnect(ctx context.Context, caller api.Caller, r struct {
	account.WorkspaceRequest
	Body NewConnection
}) (ConnectionRecord, error) {
	if err := r.CheckWorkspace(caller); err != nil {
		return ConnectionRecord{}, err
	}
	c, err := s.Connect(ctx, caller, r.Body)
	return newConnectionRecord(c), err
}

func (s *Service) handleDisconnect(ctx context.Context, caller api.Caller, r struct {
	account.WorkspaceRequest
	Connection string `path:"connection_id"`
}) (api.Deleted, error) {
	if err := r.CheckWorkspace(caller); err != nil {
		return api.Deleted{}, err
	}
	c, err := s.Disconnect(ctx, caller, r.Connection)
	return api.Deleted{Object: "dns_connection", ID: string(c.ID), Deleted: true}, err
}

type domainRequest struct {
	ID string `path:"id" doc:"Id of the domain." example:"0193a1e0-2222-7000-8000-0000000000d1"`
}

func (r domainRequest) check(caller api.Caller) error {
	if !caller.MayUseDomain(r.ID) {
		return api.DomainNotAllowed(r.ID)
	}
	return nil
}

type applyBody struct {
	ConnectionID string     `json:"connection_id" doc:"The account to use; the newest one if absent."`
	Records      *Selection `json:"records" doc:"Mail, and inbound if receiving is requested, unless this says otherwise."`
	Overwrite    bool       `json:"overwrite" doc:"Replaces records of the same name and type that others made; never other TXT records."`
}

func (s *Service) handleApply(ctx context.Context, caller api.Caller, r struct {
	domainRequest
	Body applyBody
}) (ApplyRecord, error) {
	if err := r.check(caller); err != nil {
		return ApplyRecord{}, err
	}
	applied, err := s.Apply(ctx, caller.Workspace, r.ID, Application{r.Body.ConnectionID, r.Body.Records, r.Body.Overwrite})
	return newApplyRecord(applied), err
}

func (s *Service) handleLink(ctx context.Context, caller api.Caller, r struct {
	domainRequest
	Body struct {
		Records *Selection `json:"records" doc:"Mail unless this says otherwise."`
	}
}) (LinkRecord, error) {
	if err := r.check(caller); err != nil {
		return LinkRecord{}, err
	}
	selected := Selection{Mail: true}
	if r.Body.Records != nil {
		selected = *r.Body.Records
	}
	link, err := s.Link(ctx, caller.Workspace, r.ID, selected)
	return newLinkRecord(link), err
}

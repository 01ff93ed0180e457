package tenant

import (
	"cmp"
	"context"
	"net/http"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/product/domain"
	"postrider/product/plan"
)

// maxPage is the largest page of customers.
const maxPage = 200

// Routes returns the endpoints of managed customers. Those that look at one customer stay open when the plan has none any more,
// so that a platform can still wind up.
func (s *Service) Routes() []api.Route {
	return []api.Route{
		s.verifyRoute(),
		{Method: http.MethodGet, Path: "/managed-tenants", Scope: "tenant:read", Bucket: api.BucketRead, Errors: []*api.Error{ErrPlan},
			Summary: "List managed customers, newest first, and the limits of the plan.", Handler: api.Handle(s.handleList)},
		{Method: http.MethodPost, Path: "/managed-tenants", Scope: "tenant:manage", Bucket: api.BucketWrite, Success: 201,
			Errors:  []*api.Error{ErrPlan, ErrLimit, api.ErrDomainNotAllowed},
			Summary: "Create a managed customer, or get the one with this external id.", Handler: api.Handle(s.handleCreate)},
		{Method: http.MethodGet, Path: "/managed-tenants/by-external-id/{externalId}", Scope: "tenant:read", Bucket: api.BucketRead,
			Errors: []*api.Error{ErrNotFound}, Summary: "Get a managed customer by its external id.", Handler: api.Handle(s.handleResolve)},
		{Method: http.MethodGet, Path: "/managed-tenants/{id}", Scope: "tenant:read", Bucket: api.BucketRead, Errors: []*api.Error{ErrNotFound},
			Summary: "Get a managed customer with its domains.", Handler: api.Handle(s.handleGet)},
		{Method: http.MethodPatch, Path: "/managed-tenants/{id}", Scope: "tenant:manage", Bucket: api.BucketWrite,
			Errors:  []*api.Error{ErrNotFound, api.ErrDomainNotAllowed},
			Summary: "Change, pause or resume a managed customer.", Handler: api.Handle(s.handleUpdate)},
		{Method: http.MethodDelete, Path: "/managed-tenants/{id}", Scope: "tenant:manage", Bucket: api.BucketWrite,
			Errors: []*api.Error{ErrNotFound, ErrHasDomains, api.ErrDomainNotAllowed}, Summary: "Delete a managed customer that has no domains.",
			Handler: api.Handle(s.handleDelete)},
		{Method: http.MethodPost, Path: "/managed-tenants/{id}/domains", Scope: "tenant:manage", Bucket: api.BucketWrite, Success: 201,
			Errors: []*api.Error{ErrNotFound, ErrPlan, ErrPaused, ErrDomainLimit, api.ErrAlreadyExists, domain.ErrTaken,
				api.ErrDomainNotAllowed},
			Summary: "Register a sending domain for a managed customer.", Handler: api.Handle(s.handleAddDomain)},
		{Method: http.MethodDelete, Path: "/managed-tenants/{id}/domains/{domainId}", Scope: "tenant:manage", Bucket: api.BucketWrite,
			Errors:  []*api.Error{ErrNotFound, api.ErrNotFound, api.ErrDomainNotAllowed},
			Summary: "Remove a domain of a managed customer.", Handler: api.Handle(s.handleRemoveDomain)},
	}
}

// verifyRoute is the endpoint that verifies a domain. It lives here because a paused customer's domains cannot be verified.
func (s *Service) verifyRoute() api.Route {
	return api.Route{Method: http.MethodPost, Path: "/domains/{id}/verify", Scope: "domain:manage", Bucket: api.BucketWrite,
		Errors:  []*api.Error{api.ErrNotFound, api.ErrDomainNotAllowed, domain.ErrTaken, ErrPaused},
		Summary: "Check the DNS records of a domain now.", Handler: api.Handle(s.handleVerify)}
}

func (s *Service) handleList(ctx context.Context, caller api.Caller, q listQuery) (page, error) {
	p, err := s.planOf(plan.Name(caller.Plan))
	if err != nil {
		return page{}, err
	}
	q.domains = caller.DomainIDs
	return s.list(ctx, caller.Workspace, p, q)
}

func (s *Service) handleCreate(ctx context.Context, caller api.Caller, r struct{ Body NewTenant }) (created, error) {
	t, existed, err := s.Create(ctx, caller.Workspace, plan.Name(caller.Plan), r.Body)
	if existed && err == nil {
		err = s.mayHave(ctx, caller, t)
	}
	return created{newRecord(t, s.world.Clock.Now()), existed}, err
}

func (s *Service) handleResolve(ctx context.Context, caller api.Caller, r struct {
	ExternalID string `path:"externalId" doc:"External id, URL-encoded." example:"shop_4711"`
}) (detail, error) {
	return s.detail(ctx, caller, func(tx *db.Tx) (Tenant, error) { return findByExternalID(tx, caller.Workspace, r.ExternalID) })
}

type idRequest struct {
	ID string `path:"id" doc:"Id of the managed customer." example:"0193a1f3-0000-7000-8000-000000000201"`
}

func (s *Service) handleGet(ctx context.Context, caller api.Caller, r idRequest) (detail, error) {
	return s.detail(ctx, caller, func(tx *db.Tx) (Tenant, error) { return find(tx, caller.Workspace, r.ID) })
}

// detail returns the customer that look finds, with those of its domains that the caller may use.
func (s *Service) detail(ctx context.Context, caller api.Caller, look func(*db.Tx) (Tenant, error)) (answer detail, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		t, err := look(tx)
		if err != nil {
			return err
		}
		usable, _, err := s.domainsFor(tx, caller, t)
		answer = detail{newRecord(t, tx.Now()), []domain.Record{}}
		for _, d := range usable {
			answer.Domains = append(answer.Domains, s.domains.NewRecord(d))
		}
		return err
	})
	return answer, err
}

func (s *Service) handleUpdate(ctx context.Context, caller api.Caller, r struct {
	idRequest
	Body Change
}) (Record, error) {
	if err := s.mayChange(ctx, caller, r.ID); err != nil {
		return Record{}, err
	}
	t, err := s.Update(ctx, caller.Workspace, r.ID, r.Body)
	return newRecord(t, s.world.Clock.Now()), err
}

func (s *Service) handleDelete(ctx context.Context, caller api.Caller, r idRequest) (api.Deleted, error) {
	if err := s.mayChange(ctx, caller, r.ID); err != nil {
		return api.Deleted{}, err
	}
	err := s.Delete(ctx, caller.Workspace, r.ID)
	return api.Deleted{Object: "managed_tenant", ID: r.ID, Deleted: true}, err
}

func (s *Service) handleAddDomain(ctx context.Context, caller api.Caller, r struct {
	idRequest
	Body domain.Registration
}) (domain.Record, error) {
	if len(caller.DomainIDs) > 0 {
		return domain.Record{}, api.DomainNotAllowed(cmp.Or(r.Body.Domain, r.Body.Name)).Saying("An API key that is restricted to domains cannot register another one.")
	}
	d, err := s.AddDomain(ctx, caller.Workspace, plan.Name(caller.Plan), r.ID, r.Body)
	return s.domains.NewRecord(d), err
}

func (s *Service) handleRemoveDomain(ctx context.Context, caller api.Caller, r struct {
	idRequest
	DomainID string `path:"domainId" doc:"Id of the domain." example:"0193a1e0-2222-7000-8000-0000000000d9"`
}) (api.Deleted, error) {
	if !caller.MayUseDomain(r.DomainID) {
		return api.Deleted{}, api.DomainNotAllowed(r.DomainID)
	}
	err := s.RemoveDomain(ctx, caller.Workspace, r.ID, r.DomainID)
	return api.Deleted{Object: "domain", ID: r.DomainID, Deleted: true}, err
}

func (s *Service) handleVerify(ctx context.Context, caller api.Caller, r struct {
	ID string `path:"id" doc:"Id of the domain." example:"0193a1e0-2222-7000-8000-0000000000d1"`
}) (domain.Record, error) {
	if !caller.MayUseDomain(r.ID) {
		return domain.Record{}, api.DomainNotAllowed(r.ID)
	}
	d, err := s.Verify(ctx, caller.Workspace, r.ID)
	return s.domains.NewRecord(d), err
}

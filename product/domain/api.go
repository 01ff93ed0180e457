package domain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/product/plan"
)

// maxPage is the largest page of domains.
const maxPage = 200

// Routes returns the endpoints of domains.
func (s *Service) Routes() []api.Route {
	return []api.Route{
		{Method: http.MethodGet, Path: "/domains", Scope: "domain:read", Bucket: api.BucketRead, Summary: "List domains.", Handler: api.Handle(s.handleList)},
		{Method: http.MethodPost, Path: "/domains", Scope: "domain:manage", Bucket: api.BucketWrite, Success: 201,
			Errors: []*api.Error{ErrQuota, api.ErrAlreadyExists, ErrTaken, api.ErrDomainNotAllowed}, Summary: "Register a sending domain.",
			Handler: api.Handle(s.handleRegister)},
		{Method: http.MethodGet, Path: "/domains/{id}", Scope: "domain:read", Bucket: api.BucketRead, Errors: []*api.Error{api.ErrNotFound, api.ErrDomainNotAllowed},
			Summary: "Get a domain with the DNS records to publish.", Handler: api.Handle(s.handleGet)},
		{Method: http.MethodPatch, Path: "/domains/{id}", Scope: "domain:manage", Bucket: api.BucketWrite,
			Errors: []*api.Error{api.ErrNotFound, ErrReceiverUnhealthy, api.ErrDomainNotAllowed}, Summary: "Change the settings of a domain.", Handler: api.Handle(s.handleUpdate)},
		{Method: http.MethodPost, Path: "/domains/{id}/receiving", Scope: "domain:manage", Bucket: api.BucketWrite,
			Errors: []*api.Error{api.ErrNotFound, ErrReceiverUnhealthy, api.ErrDomainNotAllowed}, Summary: "Switch receiving on or off.", Handler: api.Handle(s.handleReceiving)},
		{Method: http.MethodPost, Path: "/domains/{id}/rotate-dkim", Scope: "domain:manage", Bucket: api.BucketWrite,
			Errors: []*api.Error{api.ErrNotFound, api.ErrInvalidState, api.ErrDomainNotAllowed}, Summary: "Make a new signing key.", Handler: api.Handle(s.handleRotate)},
	}
}

type listQuery struct {
	api.PageQuery
	Verified *bool    `query:"verified" doc:"Only verified, or only other domains."`
	Status   []string `query:"status" doc:"Only domains of one of these statuses." example:"verified"`
	Search   string   `query:"search" doc:"Part of the name."`
	Tenant   []string `query:"managed_tenant_id" doc:"Only domains of these customers; none for those of the workspace itself."`

	only []string // all that the caller may see; empty means any
}

func (q listQuery) filters() bool {
	return len(q.only) > 0 || q.Verified != nil || len(q.Status) > 0 || q.Search != "" || len(q.Tenant) > 0
}

func (q listQuery) pattern() string {
	if q.Search == "" {
		return ""
	}
	return db.Contains(q.Search)
}

func (s *Service) handleList(ctx context.Context, caller api.Caller, q listQuery) (page api.Page[Record], err error) {
	for _, status := range q.Status {
		if !slices.Contains(statuses, Status(status)) {
			return page, api.Invalid("status", fmt.Sprintf("%q is not a status of a domain.", status))
		}
	}
	if err := errors.Join(api.CheckSearch(q.Search), q.Check(maxPage)); err != nil {
		return page, err
	}
	q.only = caller.DomainIDs
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		part, err := q.Newest(func(id string) (time.Time, error) {
			d, err := selectDomain(tx, caller.Workspace, ID(id))
			return d.CreatedAt, err
		})
		if err != nil {
			return err
		}
		domains, err := selectPage(tx, caller.Workspace, q, part)
		if err != nil {
			return err
		}
		if err := loadAllKeys(tx, domains); err != nil {
			return err
		}
		records := make([]Record, len(domains))
		for i, d := range domains {
			records[i] = s.newRow(d)
		}
		page = api.NewPlacedPage(records, q.PageQuery, Record.place)
		if q.Placed() {
			return nil
		}
		total, err := countPage(tx, caller.Workspace, q)
		page.Total = &total
		return err
	})
	return page, err
}

// created is the answer to a Registration, with two more spellings that an SDK reads.
type created struct {
	Record
	CreatedCamel     api.Time `json:"createdAt"`
	DNSProviderCamel api.Ref  `json:"dnsProvider"`
}

func (s *Service) handleRegister(ctx context.Context, caller api.Caller, r struct{ Body Registration }) (created, error) {
	if len(caller.DomainIDs) > 0 {
		return created{}, api.DomainNotAllowed(cmp.Or(r.Body.Domain, r.Body.Name)).Saying("An API key that is restricted to domains cannot register another one.")
	}
	d, err := s.Register(ctx, caller.Workspace, plan.Name(caller.Plan), r.Body)
	if err != nil {
		return created{}, err
	}
	return created{Record: s.NewRecord(d), CreatedCamel: api.Time(d.CreatedAt)}, nil
}

type idRequest struct {
	ID string `path:"id" doc:"Id of the domain." example:"0193a1e0-2222-7000-8000-0000000000d1"`
}

func (s *Service) handleGet(ctx context.Context, caller api.Caller, r idRequest) (Record, error) {
	if !caller.MayUseDomain(r.ID) {
		return Record{}, api.DomainNotAllowed(r.ID)
	}
	d, err := s.Get(ctx, caller.Workspace, r.ID)
	return s.NewRecord(d), err
}

func (s *Service) handleUpdate(ctx context.Context, caller api.Caller, r struct {
	idRequest
	Body update
}) (Record, error) {
	if !caller.MayUseDomain(r.ID) {
		return Record{}, api.DomainNotAllowed(r.ID)
	}
	d, err := s.Update(ctx, caller.Workspace, r.ID, r.Body)
	return s.NewRecord(d), err
}

func (s *Service) handleReceiving(ctx context.Context, caller api.Caller, r struct {
	idRequest
	Body struct {
		Enabled *bool `json:"enabled" example:"true"`
	}
}) (Record, error) {
	if !caller.MayUseDomain(r.ID) {
		return Record{}, api.DomainNotAllowed(r.ID)
	}
	if r.Body.Enabled == nil {
		return Record{}, api.Invalid("enabled", "Must be true or false.")
	}
	d, err := s.SetReceiving(ctx, caller.Workspace, r.ID, *r.Body.Enabled)
	return s.NewRecord(d), err
}

func (s *Service) handleRotate(ctx context.Context, caller api.Caller, r idRequest) (Record, error) {
	if !caller.MayUseDomain(r.ID) {
		return Record{}, api.DomainNotAllowed(r.ID)
	}
	d, err := s.Rotate(ctx, caller.Workspace, r.ID)
	return s.NewRecord(d), err
}

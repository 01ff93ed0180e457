package webhook

import (
	"context"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/platform/queue"
	"postrider/product/plan"
)

// NewEndpoint is an endpoint as a customer asks for it.
type NewEndpoint struct {
	URL         string            `json:"url" doc:"Where events are posted; https, at most 2048 characters." example:"https://app.example.com/hooks/mail"`
	Endpoint    string            `json:"endpoint" doc:"Another name of url."`
	Events      []string          `json:"events" doc:"1 to 100 names of the catalogue, families such as email.*, or * for everything." example:"[\"email.delivered\",\"email.bounced\"]"`
	Description string            `json:"description" example:"Production"`
	DomainIDs   []string          `json:"domain_ids" doc:"Only what happens to these domains; empty means all." example:"[]"`
	TenantIDs   []string          `json:"managed_tenant_ids" doc:"Only what happens to these managed customers; empty means all." example:"[]"`
	IncludeBody bool              `json:"include_body" doc:"Put the text of received mail into email.received." example:"false"`
	Headers     map[string]string `json:"custom_headers" doc:"At most 10 headers to send along; their values are never shown again." example:"{}"`
}

// target returns the URL, and the name it was given under.
func (in NewEndpoint) target() (field, target string) {
	if in.URL == "" && in.Endpoint != "" {
		return "endpoint", in.Endpoint
	}
	return "url", in.URL
}

func (s *Service) checkNew(in NewEndpoint) (Endpoint, error) {
	var wrong api.Fields
	field, target := in.target()
	s.checkURL(&wrong, field, target)
	e := Endpoint{
		URL: target, Events: s.checkEvents(&wrong, "events", in.Events), Description: api.CheckLine(&wrong, "description", in.Description, maxDescription),
		Domains: checkIDs(&wrong, "domain_ids", in.DomainIDs), Tenants: checkIDs(&wrong, "managed_tenant_ids", in.TenantIDs),
		IncludeBody: in.IncludeBody, Headers: checkHeaders(&wrong, in.Headers, nil), Status: Enabled,
	}
	return e, wrong.Err()
}

// Create registers an endpoint. It is told of what happens from now on.
func (s *Service) Create(ctx context.Context, caller api.Caller, in NewEndpoint) (Endpoint, error) {
	e, err := s.checkNew(in)
	if err != nil {
		return Endpoint{}, err
	}
	if err := mayManage(caller, e); err != nil {
		return Endpoint{}, err
	}
	p, err := s.parts.Plans.Get(plan.Name(caller.Plan))
	if err != nil {
		return Endpoint{}, err
	}
	e.ID, e.Workspace = ID(s.world.NewID()), caller.Workspace
	e.secret = s.world.Bytes(secretBytes)
	e.secretPrefix = e.secret.prefix()
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		if err := s.checkFilters(tx, e); err != nil {
			return err
		}
		counted, err := total.Up(tx, e.Workspace, p.Limits.Webhooks)
		if err != nil {
			return err
		}
		if !counted {
			return fullError(tx, p, e)
		}
		e.CreatedAt, e.UpdatedAt = tx.Now(), tx.Now()
		newest, err := event.Newest(tx)
		if err != nil {
			return err
		}
		e.since = &newest
		if err := insertEndpoint(tx, e, s.seal(e)); err != nil {
			return err
		}
		if err := s.audit(tx, caller, EndpointCreated, e); err != nil {
			return err
		}
		return queue.Add(tx, queue.Item{ID: string(e.ID), Lane: Lane, Rank: queue.Normal, Due: tx.Now().Add(restFor)})
	})
	return e, err
}

func fullError(tx *db.Tx, p plan.Plan, e Endpoint) error {
	used, err := total.Of(tx, e.Workspace)
	if err != nil {
		return err
	}
	return ErrQuota.With("plan", p.Name).With("limit", *p.Limits.Webhooks).With("used", used)
}

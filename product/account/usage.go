package account

import (
	"context"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/plan"
)

// Usage is how much of its plan a workspace uses.
type Usage struct {
	VerifiedDomains int64 `json:"verified_domains" example:"3"`
	EmailsThisMonth int64 `json:"emails_this_month" example:"10000"`
	EmailsToday     int64 `json:"emails_today" example:"120"`
	Webhooks        int64 `json:"webhooks" example:"2"`
	Templates       int64 `json:"templates" example:"12"`
	Contacts        int64 `json:"contacts" example:"1200"`
	Automations     int64 `json:"automations" example:"5"`
	ManagedTenants  int64 `json:"managed_tenants" example:"37"`
	TenantDomains   int64 `json:"tenant_domains" example:"41"`
	Members         int64 `json:"members" example:"3"`
}

// PlanLimits is what a workspace may use and what it uses, as answered to its people and keys.
type PlanLimits struct {
	Object      string                   `json:"object" example:"plan_limits"`
	Plan        plan.Name                `json:"plan" example:"pro"`
	PeriodStart api.Time                 `json:"period_start"`
	PeriodEnd   api.Time                 `json:"period_end"`
	Limits      plan.Limits              `json:"limits"`
	Usage       Usage                    `json:"usage"`
	RateLimits  map[api.Bucket]plan.Rate `json:"rate_limits"`
}

// Limits returns the plan of a workspace and how much of it is used.
func (s *Service) Limits(ctx context.Context, ws space.ID) (PlanLimits, error) {
	var answer PlanLimits
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		w, err := selectWorkspace(tx, ws)
		if err != nil {
			return err
		}
		p, err := s.plans.Get(w.Plan)
		if err != nil {
			return err
		}
		usage, err := s.usage(tx, ws)
		start, end := plan.Month(tx.Now())
		answer = PlanLimits{Object: "plan_limits", Plan: p.Name, PeriodStart: api.Time(start), PeriodEnd: api.Time(end), Limits: p.Limits,
			Usage: usage, RateLimits: p.Rates}
		return err
	})
	return answer, err
}

func (s *Service) usage(tx *db.Tx, ws space.ID) (Usage, error) {
	var u Usage
	emails, err := s.plans.EmailsUsed(tx, ws)
	if err != nil {
		return u, err
	}
	u.EmailsThisMonth, u.EmailsToday = emails.Month, emails.Day
	if u.Members, err = countMembers(tx, ws); err != nil {
		return u, err
	}
	counters := s.config.Counters
	for _, c := range []struct {
		count Counter
		into  *int64
	}{
		{counters.VerifiedDomains, &u.VerifiedDomains}, {counters.Webhooks, &u.Webhooks}, {counters.Templates, &u.Templates},
		{counters.Contacts, &u.Contacts}, {counters.Automations, &u.Automations}, {counters.ManagedTenants, &u.ManagedTenants},
		{counters.TenantDomains, &u.TenantDomains},
	} {
		if c.count == nil {
			continue
		}
		if *c.into, err = c.count(tx, ws); err != nil {
			return u, err
		}
	}
	return u, nil
}

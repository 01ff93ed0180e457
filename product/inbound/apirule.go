package inbound

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/product/domain"
)

type ruleRecord struct {
	Object          string      `json:"object" example:"forwarding_rule"`
	ID              string      `json:"id" example:"0193a1f2-0000-7000-8000-0000000000a1"`
	DomainID        domain.ID   `json:"domain_id" example:"0193a1e0-2222-7000-8000-0000000000d1"`
	Domain          string      `json:"domain" example:"acme.test"`
	Address         string      `json:"address" example:"support@acme.test"`
	MatchType       string      `json:"match_type" example:"exact"`
	ForwardTo       api.Strings `json:"forward_to" example:"[\"team@example.net\"]"`
	Enabled         bool        `json:"enabled" example:"true"`
	KeepCopy        bool        `json:"keep_copy" example:"true"`
	Mode            Mode        `json:"mode" example:"rewrite"`
	Description     api.Ref     `json:"description" example:"Support inbox"`
	ForwardedCount  int64       `json:"forwarded_count" example:"12"`
	LastForwardedAt api.Time    `json:"last_forwarded_at"`
	LastError       api.Ref     `json:"last_error"`
	CreatedAt       api.Time    `json:"created_at"`
	UpdatedAt       api.Time    `json:"updated_at"`
}

func newRuleRecord(r Rule) ruleRecord {
	record := ruleRecord{Object: "forwarding_rule", ID: r.ID, DomainID: r.DomainID, Domain: r.Domain, Address: r.Address, MatchType: "exact",
		ForwardTo: r.ForwardTo, Enabled: r.Enabled, KeepCopy: r.KeepCopy, Mode: r.Mode, Description: api.Ref(r.Description), ForwardedCount: r.Forwarded,
		LastForwardedAt: api.Time(r.LastForwardedAt), LastError: api.Ref(r.LastError), CreatedAt: api.Time(r.CreatedAt), UpdatedAt: api.Time(r.UpdatedAt)}
	if r.catchAll() {
		record.MatchType = "catch_all"
	}
	return record
}

// place is where a page after the rule begins.
func (r ruleRecord) place() api.Cursor { return api.Cursor{ID: r.ID, At: time.Time(r.CreatedAt)} }

func (s *Service) ruleRoutes() []api.Route {
	return []api.Route{
		{Method: http.MethodGet, Path: "/emails/receiving/forwarding", Scope: "email:read", Bucket: api.BucketRead,
			Summary: "List the forwarding rules.", Handler: api.Handle(s.handleRules)},
		{Method: http.MethodPost, Path: "/emails/receiving/forwarding", Scope: "domain:manage", Bucket: api.BucketWrite, Success: 201,
			Errors:  []*api.Error{api.ErrDomainNotAllowed, api.ErrAlreadyExists},
			Summary: "Have mail to an address, or to all addresses of a domain, passed on.", Handler: api.Handle(s.handleNewRule)},
		{Method: http.MethodPatch, Path: "/emails/receiving/forwarding/{ruleId}", Scope: "domain:manage", Bucket: api.BucketWrite,
			Errors:  []*api.Error{api.ErrNotFound, api.ErrDomainNotAllowed},
			Summary: "Change a forwarding rule.", Handler: api.Handle(s.handleChangeRule)},
		{Method: http.MethodDelete, Path: "/emails/receiving/forwarding/{ruleId}", Scope: "domain:manage", Bucket: api.BucketWrite,
			Errors:  []*api.Error{api.ErrNotFound, api.ErrDomainNotAllowed},
			Summary: "Remove a forwarding rule.", Handler: api.Handle(s.handleRemoveRule)},
	}
}

func (s *Service) handleNewRule(ctx context.Context, caller api.Caller, r struct {
	Body struct {
		Address string `json:"address" doc:"support@acme.test, or *@acme.test for all addresses without a rule of their own." example:"support@acme.test"`
		ruleBody
	}
}) (ruleRecord, error) {
	var wrong api.Fields
	key, name, err := readRuleAddress(r.Body.Address)
	if err != nil {
		wrong.Add("address", "Must be an address, or * and a domain: "+strings.TrimSuffix(err.Error(), ".")+".")
	}
	rule := Rule{ID: s.world.NewID(), Workspace: caller.Workspace, Address: key, Domain: name, Enabled: true, KeepCopy: true, Mode: Rewrite}
	if r.Body.ForwardTo == nil {
		r.Body.ForwardTo = api.Strings{}
	}
	r.Body.apply(&wrong, &rule)
	if err := wrong.Err(); err != nil {
		return ruleRecord{}, err
	}
	d, err := s.domains.ByName(ctx, caller.Workspace, name)
	if errors.Is(err, domain.ErrNotYours) {
		return ruleRecord{}, api.Invalid("address", name+" is not a domain of this workspace. Add it with POST /domains first.")
	}
	if err != nil {
		return ruleRecord{}, err
	}
	if !caller.MayUseDomain(string(d.ID)) {
		return ruleRecord{}, api.DomainNotAllowed(d.Name)
	}
	rule.DomainID = d.ID
	err = s.db.WriteSerializable(ctx, func(tx *db.Tx) error { // two at the same moment would both be the last that fits
		rule.CreatedAt, rule.UpdatedAt = tx.Now(), tx.Now()
		if err := s.addRule(tx, rule); err != nil {
			return err
		}
		return s.audit(tx, caller, RuleCreated, rule)
	})
	return newRuleRecord(rule), err
}

type ruleRequest struct {
	ID string `path:"ruleId" doc:"Id of the rule." example:"0193a1f2-0000-7000-8000-0000000000a1"`
}

// findRule returns a rule that the caller may change; a foreign, missing or malformed id is one answer.
func findRule(tx *db.Tx, caller api.Caller, id string) (Rule, error) {
	if !api.IsID(id) {
		return Rule{}, api.NotFound("forwarding_rule")
	}
	rule, err := lockRule(tx, caller.Workspace, id)
	switch {
	case errors.Is(err, db.ErrNotFound):
		return Rule{}, api.NotFound("forwarding_rule")
	case err != nil:
		return Rule{}, err
	case !caller.MayUseDomain(string(rule.DomainID)):
		return Rule{}, api.DomainNotAllowed(rule.Domain)
	}
	return rule, nil
}

func (s *Service) handleChangeRule(ctx context.Context, caller api.Caller, r struct {
	ruleRequest
	Body ruleBody
}) (ruleRecord, error) {
	var rule Rule
	err := s.db.Write(ctx, func(tx *db.Tx) (err error) {
		if rule, err = findRule(tx, caller, r.ID); err != nil {
			return err
		}
		var wrong api.Fields
		r.Body.apply(&wrong, &rule)
		if err := wrong.Err(); err != nil {
			return err
		}
		rule.UpdatedAt = tx.Now()
		return errors.Join(updateRule(tx, rule), s.audit(tx, caller, RuleChanged, rule))
	})
	return newRuleRecord(rule), err
}

func (s *Service) handleRemoveRule(ctx context.Context, caller api.Caller, r ruleRequest) (api.Deleted, error) {
	err := s.db.Write(ctx, func(tx *db.Tx) error {
		rule, err := findRule(tx, caller, r.ID)
		if err != nil {
			return err
		}
		return errors.Join(deleteRules(tx, caller.Workspace, []string{rule.ID}), s.audit(tx, caller, RuleDeleted, rule))
	})
	return api.Deleted{Object: "forwarding_rule", ID: r.ID, Deleted: true}, err
}

type ruleQuery struct {
	api.PageQuery
	DomainID []string `query:"domain_id" doc:"Only rules of these domains."`
	Enabled  *bool    `query:"enabled" doc:"Only rules that are on, or off."`
}

// where is the condition of the list: the caller finds the rules of domains that it may use.
func (q ruleQuery) where(caller api.Caller) *where {
	w := &where{}
	w.add("workspace_id = ?", caller.Workspace)
	if len(caller.DomainIDs) > 0 {
		w.add("domain_id {in ?}", caller.DomainIDs)
	}
	w.among("domain_id", q.DomainID)
	if q.Enabled != nil {
		w.add("enabled = ?", *q.Enabled)
	}
	return w
}

func (s *Service) handleRules(ctx context.Context, caller api.Caller, q ruleQuery) (page api.Page[ruleRecord], err error) {
	if err := q.Check(maxPage); err != nil {
		return page, err
	}
	if len(q.DomainID) > maxChoices || slices.ContainsFunc(q.DomainID, func(id string) bool { return !api.IsID(id) }) {
		return page, api.Invalid("domain_id", fmt.Sprintf("Must be ids of domains, at most %d.", maxChoices))
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		part, err := q.Newest(func(id string) (time.Time, error) {
			rule, err := selectRule(tx, caller.Workspace, id)
			return rule.CreatedAt, err
		})
		if err != nil {
			return err
		}
		rules, err := selectRulePage(tx, q.where(caller), q.PageQuery, part)
		if err != nil {
			return err
		}
		records := make([]ruleRecord, len(rules))
		for i, rule := range rules {
			records[i] = newRuleRecord(rule)
		}
		page = api.NewPlacedPage(records, q.PageQuery, ruleRecord.place)
		if q.Placed() {
			return nil
		}
		total, err := countRulePage(tx, q.where(caller))
		page.Total = &total
		return err
	})
	return page, err
}

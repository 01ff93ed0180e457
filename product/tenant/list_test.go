package tenant_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"postrider/product/account/accounttest"
	"postrider/product/plan"
)

// externals returns the external ids of a list in its order.
func externals(list accounttest.Answer) string {
	rows, _ := list.Value("data").([]any)
	texts := make([]string, len(rows))
	for i := range rows {
		texts[i] = list.Text(fmt.Sprintf("data.%d.external_id", i))
	}
	return strings.Join(texts, " ")
}

func TestListsAreFiltered(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		p := h.platform("acme")
		for _, c := range []fields{{"external_id": "a", "name": "Ångström & Co"}, {"external_id": "b/1", "name": "100% Wool"}, {"external_id": "C_2", "name": `Back\slash`}} {
			p.Must(201, "POST", "/v1/managed-tenants", c)
		}
		p.Must(200, "PATCH", at(p.customer("d")), fields{"paused": true})
		for query, want := range map[string]string{
			"":                                 "d C_2 b/1 a",
			"status=active":                    "C_2 b/1 a",
			"status=paused":                    "d",
			"status=paused,active":             "d C_2 b/1 a",
			"status=paused&status=active":      "d C_2 b/1 a",
			"external_id=b/1":                  "b/1",
			"external_id=B/1":                  "",
			"external_id=a&external_id=d":      "d a",
			"external_id=a,nonsense%20here":    "a",
			"search=shop":                      "d",
			"search=SHOP":                      "d",
			"search=ångström":                  "a",
			"search=ÅNGSTRÖM":                  "a",
			"search=" + url.QueryEscape("%"):   "b/1",
			"search=" + url.QueryEscape("_"):   "C_2",
			"search=" + url.QueryEscape(`\`):   "C_2",
			"search=c_2":                       "C_2",
			"search=wool&status=paused":        "",
			"search=wool&external_id=b/1":      "b/1",
			"search=" + url.QueryEscape("' '"): "",
			"limit=2":                          "d C_2",
			"limit=2&offset=2":                 "b/1 a",
			"limit=1&offset=1&status=active":   "b/1",
			"offset=100":                       "",
		} {
			list := p.Must(200, "GET", "/v1/managed-tenants?"+query, nil)
			if got := externals(list); got != want {
				t.Errorf("%s: %q, want %q", query, got, want)
			}
		}
		for query, field := range map[string]string{"status=gone": "status", "limit=201": "limit", "limit=-1": "limit", "offset=-1": "offset",
			"search=" + strings.Repeat("x", 1000): "search", "search=%00": "search", "search=%ff": "search", "external_id=%00": "external_id"} {
			if answer := p.Refused(400, "validation_error", "GET", "/v1/managed-tenants?"+query, nil); problem(answer, field) == "" {
				t.Errorf("%.20s: %s", query, answer.Body)
			}
		}
	})
}

func TestListsCountAndTellTheLimits(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		p := h.platform("acme")
		for i := range 3 {
			p.customer(fmt.Sprint("shop", i))
		}
		id := p.customer("paused")
		p.domain(id, "shop.example")
		p.Must(200, "PATCH", at(id), fields{"paused": true})

		list := p.Must(200, "GET", "/v1/managed-tenants?limit=2&status=active", nil)
		row := p.Must(200, "GET", "/v1/managed-tenants?status=paused", nil)

		wantLimits := fields{"plan": "pro", "managed_tenants_enabled": true, "max_managed_tenants": 100.0, "used_managed_tenants": 4.0,
			"remaining_managed_tenants": 96.0, "max_domains_per_tenant": 5.0, "used_tenant_domains": 1.0}
		if got := list.Value("limits"); fmt.Sprint(got) != fmt.Sprint(wantLimits) {
			t.Errorf("limits: %v", got)
		}
		if list.Text("object") != "list" || list.Value("total") != 3.0 || list.Value("has_more") != true || list.Value("limit") != 2.0 || list.Value("offset") != 0.0 {
			t.Errorf("list: %s", list.Body)
		}
		if row.Value("data.0.domain_count") != 1.0 || row.Value("has_more") != false || row.Value("data.0.domains") != nil {
			t.Errorf("row: %s", row.Body)
		}
		p.setPlan(plan.Unlimited)
		unlimited := p.owner.Must(200, "GET", "/v1/managed-tenants", nil)
		if unlimited.Value("limits.max_managed_tenants") != nil || unlimited.Value("limits.remaining_managed_tenants") != nil ||
			unlimited.Value("limits.max_domains_per_tenant") != 50.0 || unlimited.Value("total") != 4.0 {
			t.Errorf("unlimited: %s", unlimited.Body)
		}
	})
}

func TestAChangeOfPlanActsOnTheNextRequest(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		p := h.platform("acme")
		id := p.customer("shop")
		domainID := p.domain(id, "shop.example")

		p.setPlan(plan.Free)
		for method, path := range map[string]string{"GET": "/v1/managed-tenants", "POST": "/v1/managed-tenants"} {
			refused := p.owner.Refused(402, "managed_tenants_plan_required", method, path, fields{"external_id": "shop", "name": "Shop"})
			if refused.Value("error.details.plan") != "free" {
				t.Errorf("%s %s: %s", method, path, refused.Body)
			}
		}
		p.owner.Refused(402, "managed_tenants_plan_required", "POST", at(id)+"/domains", fields{"domain": "more.example"})
		p.owner.Refused(404, "managed_tenant_not_found", "GET", at(nobody), nil)
		h.Clock.Move(time.Second) // a key may be remembered for as long
		p.Refused(402, "managed_tenants_plan_required", "GET", "/v1/managed-tenants", nil)

		// What is there can still be looked at and wound up.
		p.Must(200, "GET", at(id), nil)
		p.Must(200, "PATCH", at(id), fields{"paused": true})
		p.Must(200, "DELETE", at(id)+"/domains/"+domainID, nil)
		p.Must(200, "DELETE", at(id), nil)

		p.setPlan(plan.Pro)
		p.owner.Must(201, "POST", "/v1/managed-tenants", fields{"external_id": "shop", "name": "Shop"})
	})
}

func TestAnotherWorkspaceSeesNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		p, stranger := h.platform("acme"), h.platform("umbrella")
		id := p.customer("shop")
		domainID := p.domain(id, "shop.example")
		stranger.Header["X-Request-Id"] = "the-same-id"
		mine := stranger.customer("mine")

		for _, request := range []struct{ method, path, foreign, missing string }{
			{"GET", "/v1/managed-tenants/by-external-id/%s", "shop", "shop-of-nobody"},
			{"GET", "/v1/managed-tenants/%s", id, nobody},
			{"PATCH", "/v1/managed-tenants/%s", id, nobody},
			{"DELETE", "/v1/managed-tenants/%s", id, nobody},
			{"POST", "/v1/managed-tenants/%s/domains", id, nobody},
			{"DELETE", "/v1/managed-tenants/%s/domains/" + domainID, id, nobody},
			{"DELETE", "/v1/managed-tenants/" + mine + "/domains/%s", domainID, nobody},
			{"POST", "/v1/domains/%s/verify", domainID, nobody},
		} {
			body := fields{"name": "Taken over", "domain": "evil.example"}
			foreign := stranger.Do(request.method, fmt.Sprintf(request.path, request.foreign), body)
			missing := stranger.Do(request.method, fmt.Sprintf(request.path, request.missing), body)
			if foreign.Code != 404 || foreign.Body != missing.Body {
				t.Errorf("%s %s: foreign %d %s, missing %s", request.method, request.path, foreign.Code, foreign.Body, missing.Body)
			}
		}
		list := stranger.Must(200, "GET", "/v1/managed-tenants", nil)
		if externals(list) != "mine" || list.Value("total") != 1.0 || list.Value("limits.used_managed_tenants") != 1.0 || list.Value("limits.used_tenant_domains") != 0.0 {
			t.Errorf("list: %s", list.Body)
		}
		if own := stranger.Must(201, "POST", "/v1/managed-tenants", fields{"external_id": "shop", "name": "Mine"}); own.Text("id") == id {
			t.Error("one external id in two workspaces is one customer")
		}
		if p.Must(200, "GET", at(id), nil).Text("name") != "Shop shop" || p.news(id) != "created" {
			t.Error("the stranger changed something")
		}
	})
}

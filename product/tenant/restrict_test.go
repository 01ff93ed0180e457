package tenant_test

import (
	"fmt"
	"strings"
	"testing"

	"postrider/platform/api"
	"postrider/product/account/accounttest"
	"postrider/product/apikey"
)

// ownDomains returns the names of the domains that an answer shows.
func ownDomains(a accounttest.Answer) string {
	list, _ := a.Value("domains").([]any)
	names := make([]string, len(list))
	for i := range list {
		names[i] = a.Text(fmt.Sprintf("domains.%d.name", i))
	}
	return strings.Join(names, " ")
}

func TestAKeyForSomeDomainsFindsNoCustomersOfOthers(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		p := h.platform("acme")
		shared, other, empty := p.customer("shared"), p.customer("other"), p.customer("empty")
		own := p.domain(shared, "own.example")
		p.domain(shared, "beside.example")
		p.domain(other, "foreign.example")
		restricted := p.program(apikey.NewKey{Scopes: []api.Scope{"tenant:read", "tenant:manage"}, DomainIDs: []string{own}})

		for query, want := range map[string]string{"": "empty shared", "search=shop": "empty shared", "status=active": "empty shared", "external_id=other": "",
			"limit=1&offset=1": "shared"} {
			list := restricted.Must(200, "GET", "/v1/managed-tenants?"+query, nil)
			if got := externals(list); got != want {
				t.Errorf("%s: %q, want %q", query, got, want)
			}
			if all := map[bool]float64{true: 2}[want != ""]; list.Value("total") != all {
				t.Errorf("%s: %v of them, want %v", query, list.Value("total"), all)
			}
		}
		for path, want := range map[string]string{at(shared): "own.example", at("by-external-id/shared"): "own.example", at(empty): ""} {
			if seen := restricted.Must(200, "GET", path, nil); ownDomains(seen) != want {
				t.Errorf("%s: %s", path, seen.Body)
			}
		}
		for _, path := range []string{at(other), at("by-external-id/other")} {
			restricted.Refused(404, "managed_tenant_not_found", "GET", path, nil)
		}
		restricted.Refused(403, "domain_not_allowed", "POST", "/v1/managed-tenants", fields{"external_id": "other", "name": "Other"})
		if got := externals(p.Must(200, "GET", "/v1/managed-tenants", nil)); got != "empty other shared" {
			t.Errorf("without restrictions: %q", got)
		}
	})
}

func TestAKeyForSomeDomainsStopsAndRemovesNoOthers(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		p := h.platform("acme")
		id, shared, other, empty := p.customer("shop"), p.customer("shared"), p.customer("other"), p.customer("empty")
		own, half := p.domain(id, "own.example"), p.domain(shared, "half.example")
		p.domain(shared, "beside.example")
		p.domain(other, "foreign.example")
		restricted := p.program(apikey.NewKey{Scopes: []api.Scope{"tenant:read", "tenant:manage"}, DomainIDs: []string{own, half}})

		for _, c := range []struct {
			of     string
			status int
			code   string
		}{{other, 404, "managed_tenant_not_found"}, {nobody, 404, "managed_tenant_not_found"}, {shared, 403, "domain_not_allowed"}} {
			restricted.Refused(c.status, c.code, "PATCH", at(c.of), fields{"status": "paused"})
			restricted.Refused(c.status, c.code, "DELETE", at(c.of), nil)
		}
		restricted.Must(200, "PATCH", at(id), fields{"status": "paused"})
		restricted.Must(200, "DELETE", at(empty), nil)

		if got := p.Must(200, "GET", at(other), nil); got.Text("status") != "active" || ownDomains(got) != "foreign.example" {
			t.Errorf("the other customer: %s", got.Body)
		}
	})
}

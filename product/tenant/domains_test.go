package tenant_test

import (
	"fmt"
	"testing"
	"time"

	"postrider/platform/api"
	"postrider/product/account/accounttest"
	"postrider/product/apikey"
	"postrider/product/plan"
)

func TestACustomersDomainBelongsToIt(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		p := h.platform("acme")
		id := p.customer("shop")

		added := p.Must(201, "POST", at(id)+"/domains", fields{"domain": "Shop.Example"})

		records, _ := added.Value("records").([]any)
		if added.Text("managed_tenant_id") != id || added.Text("domain") != "shop.example" || added.Value("verified") != false || len(records) < 5 {
			t.Errorf("added: %s", added.Body)
		}
		whole := p.Must(200, "GET", "/v1/domains/"+added.Text("id"), nil).JSON
		for _, path := range []string{at(id), at("by-external-id/shop")} {
			read := p.Must(200, "GET", path, nil)
			domains, _ := read.Value("domains").([]any)
			if len(domains) != 1 || fmt.Sprint(domains[0]) != fmt.Sprint(whole) || read.Value("domain_count") != 1.0 {
				t.Errorf("%s: %s", path, read.Body)
			}
		}
		again := p.Refused(409, "already_exists", "POST", at(p.customer("other"))+"/domains", fields{"name": "shop.example"})
		if again.Value("error.details.id") != added.Text("id") {
			t.Errorf("again: %s", again.Body)
		}
		p.Refused(400, "validation_error", "POST", at(id)+"/domains", fields{"domain": "not a domain"})
		p.Refused(404, "managed_tenant_not_found", "POST", at(nobody)+"/domains", fields{"domain": "x.example"})
		p.Refused(404, "managed_tenant_not_found", "POST", at("nonsense")+"/domains", fields{"domain": "x.example"})
	})
}

func TestWhatIsAskedForIsCheckedBeforeWhomItIsFor(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		p := h.platform("acme")
		id := p.customer("shop")
		p.Must(200, "PATCH", at(id), fields{"status": "paused"})
		for _, customer := range []string{id, nobody} {
			p.Refused(400, "validation_error", "POST", at(customer)+"/domains", fields{"domain": "not a domain"})
		}
	})
}

func TestACustomerWithoutRoomHasADomainInAnySpelling(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		p := h.platform("acme")
		id := p.customer("shop")
		p.domain(id, "xn--bcher-kva.example")
		for i := range 4 {
			p.domain(id, fmt.Sprintf("shop%d.example", i))
		}
		p.Refused(402, "managed_tenant_domain_limit_reached", "POST", at(id)+"/domains", fields{"domain": "more.example"})
		p.Refused(409, "already_exists", "POST", at(id)+"/domains", fields{"domain": "Bücher.example"})
	})
}

func TestParallelDomainsStopAtTheQuotaOfTheCustomer(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		p := h.platform("acme")
		id, other := p.customer("shop"), p.customer("other")
		for i := range 3 {
			p.domain(id, fmt.Sprintf("shop%d.example", i))
		}

		added := 0
		for _, answer := range atOnce(4, func(i int) accounttest.Answer {
			return p.Do("POST", at(id)+"/domains", fields{"domain": fmt.Sprintf("late%d.example", i)})
		}) {
			if answer.Code == 201 {
				added++
				continue
			}
			details, _ := answer.Value("error.details").(fields)
			if answer.Code != 402 || answer.Text("error.code") != "managed_tenant_domain_limit_reached" || fmt.Sprint(details) != "map[limit:5 plan:pro used:5]" {
				t.Errorf("%d %s", answer.Code, answer.Body)
			}
		}

		if read := p.Must(200, "GET", at(id), nil); added != 2 || read.Value("domain_count") != 5.0 {
			t.Errorf("%d added, %v there", added, read.Value("domain_count"))
		}
		p.Refused(402, "managed_tenant_domain_limit_reached", "POST", at(id)+"/domains", fields{"domain": "one-more.example"})
		p.Refused(409, "already_exists", "POST", at(id)+"/domains", fields{"domain": "SHOP0.example"})
		p.domain(other, "other.example")
		if limits := p.Must(200, "GET", "/v1/managed-tenants", nil).Value("limits").(fields); limits["used_tenant_domains"] != 6.0 {
			t.Errorf("limits: %v", limits)
		}
	})
}

func TestCustomerDomainsTakeNoSlotOfTheWorkspace(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		p := h.platform("acme")
		p.setPlan(plan.Free)
		p.owner.Must(201, "POST", "/v1/domains", fields{"domain": "own.example"})
		p.owner.Refused(402, "domain_quota_exceeded", "POST", "/v1/domains", fields{"domain": "own2.example"})

		p.setPlan(plan.Pro)
		id := p.owner.Must(201, "POST", "/v1/managed-tenants", fields{"external_id": "shop", "name": "Shop"}).Text("id")
		p.owner.Must(201, "POST", at(id)+"/domains", fields{"domain": "shop.example"})

		p.setPlan(plan.Free)
		p.owner.Refused(402, "domain_quota_exceeded", "POST", "/v1/domains", fields{"domain": "own2.example"})
		if used := p.owner.Refused(402, "domain_quota_exceeded", "POST", "/v1/domains", fields{"domain": "own2.example"}).Value("error.details.used"); used != 1.0 {
			t.Errorf("%v slots are used", used)
		}
	})
}

func TestAPausedCustomerAddsAndVerifiesNoDomain(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		p := h.platform("acme")
		id := p.customer("shop")
		domainID := p.domain(id, "shop.example")
		own := p.Must(201, "POST", "/v1/domains", fields{"domain": "own.example"}).Text("id")
		p.Must(200, "PATCH", at(id), fields{"paused": true})

		for _, path := range []string{at(id) + "/domains", "/v1/domains/" + domainID + "/verify"} {
			refused := p.Refused(409, "managed_tenant_paused", "POST", path, fields{"domain": "more.example"})
			if refused.Value("error.details.managed_tenant_id") != id {
				t.Errorf("%s: %s", path, refused.Body)
			}
		}
		p.Must(200, "POST", "/v1/domains/"+own+"/verify", nil)

		p.Must(200, "PATCH", at(id), fields{"paused": false})
		p.domain(id, "more.example")
		if checked := p.Must(200, "POST", "/v1/domains/"+domainID+"/verify", nil); checked.Text("status") != "pending" || checked.Text("managed_tenant_id") != id {
			t.Errorf("checked: %s", checked.Body)
		}
	})
}

func TestWhatHappensWhileKeysAreMadeIsSeen(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		p := h.platform("acme")
		for _, test := range []struct {
			status int
			code   string
			happen func(id string)
		}{
			{409, "managed_tenant_paused", func(id string) { p.Must(200, "PATCH", at(id), fields{"paused": true}) }},
			{404, "managed_tenant_not_found", func(id string) { p.Must(200, "DELETE", at(id), nil) }},
		} {
			id := p.customer(test.code)
			h.chance.first = func() { test.happen(id) }
			p.Refused(test.status, test.code, "POST", at(id)+"/domains", fields{"domain": "shop.example"})
		}
		if domains := p.Must(200, "GET", "/v1/domains", nil); domains.Value("total") != 0.0 {
			t.Errorf("left behind: %s", domains.Body)
		}
	})
}

func TestADomainIsVerifiedSixTimesAMinute(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		p, stranger := h.platform("acme"), h.platform("umbrella")
		path := "/v1/domains/" + p.domain(p.customer("shop"), "shop.example") + "/verify"
		for range 10 {
			stranger.Refused(404, "not_found", "POST", path, nil)
		}
		for range 6 {
			p.Must(200, "POST", path, nil)
		}
		refused := p.Refused(429, "rate_limit_exceeded", "POST", path, nil)
		if refused.Value("error.details.bucket") != "domain_verify" || refused.Header.Get("Retry-After") == "" {
			t.Errorf("refused: %v %s", refused.Header, refused.Body)
		}
		h.Clock.Move(time.Minute)
		p.Must(200, "POST", path, nil)
	})
}

func TestOnlyItsOwnDomainsAreRemovedFromACustomer(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		p := h.platform("acme")
		id, other := p.customer("shop"), p.customer("other")
		domainID := p.domain(id, "shop.example")
		own := p.Must(201, "POST", "/v1/domains", fields{"domain": "own.example"}).Text("id")

		for _, wrong := range []string{at(other) + "/domains/" + domainID, at(id) + "/domains/" + own, at(id) + "/domains/" + nobody, at(id) + "/domains/x"} {
			p.Refused(404, "not_found", "DELETE", wrong, nil)
		}
		p.Refused(404, "managed_tenant_not_found", "DELETE", at(nobody)+"/domains/"+domainID, nil)

		restricted := p.program(apikey.NewKey{Scopes: []api.Scope{"tenant:manage", "domain:manage"}, DomainIDs: []string{own}})
		for _, c := range []struct {
			method, path string
			body         any
			domain       string
		}{
			{"DELETE", at(id) + "/domains/" + domainID, nil, domainID},
			{"POST", at(id) + "/domains", fields{"domain": "more.example"}, "more.example"},
			{"POST", "/v1/domains/" + domainID + "/verify", nil, domainID},
		} {
			if answer := restricted.Refused(403, "domain_not_allowed", c.method, c.path, c.body); answer.Text("error.details.domain") != c.domain {
				t.Errorf("%s: the domain is not named: %s", c.path, answer.Body)
			}
		}

		p.program(apikey.NewKey{Scopes: []api.Scope{"tenant:manage"}}).Must(200, "DELETE", at(id)+"/domains/"+domainID, nil)
		p.Must(200, "GET", "/v1/domains/"+own, nil)
	})
}

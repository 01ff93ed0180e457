package dnsprovider_test

import (
	"fmt"
	"strings"
	"testing"

	"postrider/product/account/accounttest"
)

func TestTheZoneIsTheClosestOneAbove(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		h.connect("Acme", goodToken)
		h.cloud.set(func(f *fakeCloudflare) {
			f.zones = append(f.zones, fakeZone{ID: "moved", Name: "eu.acme.test", Status: "moved"}, fakeZone{ID: "eu", Name: "eu.acme.test", Status: "active"})
		})
		apply := func(id string) accounttest.Answer {
			return h.owner.Must(200, "POST", "/v1/domains/"+id+"/cloudflare/apply", nil)
		}

		below := apply(h.register("news.acme.test"))
		closer := apply(h.register("a.b.eu.acme.test"))

		if below.Text("zone") != "acme.test" || below.Text("zone_id") != zoneID || below.Text("results.0.name") != "news.acme.test" {
			t.Errorf("below: %s", below.Body)
		}
		if closer.Text("zone") != "eu.acme.test" || closer.Text("zone_id") != "eu" || closer.Value("failed") != 0.0 {
			t.Errorf("closer: %s", closer.Body)
		}
	})
}

func TestADomainWithoutAZoneIsNotConnected(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		h.connect("Acme", goodToken)
		h.cloud.set(func(f *fakeCloudflare) {
			f.zones = []fakeZone{{ID: "co", Name: "co.uk", Status: "active"}, {ID: "other", Name: "notacme.co.uk", Status: "active"}}
		})
		id := h.register("a.acme.co.uk")
		h.cloud.heard()

		got := h.owner.Refused(409, "dns_provider_not_connected", "POST", "/v1/domains/"+id+"/cloudflare/apply", nil)

		if calls := h.cloud.heard(); !strings.Contains(got.Text("error.message"), "no zone for a.acme.co.uk") || len(calls) != 2 {
			t.Fatalf("%s after %v", got.Body, calls)
		}
	})
}

func TestADelegatedDomainIsLeftToItsNameServers(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		h.connect("Acme", goodToken)
		h.cloud.put(rr{Type: "NS", Name: "news.acme.test", Content: "ns1.example.net"}, rr{Type: "NS", Name: "acme.test", Content: "ns1.example.net"})
		id := h.register("news.acme.test")

		delegated := h.owner.Must(200, "POST", "/v1/domains/"+id+"/cloudflare/apply", nil)
		apex := h.apply(nil)

		for _, row := range delegated.Value("results").([]any) {
			if r := row.(fields); r["action"] != "conflict" || !strings.Contains(r["error"].(string), "delegated") {
				t.Errorf("delegated: %v", r)
			}
		}
		if apex.Value("failed") != 0.0 {
			t.Errorf("the name servers of the zone itself are in the way: %s", apex.Body)
		}
	})
}

func TestEveryPageOfANameIsRead(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		h.connect("Acme", goodToken)
		for i := range 34 {
			h.cloud.put(rr{Type: "TXT", Name: "acme.test", Content: fmt.Sprintf(`"note %d"`, i)})
		}
		h.cloud.put(rr{Type: "TXT", Name: "acme.test", Content: `"v=spf1 mx -all"`})

		result := h.apply(nil)

		if result.Text("results.0.action") != "merged" || len(h.cloud.at("TXT", "acme.test")) != 35 {
			t.Fatalf("%s, %d TXT records", result.Text("results.0.action"), len(h.cloud.at("TXT", "acme.test")))
		}
	})
}

func TestANameWithoutEndIsGivenUp(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		h.connect("Acme", goodToken)
		for i := range 501 {
			h.cloud.put(rr{Type: "TXT", Name: "acme.test", Content: fmt.Sprintf(`"note %d"`, i)})
		}

		h.owner.Refused(502, "dns_provider_error", "POST", "/v1/domains/"+h.domain+"/cloudflare/apply", nil)

		if writes := h.cloud.writes(); len(writes) != 0 {
			t.Fatalf("it wrote %v without having seen everything", writes)
		}
	})
}

func TestTheNewestConnectionIsUsedUnlessOneIsNamed(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		const newToken = "another-token-00000000000000000000000000"
		h.cloud.set(func(f *fakeCloudflare) {
			f.tokens[newToken] = "active"
			f.zones = []fakeZone{{ID: "old", Name: "acme.test", Status: "active", token: goodToken}, {ID: "new", Name: "acme.test", Status: "active", token: newToken}}
		})
		path := "/v1/domains/" + h.domain + "/cloudflare/apply"
		h.owner.Refused(409, "dns_provider_not_connected", "POST", path, nil)
		old := h.connect("Old", goodToken)
		h.connect("New", newToken)
		stranger := h.SignUp("eve@other.test")
		foreign := stranger.Must(201, "POST", "/workspaces/"+stranger.Workspace()+"/dns-connections", fields{"provider": "cloudflare", "name": "E", "api_token": goodToken}).Text("id")

		newest, named := h.apply(nil), h.apply(fields{"connection_id": old})

		if newest.Text("zone_id") != "new" || named.Text("zone_id") != "old" {
			t.Errorf("newest: %s, named: %s", newest.Text("zone_id"), named.Text("zone_id"))
		}
		for _, id := range []string{foreign, missing, "x"} {
			got := h.owner.Refused(404, "not_found", "POST", path, fields{"connection_id": id})
			if got.Text("error.details.resource") != "dns_connection" {
				t.Errorf("%s: %s", id, got.Body)
			}
		}
	})
}

func TestWhoMayPublishTheRecordsOfADomain(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		h.connect("Acme", goodToken)
		other := h.register("other.test")
		restricted := h.program(fields{"scopes": []string{"domain:manage"}, "domain_ids": []string{h.domain}})
		reader := h.program(fields{"scopes": []string{"domain:read"}})
		stranger := h.SignUp("eve@other.test")

		for _, end := range []string{"/cloudflare/apply", "/domain-connect/cloudflare-url"} {
			restricted.Must(200, "POST", "/v1/domains/"+h.domain+end, nil)
			if answer := restricted.Refused(403, "domain_not_allowed", "POST", "/v1/domains/"+other+end, nil); answer.Text("error.details.domain") != other {
				t.Errorf("the domain is not named: %s", answer.Body)
			}
			reader.Refused(403, "insufficient_scope", "POST", "/v1/domains/"+h.domain+end, nil)
			stranger.Refused(404, "not_found", "POST", "/v1/domains/"+h.domain+end, nil)
			h.owner.Refused(404, "not_found", "POST", "/v1/domains/"+missing+end, nil)
		}
	})
}

package tenant_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"postrider/product/account/accounttest"
)

func TestOnlyWhatIsSentIsChanged(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		p := h.platform("acme")
		id := p.Must(201, "POST", "/v1/managed-tenants", fields{"external_id": "shop", "name": "Shop", "metadata": fields{"a": 1, "b": 2}}).Text("id")
		for _, step := range []struct {
			change                   fields
			name, provider, metadata string
		}{
			{fields{}, "Shop", "inherit", `map[a:1 b:2]`},
			{fields{"name": " Store "}, "Store", "inherit", `map[a:1 b:2]`},
			{fields{"name": "", "provider": "", "status": "", "external_id": ""}, "Store", "inherit", `map[a:1 b:2]`},
			{fields{"name": nil, "provider": nil, "status": nil, "paused": nil}, "Store", "inherit", `map[a:1 b:2]`},
			{fields{"provider": "node:" + ownNode, "external_id": "shop"}, "Store", "node:" + ownNode, `map[a:1 b:2]`},
			{fields{"metadata": fields{"c": "3"}}, "Store", "node:" + ownNode, `map[c:3]`},
			{fields{"metadata": nil, "provider": "relay"}, "Store", "relay", `map[]`},
			{fields{"unknown": 1}, "Store", "relay", `map[]`},
		} {
			answer := p.Must(200, "PATCH", at(id), step.change)
			read := p.Must(200, "GET", at(id), nil)
			for _, got := range []func(string) any{answer.Value, read.Value} {
				if got("name") != step.name || got("provider") != step.provider || fmt.Sprint(got("metadata")) != step.metadata || got("external_id") != "shop" {
					t.Errorf("after %v: %s", step.change, answer.Body)
				}
			}
		}
		if got := p.news(id); got != "created updated updated updated updated" {
			t.Errorf("events: %s", got)
		}
	})
}

func TestWrongChangesAreNamedAndChangeNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		p := h.platform("acme")
		id := p.customer("shop")
		before := p.Must(200, "GET", at(id), nil).Body
		for _, test := range []struct {
			change         fields
			field, message string
		}{
			{fields{"external_id": "other"}, "external_id", "Cannot be changed."},
			{fields{"external_id": "SHOP"}, "external_id", "Cannot be changed."},
			{fields{"status": "suspended"}, "status", "Must be active or paused."},
			{fields{"status": true}, "status", "Must be a string."},
			{fields{"paused": "yes"}, "paused", "Must be true or false."},
			{fields{"status": "active", "paused": true}, "paused", "Contradicts status."},
			{fields{"name": strings.Repeat("x", 201)}, "name", "Must be one line of 1 to 200 characters."},
			{fields{"name": "  "}, "name", "Must be one line of 1 to 200 characters."},
			{fields{"provider": "node:x"}, "provider", "Must be inherit, direct, relay or node:<id of a sending node>."},
			{fields{"provider": "node:" + nobody}, "provider", "There is no such sending node."},
			{fields{"metadata": fields{"a": strings.Repeat("x", 8<<10)}}, "metadata", "Must have at most 50 keys and 8 KB."},
			{fields{"metadata": []any{}}, "metadata", "Must be an object."},
			{fields{"paused": true, "pause_reason": strings.Repeat("x", 501)}, "pause_reason", "Must be one line of at most 500 characters."},
		} {
			if test.change["name"] == nil {
				test.change["name"] = "Other"
			}
			answer := p.Refused(400, "validation_error", "PATCH", at(id), test.change)
			if got := problem(answer, test.field); got != test.message {
				t.Errorf("%v: %s", test.change, answer.Body)
			}
		}
		if after := p.Must(200, "GET", at(id), nil).Body; after != before {
			t.Errorf("before %s\nafter  %s", before, after)
		}
	})
}

func TestPauseAndResume(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		p := h.platform("acme")
		id := p.customer("shop")
		var pausedAt string
		for _, step := range []struct {
			change         fields
			status, reason string
		}{
			{fields{"pause_reason": "not paused at all"}, "active", ""},
			{fields{"status": "active"}, "active", ""},
			{fields{"status": "paused", "pause_reason": "abuse report"}, "paused", "abuse report"},
			{fields{"paused": true}, "paused", "abuse report"},
			{fields{"name": "Renamed"}, "paused", "abuse report"},
			{fields{"pause_reason": "second report"}, "paused", "second report"},
			{fields{"status": "paused", "pause_reason": nil}, "paused", ""},
			{fields{"paused": false, "pause_reason": "all is well"}, "active", ""},
			{fields{"paused": true, "status": "paused"}, "paused", ""},
			{fields{"status": "active", "name": "Shop"}, "active", ""},
		} {
			h.Clock.Move(time.Second)
			answer := p.Must(200, "PATCH", at(id), step.change)
			if answer.Text("status") != step.status || answer.Text("pause_reason") != step.reason {
				t.Errorf("after %v: %s", step.change, answer.Body)
			}
			switch at := answer.Text("paused_at"); {
			case step.status == "active" && at != "", step.status == "paused" && at == "", pausedAt != "" && at != "" && at != pausedAt:
				t.Errorf("after %v: paused at %q, before %q", step.change, at, pausedAt)
			default:
				pausedAt = at
			}
		}
		if got := p.news(id); got != "created paused updated updated updated resumed paused updated resumed" {
			t.Errorf("events: %s", got)
		}
		var told fields
		if err := json.Unmarshal(p.events(id)[1].Data, &told); err != nil {
			t.Fatal(err)
		}
		if told["status"] != "paused" || told["pause_reason"] != "abuse report" || told["paused_at"] == nil || told["external_id"] != "shop" || told["id"] != id {
			t.Errorf("managed_tenant.paused tells %v", told)
		}
	})
}

func TestACustomerWithDomainsCannotBeDeleted(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		p := h.platform("acme")
		id := p.customer("shop")
		domainID := p.domain(id, "shop.example")
		p.Must(200, "PATCH", at(id), fields{"status": "paused"})

		refused := p.Refused(409, "managed_tenant_has_domains", "DELETE", at(id), nil)
		if refused.Value("error.details.domain_count") != 1.0 || p.Must(200, "GET", at(id), nil).Value("domain_count") != 1.0 {
			t.Errorf("refused with %s", refused.Body)
		}

		removed := p.Must(200, "DELETE", at(id)+"/domains/"+domainID, nil)
		if fmt.Sprint(removed.JSON) != fmt.Sprint(fields{"object": "domain", "id": domainID, "deleted": true}) {
			t.Errorf("removed: %s", removed.Body)
		}
		p.Refused(404, "not_found", "GET", "/v1/domains/"+domainID, nil)
		deleted := p.Must(200, "DELETE", at(id), nil)
		if fmt.Sprint(deleted.JSON) != fmt.Sprint(fields{"object": "managed_tenant", "id": id, "deleted": true}) {
			t.Errorf("deleted: %s", deleted.Body)
		}
		for _, method := range []string{"GET", "PATCH", "DELETE"} {
			p.Refused(404, "managed_tenant_not_found", method, at(id), nil)
		}
		p.Refused(404, "managed_tenant_not_found", "GET", at("by-external-id/shop"), nil)
		if got := p.news(id); got != "created paused deleted" {
			t.Errorf("events: %s", got)
		}
		if again := p.customer("shop"); again == id {
			t.Error("the id of a customer that is gone was given away again")
		}
	})
}

func TestParallelChangesComeOneAfterTheOther(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		p := h.platform("acme")
		for i := range 5 {
			id := p.customer(fmt.Sprint("shop", i))

			atOnce(10, func(int) accounttest.Answer { return p.Do("PATCH", at(id), fields{"paused": true}) })
			deleted := 0
			for _, answer := range atOnce(10, func(int) accounttest.Answer { return p.Do("DELETE", at(id), nil) }) {
				if answer.Code == 200 {
					deleted++
				}
			}

			if got := p.news(id); deleted != 1 || got != "created paused deleted" {
				t.Errorf("deleted %d times, events: %s", deleted, got)
			}
		}
		if used := p.Must(200, "GET", "/v1/managed-tenants", nil).Value("limits.used_managed_tenants"); used != 0.0 {
			t.Errorf("%v are counted", used)
		}
	})
}

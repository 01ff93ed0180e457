package domain_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"postrider/app/apptest"
	"postrider/product/plan"
)

func TestDomainsAreListedByFilterAndPage(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		for _, name := range []string{"one.test", "two-shop.test", "three-shop.test"} {
			registered(t, in, name)
		}
		in.Publish("one.test", "TXT", include)
		one := in.Call(http.MethodGet, "/domains?search=one", nil)
		data, _ := one.Body["data"].([]any)
		record, _ := data[0].(map[string]any)
		id, _ := record["id"].(string)
		verify(t, in, id)

		for _, c := range []struct {
			query string
			want  []string
			total float64
			more  bool
		}{
			{"", []string{"three-shop.test", "two-shop.test", "one.test", "acme.test"}, 4, false},
			{"limit=2", []string{"three-shop.test", "two-shop.test"}, 4, true},
			{"limit=2&offset=2", []string{"one.test", "acme.test"}, 4, false},
			{"offset=9", []string{}, 4, false},
			{"verified=true", []string{"acme.test"}, 1, false},
			{"verified=false", []string{"three-shop.test", "two-shop.test", "one.test"}, 3, false},
			{"status=verified", []string{"acme.test"}, 1, false},
			{"status=partially_verified", []string{"one.test"}, 1, false},
			{"status=not_started", []string{"three-shop.test", "two-shop.test"}, 2, false},
			{"status=verified,partially_verified", []string{"one.test", "acme.test"}, 2, false},
			{"status=verified&status=partially_verified", []string{"one.test", "acme.test"}, 2, false},
			{"managed_tenant_id=none," + id, []string{"three-shop.test", "two-shop.test", "one.test", "acme.test"}, 4, false},
			{"managed_tenant_id=nobody", []string{}, 0, false},
			{"search=SHOP", []string{"three-shop.test", "two-shop.test"}, 2, false},
			{"search=shop&limit=1", []string{"three-shop.test"}, 2, true},
			{"search=" + url.QueryEscape("%"), []string{}, 0, false},
			{"search=_", []string{}, 0, false},
			{"search=" + url.QueryEscape(`\`), []string{}, 0, false},
			{"search=" + url.QueryEscape("' OR 1=1 --"), []string{}, 0, false},
		} {
			answer := in.Call(http.MethodGet, "/domains?"+c.query, nil)
			if got := names(answer); answer.Status != http.StatusOK || !slices.Equal(got, c.want) || answer.Body["total"] != c.total || answer.Body["has_more"] != c.more {
				t.Errorf("%s: %v of %v, more %v", c.query, got, answer.Body["total"], answer.Body["has_more"])
			}
		}
		if listed := in.Call(http.MethodGet, "/domains", nil); strings.Contains(string(listed.Raw), `"found"`) || recordOf(in.Call(http.MethodGet, "/domains/"+id, nil), "dkim")["found"] == nil {
			t.Errorf("what was found of the records is for one domain alone: %s", listed.Raw)
		}
		_, stranger := in.NewWorkspace(plan.Unlimited)
		if got := names(in.CallAs(stranger, http.MethodGet, "/domains?search=acme", nil, nil)); len(got) != 0 {
			t.Errorf("a stranger sees %v", got)
		}
	})
}

func TestDomainsAreListedByCustomer(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		var customers []string
		for _, name := range []string{"one", "two"} {
			id := in.Must(http.StatusCreated, http.MethodPost, "/managed-tenants", fields{"external_id": name, "name": name}).Text("id")
			in.Must(http.StatusCreated, http.MethodPost, "/managed-tenants/"+id+"/domains", fields{"domain": name + ".test"})
			customers = append(customers, id)
		}
		for wanted, want := range map[string]string{customers[0]: "one.test", customers[1]: "two.test", "none": apptest.Domain, in.DomainID: "", "nonsense": ""} {
			list := in.Must(http.StatusOK, http.MethodGet, "/domains?managed_tenant_id="+wanted, nil)
			if got := strings.Join(names(list), " "); got != want {
				t.Errorf("%s: %q, want %q", wanted, got, want)
			}
		}
	})
}

func TestPagesOfDomainsHaveBounds(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	for query, field := range map[string]string{"limit=201": "limit", "limit=-1": "limit", "offset=-1": "offset", "verified=perhaps": "verified", "limit=0": "limit", "status=x": "status"} {
		answer := in.Call(http.MethodGet, "/domains?"+query, nil)
		if answer.Status != http.StatusBadRequest || problem(answer, field) == "" {
			t.Errorf("%s: %d %s", query, answer.Status, answer.Raw)
		}
	}
}

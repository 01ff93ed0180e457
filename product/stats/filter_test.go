package stats_test

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/product/apikey"
	"postrider/product/plan"
)

func TestWhatIsAskedWrongIsNamed(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	for _, c := range []struct{ path, field string }{
		{"/stats/overview?days=0x", "days"}, {"/stats/overview?days=-1", "days"}, {"/stats/overview?days=0", "days"}, {"/stats/overview?days=366", "days"},
		{"/stats/overview?days=3&start=2026-01-01T00:00:00Z", "days"},
		{"/stats/daily?start=2026-02-01T00:00:00Z&end=2026-01-01T00:00:00Z", "start"}, {"/stats/daily?start=2026-02-01T00:00:00Z&end=2026-02-01T00:00:00Z", "start"},
		{"/stats/daily?end=2026-01-01T00:00:00Z", "start"}, {"/stats/daily?start=yesterday", "start"}, {"/stats/daily?start=2999-01-01T00:00:00Z", "start"},
		{"/stats/top?start=2024-01-01T00:00:00Z&end=2026-01-01T00:00:00Z", "end"},
		{"/stats/timeseries?interval=minute", "interval"}, {"/stats/timeseries?interval=hour&days=15", "interval"}, {"/stats/timeseries?metrics=delivered,happy", "metrics"},
		{"/stats/timeseries?timezone=Mars/Olympus", "timezone"}, {"/stats/timeseries?timezone=Local", "timezone"}, {"/stats/daily?timezone=../../etc/passwd", "timezone"},
		{"/stats/deliverability?domain_id=acme.test", "domain_id"}, {"/stats/top?tag=welcome", "tag"}, {"/stats/top?tag=a:b,c:d", "tag"},
		{"/stats/top?tag=a:b&domain_id=" + in.DomainID, "tag"},
		{"/stats/overview?domain_id=" + strings.Repeat(in.DomainID+",", 101), "domain_id"},
	} {
		answer := in.Call(http.MethodGet, c.path, nil)
		if answer.Status != 400 || fieldError(answer, c.field) == "" {
			t.Errorf("%s was answered with %d: %s", c.path, answer.Status, answer.Raw)
		}
	}
}

// shop makes a managed customer with a verified domain, shop.test.
func shop(t *testing.T, in *apptest.Installation) (customer, domain string) {
	t.Helper()
	customer = in.Call(http.MethodPost, "/managed-tenants", fields{"external_id": "shop", "name": "Shop"}).Text("id")
	domain = in.Call(http.MethodPost, "/managed-tenants/"+customer+"/domains", fields{"domain": "shop.test"}).Text("id")
	if err := in.Sandbox.Publish(context.Background(), "shop.test"); err != nil {
		t.Fatal(err)
	}
	in.Call(http.MethodPost, "/domains/"+domain+"/verify", nil)
	return customer, domain
}

func TestEachFilterCountsItsOwn(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		customer, theirs := shop(t, in)
		template := in.Call(http.MethodPost, "/templates", fields{"name": "Welcome", "subject": "Hi", "html": "<p>Hi</p>", "publish": true}).Text("id")
		send(t, in, fields{"to": "ann@example.net", "tags": []fields{{"name": "kind", "value": "news"}}})
		send(t, in, fields{"to": "bob@example.net", "from": "shop@shop.test"})
		answer := in.Call(http.MethodPost, "/emails", fields{"from": "hello@" + apptest.Domain, "to": "cat@example.org", "template": fields{"id": template}})
		if answer.Status != http.StatusAccepted {
			t.Fatalf("templated: %s", answer.Raw)
		}
		in.Deliver()
		broadcast := in.App.World.NewID()
		record(t, in, happened{"email.delivered", "dan@example.net", in.Clock.Now(), fields{"previous_status": "queued", "broadcast_id": broadcast}})
		follow(t, in)
		for query, want := range map[string]string{
			"": "4", "domain_id=" + in.DomainID: "3", "domain_id=" + theirs: "1", "domain_id=" + theirs + "," + in.DomainID + "," + theirs: "4",
			"managed_tenant_id=" + customer: "1", "tag=kind:news": "1", "tag=kind:other": "0", "template_id=" + template: "1",
			"broadcast_id=" + broadcast: "1", "broadcast_id=" + template: "0",
		} {
			answer := in.Call(http.MethodGet, "/stats/overview?"+query, nil)
			if got := answer.Text("totals", "delivered"); got != want {
				t.Errorf("%s: %s were delivered, want %s (%s)", query, got, want, answer.Raw)
			}
			sent := 0.0
			for _, isp := range rows(in.Call(http.MethodGet, "/stats/top?"+query, nil), "isps") {
				sent += isp["sent"].(float64)
			}
			if fmt.Sprint(sent) != want {
				t.Errorf("%s: %v were sent by provider, want %s", query, sent, want)
			}
		}
		domains := rows(in.Call(http.MethodGet, "/stats/deliverability?managed_tenant_id="+customer, nil), "domains")
		if len(domains) != 1 || domains[0]["domain"] != "shop.test" {
			t.Errorf("the customer's domains are %v", domains)
		}
	})
}

func TestKeysOfDomainsAndStrangersSeeTheirOwn(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		customer, theirs := shop(t, in)
		in.Send("ann@example.net")
		send(t, in, fields{"to": "bob@example.net", "from": "shop@shop.test"})
		in.Deliver()
		follow(t, in)
		restricted := func(path string) apptest.Answer {
			_, key, err := in.App.Keys.Create(context.Background(), apikey.NewKey{Workspace: in.Workspace, Name: "own", Preset: apikey.FullAccess, DomainIDs: []string{theirs}})
			if err != nil {
				t.Fatal(err)
			}
			return in.CallAs(key, http.MethodGet, path, nil, nil)
		}
		if got := restricted("/stats/overview").Text("totals", "delivered"); got != "1" {
			t.Errorf("a key of one domain sees %s deliveries", got)
		}
		if domains := rows(restricted("/stats/deliverability"), "domains"); len(domains) != 1 || domains[0]["domain"] != "shop.test" {
			t.Errorf("a key of one domain sees the domains %v", domains)
		}
		for _, query := range []string{"domain_id=" + in.DomainID, "tag=kind:news", "managed_tenant_id=" + customer} {
			if answer := restricted("/stats/overview?" + query); answer.Status != 403 || answer.Text("error", "code") != "domain_not_allowed" {
				t.Errorf("a key of one domain asked for %s: %d %s", query, answer.Status, answer.Raw)
			}
		}
		if named := restricted("/stats/overview?domain_id="+in.DomainID).Text("error", "details", "domain"); named != in.DomainID {
			t.Errorf("the domain that is refused is named %q", named)
		}
		_, stranger := in.NewWorkspace(plan.Unlimited)
		for _, path := range []string{"/stats/overview", "/stats/overview?domain_id=" + in.DomainID} {
			if answer := in.CallAs(stranger, http.MethodGet, path, nil, nil); numbers(answer.Body["totals"]) != "{}" {
				t.Errorf("a stranger sees %s", answer.Raw)
			}
		}
		if answer := in.CallAs(stranger, http.MethodGet, "/stats/deliverability?domain_id="+in.DomainID, nil, nil); len(rows(answer, "domains")) != 0 {
			t.Errorf("a stranger sees %s", answer.Raw)
		}
	})
}

// counted finds what tells of mail.
var counted = regexp.MustCompile(`"(accepted|sent|delivered|count|total|v)":[1-9]|"isp":"`)

func TestAStrangerIsToldOfNoMail(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		_, stranger := in.NewWorkspace(plan.Unlimited)
		in.Send("ann@example.net")
		in.Deliver()
		follow(t, in)
		for _, when := range []string{"today", "when the day is packed"} {
			for _, path := range []string{"/stats/overview", "/stats/daily", "/stats/timeseries", "/stats/top", "/stats/deliverability"} {
				if ours := get(t, in, path); !counted.Match(ours.Raw) {
					t.Errorf("%s, %s tells nothing: %s", when, path, ours.Raw)
				}
				if theirs := in.CallAs(stranger, http.MethodGet, path, nil, nil); theirs.Status != http.StatusOK || counted.Match(theirs.Raw) {
					t.Errorf("%s, %s tells a stranger %s", when, path, theirs.Raw)
				}
			}
			in.Clock.Advance(4 * 24 * time.Hour)
			fold(t, in)
		}
	})
}

func TestListsNameTheMostFrequent(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		now := in.Clock.Now()
		var events []happened
		for i := range 250 { // more subjects than are kept apart
			events = append(events, happened{"email.delivered", fmt.Sprintf("a@d%03d.test", i), now, fields{"previous_status": "queued", "subject": fmt.Sprintf("Order %03d", i)}})
		}
		for range 5 {
			events = append(events, happened{"email.delivered", "ann@D007.test", now, fields{"previous_status": "queued", "subject": strings.Repeat("é", 900),
				"tags": fields{"kind": "news"}}})
		}
		record(t, in, events...)
		follow(t, in)
		record(t, in, happened{"email.delivered", "bob@d007.test", now, fields{"previous_status": "queued"}}) // whose domain has its place
		follow(t, in)
		top := get(t, in, "/stats/top")
		domains, subjects, tags := rows(top, "recipient_domains"), rows(top, "subjects"), rows(top, "tags")
		if len(domains) != 10 || domains[0]["domain"] != "d007.test" || domains[0]["sent"] != 7.0 {
			t.Errorf("recipient domains: %v", domains)
		}
		if len(subjects) != 10 {
			t.Errorf("subjects: %v", subjects)
		}
		for _, kind := range []string{"domain", "subject"} {
			if kept := rowsOf(t, in, "stats_rank", "facet = '' AND kind = '"+kind+"' AND day", now); kept != 65 {
				t.Errorf("%d %ss are kept, want 64 and the rest in one", kept, kind)
			}
		}
		if len(tags) != 1 || tags[0]["name"] != "kind" || tags[0]["value"] != "news" || tags[0]["sent"] != 5.0 {
			t.Errorf("tags: %v", tags)
		}
		if got := get(t, in, "/stats/overview").Text("totals", "delivered"); got != "256" {
			t.Errorf("%s were delivered, want all 256", got)
		}
	})
}

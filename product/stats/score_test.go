package stats_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/product/domain"
	"postrider/product/plan"
)

// codes are the actions of a scorecard.
func codes(answer apptest.Answer) string {
	var list []string
	for _, action := range rows(answer, "actions") {
		list = append(list, action["code"].(string))
		if !strings.HasSuffix(action["message"].(string), ".") || action["title"] == "" {
			list = append(list, "without a sentence")
		}
	}
	return strings.Join(list, " ")
}

func components(answer apptest.Answer) string {
	var list []string
	for _, c := range rows(answer, "components") {
		list = append(list, fmt.Sprintf("%v=%v", c["key"], c["score"]))
	}
	return strings.Join(list, " ")
}

// outcomes records what became of many mails to a provider.
func outcomes(t *testing.T, in *apptest.Installation, isp, kind string, count int, more fields) {
	t.Helper()
	var events []happened
	for range count {
		data := fields{"previous_status": "queued", "isp": isp}
		for name, value := range more {
			data[name] = value
		}
		events = append(events, happened{kind, "ann@example.net", in.Clock.Now(), data})
	}
	record(t, in, events...)
}

func TestGoodMailIsGradedWell(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		in.Send("ann@google.test")
		in.Deliver()
		follow(t, in)
		answer := get(t, in, "/stats/deliverability")
		if answer.Text("grade") != "A" || components(answer) != "authentication=100 bounces=100 complaints=100 provider_health=100" || codes(answer) != "" {
			t.Errorf("the scorecard is %s", answer.Raw)
		}
		domains, providers := rows(answer, "domains"), rows(answer, "providers")
		if len(domains) != 1 || domains[0]["domain"] != apptest.Domain || domains[0]["alignment"] != "pass" || domains[0]["dmarc_policy"] != "none" {
			t.Errorf("domains: %v", domains)
		}
		if len(providers) != 1 || providers[0]["isp"] != "google" || providers[0]["status"] != "healthy" || providers[0]["last_block"] != nil {
			t.Errorf("providers: %v", providers)
		}
		in.Clock.Advance(31 * 24 * time.Hour)
		if got := codes(get(t, in, "/stats/deliverability")); got != "raise_dmarc_policy" {
			t.Errorf("after a good month the actions are %q", got)
		}
	})
}

func TestSilentNameServersAreNoReasonToPublishAnything(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		const name = "shop.servfail.test"
		look := func(id string) apptest.Answer {
			in.Clock.Advance(time.Minute)
			return in.Must(http.StatusOK, http.MethodPost, "/domains/"+id+"/verify", nil)
		}
		proven := in.Must(http.StatusCreated, http.MethodPost, "/domains", fields{"domain": name}).Text("id")
		unproven := in.Must(http.StatusCreated, http.MethodPost, "/domains", fields{"domain": "news." + name}).Text("id")
		if err := in.Sandbox.Publish(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		records, _ := look(proven).Body["records"].([]any)
		for _, item := range records {
			published, _ := item.(map[string]any)
			in.Withdraw(fmt.Sprint(published["name"]))
		}
		if dkim := look(proven).Text("checks", "dkim", "status"); dkim != "dns_error" {
			t.Fatalf("the signing key was looked up: %s", dkim)
		}
		if answer := get(t, in, "/stats/deliverability", "domain_id", proven); codes(answer) != "" || !strings.HasPrefix(components(answer), "authentication=100 ") {
			t.Errorf("%s, and what to do is %q", components(answer), codes(answer))
		}
		look(unproven)
		if got := codes(get(t, in, "/stats/deliverability", "domain_id", unproven)); got != "publish_dkim publish_spf publish_dmarc fix_return_path" {
			t.Errorf("what to do about a domain that was never proven is %q", got)
		}
	})
}

func TestBadMailTellsWhatToDo(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		outcomes(t, in, "google", "email.delivered", 90, nil)
		outcomes(t, in, "google", "email.bounced", 10, fields{"bounce": fields{"class": "block"}})
		outcomes(t, in, "yahoo", "email.delivered", 100, nil)
		outcomes(t, in, "yahoo", "email.delivery_delayed", 30, fields{"previous_status": "", "delay": fields{"first": true, "class": "soft"}})
		outcomes(t, in, "yahoo", "email.complained", 2, fields{"previous_status": "delivered"})
		outcomes(t, in, "other", "email.delivered", 15, nil)
		outcomes(t, in, "other", "email.bounced", 5, fields{"bounce": fields{"class": "hard"}})
		outcomes(t, in, "proton", "email.delivered", 3, nil)
		if _, err := in.App.Domains.Register(context.Background(), in.Workspace, plan.Unlimited, domain.Registration{Domain: "new.test"}); err != nil {
			t.Fatal(err)
		}
		follow(t, in)
		answer := get(t, in, "/stats/deliverability")
		want := "publish_dkim publish_spf publish_dmarc fix_return_path reduce_bounces reduce_complaints ask_provider slow_down review_provider"
		if got := codes(answer); got != want {
			t.Errorf("actions are %s, want %s", got, want)
		}
		status := map[string]any{}
		for _, p := range rows(answer, "providers") {
			status[p["isp"].(string)] = p["status"]
			if p["isp"] == "google" && (p["block_rate"] != 0.1 || p["last_block"] == nil) {
				t.Errorf("google is %v", p)
			}
		}
		if got := fmt.Sprint(status); got != "map[google:blocked other:degraded proton:healthy yahoo:degraded]" {
			t.Errorf("providers are %s", got)
		}
		if answer.Text("grade") != "F" {
			t.Errorf("such mail is graded %s: %s", answer.Text("grade"), components(answer))
		}
	})
}

func TestTheMostUrgentOfAllDomainsComesFirst(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		for _, name := range []string{"one.test", "two.test"} {
			if _, err := in.App.Domains.Register(context.Background(), in.Workspace, plan.Unlimited, domain.Registration{Domain: name}); err != nil {
				t.Fatal(err)
			}
		}
		want := "publish_dkim publish_spf publish_dkim publish_spf publish_dmarc publish_dmarc fix_return_path fix_return_path"
		if got := codes(get(t, in, "/stats/deliverability")); got != want {
			t.Errorf("actions are %s, want %s", got, want)
		}
	})
}

func TestOfLittleMailOnlyABlockTellsSomething(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		for isp, class := range map[string]string{"google": "hard", "yahoo": "block"} {
			outcomes(t, in, isp, "email.delivered", 10, nil)
			outcomes(t, in, isp, "email.bounced", 9, fields{"bounce": fields{"class": class}})
		}
		follow(t, in)
		status := map[any]any{}
		for _, p := range rows(get(t, in, "/stats/deliverability"), "providers") {
			status[p["isp"]] = p["status"]
		}
		if got := fmt.Sprint(status); got != "map[google:healthy yahoo:degraded]" {
			t.Errorf("providers are %s", got)
		}
	})
}

func TestTheLastBlockOfAProviderIsTold(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		noon := in.Clock.Now().UTC().Truncate(24 * time.Hour).Add(12 * time.Hour)
		for _, at := range []time.Time{noon, noon.Add(time.Minute), noon.Add(-time.Minute)} {
			record(t, in, happened{"email.delivery_delayed", "ann@example.net", at, fields{"isp": "google", "delay": fields{"class": "block"}}},
				happened{"email.delivery_delayed", "ann@example.net", at.Add(time.Hour), fields{"isp": "google", "delay": fields{"class": "soft"}}})
			follow(t, in)
		}
		want := noon.Add(time.Minute).Format("2006-01-02T15:04:05.000Z")
		if providers := rows(get(t, in, "/stats/deliverability"), "providers"); len(providers) != 1 || providers[0]["last_block"] != want {
			t.Errorf("providers: %v, want a last block at %s", providers, want)
		}
	})
}

func TestWorkspaceWithoutDomainsIsToldToAddOne(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		_, key := in.NewWorkspace(plan.Free)
		answer := in.CallAs(key, "GET", "/stats/deliverability", nil, nil)
		if codes(answer) != "add_domain" || components(answer) != "authentication=0 bounces=100 complaints=100 provider_health=100" {
			t.Errorf("the scorecard is %s", answer.Raw)
		}
	})
}

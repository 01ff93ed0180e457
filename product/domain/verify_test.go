package domain_test

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/product/plan"
)

const include = "v=spf1 include:spf.mail.postrider.test ~all"

func TestDomainThatPublishesNothingIsPending(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := registered(t, in, "shop.test")
		answer := verify(t, in, id)
		if answer.Text("status") != "pending" || answer.Body["verified"] != false || answer.Text("last_checked_at") == "" || answer.Body["verified_at"] != nil {
			t.Errorf("%s", answer.Raw)
		}
		selector := answer.Text("dkim_selector")
		for check, message := range map[string]string{"spf": "No SPF record found.", "dkim": "No TXT record at " + selector + "._domainkey.shop.test.",
			"return_path": "No CNAME record at bounce.shop.test.", "tracking": "No CNAME record at track.shop.test."} {
			if answer.Text("checks", check, "status") != "missing" || answer.Text("checks", check, "message") != message {
				t.Errorf("%s: %v", check, answer.Text("checks", check))
			}
		}
		if r := recordOf(answer, "spf"); r["status"] != "pending" || r["message"] != "No SPF record found." {
			t.Errorf("%v", r)
		}
		if got := told(t, in, in.Workspace, id); !slices.Equal(got, []string{"domain.created"}) {
			t.Errorf("events %v", got)
		}
	})
}

func TestDomainThatPublishesItsRecordsIsVerified(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := registered(t, in, "shop.test")
		verify(t, in, id)
		publishAll(t, in, "shop.test")
		answer := verify(t, in, id)
		if answer.Text("status") != "verified" || answer.Body["verified"] != true || answer.Text("verified_at") == "" {
			t.Errorf("%s", answer.Raw)
		}
		for _, check := range []string{"spf", "dkim", "dmarc", "return_path", "tracking", "mx"} {
			if answer.Text("checks", check, "status") != "pass" {
				t.Errorf("%s: %s", check, answer.Text("checks", check))
			}
		}
		for _, purpose := range []string{"spf", "dkim", "dmarc", "return_path", "tracking", "receiving"} {
			if r := recordOf(answer, purpose); r["status"] != "verified" {
				t.Errorf("%s: %v", purpose, r)
			}
		}
		again := verify(t, in, id)
		if again.Text("verified_at") != answer.Text("verified_at") {
			t.Errorf("verified at %s, then at %s", answer.Text("verified_at"), again.Text("verified_at"))
		}
		if got := told(t, in, in.Workspace, id); !slices.Equal(got, []string{"domain.created", "domain.verified"}) {
			t.Errorf("events %v", got)
		}
	})
}

func TestOnlySPFAndDKIMAreNeeded(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	id := registered(t, in, "shop.test")
	dkim := recordOf(in.Call(http.MethodGet, "/domains/"+id, nil), "dkim")
	in.Publish("shop.test", "TXT", include)
	if got := verify(t, in, id).Text("status"); got != "partially_verified" {
		t.Errorf("with SPF alone: %s", got)
	}
	in.Publish(fmt.Sprint(dkim["name"]), "TXT", fmt.Sprint(dkim["value"]))
	answer := verify(t, in, id)
	if answer.Text("status") != "verified" || answer.Text("checks", "dmarc", "status") != "missing" {
		t.Errorf("%s", answer.Raw)
	}
}

func TestTheOrganisationSpeaksForADomainWithoutDMARC(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	id := registered(t, in, "mail.shop.test")
	for _, c := range []struct{ name, record, status, message string }{
		{"_dmarc.shop.test", "v=DMARC1; p=reject", "pass", "The policy of shop.test holds for this domain, too."},
		{"_dmarc.mail.shop.test", "v=DMARC1; p=none", "pass", ""},
	} {
		in.Publish(c.name, "TXT", c.record)
		in.Clock.Advance(time.Minute)
		answer := verify(t, in, id)
		if answer.Text("checks", "dmarc", "status") != c.status || answer.Text("checks", "dmarc", "message") != c.message {
			t.Errorf("%s: %s %q", c.name, answer.Text("checks", "dmarc", "status"), answer.Text("checks", "dmarc", "message"))
		}
	}
}

func TestEachWrongRecordIsToldApart(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	id := registered(t, in, "shop.test")
	publishAll(t, in, "shop.test")
	dkim := recordOf(in.Call(http.MethodGet, "/domains/"+id, nil), "dkim")
	dkimName, dkimValue := fmt.Sprint(dkim["name"]), fmt.Sprint(dkim["value"])
	for _, c := range []struct {
		check, status, name, kind string
		values                    []string
	}{
		{"spf", "multiple", "shop.test", "TXT", []string{include, "v=spf1 -all"}},
		{"spf", "mismatch", "shop.test", "TXT", []string{"v=spf1 include:spf.other.test ~all"}},
		{"spf", "mismatch", "shop.test", "TXT", []string{"v=spf1 include:spf.mail.postrider.test.evil.test ~all"}},
		{"spf", "mismatch", "shop.test", "TXT", []string{"v=spf1 -include:spf.mail.postrider.test ~all"}},
		{"spf", "missing", "shop.test", "TXT", []string{"v=spf10 include:spf.mail.postrider.test", "google-site-verification=x"}},
		{"spf", "pass", "shop.test", "TXT", []string{"google-site-verification=x", "V=SPF1 ip4:192.0.2.1 +include:SPF.mail.postrider.test -all"}},
		{"dkim", "multiple", dkimName, "TXT", []string{dkimValue, "v=DKIM1; k=rsa; p=AAAA"}},
		{"dkim", "mismatch", dkimName, "TXT", []string{"v=DKIM1; k=rsa; p="}},
		{"dkim", "mismatch", dkimName, "TXT", []string{"hello"}},
		{"dkim", "mismatch", dkimName, "TXT", []string{dkimValue[:len(dkimValue)-20]}},
		{"dkim", "missing", dkimName, "TXT", nil},
		{"dkim", "pass", dkimName, "TXT", []string{dkimValue}},
		{"dmarc", "multiple", "_dmarc.shop.test", "TXT", []string{"v=DMARC1; p=none", "v=DMARC1; p=reject"}},
		{"dmarc", "missing", "_dmarc.shop.test", "TXT", []string{"hello"}},
		{"dmarc", "pass", "_dmarc.shop.test", "TXT", []string{"v=DMARC1; p=reject"}},
		{"return_path", "mismatch", "bounce.shop.test", "CNAME", []string{"elsewhere.test"}},
		{"mx", "mismatch", "shop.test", "MX", []string{"10 mx.elsewhere.test"}},
		{"mx", "mismatch", "shop.test", "MX", []string{"10 mx1.mail.postrider.test", "5 mx.elsewhere.test"}},
		{"mx", "pass", "shop.test", "MX", []string{"10 mx.elsewhere.test", "10 mx1.mail.postrider.test"}},
		{"mx", "pass", "shop.test", "MX", []string{"10 mx1.mail.postrider.test", "10 mx.elsewhere.test"}},
	} {
		in.Publish(c.name, c.kind, c.values...)
		in.Clock.Advance(time.Minute)
		answer := verify(t, in, id)
		if got := answer.Text("checks", c.check, "status"); got != c.status {
			t.Errorf("%s of %q is %s, want %s", c.check, c.values, got, c.status)
		}
		if c.status != "pass" && answer.Text("checks", c.check, "message") == "" {
			t.Errorf("%s of %q says nothing", c.check, c.values)
		}
	}
}

func TestWrongRecordShowsWhatWasFound(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	id := registered(t, in, "shop.test")
	in.Publish("shop.test", "TXT", "v=spf1 -all", "unrelated")
	r := recordOf(verify(t, in, id), "spf")
	if r["status"] != "failed" || fmt.Sprint(r["found"]) != "[v=spf1 -all]" || r["value"] != "v=spf1 include:spf.mail.postrider.test -all" {
		t.Errorf("%v", r)
	}
}

func TestSilentNameServersChangeNothing(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := registered(t, in, "shop.servfail.test")
		answer := verify(t, in, id)
		if answer.Text("status") != "pending" || answer.Text("checks", "spf", "status") != "dns_error" || recordOf(answer, "dkim")["status"] != "temporary_failure" {
			t.Errorf("new: %s", answer.Raw)
		}
		publishAll(t, in, "shop.servfail.test")
		if got := verify(t, in, id).Text("status"); got != "verified" {
			t.Fatalf("published: %s", got)
		}
		records, _ := answer.Body["records"].([]any)
		for _, item := range records {
			r, _ := item.(map[string]any)
			in.Withdraw(fmt.Sprint(r["name"]))
		}
		for range 4 {
			answer = verify(t, in, id)
			if answer.Text("status") != "verified" || answer.Body["verified"] != true || answer.Text("checks", "spf", "status") != "dns_error" {
				t.Errorf("silent again: %s", answer.Raw)
			}
			in.Clock.Advance(12 * time.Hour)
		}
		in.Must(http.StatusAccepted, http.MethodPost, "/emails", fields{"from": "a@shop.servfail.test", "to": "ann@example.net", "subject": "Hello", "text": "Hello"})
		in.Deliver()
		if from := in.Mailbox("ann@example.net")[0].Envelope.From; !strings.HasSuffix(from, "@bounce.shop.servfail.test") {
			t.Errorf("the return path became %s", from)
		}
	})
}

func TestVerifiedDomainFallsOnlyAfterThreeFailedRoundsOverADay(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		in.Publish(apptest.Domain, "TXT")
		for round, wait := range []time.Duration{0, 8 * time.Hour, 8 * time.Hour, 7 * time.Hour} {
			in.Clock.Advance(wait)
			answer := verify(t, in, in.DomainID)
			if answer.Body["verified"] != true || answer.Text("status") != "verified" || answer.Text("checks", "spf", "status") != "missing" {
				t.Fatalf("round %d: %s", round, answer.Raw)
			}
			in.Send("ann@example.net")
		}
		in.Clock.Advance(2 * time.Hour)
		answer := verify(t, in, in.DomainID)
		if answer.Body["verified"] != false || answer.Text("status") != "partially_failed" {
			t.Fatalf("a day later: %s", answer.Raw)
		}
		if got := told(t, in, in.Workspace, in.DomainID); !slices.Equal(got, []string{"domain.created", "domain.verified", "domain.failed"}) {
			t.Errorf("events %v", got)
		}
		sent := in.Call(http.MethodPost, "/emails", fields{"from": "a@acme.test", "to": "ann@example.net", "subject": "Hello", "text": "Hello"})
		refused(t, sent, http.StatusForbidden, "domain_auth_broken")
		if sent.Text("error", "details", "checks", "spf") != "missing" || sent.Text("error", "details", "checks", "dkim") != "pass" {
			t.Errorf("%s", sent.Raw)
		}

		in.Publish(apptest.Domain, "TXT", include)
		if got := verify(t, in, in.DomainID).Text("status"); got != "verified" {
			t.Errorf("repaired: %s", got)
		}
		in.Send("ann@example.net")
	})
}

func TestTwoFailedRoundsAreForgottenAfterASuccess(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	for range 3 {
		in.Publish(apptest.Domain, "TXT")
		verify(t, in, in.DomainID)
		in.Clock.Advance(25 * time.Hour)
		if answer := verify(t, in, in.DomainID); answer.Body["verified"] != true {
			t.Fatalf("%s", answer.Raw)
		}
		in.Publish(apptest.Domain, "TXT", include)
		verify(t, in, in.DomainID)
	}
}

func TestDomainThatNeverPassedFailsAfterThreeDays(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	id := registered(t, in, "shop.test")
	in.Clock.Advance(71 * time.Hour)
	if got := verify(t, in, id).Text("status"); got != "pending" {
		t.Errorf("before: %s", got)
	}
	in.Clock.Advance(2 * time.Hour)
	for range 2 {
		if got := verify(t, in, id).Text("status"); got != "failed" {
			t.Errorf("after: %s", got)
		}
	}
	if got := told(t, in, in.Workspace, id); !slices.Equal(got, []string{"domain.created", "domain.failed"}) {
		t.Errorf("events %v", got)
	}
	publishAll(t, in, "shop.test")
	if got := verify(t, in, id).Text("status"); got != "verified" {
		t.Errorf("published at last: %s", got)
	}
}

func TestDomainIsVerifiedAtMostSixTimesAMinute(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	_, stranger := in.NewWorkspace(plan.Unlimited)
	for range 10 { // a stranger who knows the id uses nothing up
		if answer := in.CallAs(stranger, http.MethodPost, "/domains/"+in.DomainID+"/verify", nil, nil); answer.Status == http.StatusOK {
			t.Fatalf("%s", answer.Raw)
		}
	}
	for range 6 {
		verify(t, in, in.DomainID)
	}
	answer := in.Call(http.MethodPost, "/domains/"+in.DomainID+"/verify", nil)
	refused(t, answer, http.StatusTooManyRequests, "rate_limit_exceeded")
	if answer.Text("error", "details", "bucket") != "domain_verify" || answer.Header.Get("Retry-After") != answer.Text("error", "details", "retry_after_sec") {
		t.Errorf("%s, Retry-After %s", answer.Raw, answer.Header.Get("Retry-After"))
	}
	verify(t, in, registered(t, in, "shop.test")) // another domain has its own count
	in.Clock.Advance(time.Minute)
	verify(t, in, in.DomainID)
}

func TestForeignDomainLooksExactlyLikeOneThatDoesNotExist(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		_, stranger := in.NewWorkspace(plan.Unlimited)
		same := map[string]string{"X-Request-Id": "request-1"}
		for _, route := range []struct{ method, suffix string }{{http.MethodGet, ""}, {http.MethodPost, "/verify"}} {
			var first []byte
			for _, id := range []string{in.DomainID, "0193a1e0-2222-7000-8000-0000000000d1", "no-id", strings.ToUpper(in.DomainID)} {
				answer := in.CallAs(stranger, route.method, "/domains/"+id+route.suffix, nil, same)
				refused(t, answer, http.StatusNotFound, "not_found")
				if first == nil {
					first = answer.Raw
				}
				if !bytes.Equal(answer.Raw, first) {
					t.Errorf("%s %s: %s, then %s", route.method, id, first, answer.Raw)
				}
			}
		}
	})
}

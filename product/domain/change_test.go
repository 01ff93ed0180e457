package domain_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/platform/api"
	"postrider/product/domain"
)

// recheck lets the background look at every domain that is due.
func recheck(t *testing.T, in *apptest.Installation) {
	t.Helper()
	for _, w := range in.App.Domains.Workers() {
		for range 100 {
			busy, err := w.Step(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if !busy {
				break
			}
		}
	}
}

func get(t *testing.T, in *apptest.Installation, id string) apptest.Answer {
	t.Helper()
	answer := in.Call(http.MethodGet, "/domains/"+id, nil)
	if answer.Status != http.StatusOK {
		t.Fatalf("%d %s", answer.Status, answer.Raw)
	}
	return answer
}

func TestDomainGoesFromPendingToVerifiedToBrokenByItself(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := registered(t, in, "shop.test")
		recheck(t, in)
		if got := get(t, in, id).Text("status"); got != "not_started" {
			t.Fatalf("looked at before it was due: %s", got)
		}
		in.Clock.Advance(10 * time.Minute)
		recheck(t, in)
		if got := get(t, in, id).Text("status"); got != "pending" {
			t.Fatalf("first look: %s", got)
		}
		publishAll(t, in, "shop.test")
		in.Clock.Advance(10 * time.Minute)
		recheck(t, in)
		if answer := get(t, in, id); answer.Text("status") != "verified" || answer.Text("next_check_at") == "" {
			t.Fatalf("published: %s", answer.Raw)
		}
		in.Publish("shop.test", "TXT")
		for range 16 {
			in.Clock.Advance(3 * time.Hour)
			recheck(t, in)
		}
		if answer := get(t, in, id); answer.Body["verified"] != false || answer.Text("status") != "partially_failed" {
			t.Fatalf("two days without records: %s", answer.Raw)
		}
		if got := told(t, in, in.Workspace, id); !slices.Equal(got, []string{"domain.created", "domain.verified", "domain.failed"}) {
			t.Errorf("events %v", got)
		}
	})
}

func TestAVerifiedDomainIsLeftAloneUntilItsNextCheck(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := registered(t, in, "shop.test")
		publishAll(t, in, "shop.test")
		before := verify(t, in, id).Text("last_checked_at")
		in.Clock.Advance(10 * time.Minute)
		recheck(t, in)
		if after := get(t, in, id).Text("last_checked_at"); after != before {
			t.Errorf("looked at %s and again at %s", before, after)
		}
	})
}

func TestARemovedDomainIsToldOfAndCountedNoMore(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := registered(t, in, "shop.test")
		if gone := in.Browse(http.MethodDelete, "/v1/domains/"+id, nil); gone.Status != http.StatusOK {
			t.Fatalf("%d %s", gone.Status, gone.Raw)
		}
		if got := told(t, in, in.Workspace, id); !slices.Equal(got, []string{"domain.created", "domain.deleted"}) {
			t.Errorf("events %v", got)
		}
		if list := in.Call(http.MethodGet, "/domains", nil); list.Body["total"] != 1.0 || !slices.Equal(names(list), []string{apptest.Domain}) {
			t.Errorf("%s", list.Raw)
		}
	})
}

func TestAnotherNodeNoticesWithinASecond(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		other := domain.New(in.App.World, in.App.DB, in.Keys, in.App.Plans, in.App.Domains.Hosts(), nil, nil)
		if _, err := other.ForSending(t.Context(), in.Workspace, apptest.Domain); err != nil {
			t.Fatal(err)
		}
		in.Must(http.StatusOK, http.MethodPatch, "/domains/"+in.DomainID, fields{"capabilities": fields{"sending": "disabled"}})
		in.Clock.Advance(time.Second)
		if _, err := other.ForSending(t.Context(), in.Workspace, apptest.Domain); !errors.Is(err, api.ErrDomainNotAllowed) {
			t.Errorf("%v", err)
		}
	})
}

func TestALabelThatIsChangedHasToBeProvenAgain(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		answer := in.Must(http.StatusOK, http.MethodPatch, "/domains/"+in.DomainID, fields{"custom_return_path": "mailer", "tracking_subdomain": "go"})
		for _, purpose := range []string{"return_path", "tracking"} {
			if r := recordOf(answer, purpose); r["status"] != "not_started" {
				t.Errorf("%v", r)
			}
		}
		if ours, err := in.App.Domains.TracksAt(t.Context(), "go."+apptest.Domain); err != nil || ours {
			t.Errorf("%v %v", ours, err)
		}
		if got := told(t, in, in.Workspace, in.DomainID); !slices.Equal(got, []string{"domain.created", "domain.verified", "domain.updated"}) {
			t.Errorf("events %v", got)
		}
	})
}

func TestADomainIsLetGoByItsNode(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		path, node := "/domains/"+in.DomainID, addNode(t, in, "eu")
		if bound := in.Must(http.StatusOK, http.MethodPatch, path, fields{"sending_node_id": node}); bound.Text("provider") != "node:"+node {
			t.Errorf("%s", bound.Raw)
		}
		if free := in.Must(http.StatusOK, http.MethodPatch, path, fields{"sending_node_id": nil}); free.Text("provider") != "inherit" || free.Body["sending_node_id"] != nil {
			t.Errorf("%s", free.Raw)
		}
	})
}

func TestTheProviderOfADomainCanNameANode(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		path, node := "/domains/"+in.DomainID, addNode(t, in, "eu")
		made := in.Must(http.StatusCreated, http.MethodPost, "/domains", fields{"domain": "shop.test", "provider": "node:" + node})
		bound := in.Must(http.StatusOK, http.MethodPatch, path, fields{"provider": "node:" + node})
		// As it was read, it can be written; an empty id says nothing.
		again := in.Must(http.StatusOK, http.MethodPatch, path, fields{"provider": bound.Body["provider"], "sending_node_id": bound.Body["sending_node_id"]})
		empty := in.Must(http.StatusOK, http.MethodPatch, path, fields{"sending_node_id": ""})
		for _, d := range []apptest.Answer{made, bound, again, empty} {
			if d.Text("provider") != "node:"+node || d.Text("sending_node_id") != node {
				t.Errorf("%s", d.Raw)
			}
		}
		for _, wrong := range []fields{{"provider": "node:"}, {"provider": "node:" + in.DomainID}, {"provider": "node:" + node, "sending_node_id": in.DomainID},
			{"provider": "node:" + node, "sending_node_id": nil}} {
			refused(t, in.Call(http.MethodPatch, path, wrong), http.StatusBadRequest, "validation_error")
		}
		if free := in.Must(http.StatusOK, http.MethodPatch, path, fields{"provider": "direct"}); free.Text("provider") != "direct" || free.Body["sending_node_id"] != nil {
			t.Errorf("%s", free.Raw)
		}
	})
}

func TestChecksOfManyDomainsAreSpread(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	due := map[string]bool{}
	for n := range 5 {
		id := registered(t, in, fmt.Sprintf("shop%d.test", n))
		due[get(t, in, id).Text("next_check_at")[:19]] = true
	}
	if len(due) < 4 {
		t.Errorf("five domains are due in the same seconds: %v", due)
	}
}

func TestPolicyThatExistsIsMergedNotReplaced(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	id := registered(t, in, "shop.test")
	in.Publish("shop.test", "TXT", "v=spf1 ip4:192.0.2.1 include:_spf.other.test -all")
	in.Publish("_spf.other.test", "TXT", "v=spf1 ip4:192.0.2.2 -all")
	want := "v=spf1 include:spf.mail.postrider.test ip4:192.0.2.1 include:_spf.other.test -all"
	if r := recordOf(verify(t, in, id), "spf"); r["value"] != want || !strings.Contains(fmt.Sprint(r["message"]), "yours with it added") {
		t.Fatalf("%v", r)
	}
	in.Publish("shop.test", "TXT", want)
	if r := recordOf(verify(t, in, id), "spf"); r["status"] != "verified" || r["value"] != want {
		t.Fatalf("%v", r)
	}
}

func TestPolicyMayIncludeUsThroughAnother(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	id := registered(t, in, "shop.test")
	in.Publish("shop.test", "TXT", "v=spf1 include:_spf.shop.test -all")
	in.Publish("_spf.shop.test", "TXT", "v=spf1 include:spf.mail.postrider.test -all")
	if got := verify(t, in, id).Text("checks", "spf", "status"); got != "pass" {
		t.Fatalf("spf %s", got)
	}
}

func TestPolicyWithTooManyLookupsIsNoGood(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	id := registered(t, in, "shop.test")
	in.Publish("shop.test", "TXT", "v=spf1 include:spf.mail.postrider.test"+strings.Repeat(" mx", 10)+" -all")
	if got := verify(t, in, id).Text("checks", "spf", "status"); got != "too_many_lookups" {
		t.Fatalf("spf %s", got)
	}
}

// selectors returns the selectors of the DKIM records, with their status.
func selectors(answer apptest.Answer) map[string]string {
	found := map[string]string{}
	list, _ := answer.Body["records"].([]any)
	for _, item := range list {
		if r, _ := item.(map[string]any); r["purpose"] == "dkim" {
			name, _, _ := strings.Cut(fmt.Sprint(r["name"]), "._domainkey")
			found[name] = fmt.Sprint(r["status"])
		}
	}
	return found
}

// signed returns the selectors that signed the newest mail to an address.
func signed(t *testing.T, in *apptest.Installation, to string) []string {
	t.Helper()
	in.Send(to)
	in.Deliver()
	received := in.Mailbox(to)
	if len(received) == 0 || received[0].Authentication["dkim"] != "pass" {
		t.Fatalf("mail to %s: %+v", to, received)
	}
	var by []string
	for line := range strings.SplitSeq(received[0].Raw, ";") {
		if selector, ok := strings.CutPrefix(strings.TrimSpace(line), "s="); ok {
			by = append(by, selector)
		}
	}
	return by
}

func TestNewKeyTakesOverWhenItsRecordIsPublished(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		before := get(t, in, in.DomainID).Text("dkim_selector")
		rotated := in.Call(http.MethodPost, "/domains/"+in.DomainID+"/rotate-dkim", nil)
		if rotated.Status != http.StatusOK || len(selectors(rotated)) != 3 || rotated.Text("dkim_selector") != before {
			t.Fatalf("%d %s", rotated.Status, rotated.Raw)
		}
		refused(t, in.Call(http.MethodPost, "/domains/"+in.DomainID+"/rotate-dkim", nil), http.StatusConflict, "invalid_state")
		if verify(t, in, in.DomainID).Text("dkim_selector") != before || signed(t, in, "a1@example.net")[0] != before {
			t.Fatal("the new key signs before its record is published")
		}

		publishAll(t, in, apptest.Domain)
		answer := verify(t, in, in.DomainID)
		after := answer.Text("dkim_selector")
		if after == before || answer.Body["verified"] != true || signed(t, in, "a2@example.net")[0] != after {
			t.Fatalf("the new key does not sign: %s", answer.Raw)
		}
		if _, kept := selectors(answer)[before]; !kept {
			t.Error("the record of the old key may be removed while its mail is on its way")
		}
		in.Clock.Advance(8 * 24 * time.Hour)
		if _, kept := selectors(verify(t, in, in.DomainID))[before]; kept {
			t.Error("the old key is kept for ever")
		}
	})
}

func TestSecondSignatureIsMadeWhileItsRecordIsThere(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	by := signed(t, in, "a1@example.net")
	if len(by) != 2 || by[0][0] != 's' || by[1][0] != 'e' {
		t.Fatalf("signed by %v", by)
	}
	in.Publish(by[1]+"._domainkey."+apptest.Domain, "TXT")
	verify(t, in, in.DomainID)
	if again := signed(t, in, "a2@example.net"); len(again) != 1 || again[0] != by[0] {
		t.Fatalf("signed by %v", again)
	}
}

func TestSettingsAreChangedOneByOne(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		answer := in.Call(http.MethodPatch, "/domains/"+in.DomainID, fields{"open_tracking": true, "tls": "enforced", "custom_return_path": "mailer", "verified": false, "id": "x"})
		if answer.Status != http.StatusOK || answer.Body["open_tracking"] != true || answer.Body["click_tracking"] != false || answer.Text("tls") != "enforced" ||
			recordOf(answer, "return_path")["name"] != "mailer.acme.test" || answer.Body["verified"] != true || answer.Text("id") != in.DomainID {
			t.Fatalf("%d %s", answer.Status, answer.Raw)
		}
		in.Send("ann@example.net")
		in.Deliver()
		if from := in.Mailbox("ann@example.net")[0].Envelope.From; !strings.HasSuffix(from, "@bounces.mail.postrider.test") {
			t.Errorf("the return path %s is used before its record is there", from)
		}
		off := in.Call(http.MethodPatch, "/domains/"+in.DomainID, fields{"capabilities": fields{"sending": "disabled"}})
		if off.Text("capabilities", "sending") != "disabled" {
			t.Fatalf("%s", off.Raw)
		}
		refused(t, in.Call(http.MethodPost, "/emails", fields{"from": "a@acme.test", "to": "b@example.net", "subject": "x", "text": "x"}), http.StatusForbidden, "domain_not_allowed")
		wrong := fields{"tls": "never", "provider": "pigeon", "dmarc_policy": "maybe", "tracking_subdomain": "a.b", "custom_return_path": "track",
			"sending_node_id": in.DomainID}
		for field, value := range wrong {
			if answer := in.Call(http.MethodPatch, "/domains/"+in.DomainID, fields{field: value}); answer.Status != http.StatusBadRequest {
				t.Errorf("%s %v: %d %s", field, value, answer.Status, answer.Raw)
			}
		}
	})
}

func TestReceivingWaitsUntilMailWouldArrive(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		path := "/domains/" + in.DomainID + "/receiving"
		answer := in.Call(http.MethodPost, path, fields{"enabled": true})
		refused(t, answer, http.StatusConflict, "inbound_receiver_unhealthy")
		if !strings.Contains(string(answer.Raw), `"checks":[{"name":"receiver","status":"fail"`) {
			t.Errorf("%s", answer.Raw)
		}
		if after := get(t, in, in.DomainID); after.Body["receiving_requested"] != true || after.Text("capabilities", "receiving") != "disabled" {
			t.Errorf("the wish was not remembered: %s", after.Raw)
		}
		if answer := in.Call(http.MethodPost, path, fields{"enabled": false}); answer.Status != http.StatusOK || answer.Body["receiving_requested"] != false {
			t.Errorf("off: %d %s", answer.Status, answer.Raw)
		}
		if answer := in.Call(http.MethodPost, path, fields{}); answer.Status != http.StatusBadRequest {
			t.Errorf("neither: %d", answer.Status)
		}
	})
}

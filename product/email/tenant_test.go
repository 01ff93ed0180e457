package email_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"postrider/app/apptest"
)

// customer makes a managed customer with a verified domain and returns the ids of both.
func customer(t *testing.T, in *apptest.Installation, name, provider string) (id, domainID string) {
	t.Helper()
	created := in.Call(http.MethodPost, "/managed-tenants", map[string]any{"external_id": "shop_4711", "name": "Shop", "provider": provider})
	if created.Status != http.StatusCreated {
		t.Fatalf("%d %s", created.Status, created.Raw)
	}
	id = created.Text("id")
	added := in.Call(http.MethodPost, "/managed-tenants/"+id+"/domains", map[string]any{"domain": name})
	if added.Status != http.StatusCreated {
		t.Fatalf("%d %s", added.Status, added.Raw)
	}
	if err := in.Sandbox.Publish(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	verified := in.Call(http.MethodPost, "/domains/"+added.Text("id")+"/verify", nil)
	if verified.Body["verified"] != true {
		t.Fatalf("%d %s", verified.Status, verified.Raw)
	}
	return id, added.Text("id")
}

func sendFrom(in *apptest.Installation, from string, more map[string]any) apptest.Answer {
	body := map[string]any{"from": from, "to": "ann@example.net", "subject": "Hello", "text": "Hello"}
	for name, value := range more {
		body[name] = value
	}
	return in.Call(http.MethodPost, "/emails", body)
}

func TestTheDomainOfASenderNamesItsCustomer(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id, _ := customer(t, in, "shop4711.test", "inherit")
		sent := sendFrom(in, "a@shop4711.test", nil)
		in.Deliver()
		record := in.Email(sent.Text("id"))
		if record.Text("managed_tenant_id") != id || record.Text("status") != "delivered" || record.Text("provider") != "direct" {
			t.Fatalf("%s", record.Raw)
		}
		in.Send("eve@example.net")
		if list := in.Call(http.MethodGet, "/emails?managed_tenant_id="+id, nil); len(rows(list)) != 1 || rows(list)[0]["id"] != sent.Text("id") {
			t.Errorf("emails of the customer: %s", list.Raw)
		}
		if own := in.Email(in.Send("bob@example.net")); own.Text("managed_tenant_id") != "" {
			t.Errorf("mail of the workspace itself is counted for %s", own.Text("managed_tenant_id"))
		}
		if used := in.Call(http.MethodGet, "/managed-tenants/"+id, nil).Text("usage", "emails_this_month"); used != "1" {
			t.Errorf("usage %s", used)
		}
	})
}

func TestPausedCustomerSendsNothingNewAndQueuedMailGoesOn(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id, domainID := customer(t, in, "shop4711.test", "inherit")
		queued := sendFrom(in, "a@shop4711.test", nil)
		scheduled := sendFrom(in, "a@shop4711.test", map[string]any{"scheduled_at": "in 10 minutes"})
		in.Call(http.MethodPatch, "/managed-tenants/"+id, map[string]any{"status": "paused"})

		refused := sendFrom(in, "a@shop4711.test", nil)
		if refused.Status != http.StatusConflict || refused.Text("error", "code") != "managed_tenant_paused" || refused.Text("error", "details", "managed_tenant_id") != id {
			t.Fatalf("send: %d %s", refused.Status, refused.Raw)
		}
		if verify := in.Call(http.MethodPost, "/domains/"+domainID+"/verify", nil); verify.Text("error", "code") != "managed_tenant_paused" {
			t.Errorf("verify: %d %s", verify.Status, verify.Raw)
		}
		in.Deliver()
		if got := in.Email(queued.Text("id")).Text("status"); got != "delivered" {
			t.Errorf("queued before the pause: %s", got)
		}
		in.Clock.Advance(15 * time.Minute)
		in.Deliver()
		if record := in.Email(scheduled.Text("id")); record.Text("status") != "failed" || record.Text("failure", "reason") != "managed_tenant_paused" {
			t.Errorf("scheduled into the pause: %s %s", record.Text("status"), record.Text("failure", "reason"))
		}
		in.Call(http.MethodPatch, "/managed-tenants/"+id, map[string]any{"paused": false})
		if again := sendFrom(in, "a@shop4711.test", nil); again.Status != http.StatusAccepted {
			t.Errorf("resumed: %d %s", again.Status, again.Raw)
		}
	})
}

// standings are the states of an email's recipients, in order.
func standings(record apptest.Answer) string {
	list, _ := record.Body["recipients"].([]any)
	states := make([]string, len(list))
	for i := range list {
		entry, _ := list[i].(map[string]any)
		states[i] = fmt.Sprint(entry["status"])
	}
	return strings.Join(states, " ")
}

func TestAPauseEndsScheduledMailForAllItsRecipientsOrForNone(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id, _ := customer(t, in, "shop4711.test", "inherit")
		scheduled := func() string {
			return sendFrom(in, "a@shop4711.test", map[string]any{"to": many(2), "scheduled_at": "in 10 minutes"}).Text("id")
		}
		before := scheduled()
		in.Clock.Advance(15 * time.Minute)
		pickUp(t, in)
		after := scheduled()
		in.Call(http.MethodPatch, "/managed-tenants/"+id, map[string]any{"status": "paused"})
		in.Clock.Advance(15 * time.Minute)
		pickUp(t, in)
		pickUp(t, in)
		pickUp(t, in)
		if got := standings(in.Email(after)); got != "failed failed" {
			t.Errorf("due in the pause: %s", got)
		}
		if got := standings(in.Email(before)); strings.Contains(got, "failed") || strings.Contains(got, "scheduled") {
			t.Errorf("due before the pause: %s", got)
		}
	})
}

func TestCancelledMailIsNotCountedForItsCustomer(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	id, _ := customer(t, in, "shop4711.test", "inherit")
	sent := sendFrom(in, "a@shop4711.test", map[string]any{"scheduled_at": "in 10 minutes"})
	in.Call(http.MethodPost, "/emails/"+sent.Text("id")+"/cancel", nil)
	if used := in.Call(http.MethodGet, "/managed-tenants/"+id, nil).Text("usage", "emails_this_month"); used != "0" {
		t.Errorf("usage %s", used)
	}
}

func TestProviderOfTheCustomerDecidesUnlessTheDomainDoes(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	id, domainID := customer(t, in, "shop4711.test", "relay")
	if got := in.Email(sendFrom(in, "a@shop4711.test", nil).Text("id")).Text("provider"); got != "relay" {
		t.Errorf("customer says relay: %s", got)
	}
	in.Call(http.MethodPatch, "/domains/"+domainID, map[string]any{"provider": "direct"})
	if got := in.Email(sendFrom(in, "a@shop4711.test", nil).Text("id")).Text("provider"); got != "direct" {
		t.Errorf("domain says direct: %s", got)
	}
	in.Call(http.MethodPatch, "/domains/"+domainID, map[string]any{"provider": "inherit"})
	in.Call(http.MethodPatch, "/managed-tenants/"+id, map[string]any{"provider": "direct"})
	if got := in.Email(sendFrom(in, "a@shop4711.test", nil).Text("id")).Text("provider"); got != "direct" {
		t.Errorf("both direct: %s", got)
	}
}

func TestASuspendedWorkspaceSendsNothingThatWasScheduled(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		scheduled := sendFrom(in, "a@acme.test", map[string]any{"scheduled_at": "in 10 minutes"}).Text("id")
		later := sendFrom(in, "a@acme.test", map[string]any{"scheduled_at": "in 2 hours"}).Text("id")
		if err := in.App.Accounts.Suspend(t.Context(), in.Workspace, "spam reports"); err != nil {
			t.Fatal(err)
		}
		in.Clock.Advance(15 * time.Minute)
		in.Deliver()
		if err := in.App.Accounts.Resume(t.Context(), in.Workspace); err != nil {
			t.Fatal(err)
		}
		in.Clock.Advance(2 * time.Hour)
		in.Deliver()
		if record := in.Email(scheduled); record.Text("status") != "failed" || record.Text("failure", "reason") != "workspace_suspended" {
			t.Errorf("scheduled into the suspension: %s %s", record.Text("status"), record.Text("failure", "reason"))
		}
		if status := in.Email(later).Text("status"); status != "delivered" {
			t.Errorf("scheduled for later: %s", status)
		}
	})
}

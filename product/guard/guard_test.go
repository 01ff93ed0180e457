package guard_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/platform/space"
	"postrider/product/apikey"
	"postrider/product/plan"
)

type fields = map[string]any

// subject is whose mail a test makes happen.
type subject struct {
	workspace space.ID
	tenant    string
}

// happen records what became of many mails.
func happen(t *testing.T, in *apptest.Installation, of subject, kind string, count int, more fields) {
	t.Helper()
	err := in.App.DB.Write(context.Background(), func(tx *db.Tx) error {
		events := make([]event.Event, count)
		for i := range events {
			data := fields{"created_at": tx.Now(), "to": []string{"ann@example.net"}, "previous_status": "queued", "bounce": fields{"class": "hard"}}
			for name, value := range more {
				data[name] = value
			}
			raw, err := json.Marshal(data)
			if err != nil {
				return err
			}
			id := in.App.World.NewID()
			events[i] = event.Event{ID: id, Workspace: of.workspace, Type: kind, Subject: id, Domain: in.DomainID, Tenant: of.tenant,
				Recipient: "ann@example.net", OccurredAt: tx.Now(), Data: raw}
		}
		return event.Append(tx, events...)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// look lets everything be counted and judged, after a while.
func look(t *testing.T, in *apptest.Installation, later time.Duration) {
	t.Helper()
	in.CatchUp(append(in.App.Stats.Followers(), in.App.Guard.Followers()...))
	in.Clock.Advance(later)
	in.Finish(in.App.Guard.Step)
}

// steps returns the events of guardrails about a subject, in order.
func steps(t *testing.T, in *apptest.Installation, ws space.ID, id string) string {
	t.Helper()
	var found []string
	err := in.App.DB.Read(context.Background(), func(tx *db.Tx) error {
		events, err := event.OfSubject(tx, ws, id, "", 100, 0)
		found = nil
		for _, e := range events {
			if name, ok := strings.CutPrefix(e.Type, "guardrail."); ok {
				found = append(found, name)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(found, " ")
}

func audited(t *testing.T, in *apptest.Installation) string {
	t.Helper()
	var found []string
	err := in.App.DB.Read(context.Background(), func(tx *db.Tx) (err error) {
		found, err = db.All(tx, db.Value[string], `SELECT action FROM account_audit WHERE action LIKE 'guardrail.%' ORDER BY id`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(found, " ")
}

// shop is a managed customer with a domain it may send from.
func shop(t *testing.T, in *apptest.Installation) subject {
	t.Helper()
	id := in.Must(http.StatusCreated, http.MethodPost, "/managed-tenants", fields{"external_id": "shop", "name": "Shop"}).Text("id")
	in.Must(http.StatusCreated, http.MethodPost, "/managed-tenants/"+id+"/domains", fields{"domain": "shop.test"})
	if err := in.Sandbox.Publish(context.Background(), "shop.test"); err != nil {
		t.Fatal(err)
	}
	var domain string
	for _, d := range in.Must(http.StatusOK, http.MethodGet, "/managed-tenants/"+id, nil).Body["domains"].([]any) {
		domain = d.(fields)["id"].(string)
	}
	in.Must(http.StatusOK, http.MethodPost, "/domains/"+domain+"/verify", nil)
	return subject{in.Workspace, id}
}

func sendAs(in *apptest.Installation) apptest.Answer {
	return in.Call(http.MethodPost, "/emails", letter(""))
}

func letter(scheduled string) fields {
	body := fields{"from": "shop@shop.test", "to": []string{"ann@example.net"}, "subject": "Hello", "text": "Hello"}
	if scheduled != "" {
		body["scheduled_at"] = scheduled
	}
	return body
}

func TestAManagedCustomerIsWarnedThenThrottledThenPaused(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		of := shop(t, in)
		happen(t, in, of, "email.delivered", 950, nil)
		happen(t, in, of, "email.bounced", 50, nil)
		look(t, in, 2*time.Minute)
		if got := steps(t, in, of.workspace, of.tenant); got != "warned" {
			t.Fatalf("at 5 %% the steps are %q", got)
		}
		moved := in.Must(http.StatusAccepted, http.MethodPost, "/emails", letter("in 5 hours"))
		happen(t, in, of, "email.bounced", 20, nil)
		look(t, in, 2*time.Minute)
		card := in.Must(http.StatusOK, http.MethodGet, "/stats/deliverability?managed_tenant_id="+of.tenant, nil)
		if !strings.Contains(string(card.Raw), `"code":"sender_throttled"`) || !strings.Contains(string(card.Raw), "100 recipients an hour") {
			t.Errorf("the scorecard does not tell of it: %s", card.Raw)
		}
		first, second := sendAs(in), sendAs(in)
		if got := steps(t, in, of.workspace, of.tenant); got != "warned throttled" || first.Status != http.StatusAccepted || second.Status != http.StatusAccepted {
			t.Fatalf("at 7 %% the steps are %q, mail is answered with %d and %d", got, first.Status, second.Status)
		}
		planned := in.Must(http.StatusAccepted, http.MethodPost, "/emails", letter(in.Clock.Now().Add(20*time.Second).Format(time.RFC3339Nano)))
		in.Must(http.StatusOK, http.MethodPatch, "/emails/"+moved.Text("id"), fields{"scheduled_at": in.Clock.Now().Add(time.Second).Format(time.RFC3339Nano)})
		in.Deliver()
		if got := in.Email(first.Text("id")).Text("status") + " " + in.Email(second.Text("id")).Text("status"); got != "delivered queued" {
			t.Errorf("two mails of a throttled customer are %s", got)
		}
		in.Clock.Advance(50 * time.Second)
		in.Deliver()
		if got := in.Email(second.Text("id")).Text("status") + " " + in.Email(planned.Text("id")).Text("status"); got != "delivered scheduled" {
			t.Errorf("within a minute the second and the one with a time are %s", got)
		}
		in.Clock.Advance(30 * time.Second)
		in.Deliver()
		if got := in.Email(planned.Text("id")).Text("status") + " " + in.Email(moved.Text("id")).Text("status"); got != "delivered scheduled" {
			t.Errorf("later the one with a time and the one that was moved are %s", got)
		}
		in.Clock.Advance(time.Minute)
		in.Deliver()
		if got := in.Email(moved.Text("id")).Text("status"); got != "delivered" {
			t.Errorf("at last the one that was moved is %s", got)
		}
		happen(t, in, of, "email.bounced", 50, nil)
		look(t, in, 2*time.Minute)
		customer := in.Must(http.StatusOK, http.MethodGet, "/managed-tenants/"+of.tenant, nil)
		if got := steps(t, in, of.workspace, of.tenant); got != "warned throttled paused" || customer.Text("status") != "paused" || !strings.Contains(customer.Text("pause_reason"), "bounced in 24 hours") {
			t.Errorf("above 10 %% the steps are %q, the customer %s", got, customer.Raw)
		}
		in.Clock.Advance(2 * time.Second)
		if got := sendAs(in); got.Status != http.StatusConflict {
			t.Errorf("a paused customer may send: %d", got.Status)
		}
		if got := audited(t, in); !strings.Contains(got, "guardrail.warned") || !strings.Contains(got, "guardrail.throttled") || !strings.Contains(got, "guardrail.paused") {
			t.Errorf("the audit log has %s", got)
		}
	})
}

func TestOnlyItsWorkspaceHearsWhoIsHeldBack(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		of := shop(t, in)
		happen(t, in, of, "email.delivered", 950, nil)
		happen(t, in, of, "email.bounced", 50, nil)
		look(t, in, 2*time.Minute)
		_, ofDomain, err := in.App.Keys.Create(context.Background(), apikey.NewKey{Workspace: in.Workspace, Name: "own", Preset: apikey.FullAccess, DomainIDs: []string{in.DomainID}})
		if err != nil {
			t.Fatal(err)
		}
		_, stranger := in.NewWorkspace(plan.Pro)
		for who, c := range map[string]struct {
			key  string
			want int
		}{"the workspace": {in.Key, 2}, "a key of another domain": {ofDomain, 0}, "a stranger": {stranger, 0}} {
			card := in.CallAs(c.key, http.MethodGet, "/stats/deliverability", nil, nil)
			if got := strings.Count(string(card.Raw), `"code":"sender_warned"`); card.Status != http.StatusOK || got != c.want {
				t.Errorf("%s hears of %d: %s", who, got, card.Raw)
			}
		}
		if card := in.Must(http.StatusOK, http.MethodGet, "/stats/deliverability?managed_tenant_id="+of.tenant, nil); strings.Count(string(card.Raw), `"code":"sender_`) != 1 {
			t.Errorf("of the customer one hears %s", card.Raw)
		}
	})
}

func TestWhoSendsFromABlockedServerIsNotHeldBackForIt(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		of := shop(t, in)
		happen(t, in, of, "email.delivered", 700, nil)
		happen(t, in, of, "email.bounced", 300, fields{"bounce": fields{"class": "block"}})

		look(t, in, 2*time.Minute)

		if got := steps(t, in, of.workspace, of.tenant) + steps(t, in, of.workspace, string(of.workspace)); got != "" {
			t.Errorf("for blocks the steps are %q", got)
		}
		if answer := sendAs(in); answer.Status != http.StatusAccepted {
			t.Errorf("mail is answered with %d", answer.Status)
		}
		if card := in.Must(http.StatusOK, http.MethodGet, "/stats/deliverability", nil); strings.Contains(string(card.Raw), `"code":"sender_`) {
			t.Errorf("somebody is said to be held back: %s", card.Raw)
		}
	})
}

func TestBadNewsThatGoOnDoNotPutTheJudgementOff(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		of := shop(t, in)
		happen(t, in, of, "email.delivered", 950, nil)
		happen(t, in, of, "email.bounced", 50, nil)
		look(t, in, 40*time.Second)
		happen(t, in, of, "email.bounced", 1, nil)

		look(t, in, 30*time.Second)

		if got := steps(t, in, of.workspace, of.tenant); got != "warned" {
			t.Errorf("after a minute the steps are %q", got)
		}
	})
}

func TestWhoWasStoppedByHandIsNotJudged(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		of := shop(t, in)
		in.Must(http.StatusOK, http.MethodPatch, "/managed-tenants/"+of.tenant, fields{"status": "paused"})
		happen(t, in, of, "email.bounced", 200, nil)

		look(t, in, 2*time.Minute)

		if got := steps(t, in, of.workspace, of.tenant); got != "" {
			t.Errorf("the steps are %q", got)
		}
	})
}

func TestThePaceOfAThrottledSenderIsKept(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		of := shop(t, in)
		happen(t, in, of, "email.delivered", 930, nil)
		happen(t, in, of, "email.bounced", 70, nil)
		look(t, in, 2*time.Minute)
		sendAs(in)
		in.Clock.Advance(10 * time.Second) // who is throttled is read again

		second := sendAs(in)

		in.Deliver()
		if got := in.Email(second.Text("id")).Text("status"); got != "queued" {
			t.Errorf("the second mail within 36 seconds is %s", got)
		}
	})
}

func TestWhoeverIsResumedIsJudgedAnew(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		of := shop(t, in)
		happen(t, in, of, "email.bounced", 200, nil)
		look(t, in, 2*time.Minute)
		in.Must(http.StatusOK, http.MethodPatch, "/managed-tenants/"+of.tenant, fields{"status": "active"})
		look(t, in, 20*time.Minute)
		if got := steps(t, in, of.workspace, of.tenant); got != "paused" {
			t.Errorf("after it was resumed the steps are %q", got)
		}
		in.Clock.Advance(20 * time.Minute)
		happen(t, in, of, "email.bounced", 200, nil)
		look(t, in, 2*time.Minute)
		if got := steps(t, in, of.workspace, of.tenant); got != "paused paused" {
			t.Errorf("after it bounced again the steps are %q", got)
		}
	})
}

func TestAStepIsTakenBackAfterAWhile(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		of := shop(t, in)
		happen(t, in, of, "email.delivered", 950, nil)
		happen(t, in, of, "email.bounced", 50, nil)
		look(t, in, 2*time.Minute)
		happen(t, in, of, "email.delivered", 2_000, nil)
		look(t, in, time.Hour)
		if got := steps(t, in, of.workspace, of.tenant); got != "warned" {
			t.Errorf("an hour later the steps are %q", got)
		}
		look(t, in, 6*time.Hour)
		if got := steps(t, in, of.workspace, of.tenant); got != "warned lifted" {
			t.Errorf("later the steps are %q", got)
		}
	})
}

func TestTheSimulatorCountsForNothing(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		of := shop(t, in)
		happen(t, in, of, "email.delivered", 950, nil)
		happen(t, in, of, "email.bounced", 500, fields{"simulated": true})
		look(t, in, 2*time.Minute)
		if got := steps(t, in, of.workspace, of.tenant) + steps(t, in, of.workspace, string(of.workspace)); got != "" {
			t.Errorf("for simulated bounces the steps are %q", got)
		}
		id := in.Send("bounced@simulator.mail.postrider.test")
		in.Deliver()
		var told []event.Event
		err := in.App.DB.Read(context.Background(), func(tx *db.Tx) (err error) {
			told, err = event.OfSubject(tx, in.Workspace, id, "bounced@simulator.mail.postrider.test", 10, 0)
			return err
		})
		if err != nil || len(told) == 0 || !strings.Contains(string(told[len(told)-1].Data), `"simulated":true`) {
			t.Errorf("the simulator does not say so: %v %v", told, err)
		}
	})
}

func TestAWorkspaceIsSuspendedUnlessItHasNoLimits(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		other, key := in.NewWorkspace(plan.Pro)
		for _, ws := range []space.ID{in.Workspace, other} {
			happen(t, in, subject{workspace: ws}, "email.delivered", 100, nil)
			happen(t, in, subject{workspace: ws}, "email.bounced", 100, nil)
		}
		look(t, in, 2*time.Minute)
		if got := steps(t, in, in.Workspace, string(in.Workspace)); got != "warned" {
			t.Errorf("the workspace without limits: %q", got)
		}
		if got := steps(t, in, other, string(other)); got != "paused" {
			t.Errorf("the other workspace: %q", got)
		}
		in.Clock.Advance(time.Minute) // keys are remembered for a moment
		if answer := in.CallAs(key, http.MethodGet, "/emails", nil, nil); answer.Status != http.StatusForbidden {
			t.Errorf("its key is answered with %d: %s", answer.Status, answer.Raw)
		}
		if answer := in.Call(http.MethodGet, "/emails", nil); answer.Status != http.StatusOK {
			t.Errorf("the key of the other is answered with %d", answer.Status)
		}
	})
}

func TestWhoeverIsQuietIsForgotten(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		of := shop(t, in)
		happen(t, in, of, "email.bounced", 1, nil)
		look(t, in, 2*time.Minute)
		rows := func() (n int64) {
			if err := in.App.DB.Read(context.Background(), func(tx *db.Tx) (err error) {
				n, err = db.One(tx, db.Value[int64], `SELECT COUNT(*) FROM guard`)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			return n
		}
		if n := rows(); n != 2 {
			t.Errorf("%d are watched, not the customer and the workspace", n)
		}
		look(t, in, 8*24*time.Hour)
		if n := rows(); n != 0 {
			t.Errorf("%d are watched after a quiet week", n)
		}
	})
}

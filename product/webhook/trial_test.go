package webhook_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/platform/api"
	"postrider/platform/db"
)

func TestATestEventIsQueuedAndSigned(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		server := newReceiver(t, nil)
		id, secret := h.webhook(server.URL, []string{"domain.verified"}) // a test is sent whatever was subscribed to
		first := h.must(202, "POST", "/webhooks/"+id+"/test", nil)
		second := h.must(202, "POST", "/webhooks/"+id+"/test", fields{"event": "email.bounced"})
		if first.Text("status") != "pending" || first.Text("test") != "true" || first.Text("event_type") != "webhook.test" || first.Text("payload", "data", "webhook_id") != id {
			t.Errorf("%s", first.Raw)
		}
		h.work()
		sent := server.requests()
		if len(sent) != 2 {
			t.Fatalf("%d requests", len(sent))
		}
		for i, answer := range []string{first.Text("event_id"), second.Text("event_id")} {
			content := sent[i].payload(t)
			if err := verify(sent[i], secret); err != nil || content["id"] != answer || content["test"] != true || content["workspace_id"] != string(h.Workspace) {
				t.Errorf("%v: %s", err, sent[i].body)
			}
		}
		if data, _ := sent[1].payload(t)["data"].(fields); data["bounce"] == nil {
			t.Errorf("the sample: %s", sent[1].body)
		}
		if again := h.browse(202, "POST", "/webhook-deliveries/"+first.Text("id")+"/replay", nil); again.Text("test") != "true" {
			t.Errorf("replayed: %s", again.Raw)
		}
		h.must(400, "POST", "/webhooks/"+id+"/test", fields{"event": "email.exploded"})
		h.must(200, "PATCH", "/webhooks/"+id, fields{"status": "disabled"})
		if refused := h.must(409, "POST", "/webhooks/"+id+"/test", nil); refused.Text("error", "code") != "invalid_state" || refused.Text("error", "details", "current") != "disabled" {
			t.Errorf("%s", refused.Raw)
		}
	})
}

func TestALiveTestAnswersWithWhatTheEndpointSaid(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		server := newReceiver(t, nil)
		server.Config.Handler = status(418)
		id, _ := h.webhook(server.URL, []string{"*"})
		live := h.browse(200, "POST", "/webhooks/"+id+"/test/live", fields{"event": "email.delivered"})
		attempts, _ := live.Body["attempts"].([]any)
		if live.Text("status") != "failed" || live.Text("status_code") != "418" || live.Text("max_attempts") != "1" || live.Text("attempt_count") != "1" || len(attempts) != 1 ||
			live.Text("event_type") != "email.delivered" {
			t.Errorf("%s", live.Raw)
		}
		if record := h.must(200, "GET", "/webhooks/"+id, nil); record.Text("consecutive_failures") != "0" {
			t.Errorf("a live test counted: %s", record.Raw)
		}
		server.Config.Handler = status(200)
		h.must(200, "PATCH", "/webhooks/"+id, fields{"status": "disabled"})
		if live := h.browse(200, "POST", "/webhooks/"+id+"/test/live", nil); live.Text("status") != "delivered" || live.Text("delivered_at") == "" {
			t.Errorf("%s", live.Raw)
		}
		if got := h.statuses(); got != "[delivered:1 failed:1]" {
			t.Errorf("deliveries %s", got)
		}
		h.browse(400, "POST", "/webhooks/"+id+"/test/live", fields{"event": "x"})
	})
}

func TestADeliveryIsReplayedWithTheSameIdAndBody(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		server := newReceiver(t, nil)
		id, secret := h.webhook(server.URL, []string{"*"})
		h.happen("email.delivered", 1)
		h.follow()
		pending := h.deliveries("")[0]["id"].(string)
		if refused := h.browse(409, "POST", "/webhook-deliveries/"+pending+"/replay", nil); refused.Text("error", "details", "current") != "pending" {
			t.Errorf("%s", refused.Raw)
		}
		h.work()
		h.Clock.Advance(time.Hour)
		replay := h.browse(202, "POST", "/webhook-deliveries/"+pending+"/replay", nil)
		if replay.Text("replay_of") != pending || replay.Text("status") != "pending" || replay.Text("id") == pending {
			t.Errorf("%s", replay.Raw)
		}
		h.work()
		sent := server.requests()
		if len(sent) != 2 || sent[0].body != sent[1].body || sent[0].Get("Webhook-Id") != sent[1].Get("Webhook-Id") ||
			sent[0].Get("X-Service-Delivery") == sent[1].Get("X-Service-Delivery") || sent[0].Get("Webhook-Timestamp") == sent[1].Get("Webhook-Timestamp") {
			t.Fatalf("%v", sent)
		}
		if err := verify(sent[1], secret); err != nil {
			t.Error(err)
		}
		h.must(200, "PATCH", "/webhooks/"+id, fields{"status": "disabled"})
		h.browse(409, "POST", "/webhook-deliveries/"+pending+"/replay", nil)
		h.must(200, "DELETE", "/webhooks/"+id, nil)
		if gone := h.browse(409, "POST", "/webhook-deliveries/"+pending+"/replay", nil); gone.Text("error", "details", "current") != "deleted" {
			t.Errorf("%s", gone.Raw)
		}
		h.browse(404, "POST", "/webhook-deliveries/00000000-0000-7000-8000-000000000000/replay", nil)
		if got := len(h.deliveries("")); got != 2 {
			t.Errorf("%d deliveries are left of a deleted webhook", got)
		}
		h.must(404, "GET", "/webhooks/"+id+"/deliveries", nil)
	})
}

func TestAnEventThatIsNoLongerKeptIsNotReplayedEmpty(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		server := newReceiver(t, nil)
		h.webhook(server.URL, []string{"*"})
		h.happen("email.delivered", 1)
		h.work()
		id := h.deliveries("")[0]["id"].(string)
		err := h.App.DB.Write(t.Context(), func(tx *db.Tx) error { // as the sweep does, between two looks of the replay
			_, err := tx.Exec(`DELETE FROM webhook_payload`)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		h.browse(404, "POST", "/webhook-deliveries/"+id+"/replay", nil)
		h.work()
		if got := len(server.requests()); got != 1 {
			t.Errorf("%d requests", got)
		}
	})
}

func TestASecretIsRotatedWithBothGoodForAWhile(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		server := newReceiver(t, nil)
		id, old := h.webhook(server.URL, []string{"*"})
		rotate := "/webhooks/" + id + "/rotate-secret"
		told := func() request {
			h.happen("email.delivered", 1)
			h.work()
			sent := server.requests()
			return sent[len(sent)-1]
		}
		rotated := h.browse(200, "POST", rotate, nil)
		fresh := rotated.Text("secret")
		if fresh == old || !strings.HasPrefix(fresh, "whsec_") || rotated.Text("signing_secret") != fresh || rotated.Text("secret_prefix") != fresh[:10] ||
			rotated.Text("previous_secret_expires_at") == "" {
			t.Errorf("%s", rotated.Raw)
		}
		r := told()
		if verify(r, fresh) != nil || verify(r, old) != nil || strings.Count(r.Get("Webhook-Signature"), "v1,") != 2 || strings.Count(r.Get("X-Service-Signature"), "v1=") != 2 {
			t.Errorf("during the overlap: %v", r.Header)
		}
		if again := h.browse(409, "POST", rotate, fields{"overlap_sec": 60}); again.Text("error", "code") != "invalid_state" {
			t.Errorf("%s", again.Raw)
		}
		expires, err := time.Parse(time.RFC3339, rotated.Text("previous_secret_expires_at"))
		if left := expires.Sub(h.Clock.Now()); err != nil || left < 23*time.Hour || left > 24*time.Hour {
			t.Errorf("the old secret is good for %s", left)
		}
		old, fresh = fresh, h.browse(200, "POST", rotate, fields{"overlap_sec": 600, "force": true}).Text("secret")
		h.Clock.Advance(10*time.Minute + time.Second)
		if r := told(); verify(r, fresh) != nil || verify(r, old) == nil {
			t.Errorf("after the overlap: %v", r.Header)
		}
		if record := h.must(200, "GET", "/webhooks/"+id, nil); record.Text("previous_secret_expires_at") != "" {
			t.Errorf("%s", record.Raw)
		}
		leaked := h.browse(200, "POST", rotate, fields{"overlap_sec": 0}).Text("secret")
		if r := told(); verify(r, leaked) != nil || verify(r, fresh) == nil {
			t.Errorf("without overlap: %v", r.Header)
		}
		third := h.browse(200, "POST", rotate, fields{"overlap_sec": 604800}).Text("secret")
		forced := h.browse(200, "POST", rotate, fields{"force": true}).Text("secret")
		if r := told(); verify(r, forced) != nil || verify(r, third) != nil || verify(r, leaked) == nil {
			t.Errorf("forced: %v", r.Header)
		}
		h.browse(200, "POST", "/webhooks/"+id+"/revoke-previous-secret", nil)
		if r := told(); verify(r, forced) != nil || verify(r, third) == nil {
			t.Errorf("revoked: %v", r.Header)
		}
		log := h.Browse("GET", "/workspaces/"+string(h.Workspace)+"/audit-log", nil)
		if rotated, revoked := strings.Count(string(log.Raw), `"webhook.secret_rotated"`), strings.Count(string(log.Raw), `"webhook.previous_secret_revoked"`); rotated != 5 || revoked != 1 {
			t.Errorf("the log has %d and %d: %s", rotated, revoked, log.Raw)
		}
		for _, wrong := range []fields{{"overlap_sec": -1}, {"overlap_sec": 604801}, {"overlap_sec": "day"}} {
			h.browse(400, "POST", rotate, wrong)
		}
	})
}

func TestSecretsAreReplacedByManagersOnly(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	found := 0
	for _, route := range in.App.Webhooks.Routes() {
		if strings.Contains(route.Path, "secret") {
			if found++; !slices.Equal(route.Roles, []api.Role{api.Owner, api.Admin}) {
				t.Errorf("%s is for %v", route.Path, route.Roles)
			}
		}
	}
	if found != 2 {
		t.Errorf("%d routes", found)
	}
}

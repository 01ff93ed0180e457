package inbound_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"postrider/app"
	"postrider/app/apptest"
	"postrider/product/plan"
)

func TestADeletedMessageIsGoneForGood(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		in.Must(http.StatusCreated, http.MethodPost, "/webhooks", fields{"url": "https://app.example.com/", "events": []string{"email.received"}, "include_body": true})
		mx := in.Receiving()
		rule(t, in, fields{"address": "support@acme.test", "forward_to": []string{"team@example.org"}})
		if err := offer(mx, "ann@example.net", "support@acme.test", note); err != nil {
			t.Fatal(err)
		}
		path := "/emails/receiving/" + received(t, in).Text("id")
		early := in.Must(http.StatusConflict, http.MethodDelete, path, nil)
		if early.Text("error", "code") != "invalid_state" || early.Text("error", "details", "current") != "processing" {
			t.Errorf("before it was checked: %s", early.Raw)
		}
		in.Receive()
		in.CatchUp(in.App.Webhooks.Followers())

		if gone := in.Must(http.StatusOK, http.MethodDelete, path, nil); gone.Body["deleted"] != true || gone.Text("object") != "email" {
			t.Errorf("%s", gone.Raw)
		}
		in.Must(http.StatusNotFound, http.MethodGet, path, nil)
		in.Must(http.StatusNotFound, http.MethodDelete, path, nil)
		if total := in.Must(http.StatusOK, http.MethodGet, "/emails/receiving", nil).Text("total"); total != "0" {
			t.Errorf("%s are left", total)
		}
		for _, place := range []string{"inbound_message", "inbound_received", "inbound_forward"} {
			if n := count(t, in, `SELECT COUNT(*) FROM `+place); n != 0 {
				t.Errorf("%d rows in %s", n, place)
			}
		}
		for what, told := range map[string]string{
			"event":   `SELECT COUNT(*) FROM event WHERE type = 'email.received' AND data LIKE '%ann@example.net%'`,
			"webhook": `SELECT COUNT(*) FROM webhook_payload WHERE body LIKE '%ann@example.net%'`,
		} {
			if n := count(t, in, told); n != 0 {
				t.Errorf("%s still tells of it", what)
			}
		}
		log := in.Browse(http.MethodGet, "/workspaces/"+string(in.Workspace)+"/audit-log", nil)
		if !strings.Contains(string(log.Raw), "received_email.deleted") {
			t.Errorf("nobody deleted it: %s", log.Raw)
		}
	})
}

func TestReceivedMailIsKeptAsLongAsThePlanSays(t *testing.T) {
	t.Parallel()
	for _, days := range []int64{0, 30} {
		t.Run(fmt.Sprint(days, " days"), func(t *testing.T) {
			t.Parallel()
			apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
				in.Must(http.StatusCreated, http.MethodPost, "/emails/receiving", fields{"raw": note, "to": []string{"old@acme.test"}})
				in.Clock.Advance(29 * 24 * time.Hour)
				in.Must(http.StatusCreated, http.MethodPost, "/emails/receiving", fields{"raw": note, "to": []string{"new@acme.test"}})
				in.Finish(in.App.Inbound.RemoveOld)
				if total := in.Must(http.StatusOK, http.MethodGet, "/emails/receiving", nil).Text("total"); total != "2" {
					t.Fatalf("%s are left after 29 days", total)
				}
				in.Clock.Advance(2 * 24 * time.Hour)
				in.Finish(in.App.Inbound.RemoveOld)
				left := in.Must(http.StatusOK, http.MethodGet, "/emails/receiving", nil)
				if want := map[int64]string{0: "2", 30: "1"}[days]; left.Text("total") != want || !strings.Contains(string(left.Raw), "new@acme.test") {
					t.Errorf("after 31 days: %s", left.Raw)
				}
			}, func(s *app.Settings) {
				if days > 0 {
					s.Plans = plan.Shipped()
					kept := s.Plans[plan.Unlimited]
					kept.Limits.ReceivedRetentionDays = &days
					s.Plans[plan.Unlimited] = kept
				}
			})
		})
	}
}

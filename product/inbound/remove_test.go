package inbound_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
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
		in.CatchUp(in.App.Logs.Followers())

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
		if tape := in.Must(http.StatusOK, http.MethodGet, "/logs?kind=inbound", nil); strings.Contains(string(tape.Raw), "ann@example.net") || !strings.Contains(string(tape.Raw), "(erased)") {
			t.Errorf("the log says %s", tape.Raw)
		}
		log := in.Browse(http.MethodGet, "/workspaces/"+string(in.Workspace)+"/audit-log", nil)
		if !strings.Contains(string(log.Raw), "received_email.deleted") {
			t.Errorf("nobody deleted it: %s", log.Raw)
		}
	})
}

func TestLinksToADeletedMessageAreNotFound(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		hand(t, in.Receiving(), "support@acme.test", letter)
		in.Receive()
		path := "/emails/receiving/" + received(t, in).Text("id")
		file, _ := in.Must(http.StatusOK, http.MethodGet, path+"/attachments", nil).Body["data"].([]any)[0].(map[string]any)
		links := []string{in.Must(http.StatusOK, http.MethodGet, path, nil).Text("raw", "download_url"), file["download_url"].(string)}
		in.Must(http.StatusOK, http.MethodDelete, path, nil)
		for _, link := range links {
			answer := httptest.NewRecorder()
			in.App.ServeFile(answer, httptest.NewRequest(http.MethodGet, link, nil))
			if answer.Code != http.StatusNotFound {
				t.Errorf("%d %s", answer.Code, answer.Body)
			}
		}
	})
}

func TestAMessageIsDeletedOnce(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		for range 5 {
			id := in.Must(http.StatusCreated, http.MethodPost, "/emails/receiving", fields{"raw": note, "to": []string{"support@acme.test"}}).Text("id")
			var all sync.WaitGroup
			var gone, missing atomic.Int64
			for range 8 {
				all.Go(func() {
					switch answer := in.Call(http.MethodDelete, "/emails/receiving/"+id, nil); answer.Status {
					case http.StatusOK:
						gone.Add(1)
					case http.StatusNotFound:
						missing.Add(1)
					default:
						t.Errorf("%d %s", answer.Status, answer.Raw)
					}
				})
			}
			all.Wait()
			if gone.Load() != 1 || missing.Load() != 7 {
				t.Errorf("deleted %d times, missing %d times", gone.Load(), missing.Load())
			}
		}
		if total := in.Must(http.StatusOK, http.MethodGet, "/emails/receiving", nil).Text("total"); total != "0" {
			t.Errorf("%s are left", total)
		}
	})
}

func TestReceivedMailIsKeptAsLongAsThePlanSays(t *testing.T) {
	t.Parallel()
	for _, days := range []int64{0, 30, 999_999} {
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
				if want := map[int64]string{0: "2", 30: "1", 999_999: "2"}[days]; left.Text("total") != want || !strings.Contains(string(left.Raw), "new@acme.test") {
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

package webhook_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"postrider/app"
	"postrider/platform/db"
	"postrider/product/plan"
)

func TestANameThatLeadsInsideIsRefusedWhenItIsCalled(t *testing.T) {
	t.Parallel()
	production := func(s *app.Settings) { s.Delivery.AllowPrivate = false }
	each(t, func(t *testing.T, h house) {
		victim := newReceiver(t, nil)
		_, port, _ := net.SplitHostPort(strings.TrimPrefix(victim.URL, "http://"))
		for _, url := range []string{victim.URL, "http://localhost:" + port, "https://127.0.0.1", "http://app.example.com/", "https://[::1]/"} {
			h.must(400, "POST", "/webhooks", fields{"url": url, "events": []string{"*"}})
		}
		id, _ := h.webhook("https://inside.example.test/hook", []string{"*"}) // every name of the sandbox leads to this machine
		h.happen("email.delivered", 1)
		h.work()
		d := h.deliveries("?webhook_id=" + id)[0]
		if d["error"] != "blocked_address" || d["status"] != "retrying" || d["status_code"] != nil {
			t.Errorf("%v", d)
		}
		if got := len(victim.requests()); got != 0 {
			t.Errorf("%d requests reached the inside", got)
		}
	}, production)
}

func TestSecretsAreNotInTheDatabase(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		_, secret := h.webhook("https://app.example.com/", []string{"*"}, fields{"custom_headers": fields{"Authorization": "Bearer tell-nobody"}})
		err := h.App.DB.Read(context.Background(), func(tx *db.Tx) error {
			rows, err := db.All(tx, func(s db.Scanner) (string, error) {
				var a, b []byte
				err := s.Scan(&a, &b)
				return string(a) + string(b), err
			}, `SELECT secret, custom_headers FROM webhook`)
			if all := fmt.Sprint(rows); len(rows) != 1 || strings.Contains(all, secret[6:]) || strings.Contains(all, "tell-nobody") {
				t.Errorf("%d rows, stored in the clear", len(rows))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func TestAnEndpointThatRepeatsWhatItGotShowsNoSecret(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		server := newReceiver(t, func(w http.ResponseWriter, in *http.Request) {
			got := in.Header.Get("Authorization")
			w.Header().Set("X-Echo", got)
			bare := strings.TrimPrefix(got, "Bearer ")
			fmt.Fprintf(w, "%s %s %s %s", got, bare, strings.ReplaceAll(bare, "/", `\/`), strings.Repeat("x", 4<<10)[:4050]+bare)
		})
		h.webhook(server.URL, []string{"*"}, fields{"custom_headers": fields{"authorization": "Bearer ab/cd+ef0123456789", "x-flag": "1"}})
		h.happen("email.delivered", 1)
		h.work()

		answer := h.must(200, "GET", "/webhook-deliveries/"+h.deliveries("")[0]["id"].(string), nil)
		if shown := string(answer.Raw); !strings.Contains(shown, "X-Echo") || strings.Contains(shown, "ab/cd") || strings.Contains(shown, `cd+ef`) {
			t.Error(shown)
		}
	})
}

func TestDeliveriesAreFilteredAndPaged(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		good, bad := newReceiver(t, nil), newReceiver(t, status(410))
		goodID, _ := h.webhook(good.URL, []string{"email.*", "domain.*"})
		badID, _ := h.webhook(bad.URL, []string{"email.*"})
		h.happen("email.delivered", 2)
		h.happen("domain.verified", 1)
		h.work()
		middle := h.Clock.Now().Add(time.Minute).Format(time.RFC3339)
		h.Clock.Advance(time.Hour)
		last := h.happen("email.bounced", 1)[0]
		h.work()
		for query, want := range map[string]int{
			"": 6, "?status=delivered": 4, "?status=failed": 1, "?status=cancelled": 1, "?status=failed,cancelled": 2, "?status=failed&status=cancelled": 2, "?status=pending": 0,
			"?webhook_id=" + goodID: 4, "?webhook_id=" + badID: 2, "?event=email.delivered": 4, "?event=domain.verified,email.bounced": 2, "?event_id=" + last: 1,
			"?since=" + middle: 1, "?until=" + middle: 5, "?limit=2": 2, "?limit=4&offset=4": 2, "?event=nonsense": 0,
		} {
			if got := len(h.deliveries(query)); got != want {
				t.Errorf("%s finds %d, want %d", query, got, want)
			}
		}
		page := h.must(200, "GET", "/webhooks/"+goodID+"/deliveries?limit=3&webhook_id="+badID, nil)
		if list, _ := page.Body["data"].([]any); len(list) != 3 || page.Text("has_more") != "true" || page.Body["total"] != nil || list[0].(fields)["event_id"] != last {
			t.Errorf("%s", page.Raw)
		}
		for _, wrong := range []string{"?status=lost", "?webhook_id=x", "?event_id=1", "?since=yesterday", "?limit=201"} {
			h.must(400, "GET", "/webhook-deliveries"+wrong, nil)
		}
	})
}

// do lets one of the workers of webhooks do all it has to.
func (h house) do(worker string) {
	h.t.Helper()
	for _, w := range h.App.Webhooks.Workers() {
		if w.Name == worker {
			h.Finish(w.Step)
		}
	}
}

func TestDeliveriesAreKeptAsLongAsThePlanKeepsLogsButNoLongerThanAMonth(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		keys := map[plan.Name]string{}
		for _, name := range []plan.Name{plan.Free, plan.Pro} {
			ws, key := h.NewWorkspace(name)
			h.check(201, "POST", "/webhooks", h.CallAs(key, "POST", "/webhooks", fields{"url": newReceiver(t, nil).URL, "events": []string{"*"}}, nil))
			h.happen("email.delivered", 1, of(ws))
			keys[name] = key
		}
		h.work()
		for _, c := range []struct {
			later time.Duration
			want  map[plan.Name]int
		}{ // a plan that keeps its logs for longer than a month keeps deliveries for a month
			{6 * 24 * time.Hour, map[plan.Name]int{plan.Free: 1, plan.Pro: 1}},
			{2 * 24 * time.Hour, map[plan.Name]int{plan.Free: 0, plan.Pro: 1}},
			{23 * 24 * time.Hour, map[plan.Name]int{plan.Free: 0, plan.Pro: 0}},
		} {
			h.Clock.Advance(c.later)
			h.do("webhook sweep")
			for name, want := range c.want {
				if list, _ := h.CallAs(keys[name], "GET", "/webhook-deliveries", nil, nil).Body["data"].([]any); len(list) != want {
					t.Errorf("%d deliveries of %s, want %d", len(list), name, want)
				}
			}
		}
	})
}

func TestWhatStillWaitsIsNotForgotten(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		server := newReceiver(t, nil)
		h.webhook(server.URL, []string{"*"})
		h.happen("email.delivered", 1)
		h.follow()
		h.Clock.Advance(31 * 24 * time.Hour) // nobody was there to post it
		h.do("webhook sweep")
		h.work()
		if got := len(server.requests()); got != 1 {
			t.Errorf("%d requests", got)
		}
	})
}

func TestDeliveriesAreForgottenWithTheLogsOfThePlan(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		server := newReceiver(t, nil)
		h.webhook(server.URL, []string{"*"})
		h.happen("email.delivered", 1)
		h.work()
		h.Clock.Advance(7*24*time.Hour - time.Minute)
		h.do("webhook sweep")
		if got := len(h.deliveries("")); got != 1 {
			t.Errorf("%d in the last minute of the week", got)
		}
		h.Clock.Advance(2 * time.Minute)
		h.do("webhook sweep")
		if got := len(h.deliveries("")); got != 0 {
			t.Errorf("%d after a week", got)
		}
	}, func(s *app.Settings) {
		s.Plans = plan.Shipped()
		week := s.Plans[plan.Unlimited]
		week.Limits.LogRetentionDays = s.Plans[plan.Free].Limits.LogRetentionDays
		s.Plans[plan.Unlimited] = week
	})
}

func TestOldDeliveriesAreForgotten(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		server := newReceiver(t, nil)
		h.webhook(server.URL, []string{"*"})
		h.happen("email.delivered", 3)
		h.work()
		sweep := func() { h.do("webhook sweep") }
		h.Clock.Advance(29 * 24 * time.Hour)
		replayed := h.deliveries("")[0]
		h.browse(202, "POST", "/webhook-deliveries/"+replayed["id"].(string)+"/replay", nil)
		h.work()
		sweep()
		if got := len(h.deliveries("")); got != 4 {
			t.Errorf("%d after 29 days", got)
		}
		h.Clock.Advance(2 * 24 * time.Hour)
		sweep()
		left := h.deliveries("")
		if len(left) != 2 || left[0]["event_id"] != replayed["event_id"] {
			t.Errorf("after 31 days: %v", left)
		}
		h.Clock.Advance(30 * 24 * time.Hour)
		sweep()
		if got := len(h.deliveries("")); got != 0 {
			t.Errorf("%d after two months", got)
		}
		err := h.App.DB.Read(context.Background(), func(tx *db.Tx) error {
			for _, table := range []string{"webhook_payload", "webhook_attempt"} {
				rows, err := db.One(tx, db.Value[int64], `SELECT COUNT(*) FROM `+table)
				if err != nil || rows != 0 {
					t.Errorf("%d rows of %s are left: %v", rows, table, err)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func TestTwoNodesTellOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		const events = 40
		servers := make([]*receiver, 5)
		for i := range servers {
			servers[i] = newReceiver(t, func(http.ResponseWriter, *http.Request) {})
			h.webhook(servers[i].URL, []string{"*"})
		}
		other := h.restart(otherNode)
		h.happen("email.delivered", events)
		h.follow()
		for busy := true; busy; {
			one, err := h.App.Webhooks.Step(context.Background())
			two, errTwo := other.Step(context.Background())
			if err != nil || errTwo != nil {
				t.Fatal(err, errTwo)
			}
			busy = one || two
		}
		for _, server := range servers {
			if got := len(server.requests()); got != events {
				t.Errorf("%d requests for %d events", got, events)
			}
		}
	})
}

func TestAnEndpointWithNothingToDoIsFreeForAnyNode(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		server := newReceiver(t, nil)
		h.webhook(server.URL, []string{"*"})
		other := h.restart(otherNode)
		for i, step := range []func(context.Context) (bool, error){h.App.Webhooks.Step, other.Step, h.App.Webhooks.Step} {
			h.happen("email.delivered", 1)
			h.follow()
			h.Finish(step) // the others do nothing meanwhile
			if got := len(server.requests()); got != i+1 {
				t.Fatalf("%d requests after %d events", got, i+1)
			}
		}
	})
}

func TestAWebhookThatReachesUsByAnotherNameMakesNoEvents(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		var passed atomic.Int32
		alias := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if passed.Add(1) <= 5 { // so that a storm ends
				h.App.Handler().ServeHTTP(w, r)
			}
		}))
		t.Cleanup(alias.Close)
		id, _ := h.webhook(alias.URL, []string{"*"}, fields{"custom_headers": fields{"Authorization": "Bearer " + h.Key, "CDN-Loop": "somebody.test"}})
		h.must(200, "PATCH", "/webhooks/"+id, fields{"url": alias.URL + "/v1/webhooks/" + id + "/test"})
		h.must(202, "POST", "/webhooks/"+id+"/test", nil)
		h.work()
		if found := h.deliveries("?limit=200"); len(found) != 1 || found[0]["status_code"] != 403.0 {
			t.Errorf("%d deliveries, the newest %v", len(found), found[0])
		}
	})
}

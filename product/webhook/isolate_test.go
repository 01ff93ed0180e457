package webhook_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"postrider/platform/db"
	"postrider/platform/event"
)

// holdUntil answers only when release is closed. began receives, if it has room, when a request has come.
func holdUntil(began chan<- struct{}, release <-chan struct{}) http.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) {
		select {
		case began <- struct{}{}:
		default:
		}
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}
}

// run lets the workers of webhooks run as they do in production, until the test ends.
func (h house) run() {
	h.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		for ctx.Err() == nil {
			busy := false
			for _, f := range h.App.Webhooks.Followers() {
				if more, err := f.Step(ctx, h.App.DB); err == nil && more {
					busy = true
				}
			}
			if more, err := h.App.Webhooks.Step(ctx); err == nil && more {
				busy = true
			}
			if !busy {
				pause, cancel := h.Clock.After(time.Millisecond)
				select {
				case <-ctx.Done():
				case <-pause:
				}
				cancel()
			}
		}
	})
	h.t.Cleanup(func() { stop(); running.Wait() })
}

func TestAnEndpointThatHangsHoldsNobodyElseUp(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		release := make(chan struct{})
		hanging := make([]*receiver, 20)
		for i := range hanging {
			hanging[i] = newReceiver(t, holdUntil(nil, release))
			h.webhook(hanging[i].URL, []string{"*"})
		}
		arrived := make(chan struct{}, 1000)
		healthy := newReceiver(t, func(http.ResponseWriter, *http.Request) { arrived <- struct{}{} })
		h.webhook(healthy.URL, []string{"*"})
		t.Cleanup(func() { close(release) })
		const events = 100
		h.happen("email.delivered", events)
		h.run()

		for range events {
			<-arrived
		}

		for _, server := range hanging { // an endpoint that has never answered is asked one thing at a time
			if got := len(server.requests()); got > 1 {
				t.Errorf("%d requests at once to an endpoint that does not answer", got)
			}
		}
	}, inTheBackground)
}

func TestWaitingForASlotIsNoAttempt(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		began, release := make(chan struct{}, 1), make(chan struct{})
		server := newReceiver(t, holdUntil(began, release))
		t.Cleanup(server.CloseClientConnections)
		h.webhook(server.URL, []string{"*"})
		h.happen("email.delivered", 50)
		h.follow()
		h.Finish(h.App.Webhooks.Step)
		<-began
		h.Clock.Advance(time.Hour)
		h.Finish(h.App.Webhooks.Step)
		for _, d := range h.deliveries("?limit=200") {
			if d["status"] != "pending" || d["attempt_count"] != 0.0 {
				t.Fatalf("%v", d)
			}
		}
		if got := len(server.requests()); got != 1 {
			t.Errorf("%d requests", got)
		}
		close(release)
	}, inTheBackground)
}

func TestAnEndpointIsSentAtMostTenAtOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		var mu sync.Mutex
		open, most, total := 0, 0, 0
		full, done := make(chan struct{}), make(chan struct{})
		const events = 300
		server := newReceiver(t, func(http.ResponseWriter, *http.Request) {
			mu.Lock()
			open++
			total++
			number, now := total, open
			most = max(most, open)
			if now == 10 {
				select {
				case <-full:
				default:
					close(full)
				}
			}
			mu.Unlock()
			if number > 50 { // by then it has proved that it answers
				<-full
			}
			mu.Lock()
			open--
			if number == events {
				close(done)
			}
			mu.Unlock()
		})
		h.webhook(server.URL, []string{"*"})
		h.happen("email.delivered", events)
		h.run()
		<-done
		mu.Lock()
		defer mu.Unlock()
		if most != 10 {
			t.Errorf("%d requests at once", most)
		}
	}, inTheBackground)
}

func TestWhatIsNewGoesBeforeWhatIsTriedAgain(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		code := 500
		server := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })
		h.webhook(server.URL, []string{"*"})
		h.happen("email.bounced", 30)
		h.work()
		before := len(server.requests())
		h.Clock.Advance(10 * time.Second)
		h.happen("email.delivered", 30)
		code = 200
		h.work()
		for i, r := range server.requests()[before:] {
			if want := map[bool]string{true: "email.delivered", false: "email.bounced"}[i < 30]; r.Get("X-Service-Event") != want {
				t.Fatalf("request %d is %s", i, r.Get("X-Service-Event"))
			}
		}
	})
}

func TestADeletedOrDisabledEndpointIsSentNothingMore(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(h house, id string){
		"deleted":  func(h house, id string) { h.must(200, "DELETE", "/webhooks/"+id, nil) },
		"disabled": func(h house, id string) { h.must(200, "PATCH", "/webhooks/"+id, fields{"status": "disabled"}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, h house) {
				began, release := make(chan struct{}, 1), make(chan struct{})
				server := newReceiver(t, holdUntil(began, release))
				id, _ := h.webhook(server.URL, []string{"*"})
				h.happen("email.delivered", 20)
				h.follow()
				h.Finish(h.App.Webhooks.Step)
				<-began

				stop(h, id)
				h.happen("email.delivered", 5)
				h.follow()
				h.Finish(h.App.Webhooks.Step) // it looks at the endpoint while the request is under way
				news := h.App.Webhooks.Workers()[0].Wake
				for len(news) > 0 {
					<-news
				}
				close(release)
				<-news // the request has ended, and whatever follows it has begun
				h.Finish(h.App.Webhooks.Step)
				if err := h.App.Webhooks.Drain(context.Background()); err != nil {
					t.Fatal(err)
				}

				if got := len(server.requests()); got != 1 {
					t.Errorf("%d requests", got)
				}
				if got := h.statuses(); got != "[cancelled:19 delivered:1]" {
					t.Errorf("deliveries %s", got)
				}
			}, inTheBackground)
		})
	}
}

func TestWhatHasEndedStaysAsItWasWhenItsEndpointGoes(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		id, _ := h.webhook(newReceiver(t, nil).URL, []string{"*"})
		h.happen("email.delivered", 2)
		h.work()
		h.must(200, "PATCH", "/webhooks/"+id, fields{"status": "disabled"})
		if got := h.statuses(); got != "[delivered:2]" {
			t.Errorf("disabled: %s", got)
		}
		h.must(200, "DELETE", "/webhooks/"+id, nil)
		if got := h.statuses(); got != "[delivered:2]" {
			t.Errorf("deleted: %s", got)
		}
	})
}

func TestAnEndpointThatWasDisabledAtWorkIsToldAgainOnceItIsEnabled(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		server := newReceiver(t, nil)
		id, _ := h.webhook(server.URL, []string{"*"})
		h.happen("email.delivered", 1)
		h.follow()
		if busy, err := h.App.Webhooks.Step(t.Context()); err != nil || !busy { // it is claimed
			t.Fatal(busy, err)
		}
		h.must(200, "PATCH", "/webhooks/"+id, fields{"status": "disabled"})
		h.Finish(h.App.Webhooks.Step)

		h.must(200, "PATCH", "/webhooks/"+id, fields{"status": "enabled"})
		missed := h.happen("email.bounced", 1)[0]
		h.work()

		if sent := server.requests(); len(sent) != 1 || sent[0].Get("Webhook-Id") != missed {
			t.Errorf("sent %v", sent)
		}
	})
}

func TestAFailureOfADisabledEndpointIsNoSecondEnd(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		began, release := make(chan struct{}, 1), make(chan struct{})
		hold := holdUntil(began, release)
		server := newReceiver(t, func(w http.ResponseWriter, r *http.Request) {
			hold(w, r)
			w.WriteHeader(http.StatusGone)
		})
		id, _ := h.webhook(server.URL, []string{"*"})
		h.happen("email.delivered", 1)
		h.follow()
		h.Finish(h.App.Webhooks.Step)
		<-began
		h.must(200, "PATCH", "/webhooks/"+id, fields{"status": "disabled"})
		close(release)
		if err := h.App.Webhooks.Drain(context.Background()); err != nil {
			t.Fatal(err)
		}
		err := h.App.DB.Read(context.Background(), func(tx *db.Tx) error {
			told, err := event.OfSubject(tx, h.Workspace, id, "", 10, 0)
			if len(told) != 0 {
				t.Errorf("told %v", told)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := h.statuses(); got != "[cancelled:1]" {
			t.Errorf("deliveries %s", got)
		}
		if record := h.must(200, "GET", "/webhooks/"+id, nil); record.Text("disabled_reason") != "manual" || record.Text("last_status_code") != "410" {
			t.Errorf("%s", record.Raw)
		}
	}, inTheBackground)
}

func TestAnAddressThatWasLeftCannotEndTheEndpoint(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		began, release := make(chan struct{}, 1), make(chan struct{})
		hold := holdUntil(began, release)
		left := newReceiver(t, func(w http.ResponseWriter, r *http.Request) {
			hold(w, r)
			w.WriteHeader(http.StatusGone)
		})
		id, _ := h.webhook(left.URL, []string{"*"})
		h.happen("email.delivered", 3)
		h.follow()
		h.Finish(h.App.Webhooks.Step)
		<-began
		h.must(200, "PATCH", "/webhooks/"+id, fields{"url": newReceiver(t, nil).URL})
		close(release)
		if err := h.App.Webhooks.Drain(context.Background()); err != nil {
			t.Fatal(err)
		}

		if record := h.must(200, "GET", "/webhooks/"+id, nil); record.Text("status") != "enabled" {
			t.Errorf("%s", record.Raw)
		}
		if got := h.statuses(); got != "[failed:1 pending:2]" {
			t.Errorf("deliveries %s", got)
		}
	}, inTheBackground)
}

// A million may wait after an outage, and on the embedded engine everybody who writes waits for whoever cancels.
func TestMuchThatWaitsIsCancelledInPartsAndNeverPosted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end  func(h house, id string)
		rest func(h house, id string)
	}{
		"deleted": {
			func(h house, id string) { h.must(200, "DELETE", "/webhooks/"+id, nil) },
			func(h house, _ string) { h.do("webhook cancel") }},
		"disabled": {
			func(h house, id string) { h.must(200, "PATCH", "/webhooks/"+id, fields{"status": "disabled"}) },
			func(h house, _ string) { h.do("webhook cancel") }},
		"enabled again at once": {
			func(h house, id string) { h.must(200, "PATCH", "/webhooks/"+id, fields{"status": "disabled"}) },
			func(h house, id string) {
				h.must(200, "PATCH", "/webhooks/"+id, fields{"status": "enabled"})
				h.do("webhook cancel")
			}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, h house) {
				server := newReceiver(t, nil)
				id, _ := h.webhook(server.URL, []string{"*"})
				h.happen("email.delivered", 2100)
				h.follow()

				c.end(h, id)
				if got := h.waiting(); got != 1100 {
					t.Errorf("%d wait after the first part", got)
				}
				c.rest(h, id)
				h.work()

				if got := h.waiting(); got != 0 || len(server.requests()) > 0 {
					t.Errorf("%d wait in the end, %d requests", got, len(server.requests()))
				}
			})
		})
	}
}

// waiting counts the deliveries that have not ended.
func (h house) waiting() (n int) {
	h.t.Helper()
	if err := h.App.DB.Read(h.t.Context(), func(tx *db.Tx) (err error) {
		n, err = db.One(tx, db.Value[int], `SELECT COUNT(*) FROM webhook_delivery WHERE due_at IS NOT NULL`)
		return err
	}); err != nil {
		h.t.Fatal(err)
	}
	return n
}

func TestWhatWaitsGoesToTheAddressThatItsEndpointHasNow(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		first, second := newReceiver(t, status(500)), newReceiver(t, nil)
		id, _ := h.webhook(first.URL, []string{"*"})
		target := func() any { return h.deliveries("")[0]["url"] }
		h.happen("email.delivered", 1)
		h.work()
		if got := target(); got != first.URL {
			t.Errorf("it went to %s", got)
		}
		h.must(200, "PATCH", "/webhooks/"+id, fields{"url": second.URL})
		if got := target(); got != second.URL {
			t.Errorf("it goes to %s", got)
		}
		h.Clock.Advance(time.Hour)
		h.work()
		h.must(200, "PATCH", "/webhooks/"+id, fields{"url": first.URL})
		if got := target(); got != second.URL || len(second.requests()) != 1 {
			t.Errorf("it went to %s", got)
		}
	})
}

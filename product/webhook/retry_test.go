package webhook_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"postrider/app"
	"postrider/app/apptest"
	"postrider/mail/address"
)

// waits are the planned times between attempts.
var waits = []time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour,
	24 * time.Hour}

// untilNext returns how long after the last attempt the next one of the only delivery is planned.
func (h house) untilNext() time.Duration {
	h.t.Helper()
	d := h.deliveries("")[0]
	var moments [2]time.Time
	for i, name := range []string{"last_attempt_at", "next_attempt_at"} {
		at, err := time.Parse(time.RFC3339, fmt.Sprint(d[name]))
		if err != nil {
			h.t.Fatalf("%s: %v", name, d)
		}
		moments[i] = at
	}
	return moments[1].Sub(moments[0])
}

func TestAFailingEndpointIsTriedTenTimesInThreeDays(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		server := newReceiver(t, status(500))
		_, secret := h.webhook(server.URL, []string{"*"})
		id := h.happen("email.delivered", 1)[0]
		h.work()
		for i, wait := range waits {
			if got := h.untilNext(); got < wait || got > wait+wait/10+time.Second {
				t.Errorf("attempt %d is planned %s after the one before, want %s and at most a tenth more", i+2, got, wait)
			}
			h.Clock.Advance(wait - time.Second)
			h.work()
			if got := len(server.requests()); got != i+1 {
				t.Fatalf("%d attempts a second before the next is due, want %d", got, i+1)
			}
			h.Clock.Advance(wait/10 + 2*time.Second)
			h.work()
		}
		h.Clock.Advance(48 * time.Hour)
		h.work()

		sent := server.requests()
		if len(sent) != 10 {
			t.Fatalf("%d attempts", len(sent))
		}
		stamps := map[string]bool{}
		for i, r := range sent {
			if err := verify(r, secret); err != nil {
				t.Error(err)
			}
			if r.Get("Webhook-Id") != id || r.body != sent[0].body || r.Get("X-Service-Attempt") != fmt.Sprint(i+1) {
				t.Errorf("attempt %d: %v", i+1, r.Header)
			}
			stamps[r.Get("Webhook-Timestamp")] = true
		}
		if len(stamps) != 10 {
			t.Errorf("only %d different timestamps", len(stamps))
		}
		if d := h.deliveries("?status=failed")[0]; d["attempt_count"] != 10.0 || d["next_attempt_at"] != nil || d["status_code"] != 500.0 {
			t.Errorf("delivery %v", d)
		}
	})
}

func TestAnEndpointThatRecoversGetsWhatItMissed(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		well := false
		server := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
			if !well {
				w.WriteHeader(503)
			}
		})
		id, _ := h.webhook(server.URL, []string{"*"})
		h.happen("email.delivered", 3)
		h.work()
		if record := h.must(200, "GET", "/webhooks/"+id, nil); record.Text("consecutive_failures") != "3" || record.Text("first_failure_at") == "" || record.Text("last_status_code") != "503" {
			t.Errorf("record %s", record.Raw)
		}
		well = true
		h.Clock.Advance(10 * time.Second)
		h.work()
		if got := h.statuses(); got != "[delivered:3]" {
			t.Errorf("deliveries %s", got)
		}
		if record := h.must(200, "GET", "/webhooks/"+id, nil); record.Text("consecutive_failures") != "0" || record.Text("first_failure_at") != "" {
			t.Errorf("record %s", record.Raw)
		}
	})
}

func TestWhatAnEndpointAnswersIsUnderstood(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		elsewhere := newReceiver(t, nil)
		for _, test := range []struct {
			name    string
			answer  http.HandlerFunc
			failure any
			least   time.Duration // until the next attempt
		}{
			{"200", status(200), nil, 0},
			{"204", status(204), nil, 0},
			{"400", status(400), "http_error", 5 * time.Second},
			{"redirect", func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
			}, "redirect", 5 * time.Second},
			{"wait a minute", retryAfter(429, "60"), "http_error", time.Minute},
			{"wait by date", func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", h.Clock.Now().Add(2*time.Hour).Format(http.TimeFormat))
				w.WriteHeader(503)
			}, "http_error", 2*time.Hour - 2*time.Second},
			{"wait too long", retryAfter(503, "90000"), "http_error", 5 * time.Second},
			{"wait for what", retryAfter(503, "soon"), "http_error", 5 * time.Second},
			{"only 429 and 503 may ask", retryAfter(500, "60"), "http_error", 5 * time.Second},
			{"large answer", func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, 1<<20)) }, nil, 0},
			{"large header", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-Huge", strings.Repeat("a", 1<<20)) }, "response_too_large", 5 * time.Second},
			{"hangs up", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "connection_refused", 5 * time.Second},
		} {
			server := newReceiver(t, test.answer)
			id, _ := h.webhook(server.URL, []string{"*"})
			h.happen("email.delivered", 1)
			h.work()
			d := h.deliveries("?webhook_id=" + id)[0]
			if d["error"] != test.failure {
				t.Errorf("%s: error %v, want %v", test.name, d["error"], test.failure)
			}
			if test.failure == nil && d["status"] != "delivered" {
				t.Errorf("%s: %v", test.name, d)
			}
			if test.failure != nil {
				if got := h.untilNext(); d["status"] != "retrying" || got < test.least || got > test.least+test.least/10+3*time.Second {
					t.Errorf("%s: %v, next after %s", test.name, d["status"], got)
				}
			}
			h.must(200, "DELETE", "/webhooks/"+id, nil)
		}
		if got := len(elsewhere.requests()); got != 0 {
			t.Errorf("a redirect was followed %d times", got)
		}
	})
}

func retryAfter(code int, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", text)
		w.WriteHeader(code)
	}
}

func TestAServerThatIsNotThereIsAFailure(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		closed := newReceiver(t, nil)
		closed.Close()
		hanging := newReceiver(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		for url, failure := range map[string]string{
			closed.URL: "connection_refused", hanging.URL: "timeout", "https://nxdomain.test/hook": "dns_error",
			strings.Replace(newReceiver(t, nil).URL, "http:", "https:", 1): "tls_error",
		} {
			id, _ := h.webhook(url, []string{"*"})
			h.happen("email.delivered", 1)
			h.work()
			if d := h.deliveries("?webhook_id=" + id)[0]; d["error"] != failure || d["status_code"] != nil || d["status"] != "retrying" {
				t.Errorf("%s: %v", url, d)
			}
			h.must(200, "DELETE", "/webhooks/"+id, nil)
		}
	}, func(s *app.Settings) { s.Webhooks.Timeout = 500 * time.Millisecond })
}

func TestAnEndpointThatSaysItIsGoneIsLeftAlone(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		server := newReceiver(t, status(410))
		witness := newReceiver(t, nil)
		id, _ := h.webhook(server.URL, []string{"email.*"})
		h.webhook(witness.URL, []string{"webhook.disabled"})
		h.happen("email.delivered", 5)
		h.work()
		h.work()

		record := h.must(200, "GET", "/webhooks/"+id, nil)
		if record.Text("status") != "disabled" || record.Text("enabled") != "false" || record.Text("disabled_reason") != "gone" {
			t.Errorf("record %s", record.Raw)
		}
		if got := len(witness.requests()); got != 1 {
			t.Fatalf("%d events about it", got)
		}
		if data, _ := witness.requests()[0].payload(t)["data"].(fields); data["webhook_id"] != id || data["disabled_reason"] != "gone" {
			t.Errorf("told %v", data)
		}
		before := len(server.requests())
		h.happen("email.delivered", 5)
		h.Clock.Advance(24 * time.Hour)
		h.work()
		if got := len(server.requests()); got != before {
			t.Errorf("%d requests after it was gone", got-before)
		}
		if got := h.deliveries("?status=pending,retrying"); len(got) != 0 {
			t.Errorf("still waiting: %v", got)
		}
	})
}

func TestAskingForTheStatusThatAnEndpointHasChangesNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		failing, _ := h.webhook(newReceiver(t, status(500)).URL, []string{"*"})
		gone, _ := h.webhook(newReceiver(t, status(410)).URL, []string{"*"})
		h.happen("email.delivered", 1)
		h.work()
		if again := h.must(200, "PATCH", "/webhooks/"+failing, fields{"status": "enabled"}); again.Text("consecutive_failures") != "1" {
			t.Errorf("%s", again.Raw)
		}
		if again := h.must(200, "PATCH", "/webhooks/"+gone, fields{"status": "disabled"}); again.Text("disabled_reason") != "gone" {
			t.Errorf("%s", again.Raw)
		}
	})
}

// notices lets owners be written to.
func notices(s *app.Settings) {
	s.NoticesFrom = address.Address{Name: "Postrider", Local: "no-reply", Domain: apptest.Domain}
}

// letters lets owners be written to, and returns the subjects of all that the owner has got, newest first.
func (h house) letters() (subjects string) {
	h.t.Helper()
	h.do("webhook notices")
	h.Deliver()
	for _, m := range h.Mailbox(h.Owner()) {
		subjects += m.Subject + "; "
	}
	return subjects
}

func TestOwnersHearOfAnEndpointThatFailsAndOfItsEnd(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		server := newReceiver(t, status(500))
		id, _ := h.webhook(server.URL, []string{"domain.verified"})
		fail := func(later time.Duration) {
			h.Clock.Advance(later)
			h.happen("domain.verified", 1)
			h.work()
		}
		fail(0)
		fail(23 * time.Hour)
		if got := h.letters(); got != "" {
			t.Errorf("within the first day: %s", got)
		}
		fail(2 * time.Hour)
		fail(time.Hour)
		if got := h.letters(); got != "A webhook is failing; " {
			t.Errorf("after a day: %s", got)
		}
		fail(93 * time.Hour)
		if got := h.must(200, "GET", "/webhooks/"+id, nil).Text("status"); got != "enabled" {
			t.Errorf("an hour before the end it is %s", got)
		}
		fail(2 * time.Hour)
		record := h.must(200, "GET", "/webhooks/"+id, nil)
		if record.Text("status") != "disabled" || record.Text("disabled_reason") != "failing" {
			t.Errorf("after five days: %s", record.Raw)
		}
		if got := h.letters(); got != "A webhook has been disabled; A webhook is failing; " {
			t.Errorf("letters: %s", got)
		}
		if raw := h.Mailbox(h.Owner())[0].Raw; !strings.Contains(raw, server.URL) {
			t.Errorf("the letter does not say which one: %s", raw)
		}

		enabled := h.must(200, "PATCH", "/webhooks/"+id, fields{"status": "enabled"})
		if enabled.Text("consecutive_failures") != "0" || enabled.Text("first_failure_at") != "" || enabled.Text("disabled_reason") != "" {
			t.Errorf("enabled again: %s", enabled.Raw)
		}
		fail(time.Hour)
		if got := h.must(200, "GET", "/webhooks/"+id, nil).Text("status"); got != "enabled" {
			t.Errorf("a failure after it was enabled again made it %s", got)
		}
	}, notices)
}

func TestOwnersHearOfEveryTimeAnEndpointFailsForADay(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		code := 500
		server := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })
		h.webhook(server.URL, []string{"domain.verified"})
		for _, step := range []struct {
			later time.Duration
			code  int
		}{{0, 500}, {25 * time.Hour, 500}, {time.Hour, 200}, {time.Hour, 500}, {25 * time.Hour, 500}} {
			code = step.code
			h.Clock.Advance(step.later)
			h.happen("domain.verified", 1)
			h.work()
		}
		if got := h.letters(); got != "A webhook is failing; A webhook is failing; " {
			t.Errorf("letters: %s", got)
		}
	}, notices)
}

func TestOneSuccessInFiveDaysIsEnough(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		code := 500
		server := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })
		id, _ := h.webhook(server.URL, []string{"*"})
		for _, step := range []struct {
			later time.Duration
			code  int
		}{{0, 500}, {70 * time.Hour, 500}, {time.Hour, 200}, {time.Hour, 500}, {70 * time.Hour, 500}} {
			code = step.code
			h.Clock.Advance(step.later)
			h.happen("email.delivered", 1)
			h.work()
		}
		if got := h.must(200, "GET", "/webhooks/"+id, nil).Text("status"); got != "enabled" {
			t.Errorf("it is %s", got)
		}
	})
}

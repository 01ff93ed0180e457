package automation_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestAnAutomationThatTriggersItselfStopsWithAReason(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		id := h.enabled(line(on("ping"), step("again", "emit_event", fields{"event_name": "ping", "payload": fields{"n": fields{"var": "event.n"}}})))
		h.send("ping", "ann@example.net", fields{"n": 1})
		h.work()
		failed := h.must(200, "GET", "/automations/"+id+"/runs?status=failed", nil)
		all := h.must(200, "GET", "/automations/"+id+"/runs?limit=200", nil)
		if failed.Text("total") != "1" || all.Text("total") != "12" {
			t.Fatalf("%s runs, %s failed", all.Text("total"), failed.Text("total"))
		}
		one := failed.Body["data"].([]any)[0].(fields)["error"].(fields)
		if one["code"] != "loop_detected" || one["step"] != "start" {
			t.Errorf("error %v", one)
		}
	})
}

func TestTwoAutomationsThatPlayPingPongStop(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		h.enabled(line(on("ping"), step("pong", "emit_event", fields{"event_name": "pong"})))
		h.enabled(line(on("pong"), step("ping", "emit_event", fields{"event_name": "ping"})))
		h.send("ping", "", nil)
		h.work()
		summary := h.must(200, "GET", "/automations/summary", nil)
		if summary.Text("runs", "failed_24h") != "1" || summary.Text("runs", "completed_24h") != "11" || summary.Text("runs", "running") != "0" {
			t.Errorf("summary %s", summary.Raw)
		}
	})
}

func TestAChangeThatBeginsItsOwnRunStopsWithAReason(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		id := h.enabled(line(on("system:contact.updated"), step("change", "contact_update", fields{"first_name": fields{"var": "event.updated_at"}})))
		h.must(201, "POST", "/contacts", fields{"email": "ann@example.net"})
		h.must(200, "PATCH", "/contacts/ann@example.net", fields{"first_name": "Ann"})
		for range 25 {
			h.work()
		}
		failed := h.must(200, "GET", "/automations/"+id+"/runs?status=failed", nil)
		if all := h.must(200, "GET", "/automations/"+id+"/runs", nil); all.Text("total") != "101" || failed.Text("total") != "1" {
			t.Fatalf("%s runs, %s failed", all.Text("total"), failed.Text("total"))
		}
		if one := failed.Body["data"].([]any)[0].(fields)["error"].(fields); one["code"] != "too_many_starts" {
			t.Errorf("error %v", one)
		}
	})
}

func TestWhoBeganTooOftenBeginsAgainAnHourLater(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		h.enabled(line(on("go", fields{"re_entry": "after_exit"}), step("end", "exit", nil)))
		began := 0
		for range 103 {
			began += len(h.send("go", "ann@example.net", nil))
			h.Finish(h.App.Automations.Step)
		}
		if began != 101 { // the last of them says that there were too many
			t.Fatalf("%d runs within an hour", began)
		}
		h.Clock.Advance(time.Hour + time.Second)
		if got := len(h.send("go", "ann@example.net", nil)); got != 1 {
			t.Errorf("%d runs an hour later", got)
		}
	})
}

func TestACircleIsPassedTwentyTimes(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		id := h.enabled(graph([]fields{on("go"), step("wait", "delay", fields{"duration": "1 hour"}), step("count", "condition",
			fields{"type": "rule", "field": "email", "operator": "exists"})}, []fields{way("start wait"), way("wait count"), way("count wait condition_met")}))
		run := h.send("go", "ann@example.net", nil)[0]
		for range 22 {
			h.work()
			h.Clock.Advance(time.Hour + time.Second)
		}
		got := h.run(id, run)
		if got.Text("status") != "failed" || got.Text("error", "code") != "too_many_passes" {
			t.Errorf("run %s", got.Text("status"))
		}
		if steps, _ := got.Body["steps"].([]any); len(steps) != 1+2*20 {
			t.Errorf("%d steps", len(steps))
		}
	})
}

func TestAnAutomationThatAsksUsByAnotherNameStops(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		var passed atomic.Int32
		alias := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if passed.Add(1) <= 5 { // so that a storm ends
				h.App.Handler().ServeHTTP(w, r)
			}
		}))
		t.Cleanup(alias.Close)
		credential := h.credential(&receiver{Server: alias}, fields{"secret": h.Key})
		id := h.enabled(line(on("ping"), step("again", "http_request", fields{"method": "POST", "url": alias.URL + "/v1/events/send", "credential_id": credential,
			"headers": fields{"CDN-Loop": "somebody.test"}, "body": fields{"event": "ping"}})))
		h.send("ping", "", nil)
		h.work()
		all := h.must(200, "GET", "/automations/"+id+"/runs", nil)
		if all.Text("total") != "1" || !strings.Contains(string(all.Raw), "HTTP 403 after 1 try") {
			t.Errorf("%s", all.Raw)
		}
	})
}

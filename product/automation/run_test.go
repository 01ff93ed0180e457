package automation_test

import (
	"strings"
	"testing"
	"time"
)

func TestAnEventBeginsARunThatMailsAndWaits(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		id := h.enabled(line(on("user.signed_up"), hello, step("wait", "delay", fields{"duration": "3 days"}), step("bye", "send_email",
			fields{"from": "hello@acme.test", "subject": "Bye", "text": "x"})))
		runs := h.send("user.signed_up", "ann@example.net", fields{"plan": "pro"})
		if len(runs) != 1 {
			t.Fatalf("runs %v", runs)
		}
		h.work()

		waiting := h.run(id, runs[0])
		if got := path(waiting); got != "start:completed hello:completed wait:waiting" || waiting.Text("status") != "running" || waiting.Text("current_step") != "wait" {
			t.Errorf("run %s: %s", waiting.Text("status"), got)
		}
		if mail := h.must(200, "GET", "/emails/"+output(waiting, "hello")["email_id"].(string), nil); mail.Text("subject") != "Hello there" ||
			!strings.Contains(mail.Text("text"), "Your plan is pro. https://") || mail.Text("source") != "automation" || mail.Text("automation_run_id") != runs[0] {
			t.Errorf("mail %s", mail.Raw)
		}
		h.Clock.Advance(71 * time.Hour)
		h.work()
		if got := len(h.mails()); got != 1 {
			t.Errorf("%d mails before the wait is over", got)
		}
		h.Clock.Advance(2 * time.Hour)
		h.work()
		over := h.run(id, runs[0])
		if got := path(over); got != "start:completed hello:completed wait:completed bye:completed" || over.Text("status") != "completed" {
			t.Errorf("run %s: %s", over.Text("status"), got)
		}
		if stats := h.must(200, "GET", "/automations/"+id, nil).Text("stats"); stats != "map[cancelled:0 completed:1 failed:0 running:0 runs_total:1]" {
			t.Errorf("stats %s", stats)
		}
	})
}

func TestConditionsSplitsAndOutputsDecideTheWay(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		h.must(201, "POST", "/contact-properties", fields{"key": "plan", "type": "string"})
		id := h.enabled(graph([]fields{on("bought"),
			step("update", "contact_update", fields{"first_name": "Ann", "properties": fields{"plan": fields{"var": "event.plan"}}}),
			step("pro", "condition", fields{"type": "rule", "field": "properties.plan", "operator": "eq", "value": "pro"}),
			step("big", "condition", fields{"type": "rule", "field": "event.seats", "operator": "gt", "value": 10}),
			step("dice", "split", fields{"branches": []fields{{"key": "a", "weight": 1}, {"key": "b", "weight": 1}}}),
			step("end", "exit", nil), step("other", "exit", nil)},
			[]fields{way("start update"), way("update pro"), way("pro big condition_met"), way("pro end condition_not_met"), way("big dice condition_met"),
				way("dice end branch a"), way("dice other branch b")}))
		for plan, want := range map[string]string{"pro": "start update pro big dice", "free": "start update pro end"} {
			runs := h.send("bought", plan+"@example.net", fields{"plan": plan, "seats": 11})
			h.work()
			run := h.run(id, runs[0])
			if got := strings.ReplaceAll(path(run), ":completed", ""); !strings.HasPrefix(got, want) || run.Text("status") != "completed" {
				t.Errorf("%s: %s %s", plan, run.Text("status"), got)
			}
		}
		if c := h.must(200, "GET", "/contacts/pro@example.net", nil); c.Text("first_name") != "Ann" || c.Text("properties") == "" {
			t.Errorf("contact %s", c.Raw)
		}
	})
}

func TestAWaitEndsWithTheEventOrWithItsTime(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		id := h.enabled(graph([]fields{on("signed"), step("wait", "wait_for_event", fields{"event_name": "paid", "timeout": "2 days",
			"filter_rule": fields{"type": "rule", "field": "event.amount", "operator": "gte", "value": 5}}), step("yes", "exit", nil), step("no", "exit", nil)},
			[]fields{way("start wait"), way("wait yes event_received"), way("wait no timeout")}))
		paid, late := h.send("signed", "paid@example.net", nil)[0], h.send("signed", "late@example.net", nil)[0]
		h.work()
		h.send("paid", "paid@example.net", fields{"amount": 1})
		h.work()
		if got := path(h.run(id, paid)); got != "start:completed wait:waiting" {
			t.Fatalf("an event that the filter refuses: %s", got)
		}
		h.send("paid", "paid@example.net", fields{"amount": 7})
		h.work()
		if got := path(h.run(id, paid)); got != "start:completed wait:completed yes:completed" {
			t.Errorf("the event came: %s", got)
		}
		h.Clock.Advance(49 * time.Hour)
		h.work()
		if got := path(h.run(id, late)); got != "start:completed wait:completed no:completed" {
			t.Errorf("the event did not come: %s", got)
		}
	})
}

func TestReEntryFollowsItsRule(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		for rule, want := range map[string][]int{"once_per_contact": {1, 0, 0}, "after_exit": {1, 0, 1}, "always": {1, 1, 1}} {
			name := "e." + rule
			h.enabled(line(on(name, fields{"re_entry": rule}), step("wait", "delay", fields{"duration": "1 minute"})))
			got := []int{len(h.send(name, "ann@example.net", nil))}
			h.work()
			got = append(got, len(h.send(name, "ann@example.net", nil)))
			h.work()
			h.Clock.Advance(aMinute)
			h.work()
			got = append(got, len(h.send(name, "ann@example.net", nil)))
			for i := range want {
				if got[i] != want[i] {
					t.Errorf("%s began %v, want %v", rule, got, want)
					break
				}
			}
		}
	})
}

func TestARunOfATestKeyTakesNobodysPlace(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		wait := step("wait", "delay", fields{"duration": "1 minute"})
		once := h.enabled(line(on("go", fields{"re_entry": "once_per_contact"}), wait))
		h.enabled(line(on("go", fields{"re_entry": "after_exit"}), wait))
		trial := h.Browse("POST", "/v1/api-keys", fields{"name": "trial", "preset": "full_access", "mode": "test"}).Text("key")
		event := fields{"event": "go", "email": "ann@example.net", "payload": fields{}}
		tried := h.CallAs(trial, "POST", "/events/send", event, nil)
		asked := h.CallAs(trial, "POST", "/automations/"+once+"/run", fields{"email": "ann@example.net"}, nil)
		if len(texts(tried.Body["runs"])) != 2 || asked.Status != 202 {
			t.Fatalf("with a test key: %s, %s", tried.Raw, asked.Raw)
		}
		h.work()
		if got := len(h.send("go", "ann@example.net", nil)); got != 2 {
			t.Errorf("%d runs after a trial", got)
		}
		if got := len(h.send("go", "ann@example.net", nil)); got != 0 {
			t.Errorf("%d runs the second time", got)
		}
	})
}

func TestRunsStayOnTheirVersion(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		definition := line(on("go"), step("wait", "delay", fields{"duration": "1 minute"}), step("old", "exit", nil))
		id := h.enabled(definition)
		run := h.send("go", "ann@example.net", nil)[0]
		h.work()
		h.must(200, "PATCH", "/automations/"+id, line(on("go"), step("wait", "delay", fields{"duration": "1 minute"}), step("new", "exit", nil)))
		if got := h.must(200, "GET", "/automations/"+id, nil).Text("has_unpublished_changes"); got != "true" {
			t.Errorf("has_unpublished_changes %s", got)
		}
		published := h.must(200, "POST", "/automations/"+id+"/publish", fields{"note": "new end"})
		if published.Text("published_version") != "2" {
			t.Errorf("published %s", published.Raw)
		}
		next := h.send("go", "bob@example.net", nil)[0]
		h.work()
		h.Clock.Advance(aMinute)
		h.work()
		if got := path(h.run(id, run)); !strings.HasSuffix(got, "old:completed") {
			t.Errorf("a run of version 1: %s", got)
		}
		if got := path(h.run(id, next)); !strings.HasSuffix(got, "new:completed") {
			t.Errorf("a run of version 2: %s", got)
		}
		back := h.must(200, "POST", "/automations/"+id+"/versions/1/rollback", nil)
		if back.Text("published_version") != "3" || !strings.Contains(string(back.Raw), `"old"`) {
			t.Errorf("rollback %s", back.Raw)
		}
		versions := h.must(200, "GET", "/automations/"+id+"/versions", nil)
		if !strings.Contains(string(versions.Raw), `"rolled_back_from":1`) || versions.Text("total") != "3" {
			t.Errorf("versions %s", versions.Raw)
		}
		if answer := h.Call("POST", "/automations/"+id+"/versions/9/rollback", nil); answer.Status != 404 {
			t.Errorf("a version that does not exist: %d", answer.Status)
		}
	})
}

func TestStopArchiveAndDuplicate(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		id := h.enabled(line(on("go"), step("wait", "delay", fields{"duration": "9 days"})))
		var runs []string
		for _, who := range []string{"a", "b", "c"} {
			runs = append(runs, h.send("go", who+"@example.net", nil)...)
		}
		h.work()
		one := h.must(200, "POST", "/automations/"+id+"/stop", fields{"run_id": runs[0]})
		if one.Text("object") != "automation_run" || one.Text("status") != "cancelled" {
			t.Errorf("stop of a run: %s", one.Raw)
		}
		h.must(409, "POST", "/automations/"+id+"/stop", fields{"run_id": runs[0]})
		all := h.must(200, "POST", "/automations/"+id+"/stop", nil)
		if all.Text("status") != "disabled" || all.Text("stopped_runs") != "2" {
			t.Errorf("stop: %s", all.Raw)
		}
		h.must(409, "POST", "/automations/"+id+"/run", fields{"email": "a@example.net"})
		copied := h.must(201, "POST", "/automations/"+id+"/duplicate", nil)
		if copied.Text("status") != "disabled" || copied.Text("name") != "Welcome (copy)" || copied.Text("published_version") != "" || !strings.Contains(string(copied.Raw), `"9 days"`) {
			t.Errorf("copy: %s", copied.Raw)
		}
		h.must(200, "DELETE", "/automations/"+id, nil)
		h.must(409, "PATCH", "/automations/"+id, fields{"name": "x"})
		summary := h.must(200, "GET", "/automations/summary", nil)
		if summary.Text("archived") != "1" || summary.Text("total") != "2" || summary.Text("runs", "running") != "0" {
			t.Errorf("summary %s", summary.Raw)
		}
		h.Clock.Advance(10 * 24 * time.Hour)
		h.work()
		for _, run := range runs {
			if got := h.run(id, run).Text("status"); got != "cancelled" {
				t.Errorf("a cancelled run went on: %s", got)
			}
		}
	})
}

func TestRunsThatEndedLongAgoAreForgottenButCounted(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		id := h.enabled(line(on("go"), step("end", "exit", nil)))
		old := h.send("go", "ann@example.net", nil)[0]
		h.work()
		h.Clock.Advance(89 * 24 * time.Hour)
		h.work()
		h.run(id, old)
		h.Clock.Advance(2 * 24 * time.Hour)
		fresh := h.send("go", "ann@example.net", nil)[0]
		h.work()
		h.must(404, "GET", "/automations/"+id+"/runs/"+old, nil)
		h.run(id, fresh)
		if got := h.must(200, "GET", "/automations/"+id, nil).Text("stats", "runs_total"); got != "2" {
			t.Errorf("%s runs are counted", got)
		}
	})
}

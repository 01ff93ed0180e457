package automation_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/platform/db"
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

// With several writers at once an event can have seen its triggers just before a stop takes them away.
func TestAStopReachesTheRunsThatAreJustBeginning(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		id, plan := h.enabled(line(on("go"), hello)), fields{"plan": "pro"}
		direct := func(text string) {
			t.Helper()
			if err := h.App.DB.Write(context.Background(), func(tx *db.Tx) error { _, err := tx.Exec(text); return err }); err != nil {
				t.Fatal(err)
			}
		}
		direct(`CREATE TABLE seen_before AS SELECT * FROM automation_trigger`)
		h.must(200, "POST", "/automations/"+id+"/stop", nil)
		direct(`INSERT INTO automation_trigger SELECT * FROM seen_before`)
		late := h.send("go", "ann@example.net", plan)
		h.work()
		if got := h.run(id, late[0]); got.Text("status") != "cancelled" || len(h.mails()) != 0 {
			t.Errorf("%d mails of %s", len(h.mails()), got.Raw)
		}
		h.must(200, "PATCH", "/automations/"+id, fields{"status": "enabled"})
		asked := h.must(202, "POST", "/automations/"+id+"/run", fields{"email": "bob@example.net", "payload": plan})
		for _, run := range append(h.send("go", "ann@example.net", plan), asked.Text("id")) {
			h.work()
			if got := h.run(id, run).Text("status"); got != "completed" {
				t.Errorf("once it is enabled again a run is %s", got)
			}
		}
		if got := len(h.mails()); got != 2 {
			t.Errorf("%d mails, want 2", got)
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

func TestWhoIsStillInARunHasNotLeftItBecauseAnotherEnded(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		id := h.enabled(graph([]fields{on("go", fields{"re_entry": "after_exit"}), step("long", "condition", fields{"type": "rule", "field": "event.short", "operator": "exists"}),
			step("wait", "delay", fields{"duration": "9 days"})}, []fields{way("start long"), way("long wait condition_not_met")}))
		first := h.send("go", "ann@example.net", nil)[0]
		h.work()
		h.must(202, "POST", "/automations/"+id+"/run", fields{"email": "ann@example.net", "payload": fields{"short": true}})
		h.work()
		if got := h.must(200, "GET", "/automations/"+id, nil).Text("stats"); got != "map[cancelled:0 completed:1 failed:0 running:1 runs_total:2]" {
			t.Fatalf("stats %s", got)
		}
		if got := len(h.send("go", "ann@example.net", nil)); got != 0 {
			t.Errorf("%d runs beside one that goes on", got)
		}
		h.must(200, "POST", "/automations/"+id+"/stop", fields{"run_id": first})
		if got := len(h.send("go", "ann@example.net", nil)); got != 1 {
			t.Errorf("%d runs after both have ended", got)
		}
	})
}

func TestAnEventOfATestKeyWakesNoRunThatCounts(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		id := h.enabled(line(on("signed"), step("wait", "wait_for_event", fields{"event_name": "paid", "timeout": "2 days"})))
		trial := h.Browse("POST", "/v1/api-keys", fields{"name": "trial", "preset": "full_access", "mode": "test"}).Text("key")
		send := func(event string) apptest.Answer {
			return h.CallAs(trial, "POST", "/events/send", fields{"event": event, "email": "ann@example.net", "payload": fields{}}, nil)
		}
		real := h.send("signed", "ann@example.net", nil)[0]
		tried := texts(send("signed").Body["runs"])[0]
		h.work()
		send("paid")
		h.work()
		if counts, trial := h.run(id, real).Text("status"), h.run(id, tried).Text("status"); counts != "running" || trial != "completed" {
			t.Errorf("an event of a test key: the run is %s, that of the test key %s", counts, trial)
		}
		h.send("paid", "ann@example.net", nil)
		h.work()
		if got := h.run(id, real).Text("status"); got != "completed" {
			t.Errorf("an event that counts: %s", got)
		}
	})
}

// Mail of a test key never leaves the machine, whatever its runs lead to.
func TestTheMailOfATestKeyStaysHere(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		h.enabled(line(on("one"), hello, step("tell", "emit_event", fields{"event_name": "two", "payload": fields{"plan": "x"}})))
		h.enabled(line(on("two"), hello))
		trial := h.Browse("POST", "/v1/api-keys", fields{"name": "trial", "preset": "full_access", "mode": "test"}).Text("key")
		for key, want := range map[string]int{trial: 0, h.Key: 2} {
			to := fmt.Sprintf("ann%d@example.net", want)
			h.CallAs(key, "POST", "/events/send", fields{"event": "one", "email": to, "payload": fields{"plan": "x"}}, nil)
			h.work()
			h.Deliver()
			if got := len(h.Mailbox(to)); got != want {
				t.Errorf("%d mails arrived, want %d", got, want)
			}
		}
	})
}

func TestARunOfASuspendedWorkspaceMailsNobody(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		id := h.enabled(line(on("go"), step("wait", "delay", fields{"duration": "1 hour"}), hello))
		run := h.send("go", "ann@example.net", fields{"plan": "x"})[0]
		h.work()
		if err := h.App.Accounts.Suspend(t.Context(), h.Workspace, "spam reports"); err != nil {
			t.Fatal(err)
		}
		h.Clock.Advance(time.Hour + time.Second)
		h.work()
		if err := h.App.Accounts.Resume(t.Context(), h.Workspace); err != nil {
			t.Fatal(err)
		}
		h.Clock.Advance(time.Second) // keys are remembered that long
		if got := h.run(id, run); got.Text("status") != "failed" || len(h.mails()) != 0 {
			t.Errorf("%s, and %d mails", got.Raw, len(h.mails()))
		}
	})
}

// A run that has gone on to wait for something else in the meantime is not woken by what it waited for before.
func TestARunIsWokenByWhatItsStepWaitsFor(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		id := h.enabled(line(on("go"), step("wait", "wait_for_event", fields{"event_name": "paid", "timeout": "2 days"})))
		run := h.send("go", "ann@example.net", nil)[0]
		h.work()
		err := h.App.DB.Write(context.Background(), func(tx *db.Tx) error { // as somebody saw it who looked before the run went on
			_, err := tx.Exec(`UPDATE automation_wait SET event_name = 'asked' WHERE run_id = $1`, run)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		h.send("asked", "ann@example.net", nil)
		h.work()
		if got := path(h.run(id, run)); got != "start:completed wait:waiting" {
			t.Errorf("%s", got)
		}
	})
}

func TestWhoLeavesWhileARunWaitsIsNotMailed(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		topic := h.must(201, "POST", "/topics", fields{"name": "Offers", "default_subscription": "opt_in"}).Text("id")
		mail := func(key string, more fields) fields {
			config := fields{"from": "a@acme.test", "subject": key, "text": "x"}
			maps.Copy(config, more)
			return step(key, "send_email", config)
		}
		id := h.enabled(line(on("go"), step("wait", "delay", fields{"duration": "1 hour"}), mail("offer", fields{"topic_id": topic}), mail("news", nil)))
		runs := map[string]string{}
		for _, who := range []string{"stays", "unsubscribed", "topic", "bounced"} {
			runs[who] = h.send("go", who+"@example.net", nil)[0]
		}
		h.work()
		h.must(200, "PATCH", "/contacts/unsubscribed@example.net", fields{"unsubscribed": true})
		h.must(200, "PATCH", "/contacts/topic@example.net/topics", []fields{{"id": topic, "subscription": "opt_out"}})
		err := h.App.DB.Write(context.Background(), func(tx *db.Tx) error {
			_, err := tx.Exec(`UPDATE contact SET status = 'bounced' WHERE address = 'bounced@example.net'`)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		h.Clock.Advance(time.Hour + time.Second)
		h.work()
		for who, want := range map[string][2]string{"stays": {"", ""}, "unsubscribed": {"unsubscribed", "unsubscribed"}, "topic": {"topic_opt_out", ""}, "bounced": {"bounced", "bounced"}} {
			run := h.run(id, runs[who])
			for i, key := range []string{"offer", "news"} {
				reason, _ := output(run, key)["reason"].(string)
				if _, sent := output(run, key)["email_id"]; reason != want[i] || sent != (reason == "") {
					t.Errorf("%s, %s: %v", who, key, output(run, key))
				}
			}
		}
		if got := len(h.mails()); got != 3 {
			t.Errorf("%d mails, want 3", got)
		}
	})
}

func TestAStepThatCannotUnsubscribeFailsBeforeTheNextMail(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		id := h.enabled(line(on("go"), step("off", "contact_update", fields{"unsubscribed": fields{"var": "event.off"}}), hello))
		for who, said := range map[string]any{"yes": "yes", "true": true, "false": false, "nothing": nil} {
			want := "completed"
			if said == "yes" {
				want = "failed"
			}
			run := h.send("go", who+"@example.net", fields{"off": said, "plan": "x"})[0]
			h.work()
			if got := h.run(id, run); got.Text("status") != want {
				t.Errorf("%v: %s", said, got.Raw)
			}
		}
		if got := len(h.mails()); got != 2 {
			t.Errorf("%d mails, want 2", got)
		}
		if got := h.must(200, "GET", "/contacts/true@example.net", nil).Text("unsubscribed"); got != "true" {
			t.Errorf("unsubscribed: %s", got)
		}
	})
}

func TestRunsAreFoundByContactTimeAndAutomation(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		id, other := h.enabled(line(on("go"), step("end", "exit", nil))), h.enabled(line(on("went"), step("wait", "delay", fields{"duration": "1 day"})))
		ann := h.send("go", "ann@example.net", nil)[0]
		h.Clock.Advance(time.Hour)
		at := h.Clock.Now().UTC().Format(time.RFC3339Nano)
		bob := h.send("go", "bob@example.net", nil)[0]
		foreign := h.send("went", "ann@example.net", nil)[0]
		h.work()
		contact := h.must(200, "GET", "/contacts/ann@example.net", nil).Text("id")
		for query, want := range map[string]string{"": bob + " " + ann, "?contact_id=" + contact: ann, "?contact_id=0193a1f2-0000-7000-8000-0000000000ff," + contact: ann, "?since=" + at: bob, "?until=" + at: ann, "?status=running": "",
			"?status=completed,failed": bob + " " + ann, "?since=" + at + "&contact_id=" + contact: "", "?limit=1&offset=1": ann} {
			page := h.must(200, "GET", "/automations/"+id+"/runs"+query, nil)
			var found []string
			list, _ := page.Body["data"].([]any)
			for _, one := range list {
				found = append(found, one.(fields)["id"].(string))
			}
			if got := strings.Join(found, " "); got != want {
				t.Errorf("%s: %s, want %s", query, got, want)
			}
		}
		h.must(404, "GET", "/automations/"+id+"/runs/"+foreign, nil)
		h.must(404, "POST", "/automations/"+id+"/stop", fields{"run_id": foreign})
		if got := h.run(other, foreign).Text("status"); got != "running" {
			t.Errorf("the run of another automation is %s", got)
		}
	})
}

func TestWhatIsArchivedCancelsTheRunsThatWait(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		wait := step("wait", "delay", fields{"duration": "1 hour"})
		id := h.enabled(line(on("go"), wait, hello))
		run := h.send("go", "ann@example.net", fields{"plan": "x"})[0]
		h.work()
		h.must(200, "DELETE", "/automations/"+id, nil)
		if got := len(h.send("go", "bob@example.net", nil)); got != 0 {
			t.Errorf("%d runs of what is archived", got)
		}
		h.Clock.Advance(2 * time.Hour)
		h.work()
		if got := h.run(id, run).Text("status"); got != "cancelled" || len(h.mails()) != 0 {
			t.Errorf("%s, mails %v", got, h.mails())
		}
		if stats := h.must(200, "GET", "/automations/"+id, nil).Text("stats"); stats != "map[cancelled:1 completed:0 failed:0 running:0 runs_total:1]" {
			t.Errorf("stats %s", stats)
		}
		var told int64
		err := h.App.DB.Read(context.Background(), func(tx *db.Tx) (err error) {
			told, err = db.One(tx, db.Value[int64], `SELECT COUNT(*) FROM event WHERE type LIKE 'automation.run.%'`)
			return err
		})
		if err != nil || told != 0 {
			t.Errorf("%d events tell of a run that was cancelled: %v", told, err)
		}
	})
}

func TestValuesOfAnEventAreComparedAsWhatTheyAre(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		for i, c := range []struct {
			said     any
			operator string
			value    any
			met      bool
		}{
			{"2026-11-15", "gt", "2026-11-01T00:00:00Z", true}, {"2026-11-15", "lt", "2026-11-01T00:00:00Z", false}, {"2026-11-15T12:00:00+02:00", "gte", "2026-11-15T10:00:00Z", true},
			{"Pro", "eq", "pRO", true}, {"pro", "neq", "PRO", false}, {12345678, "eq", 12345678, true}, {2, "lt", 10, true}, {"2", "lt", 10, false}, {"2", "neq", 2, true},
			{true, "eq", true, true}, {"true", "eq", true, false}, {nil, "exists", nil, false}, {nil, "eq", "x", false}, {nil, "neq", "x", true}, {"", "is_empty", nil, true},
		} {
			name := fmt.Sprintf("e%d", i)
			id := h.enabled(line(on(name), step("ask", "condition", fields{"type": "rule", "field": "event.x", "operator": c.operator, "value": c.value})))
			run := h.send(name, "", fields{"x": c.said})[0]
			h.work()
			if got := output(h.run(id, run), "ask")["met"]; got != c.met {
				t.Errorf("%v %s %v: %v", c.said, c.operator, c.value, got)
			}
		}
	})
}

package automation_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/platform/db"
	"postrider/platform/httpout"
	"postrider/product/automation"
)

// restart returns the automations of a new process of the same node, or of another one, on the same database.
func (h house) restart(node string) *automation.Service {
	h.t.Helper()
	return automation.New(h.App.World, h.App.DB, automation.Parts{Keys: h.Keys, Plans: h.App.Plans, Accounts: h.App.Accounts, Domains: h.App.Domains, Webhooks: h.App.Webhooks, Templates: h.App.Templates,
		Suppressions: h.App.Suppressions, Emails: h.App.Emails, Audience: h.App.Audience},
		automation.Config{Node: node, Inline: true, Policy: httpout.Policy{AnyLoopbackPort: true}})
}

func TestAMailIsNotSentAgainByAProcessThatComesBackDaysLater(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		h.enabled(line(on("go"), hello))
		h.send("go", "ann@example.net", fields{"plan": "x"})
		h.once(h.restart(apptest.NodeID).Step) // it has handed the mail in, and is gone before that is written down
		if got := len(h.mails()); got != 1 {
			t.Fatalf("%d mails before", got)
		}
		h.Clock.Advance(5 * 24 * time.Hour)
		process := h.restart(apptest.NodeID)
		h.Finish(leases(process))
		h.Finish(process.Step)
		if got := len(h.mails()); got != 1 {
			t.Errorf("%d mails, want 1", got)
		}
	})
}

// A process dies after every single step it does. Whatever that was, each mail is there once, and each request has one key.
func TestAProcessThatDiesAfterEveryStepRepeatsNothingThatIsSeen(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		server := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"id":"7"}`) })
		call := fields{"method": "POST", "url": server.URL}
		id := h.enabled(line(on("go"), hello, step("one", "http_request", call), step("bye", "send_email", fields{"from": "a@acme.test", "subject": "Bye", "text": "x"}),
			step("tell", "emit_event", fields{"event_name": "other"}), step("two", "http_request", call)))
		counted := h.enabled(line(on("other"), step("end", "exit", nil)))
		var runs []string
		for i := range 3 {
			runs = append(runs, h.send("go", fmt.Sprintf("ann%d@example.net", i), fields{"plan": "x"})...)
		}
		for range 40 {
			process := h.restart(apptest.NodeID)
			for range 2 { // acts, and writes down what became of the step before; then it is gone
				h.once(process.Step)
			}
		}
		h.Finish(h.restart(apptest.NodeID).Step)
		for _, run := range runs {
			if got := h.run(id, run).Text("status"); got != "completed" {
				t.Errorf("run %s", h.run(id, run).Raw)
			}
		}
		if got := len(h.mails()); got != 6 {
			t.Errorf("%d mails, want 6", got)
		}
		keys := map[string]bool{}
		for _, r := range server.requests() {
			keys[r.Get("Idempotency-Key")] = true
		}
		if len(keys) != 6 || len(server.requests()) <= 6 {
			t.Errorf("%d keys in %d requests; the test wants some to be repeated", len(keys), len(server.requests()))
		}
		if got := h.total(counted); got != "3" {
			t.Errorf("the event was sent %s times, want 3", got)
		}
	})
}

func TestARunOfADeadNodeIsTakenOverWhenItsLeaseEnds(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		server := newReceiver(t, nil)
		id := h.enabled(line(on("go"), step("one", "http_request", fields{"url": server.URL})))
		run := h.send("go", "", nil)[0]
		h.once(h.restart(apptest.NodeID).Step) // asks, and dies
		other := h.restart("00000000-0000-7000-8000-00000000000b")
		h.Finish(other.Step)
		if got := h.run(id, run).Text("status"); got != "running" || len(server.requests()) != 1 {
			t.Fatalf("%s, %d requests", got, len(server.requests()))
		}
		h.Clock.Advance(2 * time.Minute)
		h.Finish(leases(other))
		h.Finish(other.Step)
		asked := server.requests()
		if got := h.run(id, run).Text("status"); got != "completed" || len(asked) != 2 || asked[0].Get("Idempotency-Key") != asked[1].Get("Idempotency-Key") {
			t.Errorf("%s, %d requests", got, len(asked))
		}
	})
}

func TestAFailureThatTwoNodesSawCountsOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		server := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) })
		id := h.enabled(line(on("go"), step("one", "http_request", fields{"url": server.URL, "retry": 1})))
		run := h.send("go", "", nil)[0]
		slow, quick := h.restart(apptest.NodeID), h.restart("00000000-0000-7000-8000-00000000000b")
		h.once(slow.Step)
		h.Clock.Advance(2 * time.Minute)
		h.Finish(leases(quick))
		h.Finish(quick.Step)
		h.Finish(slow.Step)
		if got := h.run(id, run).Text("status"); got != "running" || len(server.requests()) != 2 {
			t.Fatalf("%s after %d requests", got, len(server.requests()))
		}
		h.Clock.Advance(time.Hour)
		h.Finish(quick.Step)
		if got := h.run(id, run); got.Text("error", "message") != "HTTP 500 after 2 tries" || len(server.requests()) != 3 {
			t.Errorf("%s, %d requests", got.Raw, len(server.requests()))
		}
	})
}

func TestAProcessThatStopsWritesDownWhatItHeardAndLeavesTheRest(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		server := newReceiver(t, nil)
		id := h.enabled(line(on("go"), step("one", "http_request", fields{"url": server.URL + "/one"}), step("two", "http_request", fields{"url": server.URL + "/two"})))
		run := h.send("go", "", nil)[0]
		stopping := h.restart(apptest.NodeID)
		h.once(stopping.Step)
		if err := stopping.Drain(context.Background()); err != nil {
			t.Fatal(err)
		}
		h.Finish(h.restart("00000000-0000-7000-8000-00000000000b").Step)
		asked := server.requests()
		if got := h.run(id, run).Text("status"); got != "completed" || len(asked) != 2 || asked[0].uri != "/one" || asked[1].uri != "/two" {
			t.Errorf("%s, asked %+v", got, asked)
		}
	})
}

func TestARunThatWasStoppedMeanwhileDoesNotGoOn(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		server := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) })
		id := h.enabled(line(on("go"), step("one", "http_request", fields{"url": server.URL}), step("two", "http_request", fields{"url": server.URL})))
		run := h.send("go", "", nil)[0]
		h.once(h.App.Automations.Step) // asks
		h.must(200, "POST", "/automations/"+id+"/stop", fields{"run_id": run})
		h.work()
		if got := h.run(id, run).Text("status"); got != "cancelled" || len(server.requests()) != 1 {
			t.Errorf("%s, %d requests", got, len(server.requests()))
		}
		if stats := h.must(200, "GET", "/automations/"+id, nil).Text("stats"); stats != "map[cancelled:1 completed:0 failed:0 running:0 runs_total:1]" {
			t.Errorf("stats %s", stats)
		}
	})
}

func TestAWriteThatFailsAfterTheRequestLosesNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		server := newReceiver(t, nil)
		id := h.enabled(line(on("go"), hello, step("one", "http_request", fields{"url": server.URL})))
		run := h.send("go", "ann@example.net", fields{"plan": "x"})[0]
		gone, end := context.WithCancel(context.Background())
		end()
		for range 6 {
			_, _ = h.App.Automations.Step(gone) // nothing can be written
			h.once(h.App.Automations.Step)
		}
		if got := h.run(id, run); got.Text("status") != "completed" || len(server.requests()) != 1 || len(h.mails()) != 1 {
			t.Errorf("%s, %d requests, mails %v", got.Raw, len(server.requests()), h.mails())
		}
	})
}

// Two nodes do the same step, because the first was silent for too long. It moves the run on all the same, and cannot give the item
// back that the second one holds.
func TestARunThatTwoNodesHeldIsNotKeptByTheSecond(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		server := newReceiver(t, nil)
		id := h.enabled(line(on("go"), step("one", "http_request", fields{"url": server.URL}), step("wait", "delay", fields{"duration": "1 hour"})))
		run := h.send("go", "", nil)[0]
		slow, quick := h.restart(apptest.NodeID), h.restart("00000000-0000-7000-8000-00000000000b")
		h.once(slow.Step) // asks
		h.Clock.Advance(2 * time.Minute)
		h.once(leases(quick))
		h.once(quick.Step) // asks, too
		h.once(slow.Step)  // writes down what it heard
		if got := path(h.run(id, run)); len(server.requests()) != 2 || got != "start:completed one:completed wait:waiting" {
			t.Fatalf("%d requests, %s", len(server.requests()), got)
		}
		h.Finish(quick.Step)
		if got := path(h.run(id, run)); got != "start:completed one:completed wait:waiting" {
			t.Errorf("what the second one heard: %s", got)
		}
		for range 3 {
			h.Clock.Advance(30 * time.Minute)
			h.once(leases(quick))
			h.Finish(quick.Step)
		}
		if got := h.run(id, run); got.Text("status") != "completed" || len(server.requests()) != 2 {
			t.Errorf("after its wait: %s, %d requests", got.Raw, len(server.requests()))
		}
	})
}

// once does one step, which must not fail.
func (h house) once(step func(context.Context) (bool, error)) {
	h.t.Helper()
	if _, err := step(context.Background()); err != nil {
		h.t.Fatal(err)
	}
}

// leases returns the step by which a node keeps its runs and takes over those of nodes that vanished.
func leases(s *automation.Service) func(context.Context) (bool, error) {
	for _, w := range s.Workers() {
		if w.Name == "automation leases" {
			return w.Step
		}
	}
	panic("no worker renews leases")
}

func TestANodeThatLivesKeepsItsRuns(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		server := newReceiver(t, nil)
		id := h.enabled(line(on("go"), step("one", "http_request", fields{"url": server.URL})))
		run := h.send("go", "", nil)[0]
		busy, other := h.restart(apptest.NodeID), h.restart("00000000-0000-7000-8000-00000000000b")
		h.once(busy.Step)
		for range 3 {
			h.Clock.Advance(50 * time.Second)
			h.Finish(leases(busy))
			h.Finish(leases(other))
			h.Finish(other.Step)
		}
		h.Finish(busy.Step)
		if got := h.run(id, run).Text("status"); got != "completed" || len(server.requests()) != 1 {
			t.Errorf("%s, %d requests", got, len(server.requests()))
		}
	})
}

// The definition of a run cannot be read any more. It breaks every transaction that it is part of, and must not break them for ever.
func TestARunThatBreaksEveryTransactionIsGivenUpAndStopsNoOther(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		broken := h.enabled(line(on("bad"), step("end", "exit", nil)))
		sound := h.enabled(line(on("good"), step("end", "exit", nil)))
		lost := h.send("bad", "", nil)[0]
		h.Clock.Advance(time.Second)
		well := []string{h.send("good", "", nil)[0], h.send("good", "", nil)[0]}
		err := h.App.DB.Write(context.Background(), func(tx *db.Tx) error {
			_, err := tx.Exec(`UPDATE automation_version SET definition = '{}' WHERE automation_id = $1`, broken)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		process := h.restart(apptest.NodeID)
		for range 8 {
			_, _ = process.Step(context.Background()) // some fail
		}
		failed := h.must(200, "GET", "/automations/"+broken+"/runs?status=failed", nil)
		if list, _ := failed.Body["data"].([]any); len(list) != 1 || list[0].(fields)["id"] != lost || list[0].(fields)["error"].(fields)["code"] != "internal_error" {
			t.Errorf("the broken run: %s", failed.Raw)
		}
		for _, run := range well {
			if got := h.run(sound, run).Text("status"); got != "completed" {
				t.Errorf("a sound run is %s", got)
			}
		}
	})
}

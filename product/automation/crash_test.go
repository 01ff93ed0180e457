package automation_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"postrider/app/apptest"
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
				if _, err := process.Step(context.Background()); err != nil {
					t.Fatal(err)
				}
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
		if _, err := h.restart(apptest.NodeID).Step(context.Background()); err != nil { // asks, and dies
			t.Fatal(err)
		}
		other := h.restart("00000000-0000-7000-8000-00000000000b")
		h.Finish(other.Step)
		if got := h.run(id, run).Text("status"); got != "running" || len(server.requests()) != 1 {
			t.Fatalf("%s, %d requests", got, len(server.requests()))
		}
		h.Clock.Advance(2 * time.Minute)
		for _, w := range other.Workers() {
			if w.Name == "automation leases" {
				h.Finish(w.Step)
			}
		}
		h.Finish(other.Step)
		asked := server.requests()
		if got := h.run(id, run).Text("status"); got != "completed" || len(asked) != 2 || asked[0].Get("Idempotency-Key") != asked[1].Get("Idempotency-Key") {
			t.Errorf("%s, %d requests", got, len(asked))
		}
	})
}

func TestARunThatWasStoppedMeanwhileDoesNotGoOn(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		server := newReceiver(t, nil)
		id := h.enabled(line(on("go"), step("one", "http_request", fields{"url": server.URL}), step("two", "http_request", fields{"url": server.URL})))
		run := h.send("go", "", nil)[0]
		if _, err := h.App.Automations.Step(context.Background()); err != nil { // asks
			t.Fatal(err)
		}
		h.must(200, "POST", "/automations/"+id+"/stop", fields{"run_id": run})
		h.work()
		if got := h.run(id, run).Text("status"); got != "cancelled" || len(server.requests()) != 1 {
			t.Errorf("%s, %d requests", got, len(server.requests()))
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
			if _, err := h.App.Automations.Step(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		if got := h.run(id, run); got.Text("status") != "completed" || len(server.requests()) != 1 || len(h.mails()) != 1 {
			t.Errorf("%s, %d requests, mails %v", got.Raw, len(server.requests()), h.mails())
		}
	})
}

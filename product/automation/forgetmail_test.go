package automation_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"postrider/platform/db"
)

// come lets a message come to us, and returns its id.
func (h house) come(subject string, headers ...string) string {
	h.t.Helper()
	raw := "From: ann@example.net\r\nTo: support@acme.test\r\nSubject: " + subject + "\r\n" + strings.Join(headers, "") + "\r\nHow are you?\r\n"
	return h.must(201, "POST", "/emails/receiving", fields{"to": []string{"support@acme.test"}, "raw": raw}).Text("id")
}

// runs returns all runs of an automation, the newest first.
func (h house) runs(automation string) (ids []string) {
	h.t.Helper()
	list, _ := h.must(200, "GET", "/automations/"+automation+"/runs", nil).Body["data"].([]any)
	for _, one := range list {
		ids = append(ids, fmt.Sprint(one.(fields)["id"]))
	}
	return ids
}

// holding counts the rows of automations and events in which a text stands.
func (h house) holding(text string) (n int64) {
	h.t.Helper()
	err := h.App.DB.Read(context.Background(), func(tx *db.Tx) (err error) {
		n, err = db.One(tx, db.Value[int64], `
			SELECT (SELECT COUNT(*) FROM automation_run WHERE payload LIKE $1 OR failure LIKE $1)
				+ (SELECT COUNT(*) FROM automation_step WHERE output LIKE $1 OR failure LIKE $1)
				+ (SELECT COUNT(*) FROM automation_wait WHERE received LIKE $1)
				+ (SELECT COUNT(*) FROM event WHERE data LIKE $1 AND (type LIKE 'automation.%' OR type = 'email.received'))`, "%"+text+"%")
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return n
}

// echo answers what it was asked.
func echo(t *testing.T) *receiver {
	return newReceiver(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "%q", r.URL.RawQuery) })
}

func about(server *receiver, variable string) fields {
	return step("crm", "http_request", fields{"method": "GET", "url": server.URL, "query": fields{"about": fields{"var": variable}}})
}

func TestRunsForgetAReceivedMessageThatIsDeleted(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		h.must(201, "POST", "/contacts", fields{"email": "ann@example.net"})
		server := echo(t)
		mail := on("system:email.received")
		over := h.enabled(line(mail, about(server, "event.subject")))
		paused := h.enabled(line(mail, about(server, "event.subject"), step("pause", "delay", fields{"duration": "1 hour"})))
		waits := step("wait", "wait_for_event", fields{"event_name": "system:email.received", "timeout": "3 days"})
		answered := h.enabled(graph([]fields{on("asked"), waits, about(server, "steps.wait.output.event.subject")},
			[]fields{way("start wait"), way("wait crm event_received")}))
		ran := h.send("asked", "ann@example.net", fields{"order": "4711"})
		h.work()
		secret := h.come("secret")
		h.work()
		h.come("kept")
		h.work()
		before := h.holding("secret")
		h.must(200, "DELETE", "/emails/receiving/"+secret, nil)
		h.work()
		if left := h.holding("secret"); before < 5 || left != 0 {
			t.Errorf("%d places tell of the message, %d after it was deleted", before, left)
		}
		for id, status := range map[string]string{over: "completed", paused: "running"} {
			runs := h.runs(id)
			if len(runs) != 2 || !strings.Contains(string(h.run(id, runs[0]).Raw), "kept") {
				t.Errorf("the run of another message has forgotten it: %s", h.run(id, runs[0]).Raw)
			}
			if run := h.run(id, runs[1]); run.Text("status") != status || run.Text("contact_id") == "" || !strings.Contains(path(run), "crm:completed") {
				t.Errorf("the run has forgotten what became of it: %s", run.Raw)
			}
		}
		if run := h.run(answered, ran[0]); !strings.Contains(string(run.Raw), "4711") || path(run) != "start:completed wait:completed crm:completed" {
			t.Errorf("the run that went on with the message: %s", run.Raw)
		}
	})
}

func TestARunGoesOnWithoutTheMessageThatBeganIt(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		h.must(201, "POST", "/contacts", fields{"email": "ann@example.net", "first_name": "Ann"})
		server := echo(t)
		urgent := step("urgent", "condition", fields{"type": "rule", "field": "event.subject", "operator": "contains", "value": "secret"})
		mail := func(subject string) fields {
			return step("write", "send_email", fields{"from": "Acme <support@acme.test>", "subject": subject, "text": "Dear {{contact.first_name}}. {{{UNSUBSCRIBE_URL}}}"})
		}
		strict := h.enabled(line(on("system:email.received"), step("pause", "delay", fields{"duration": "1 hour"}), mail("Re: {{event.subject}}")))
		id := h.enabled(graph([]fields{on("system:email.received"), about(server, "event.subject"), step("pause", "delay", fields{"duration": "1 hour"}), urgent,
			step("alarm", "exit", nil), step("again", "http_request", fields{"method": "POST", "url": server.URL, "body": fields{"about": fields{"var": "event.subject"}, "said": fields{"var": "steps.crm.output.body"}}}), mail("Re: {{event.subject|your mail}}")},
			[]fields{way("start crm"), way("crm pause"), way("pause urgent"), way("urgent alarm condition_met"), way("urgent again condition_not_met"), way("again write")}))
		message := h.come("secret")
		h.work()
		h.must(200, "DELETE", "/emails/receiving/"+message, nil)
		h.work()
		h.Clock.Advance(time.Hour + aMinute)
		h.work()
		run := h.run(id, h.runs(id)[0])
		if run.Text("status") != "completed" || path(run) != "start:completed crm:completed pause:completed urgent:completed again:completed write:completed" {
			t.Errorf("the run: %s", run.Raw)
		}
		asked := server.requests()
		if len(asked) != 2 || strings.Contains(asked[1].body, "secret") {
			t.Errorf("asked %v", asked)
		}
		if run := h.run(strict, h.runs(strict)[0]); run.Text("status") != "failed" || run.Text("error", "message") != "The template needs a value for event.subject." {
			t.Errorf("the run whose mail needs the message: %s", run.Raw)
		}
		if mails := h.mails(); len(mails) != 1 || mails[0] != "Re: your mail" {
			t.Errorf("mails %q", mails)
		}
	})
}

func TestMailToManyIsNotAnsweredAfterItWasDeleted(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		h.must(201, "POST", "/contacts", fields{"email": "ann@example.net"})
		id := h.enabled(line(on("system:email.received"), step("pause", "delay", fields{"duration": "1 hour"}), thanks))
		message := h.come("secret", "Precedence: bulk\r\n")
		h.work()
		h.must(200, "DELETE", "/emails/receiving/"+message, nil)
		h.work()
		h.Clock.Advance(time.Hour + aMinute)
		h.work()
		if run := h.run(id, h.runs(id)[0]); len(h.mails()) != 0 || path(run) != "start:completed pause:completed thanks:skipped" || h.holding("secret") != 0 {
			t.Errorf("mails %q of the run %s", h.mails(), run.Raw)
		}
	})
}

func TestAFailedRunForgetsADeletedMessage(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		h.must(201, "POST", "/contacts", fields{"email": "ann@example.net"})
		broken := newReceiver(t, func(w http.ResponseWriter, r *http.Request) { http.Error(w, r.URL.RawQuery, http.StatusBadRequest) })
		id := h.enabled(line(on("system:email.received"), about(broken, "event.subject")))
		message := h.come("secret")
		h.work()
		if run := h.run(id, h.runs(id)[0]); run.Text("status") != "failed" || h.holding("secret") < 3 {
			t.Fatalf("%s", run.Raw)
		}
		h.must(200, "DELETE", "/emails/receiving/"+message, nil)
		h.work()
		if run := h.run(id, h.runs(id)[0]); run.Text("error", "message") != "The message was deleted." || run.Text("status") != "failed" || h.holding("secret") != 0 || h.holding("HTTP 400") != 0 {
			t.Errorf("%d places, %s", h.holding("secret"), run.Raw)
		}
	})
}

func TestNothingIsLeftOfRunsThatAreSwept(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		h.must(201, "POST", "/contacts", fields{"email": "ann@example.net"})
		id := h.enabled(line(on("system:email.received"), step("end", "exit", nil)))
		message := h.come("secret")
		h.work()
		h.Clock.Advance(91 * 24 * time.Hour)
		h.work()
		var heard int64
		if err := h.App.DB.Read(context.Background(), func(tx *db.Tx) (err error) {
			heard, err = db.One(tx, db.Value[int64], `SELECT COUNT(*) FROM automation_heard`)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if len(h.runs(id)) != 0 || heard != 0 {
			t.Errorf("%d runs, %d rows", len(h.runs(id)), heard)
		}
		h.must(200, "DELETE", "/emails/receiving/"+message, nil)
		h.work()
	})
}

// forgets lets the worker work that hears of deleted messages, and nobody else.
func (h house) forgets() {
	for _, w := range h.App.Automations.Workers() {
		if w.Name == "automation deleted mail" {
			h.Finish(w.Step)
		}
	}
}

func TestARunThatHasNotGoneOnYetForgetsWhatItHasWaitedFor(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		id := h.enabled(graph([]fields{on("asked"), step("wait", "wait_for_event", fields{"event_name": "system:email.received", "timeout": "3 days"}), step("yes", "exit", nil), step("no", "exit", nil)},
			[]fields{way("start wait"), way("wait yes event_received"), way("wait no timeout")}))
		run := h.send("asked", "ann@example.net", nil)[0]
		h.work()
		message := h.come("secret")
		h.CatchUp(h.App.Automations.Followers())
		before := h.holding("secret")
		h.must(200, "DELETE", "/emails/receiving/"+message, nil)
		h.forgets()
		if left := h.holding("secret"); before != 2 || left != 0 {
			t.Errorf("%d places tell of the message, %d after it was deleted", before, left)
		}
		h.work()
		if got := path(h.run(id, run)); got != "start:completed wait:completed yes:completed" {
			t.Errorf("it came: %s", got)
		}
	})
}

func TestWhatIsAnsweredAboutAMessageThatIsDeletedMeanwhileIsNotKept(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		h.must(201, "POST", "/contacts", fields{"email": "ann@example.net"})
		var message string
		server := newReceiver(t, func(w http.ResponseWriter, r *http.Request) {
			h.Call("DELETE", "/emails/receiving/"+message, nil)
			h.forgets()
			fmt.Fprintf(w, "%q", r.URL.RawQuery)
		})
		id := h.enabled(line(on("system:email.received"), about(server, "event.subject")))
		message = h.come("secret")
		h.work()
		if run := h.run(id, h.runs(id)[0]); run.Text("status") != "completed" || len(server.requests()) != 1 || h.holding("secret") != 0 {
			t.Errorf("%d requests, %s", len(server.requests()), run.Raw)
		}
	})
}

func TestRunsFromBeforeTheUpgradeForgetTheirMessagesToo(t *testing.T) {
	t.Parallel()
	migration, err := os.ReadFile("../../platform/db/migrations/0056_automation_heard.sql")
	if err != nil {
		t.Fatal(err)
	}
	_, upgrade, _ := strings.Cut(string(migration), "INSERT INTO automation_heard")
	each(t, func(t *testing.T, h house) {
		h.must(201, "POST", "/contacts", fields{"email": "ann@example.net"})
		h.enabled(line(on("system:email.received"), step("end", "exit", nil)))
		h.enabled(line(on("done"), step("end", "exit", nil)))
		h.send("done", "ann@example.net", nil)
		message := h.come("secret")
		h.work()
		err := h.App.DB.Write(context.Background(), func(tx *db.Tx) error {
			if _, err := tx.Exec(`DELETE FROM automation_heard`); err != nil {
				return err
			}
			n, err := tx.Exec("INSERT INTO automation_heard" + strings.TrimRight(upgrade, ";\n"))
			if err == nil && n != 1 {
				err = fmt.Errorf("%d runs were found", n)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		h.must(200, "DELETE", "/emails/receiving/"+message, nil)
		h.work()
		if left := h.holding("secret"); left != 0 {
			t.Errorf("%d places tell of the message", left)
		}
	})
}

package automation_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"postrider/platform/db"
)

func TestAPersonWhoIsForgottenLeavesOnlyThatThereWereRuns(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		server := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(`{"phone":"secret"}`)) })
		ask := step("crm", "http_request", fields{"method": "POST", "url": server.URL})
		over := h.enabled(line(on("done"), ask))
		waiting := h.enabled(line(on("done"), ask, step("wait", "wait_for_event", fields{"event_name": "never", "timeout": "3 days"})))
		failed := h.enabled(line(on("done"), step("crm", "http_request", fields{"method": "GET", "url": "http://127.0.0.1:1/secret"})))
		for _, who := range []string{"ann@example.net", "bob@example.net"} {
			h.send("done", who, fields{"plan": "secret"})
		}
		h.work()
		h.Clock.Advance(time.Second)
		ann := h.must(200, "GET", "/contacts/ann@example.net", nil).Text("id")
		h.must(202, "POST", "/audience/contacts/"+ann+"/erase", nil)
		for _, w := range h.App.Audience.Workers() {
			h.Finish(w.Step)
		}
		h.Clock.Advance(4 * 24 * time.Hour)
		h.work()
		for id, status := range map[string]string{over: "completed", waiting: "cancelled", failed: "failed"} {
			list, _ := h.must(200, "GET", "/automations/"+id+"/runs", nil).Body["data"].([]any)
			for _, one := range list {
				run := h.run(id, one.(fields)["id"].(string))
				raw := string(run.Raw)
				switch {
				case run.Text("contact_id") != ann:
					if !strings.Contains(raw, "secret") || !strings.Contains(raw, "bob@example.net") {
						t.Errorf("the run of another has forgotten: %s", raw)
					}
				case strings.Contains(raw, "secret") || strings.Contains(raw, "ann@example.net") || run.Text("status") != status:
					t.Errorf("the run, which is to be %s, tells: %s", status, raw)
				}
			}
		}
		tell := func(who string) (told int64) {
			err := h.App.DB.Read(context.Background(), func(tx *db.Tx) (err error) {
				told, err = db.One(tx, db.Value[int64], `
					SELECT COUNT(*) FROM event
					WHERE type IN ('event.sent', 'automation.run.failed') AND data LIKE $1`, "%"+who+"%")
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return told
		}
		bob := h.must(200, "GET", "/contacts/bob@example.net", nil).Text("id")
		if tell(ann) != 0 || tell(bob) != 2 {
			t.Errorf("%d events tell of the person, %d of the other", tell(ann), tell(bob))
		}
	})
}

func TestAnEventThatBeganNothingIsForgottenWithThePerson(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		for _, who := range []string{"ann@example.net", "bob@example.net"} {
			h.send("looked", who, fields{"plan": "secret of " + who})
		}
		h.Clock.Advance(time.Second)
		ann := h.must(200, "GET", "/contacts/ann@example.net", nil).Text("id")
		h.must(202, "POST", "/audience/contacts/"+ann+"/erase", nil)
		for _, w := range h.App.Audience.Workers() {
			h.Finish(w.Step)
		}
		for who, want := range map[string]int64{"ann": 0, "bob": 1} {
			var told int64
			err := h.App.DB.Read(context.Background(), func(tx *db.Tx) (err error) {
				told, err = db.One(tx, db.Value[int64], `SELECT COUNT(*) FROM event WHERE type = 'event.sent' AND data LIKE $1`, "%secret of "+who+"%")
				return err
			})
			if err != nil || told != want {
				t.Errorf("%d events tell of %s, want %d: %v", told, who, want, err)
			}
		}
	})
}

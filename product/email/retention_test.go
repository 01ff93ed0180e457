package email_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/product/plan"
)

func TestWhatEmailsSayIsForgottenAfterTheTimeOfThePlan(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		ws, key := in.NewWorkspace(plan.Free) // it keeps contents for 7 days
		in.VerifiedDomain(ws, "free.test")
		send := func(more fields) string {
			body := fields{"from": "hello@free.test", "to": "ann@example.net", "subject": "Hello", "html": "<p>secret</p>", "headers": fields{"X-Ref": "7"},
				"attachments": []fields{{"filename": "a.txt", "content": "c2VjcmV0"}}}
			for name, value := range more {
				body[name] = value
			}
			answer := in.CallAs(key, http.MethodPost, "/emails", body, nil)
			if answer.Status != http.StatusAccepted {
				t.Fatalf("%d %s", answer.Status, answer.Raw)
			}
			return answer.Text("id")
		}
		read := func(id string) string {
			return string(in.CallAs(key, http.MethodGet, "/emails/"+id, nil, nil).Raw)
		}
		sweep := func() {
			in.Finish(in.App.Emails.SweepContents)
		}
		old, kept := send(nil), in.Send("ann@example.net") // that of a plan without end
		later := send(fields{"scheduled_at": in.Clock.Now().Add(10 * 24 * time.Hour).UTC().Format(time.RFC3339)})
		in.Deliver()
		sweep()
		if !strings.Contains(read(old), "secret") {
			t.Fatal("it is forgotten at once")
		}
		in.Clock.Advance(7*24*time.Hour - time.Minute)
		sweep()
		if !strings.Contains(read(old), "secret") {
			t.Fatal("it is forgotten before its time")
		}
		in.Clock.Advance(24 * time.Hour)
		fresh := send(nil)
		in.Deliver()
		sweep()
		if got := read(old); strings.Contains(got, "secret") || strings.Contains(got, "a.txt") || !strings.Contains(got, `"html":null`) || !strings.Contains(got, `"headers":null`) ||
			!strings.Contains(got, `"status":"delivered"`) || !strings.Contains(got, "ann@example.net") {
			t.Errorf("after its time: %s", got)
		}
		if answer := in.CallAs(key, http.MethodGet, "/emails/"+old+"/raw", nil, nil); answer.Status != http.StatusNotFound {
			t.Errorf("its message: %d %s", answer.Status, answer.Raw)
		}
		for name, id := range map[string]string{"a fresh one": fresh, "one that is still to be sent": later} {
			if !strings.Contains(read(id), "secret") {
				t.Errorf("%s is forgotten", name)
			}
		}
		if !strings.Contains(string(in.Email(kept).Raw), `"text":"`) {
			t.Errorf("another workspace's is forgotten: %s", in.Email(kept).Raw)
		}
		in.Clock.Advance(3 * 24 * time.Hour)
		in.Deliver()
		sweep()
		if got := read(later); strings.Contains(got, "secret") || !strings.Contains(got, `"status":"delivered"`) {
			t.Errorf("one that was passed over, once it is sent: %s", got)
		}
	})
}

// sendTogether sends a batch of the workspace that has the key, all with the same changes, and returns their ids.
func sendTogether(t *testing.T, in *apptest.Installation, key string, n int, changes fields) []string {
	t.Helper()
	body := make([]fields, n)
	for i := range body {
		body[i] = letter(changes)
		body[i]["from"] = "hello@free.test"
	}
	answer := in.CallAs(key, http.MethodPost, "/emails/batch", body, nil)
	if answer.Status != http.StatusAccepted {
		t.Fatalf("%d %s", answer.Status, answer.Raw)
	}
	return column(rows(answer), "id")
}

// inDays is a time to send at.
func inDays(in *apptest.Installation, days int) string {
	return in.Clock.Now().Add(time.Duration(days) * 24 * time.Hour).UTC().Format(time.RFC3339)
}

func TestAllThatWerePassedOverAreForgottenOnceTheyAreSent(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		_, key := free(t, in, 0)
		var ids []string
		for range 3 { // more than one transaction looks at
			ids = append(ids, sendTogether(t, in, key, 70, fields{"scheduled_at": inDays(in, 10)})...)
		}
		in.Clock.Advance(8 * 24 * time.Hour)
		in.Finish(in.App.Emails.SweepContents)
		in.Clock.Advance(3 * 24 * time.Hour)
		in.Deliver()
		in.Finish(in.App.Emails.SweepContents)
		for _, id := range []string{ids[0], ids[len(ids)-1]} {
			if got := in.CallAs(key, http.MethodGet, "/emails/"+id, nil, nil); got.Text("status") != "delivered" || got.Body["text"] != nil {
				t.Errorf("it is still there: %s", got.Raw)
			}
		}
	})
}

func TestEmailsThatAreStillToBeSentDoNotHoldUpThoseThatWere(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		_, key := free(t, in, 0)
		for range 2 { // as many as one transaction looks at
			sendTogether(t, in, key, 100, fields{"scheduled_at": inDays(in, 29)})
		}
		in.Clock.Advance(time.Minute)
		ended := sendTogether(t, in, key, 1, fields{"scheduled_at": inDays(in, 10)})[0]
		in.Clock.Advance(8 * 24 * time.Hour)
		in.Finish(in.App.Emails.SweepContents)
		in.Clock.Advance(3 * 24 * time.Hour)
		in.Deliver()
		in.Finish(in.App.Emails.SweepContents)
		if got := in.CallAs(key, http.MethodGet, "/emails/"+ended, nil, nil); got.Text("status") != "delivered" || got.Body["text"] != nil {
			t.Errorf("it is still there: %s", got.Raw)
		}
	})
}

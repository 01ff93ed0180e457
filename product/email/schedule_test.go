package email_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/platform/db"
)

func cancel(in *apptest.Installation, id string) apptest.Answer {
	return in.Call(http.MethodPost, "/emails/"+id+"/cancel", nil)
}

func reschedule(in *apptest.Installation, id, at string) apptest.Answer {
	return in.Call(http.MethodPatch, "/emails/"+id, fields{"scheduled_at": at})
}

func TestTimesToSendAtHaveSeveralForms(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	at := func(offset time.Duration) string { return in.Clock.Now().Add(offset).Format(time.RFC3339) }
	for name, c := range map[string]struct {
		text  string
		ahead time.Duration
	}{
		"RFC 3339":             {at(2 * time.Hour), 2 * time.Hour},
		"with an offset":       {in.Clock.Now().Add(2 * time.Hour).In(time.FixedZone("", 5*3600)).Format(time.RFC3339), 2 * time.Hour},
		"minutes":              {"in 10 minutes", 10 * time.Minute},
		"one minute":           {"in 1 minute", time.Minute},
		"hours":                {"in 3 hours", 3 * time.Hour},
		"days":                 {"in 30 days", 30 * 24 * time.Hour},
		"now":                  {at(0), 0},
		"a little in the past": {at(-4 * time.Minute), 0},
	} {
		for _, spelling := range []string{"scheduled_at", "scheduledAt"} {
			record := in.Email(accepted(t, in, fields{spelling: c.text}))
			if c.ahead == 0 {
				if record.Text("status") != "queued" || record.Body["scheduled_at"] != nil {
					t.Errorf("%s: %s at %s", name, record.Text("status"), record.Text("scheduled_at"))
				}
				continue
			}
			got, err := time.Parse(time.RFC3339, record.Text("scheduled_at"))
			if off := got.Sub(in.Clock.Now().Add(c.ahead)).Abs(); err != nil || off > time.Minute || record.Text("status") != "scheduled" || record.Body["queued_at"] != nil {
				t.Errorf("%s: %s at %s", name, record.Text("status"), record.Text("scheduled_at"))
			}
		}
	}
}

func TestTimesThatCannotBeAreRefused(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	id := accepted(t, in, fields{"scheduled_at": "in 1 hour"})
	const form, past, ahead = `Must be an RFC 3339 time, or like "in 10 minutes".`, "Must not be in the past.", "Must be at most 30 days ahead."
	for text, want := range map[string]string{
		in.Clock.Now().Add(-6 * time.Minute).Format(time.RFC3339):            past,
		in.Clock.Now().Add(30*24*time.Hour + time.Hour).Format(time.RFC3339): ahead,
		"0000-01-01T00:00:00Z": past, "9999-12-31T23:59:59Z": ahead, "in 31 days": ahead, "in 99999 days": ahead,
		"in 213504 days": form, // overflows to 25 minutes
		"in -5 minutes":  form, "in five minutes": form, "2026-02-30T00:00:00Z": form, "1800000000": form, "in 10 minutes\n": form,
	} {
		if got := problems(send(in, fields{"scheduled_at": text}))["scheduled_at"]; got != want {
			t.Errorf("send at %q: %q, want %q", text, got, want)
		}
		if got := problems(reschedule(in, id, text))["scheduled_at"]; got != want {
			t.Errorf("move to %q: %q, want %q", text, got, want)
		}
	}
	if got := problems(reschedule(in, id, ""))["scheduled_at"]; got != "A time is required." {
		t.Errorf("move to nothing: %q", got)
	}
}

func TestScheduledMailIsDeliveredAtItsTime(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := accepted(t, in, fields{"scheduled_at": "in 2 hours", "to": "ann@example.net, bob@example.net"})
		in.Clock.Advance(119 * time.Minute)
		in.Deliver()
		if record := in.Email(id); record.Text("status") != "scheduled" || story(record) != "scheduled" || len(in.Mailbox("ann@example.net")) != 0 {
			t.Fatalf("before its time: %s, %s", record.Text("status"), story(record))
		}
		in.Clock.Advance(2 * time.Minute)
		in.Deliver()
		record := in.Email(id)
		if got := story(record); !strings.HasPrefix(got, "scheduled queued sending") || !strings.HasSuffix(got, "delivered") || strings.Count(got, "queued") != 1 {
			t.Errorf("%s", got)
		}
		if record.Text("status") != "delivered" || record.Text("queued_at") == "" || record.Text("scheduled_at") == "" || len(in.Mailbox("ann@example.net")) != 1 {
			t.Errorf("after its time: %s", record.Raw)
		}
	})
}

func TestMovedMailIsDeliveredAtItsNewTime(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := accepted(t, in, fields{"scheduled_at": "in 1 hour"})
		moved := reschedule(in, id, "in 3 hours")
		if moved.Status != http.StatusOK || moved.Text("object") != "email" || moved.Text("id") != id || moved.Text("status") != "scheduled" {
			t.Fatalf("%d %s", moved.Status, moved.Raw)
		}
		in.Clock.Advance(2 * time.Hour)
		in.Deliver()
		if got := in.Email(id).Text("status"); got != "scheduled" {
			t.Fatalf("%s at the old time", got)
		}
		in.Clock.Advance(2 * time.Hour)
		in.Deliver()
		if got := story(in.Email(id)); got != "scheduled scheduled queued sending accepted sent delivered" {
			t.Errorf("%s", got)
		}
	})
}

func TestMailMovedToNowGoesOut(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	id := accepted(t, in, fields{"scheduled_at": "in 1 hour"})
	reschedule(in, id, in.Clock.Now().Add(-time.Minute).Format(time.RFC3339))
	in.Deliver()
	if got := in.Email(id).Text("status"); got != "delivered" {
		t.Errorf("%s", got)
	}
}

func TestRescheduleChangesNothingButTheTime(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := accepted(t, in, fields{"scheduled_at": "in 1 hour"})
		before := in.Email(id)
		answer := in.Call(http.MethodPatch, "/emails/"+id, fields{"scheduledAt": "in 2 hours", "status": "delivered", "subject": "Changed",
			"id": "x", "to": "eve@evil.test", "workspace_id": "x", "created_at": "2001-01-01T00:00:00Z"})
		if answer.Status != http.StatusOK {
			t.Fatalf("%d %s", answer.Status, answer.Raw)
		}
		after := in.Email(id)
		for _, name := range []string{"id", "status", "subject", "from", "created_at", "message_id", "text"} {
			if before.Text(name) != after.Text(name) {
				t.Errorf("%s became %s", name, after.Text(name))
			}
		}
		if recipients(after) != recipients(before) || after.Text("scheduled_at") <= before.Text("scheduled_at") {
			t.Errorf("%s at %s", recipients(after), after.Text("scheduled_at"))
		}
	})
}

func TestCancelledMailIsNeverDelivered(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := accepted(t, in, fields{"scheduled_at": "in 1 hour", "cc": "bob@example.net"})
		answer := cancel(in, id)
		if answer.Status != http.StatusOK || answer.Text("status") != "cancelled" || answer.Text("last_event") != "canceled" {
			t.Fatalf("%d %s", answer.Status, answer.Raw)
		}
		in.Clock.Advance(2 * time.Hour)
		in.Deliver()
		record := in.Email(id)
		if record.Text("status") != "cancelled" || story(record) != "scheduled cancelled" || len(in.Mailbox("ann@example.net")) != 0 {
			t.Errorf("%s, %s", record.Text("status"), story(record))
		}
		list, _ := record.Body["recipients"].([]any)
		for _, item := range list {
			if r, _ := item.(map[string]any); r["status"] != "cancelled" {
				t.Errorf("%v is %v", r["email"], r["status"])
			}
		}
	})
}

func TestOnlyScheduledMailCanBeMovedOrCancelled(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		queued := accepted(t, in, nil)
		cancelled := accepted(t, in, fields{"scheduled_at": "in 1 hour"})
		cancel(in, cancelled)
		delivered := accepted(t, in, fields{"scheduled_at": "in 1 minute"})
		for status, id := range map[string]string{"queued": queued, "cancelled": cancelled, "delivered": delivered} {
			if status == "delivered" {
				in.Clock.Advance(2 * time.Minute)
				in.Deliver()
			}
			for _, answer := range []apptest.Answer{cancel(in, id), reschedule(in, id, "in 1 hour")} {
				refused(t, answer, http.StatusConflict, "email_not_scheduled")
				if got := answer.Text("error", "details", "status"); got != in.Email(id).Text("status") {
					t.Errorf("told %s of an email that is %s", got, status)
				}
			}
		}
	})
}

func TestMailThatIsPartlyUnderWayCannotBeCancelled(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := accepted(t, in, fields{"scheduled_at": "in 1 hour", "to": many(3)})
		in.Clock.Advance(2 * time.Hour)
		pickUp(t, in)
		refused(t, cancel(in, id), http.StatusConflict, "email_not_scheduled")
		refused(t, reschedule(in, id, "in 1 hour"), http.StatusConflict, "email_not_scheduled")
		if got := in.Email(id).Text("status"); got != "sending" {
			t.Errorf("%s", got)
		}
	})
}

func TestScheduledMailFailsIfItsDomainHasBroken(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := accepted(t, in, fields{"scheduled_at": "in 3 days"})
		err := in.App.DB.Write(context.Background(), func(tx *db.Tx) error {
			_, err := tx.Exec(`UPDATE domain SET verified = FALSE WHERE id = $1`, in.DomainID)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		in.Clock.Advance(73 * time.Hour)
		in.Deliver()
		record := in.Email(id)
		if record.Text("status") != "failed" || record.Text("failure", "reason") != "domain_auth_broken" || story(record) != "scheduled failed" {
			t.Errorf("%s %s: %s", record.Text("status"), record.Text("failure", "reason"), story(record))
		}
		if len(in.Mailbox("ann@example.net")) != 0 {
			t.Error("it was sent all the same")
		}
	})
}

package email_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/plan"
)

// monthly is how many emails the free plan has.
const monthly = 25_000

// free returns a key of a workspace on the free plan with a verified domain, of whose month so many emails are used.
func free(t *testing.T, in *apptest.Installation, used int64) (space.ID, string) {
	t.Helper()
	ws, key := in.NewWorkspace(plan.Free)
	in.VerifiedDomain(ws, "free.test")
	err := in.App.DB.Write(context.Background(), func(tx *db.Tx) error {
		_, err := in.App.Plans.UseEmails(tx, ws, plan.Unlimited, tx.Now(), used)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return ws, key
}

// atNoon moves the clock away from the end of a day or month, which would part what a test counts together.
func atNoon(in *apptest.Installation) {
	now := in.Clock.Now()
	start, _ := plan.Month(now.AddDate(0, 0, 2))
	noon := max(now.Truncate(24*time.Hour).Add(36*time.Hour).Sub(now), start.Add(12*time.Hour).Sub(now))
	in.Clock.Advance(noon)
}

func sendFree(in *apptest.Installation, key string, changes fields) apptest.Answer {
	body := letter(changes)
	body["from"] = "hello@free.test"
	return in.CallAs(key, http.MethodPost, "/emails", body, nil)
}

func usedOf(t *testing.T, in *apptest.Installation, ws space.ID) plan.Usage {
	t.Helper()
	var usage plan.Usage
	err := in.App.DB.Read(context.Background(), func(tx *db.Tx) (err error) {
		usage, err = in.App.Plans.EmailsUsed(tx, ws)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return usage
}

func TestEverySendTellsHowMuchOfTheMonthIsUsed(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		atNoon(in)
		_, key := free(t, in, 100)
		answer := sendFree(in, key, fields{"to": many(3), "bcc": "hidden@example.net"})
		_, ends := plan.Month(in.Clock.Now())
		for header, want := range map[string]string{
			"X-Quota-Monthly-Used": "104", "X-Quota-Monthly-Limit": "25000", "X-Quota-Resets-At": ends.Format("2006-01-02T15:04:05.000Z"),
		} {
			if got := answer.Header.Get(header); got != want {
				t.Errorf("%s: %q, want %q", header, got, want)
			}
		}
		if unlimited := send(in, nil); unlimited.Header.Get("X-Quota-Monthly-Used") != "1" || len(unlimited.Header.Values("X-Quota-Monthly-Limit")) != 0 {
			t.Errorf("without a limit: %v", unlimited.Header)
		}
	})
}

func TestParallelSendsNeverPassTheMonthlyLimit(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		atNoon(in)
		ws, key := free(t, in, monthly-10)
		var mu sync.Mutex
		statuses := map[int]int{}
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				answer := sendFree(in, key, fields{"to": fmt.Sprintf("user%d@example.net", i)})
				mu.Lock()
				defer mu.Unlock()
				statuses[answer.Status]++
			})
		}
		all.Wait()
		if statuses[http.StatusAccepted] != 10 || statuses[http.StatusPaymentRequired] != 10 {
			t.Errorf("answers: %v", statuses)
		}
		if got := usedOf(t, in, ws).Month; got != monthly {
			t.Errorf("%d used", got)
		}
	})
}

func TestSendBeyondTheMonthlyLimitLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		atNoon(in)
		ws, key := free(t, in, monthly-2)
		answer := sendFree(in, key, fields{"to": many(3), "idempotency_key": "order.1234"})
		refused(t, answer, http.StatusPaymentRequired, "monthly_quota_exceeded")
		_, ends := plan.Month(in.Clock.Now())
		for name, want := range map[string]string{"plan": "free", "limit": "25000", "used": "24998", "resets_at": ends.Format("2006-01-02T15:04:05.000Z")} {
			if got := answer.Text("error", "details", name); got != want {
				t.Errorf("%s = %s, want %s", name, got, want)
			}
		}
		if list := rows(in.CallAs(key, http.MethodGet, "/emails", nil, nil)); len(list) != 0 || usedOf(t, in, ws).Month != monthly-2 {
			t.Errorf("%d emails stored, %d used", len(list), usedOf(t, in, ws).Month)
		}
		if answer := sendFree(in, key, fields{"to": many(2), "idempotency_key": "order.1234"}); answer.Status != http.StatusAccepted {
			t.Errorf("what still fits: %d %s", answer.Status, answer.Raw)
		}
	})
}

func TestNextMonthStartsAtZero(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		_, key := free(t, in, monthly)
		refused(t, sendFree(in, key, nil), http.StatusPaymentRequired, "monthly_quota_exceeded")
		_, ends := plan.Month(in.Clock.Now())
		in.Clock.Advance(ends.Sub(in.Clock.Now()) + time.Second)
		answer := sendFree(in, key, nil)
		if answer.Status != http.StatusAccepted || answer.Header.Get("X-Quota-Monthly-Used") != "1" {
			t.Errorf("%d %s, %v", answer.Status, answer.Raw, answer.Header)
		}
	})
}

func TestCancelledMailGivesItsQuotaBackOnce(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		atNoon(in)
		kept := accepted(t, in, fields{"scheduled_at": "in 1 hour", "to": many(2)})
		id := accepted(t, in, fields{"scheduled_at": "in 1 hour", "to": many(3)})
		if got := usedOf(t, in, in.Workspace); got != (plan.Usage{Month: 5, Day: 5}) {
			t.Fatalf("%+v used before", got)
		}
		cancel(in, id)
		refused(t, cancel(in, id), http.StatusConflict, "email_not_scheduled")
		reschedule(in, kept, "in 2 hours")
		if got := usedOf(t, in, in.Workspace); got != (plan.Usage{Month: 2, Day: 2}) {
			t.Errorf("%+v used after", got)
		}
	})
}

// atMidnight lets the day and the month end once while the next mail is being made, before it is stored.
func atMidnight(t *testing.T, in *apptest.Installation) {
	t.Helper()
	_, ends := plan.Month(in.Clock.Now())
	in.Clock.Advance(ends.Add(-time.Hour).Sub(in.Clock.Now()))
	over := sync.OnceFunc(func() { in.Clock.Advance(2 * time.Hour) })
	t.Cleanup(in.App.DB.Watch(func(query string, _ []any) {
		if strings.Contains(query, "step = 'throttled'") { // who has to wait is asked after the mail has its time
			over()
		}
	}))
}

func TestMailThatIsStoredAfterMidnightGivesItsQuotaBackToTheDayItWasTakenFrom(t *testing.T) {
	t.Parallel()
	later := fields{"scheduled_at": "in 3 days", "to": many(3)}
	for name, send := range map[string]func(in *apptest.Installation) []string{
		"one": func(in *apptest.Installation) []string { return []string{send(in, later).Text("id")} },
		"one with a key": func(in *apptest.Installation) []string {
			return []string{sendWithKey(in, "order.1234", later).Text("id")}
		},
		"a batch": func(in *apptest.Installation) (ids []string) {
			for _, sent := range rows(in.Call(http.MethodPost, "/emails/batch", []fields{letter(later), letter(later)})) {
				ids = append(ids, fmt.Sprint(sent["id"]))
			}
			return ids
		},
	} {
		apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
			atMidnight(t, in)
			before := in.Clock.Now()
			ids := send(in)
			if in.Clock.Now().Sub(before) < time.Hour || len(ids) == 0 {
				t.Fatalf("%s: %v, and midnight has not passed", name, ids)
			}
			for _, id := range ids {
				if answer := cancel(in, id); answer.Status != http.StatusOK {
					t.Fatalf("%s: %d %s", name, answer.Status, answer.Raw)
				}
			}
			var left int64
			if err := in.App.DB.Read(t.Context(), func(tx *db.Tx) (err error) {
				left, err = db.One(tx, db.Value[int64], `SELECT CAST(COALESCE(SUM(emails), -1) AS BIGINT) FROM plan_usage`)
				return err
			}); err != nil || left != 0 {
				t.Errorf("%s: %d are used by mail that was never sent, %v", name, left, err)
			}
		})
	}
}

func TestReplayUsesNoQuota(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	for range 3 {
		sendWithKey(in, "order.1234", nil)
	}
	if got := usedOf(t, in, in.Workspace).Month; got != 1 {
		t.Errorf("%d used", got)
	}
}

package plan_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/db/dbtest"
	"postrider/platform/space"
	"postrider/product/plan"
	"postrider/world"
)

// handClock stands still until a test moves it.
type handClock struct {
	mu sync.Mutex
	at time.Time // guarded by mu
}

func (c *handClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *handClock) set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = at
}

// After is for those who wait; in these tests nobody may.
func (c *handClock) After(time.Duration) (<-chan time.Time, func()) { return nil, func() {} }

const (
	ws    space.ID = "0193a1e0-2222-7000-8000-000000000001"
	other space.ID = "0193a1e0-2222-7000-8000-000000000002"
	// small has ten emails a month and four a day.
	small plan.Name = "small"
)

// office is the plan service on a database, with a clock.
type office struct {
	t     *testing.T
	db    *db.DB
	clock *handClock
	plans *plan.Service
}

func each(t *testing.T, test func(t *testing.T, o office)) {
	t.Helper()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			clock := &handClock{at: time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)}
			w := world.New(slog.New(slog.NewTextHandler(io.Discard, nil)))
			w.Clock = clock
			month, day := int64(10), int64(4)
			test(t, office{t, dbtest.Open(t, w, engine), clock, plan.New(map[plan.Name]plan.Plan{
				small:          {Name: small, Limits: plan.Limits{EmailsPerMonth: &month, EmailsPerDay: &day}},
				plan.Unlimited: {Name: plan.Unlimited},
			})})
		})
	}
}

func (o office) use(of space.ID, name plan.Name, recipients int64) (quota plan.Quota, err error) {
	err = o.db.Write(context.Background(), func(tx *db.Tx) (err error) {
		quota, err = o.plans.UseEmails(tx, of, name, tx.Now(), recipients)
		return err
	})
	return quota, err
}

func (o office) mustUse(of space.ID, name plan.Name, recipients int64) plan.Quota {
	o.t.Helper()
	quota, err := o.use(of, name, recipients)
	if err != nil {
		o.t.Fatal(err)
	}
	return quota
}

func (o office) giveBack(takenAt time.Time, recipients int64) {
	o.t.Helper()
	if err := o.db.Write(context.Background(), func(tx *db.Tx) error { return o.plans.ReturnEmails(tx, ws, takenAt, recipients) }); err != nil {
		o.t.Fatal(err)
	}
}

func (o office) used(of space.ID) (usage plan.Usage) {
	o.t.Helper()
	err := o.db.Read(context.Background(), func(tx *db.Tx) (err error) {
		usage, err = o.plans.EmailsUsed(tx, of)
		return err
	})
	if err != nil {
		o.t.Fatal(err)
	}
	return usage
}

// exceeded ends the test unless err is the given quota error; it returns its details in one line.
func (o office) exceeded(err error, want *api.Error) string {
	o.t.Helper()
	var public *api.Error
	if !errors.Is(err, want) || !errors.As(err, &public) {
		o.t.Fatalf("%v, want %v", err, want)
	}
	resets, _ := public.Details["resets_at"].(api.Time)
	return fmt.Sprintf("%v %v of %v until %s", public.Details["plan"], public.Details["used"], public.Details["limit"], time.Time(resets).Format(time.RFC3339))
}

func TestEmailsAreCountedByRecipient(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, o office) {
		o.mustUse(ws, small, 1)
		quota := o.mustUse(ws, small, 3)
		if quota.Used != 4 || *quota.Limit != 10 || !quota.ResetsAt.Equal(time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)) {
			t.Errorf("%+v", quota)
		}
		if o.used(ws) != (plan.Usage{Month: 4, Day: 4}) || o.used(other) != (plan.Usage{}) {
			t.Errorf("%+v, another workspace %+v", o.used(ws), o.used(other))
		}
	})
}

func TestWhatPassesALimitIsRefusedWholeAndCountsNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, o office) {
		o.mustUse(ws, small, 3)
		_, err := o.use(ws, small, 2)
		if got := o.exceeded(err, plan.ErrDailyQuota); got != "small 3 of 4 until 2026-11-16T00:00:00Z" {
			t.Error(got)
		}
		_, err = o.use(ws, small, 8)
		if got := o.exceeded(err, plan.ErrMonthlyQuota); got != "small 3 of 10 until 2026-12-01T00:00:00Z" {
			t.Error(got)
		}
		_, err = o.use(other, small, 11)
		if got := o.exceeded(err, plan.ErrMonthlyQuota); got != "small 0 of 10 until 2026-12-01T00:00:00Z" {
			t.Error(got)
		}
		_, err = o.use(other, small, 5)
		if got := o.exceeded(err, plan.ErrDailyQuota); got != "small 0 of 4 until 2026-11-16T00:00:00Z" {
			t.Error(got)
		}
		if o.used(ws) != (plan.Usage{Month: 3, Day: 3}) || o.used(other) != (plan.Usage{}) {
			t.Errorf("%+v, another workspace %+v", o.used(ws), o.used(other))
		}
		o.mustUse(ws, small, 1)
	})
}

func TestOfManyEmailsThoseFitThatCameFirst(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, o office) {
		for _, c := range []struct {
			of   space.ID
			name plan.Name
			many []int64
			want string
		}{{ws, small, []int64{2, 3, 1}, "[2 refused 3]"}, {other, plan.Unlimited, []int64{2, 3, 1}, "[2 5 6]"}} {
			var told []string
			err := o.db.Write(context.Background(), func(tx *db.Tx) error {
				quotas, refusals, err := o.plans.UseEmailsOfMany(tx, c.of, c.name, tx.Now(), c.many)
				told = nil
				for i, quota := range quotas {
					text := fmt.Sprint(quota.Used)
					if errors.Is(refusals[i], plan.ErrDailyQuota) {
						text = "refused"
					}
					told = append(told, text)
				}
				return err
			})
			if got := fmt.Sprint(told); err != nil || got != c.want {
				t.Errorf("on %s: %s, want %s: %v", c.name, got, c.want, err)
			}
		}
		if o.used(ws) != (plan.Usage{Month: 3, Day: 3}) || o.used(other) != (plan.Usage{Month: 6, Day: 6}) {
			t.Errorf("%+v, another workspace %+v", o.used(ws), o.used(other))
		}
	})
}

func TestPlanWithoutLimitsStillCounts(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, o office) {
		quota := o.mustUse(ws, plan.Unlimited, 1_000_000)
		if quota.Used != 1_000_000 || quota.Limit != nil || o.used(ws).Month != 1_000_000 {
			t.Errorf("%+v", quota)
		}
	})
}

func TestDaysAndMonthsStartAnew(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, o office) {
		o.clock.set(time.Date(2026, 11, 29, 23, 59, 59, 0, time.UTC))
		o.mustUse(ws, small, 4)
		o.clock.set(time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC))
		if o.used(ws) != (plan.Usage{Month: 4}) {
			t.Errorf("the next day: %+v", o.used(ws))
		}
		o.mustUse(ws, small, 4)
		o.clock.set(time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC))
		if o.used(ws) != (plan.Usage{}) {
			t.Errorf("the next month: %+v", o.used(ws))
		}
		if quota := o.mustUse(ws, small, 1); quota.Used != 1 || !quota.ResetsAt.Equal(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)) {
			t.Errorf("%+v", quota)
		}
	})
}

func TestWhatIsGivenBackGoesToThePeriodItWasTakenFrom(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, o office) {
		november := o.clock.Now()
		o.mustUse(ws, small, 3)
		o.clock.set(november.AddDate(0, 0, 1))
		o.mustUse(ws, small, 2)
		o.giveBack(november, 3)
		if o.used(ws) != (plan.Usage{Month: 2, Day: 2}) {
			t.Errorf("after a day: %+v", o.used(ws))
		}
		o.clock.set(november.AddDate(0, 1, 0))
		o.mustUse(ws, small, 1)
		o.giveBack(november.AddDate(0, 0, 1), 2)
		if o.used(ws) != (plan.Usage{Month: 1, Day: 1}) {
			t.Errorf("after a month: %+v", o.used(ws))
		}
		o.clock.set(november)
		if o.used(ws) != (plan.Usage{}) {
			t.Errorf("the month before: %+v", o.used(ws))
		}
	})
}

func TestNothingIsGivenBackThatWasNotTaken(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, o office) {
		o.mustUse(ws, small, 2)
		o.mustUse(other, small, 4)
		o.giveBack(o.clock.Now(), 3)
		o.giveBack(o.clock.Now().AddDate(1, 0, 0), 1)
		if o.used(ws) != (plan.Usage{Month: 2, Day: 2}) || o.used(other) != (plan.Usage{Month: 4, Day: 4}) {
			t.Errorf("%+v, another workspace %+v", o.used(ws), o.used(other))
		}
	})
}

func TestParallelUseNeverPassesTheLimit(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, o office) {
		var all sync.WaitGroup
		var mu sync.Mutex
		taken := int64(0)
		for range 20 {
			all.Go(func() {
				_, err := o.use(ws, small, 3)
				if err != nil && !errors.Is(err, plan.ErrDailyQuota) {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					taken += 3
				}
			})
		}
		all.Wait()
		if taken != 3 || o.used(ws) != (plan.Usage{Month: 3, Day: 3}) {
			t.Errorf("%d taken, %+v counted", taken, o.used(ws))
		}
	})
}

func TestPlanThatDoesNotExistSendsNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, o office) {
		if _, err := o.use(ws, "gone", 1); err == nil {
			t.Error("an unknown plan was allowed to send")
		}
	})
}

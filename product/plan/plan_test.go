package plan_test

import (
	"testing"
	"time"

	"postrider/platform/api"
	"postrider/platform/limit"
	"postrider/product/plan"
)

func TestEveryPlanHasItsRates(t *testing.T) {
	t.Parallel()
	plans := plan.New(plan.Shipped())
	for _, c := range []struct {
		plan   string
		bucket api.Bucket
		want   limit.Rate
	}{
		{"free", api.BucketSend, limit.Rate{Count: 10, Per: time.Second, Burst: 20}},
		{"free", api.BucketRead, limit.Rate{Count: 20, Per: time.Second, Burst: 40}},
		{"free", api.BucketWrite, limit.Rate{Count: 10, Per: time.Second, Burst: 20}},
		{"pro", api.BucketSend, limit.Rate{Count: 50, Per: time.Second, Burst: 100}},
		{"pro", api.BucketBatch, limit.Rate{Count: 10, Per: time.Second, Burst: 20}},
		{"unlimited", api.BucketSend, limit.Rate{Count: 100_000, Per: time.Second, Burst: 200_000}},
		{"free", api.BucketWebhookTest, limit.Rate{Count: 10, Per: time.Minute, Burst: 10}},
		{"pro", api.BucketWebhookTest, limit.Rate{Count: 60, Per: time.Minute, Burst: 60}},
		{"the operator's own", api.BucketWebhookTest, limit.Rate{Count: 10, Per: time.Minute, Burst: 10}},
	} {
		if got := plans.RateOf(c.plan, c.bucket); got != c.want {
			t.Errorf("%s on %s: %+v, want %+v", c.bucket, c.plan, got, c.want)
		}
	}
}

func TestWhatNobodyHasNumbersForIsSlow(t *testing.T) {
	t.Parallel()
	plans := plan.New(plan.Shipped())
	slow := limit.Rate{Count: 20, Per: time.Second, Burst: 40}
	if got := plans.RateOf("gone", api.BucketSend); got != slow {
		t.Errorf("a plan that is gone: %+v", got)
	}
	if got := plans.RateOf("pro", "unheard-of"); got != slow {
		t.Errorf("an unknown bucket: %+v", got)
	}
}

func TestPlansAreSoldWithTheirNumbers(t *testing.T) {
	t.Parallel()
	plans := plan.New(plan.Shipped())
	for name, want := range map[plan.Name][3]int64{plan.Free: {1, 25_000, 1}, plan.Pro: {10, 50_000, 10}} {
		p, err := plans.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := [3]int64{*p.Limits.VerifiedDomains, *p.Limits.EmailsPerMonth, *p.Limits.Webhooks}; got != want {
			t.Errorf("%s has domains, emails and webhooks %v, want %v", name, got, want)
		}
	}
	unlimited, err := plans.Get(plan.Unlimited)
	if err != nil || unlimited.Limits.VerifiedDomains != nil || unlimited.Limits.EmailsPerMonth != nil {
		t.Errorf("unlimited: %+v, %v", unlimited.Limits, err)
	}
	if _, err := plans.Get("gone"); err == nil {
		t.Error("a plan that does not exist was found")
	}
}

func TestMonthsBeginAndEndInUTC(t *testing.T) {
	t.Parallel()
	date := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }
	for _, c := range []struct{ at, start, end time.Time }{
		{date(2026, 11, 15), date(2026, 11, 1), date(2026, 12, 1)},
		{date(2026, 12, 31), date(2026, 12, 1), date(2027, 1, 1)},
		{date(2028, 2, 29), date(2028, 2, 1), date(2028, 3, 1)},
		{time.Date(2026, 11, 1, 3, 0, 0, 0, time.FixedZone("", 5*3600)), date(2026, 10, 1), date(2026, 11, 1)},
	} {
		if start, end := plan.Month(c.at); !start.Equal(c.start) || !end.Equal(c.end) {
			t.Errorf("%s is in %s to %s", c.at, start, end)
		}
	}
}

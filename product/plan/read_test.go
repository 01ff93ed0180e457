package plan_test

import (
	"strings"
	"testing"
	"time"

	"postrider/platform/api"
	"postrider/platform/limit"
	"postrider/product/plan"
)

func TestOperatorChangesAndAddsPlans(t *testing.T) {
	t.Parallel()
	plans, err := plan.Read(strings.NewReader(`
		[pro.limits]
		emails_per_month = 100000
		members = -1
		[pro.rates.email_send]
		per_sec = 7
		burst = 9
		[tiny.limits]
		emails_per_day = 5
	`))
	if err != nil {
		t.Fatal(err)
	}
	pro, free := plans[plan.Pro].Limits, plan.Shipped()[plan.Free].Limits
	if *pro.EmailsPerMonth != 100_000 || pro.Members != nil || *pro.VerifiedDomains != 10 {
		t.Errorf("pro: %+v", pro)
	}
	tiny := plans["tiny"].Limits
	if *tiny.EmailsPerDay != 5 || *tiny.EmailsPerMonth != *free.EmailsPerMonth {
		t.Errorf("tiny: %+v", tiny)
	}
	service := plan.New(plans)
	if got := service.RateOf("pro", api.BucketSend); got != (limit.Rate{Count: 7, Per: time.Second, Burst: 9}) {
		t.Errorf("rate: %+v", got)
	}
	if *plan.Shipped()[plan.Pro].Limits.EmailsPerMonth != 50_000 {
		t.Error("the shipped plan was changed")
	}
}

func TestMistakesInPlansAreNamed(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"[pro.limits]\nemail_per_month = 1":                 "email_per_month",
		"[pro.limits]\nmembers = -2":                        "members",
		"[pro.rates.sends]\nper_sec = 1\nburst = 1":         "sends",
		"[pro.rates.read]\nper_sec = 0\nburst = 1":          "read",
		"[pro]\nprice = 10":                                 "price",
		"[pro.limits]\nmembers = \"many\"":                  "members",
		"pro":                                               "plans",
		"[pro.rates.read]\nper_sec = 1\nburst = 1\nper = 3": "per",
		"[b.limits]\nx = 1\n[a.limits]\nz = 1\ny = 1":       "plans: a: there is no limit called y",
	} {
		if _, err := plan.Read(strings.NewReader(file)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", file, err)
		}
	}
}

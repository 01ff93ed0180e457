package guard

import (
	"fmt"
	"time"

	"postrider/product/stats"
)

// metric is what a sender is judged by.
type metric string

const (
	bounces    metric = "bounce_rate"
	complaints metric = "complaint_rate"
)

// share returns how many mails were bad, of how many. A block is the refusal of our servers or of one message and says nothing about
// the addresses that a sender mails: a server on a blocklist must not stop everyone who sends from it.
func (m metric) share(c stats.Counts) (bad, all int64) {
	if m == bounces {
		return c[stats.Bounced] - c[stats.BouncedBlock], c[stats.Sent]
	}
	// What a relay has taken is sent and never counts as delivered. Mail that failed is not always mail that was sent, so this is no
	// more than arrived.
	return c[stats.Complained], max(c[stats.Delivered], c[stats.Sent]-c[stats.Bounced]-c[stats.Failed])
}

// rule is a rate over a time and what follows from it. A rate of too little mail says nothing: a rule holds only from a sample and a
// number of bad mails on.
type rule struct {
	metric        metric
	window        time.Duration
	sample, least int64
	// warn, throttle and pause are the rates from which on that is done.
	warn, throttle, pause float64
}

const (
	day  = 24 * time.Hour
	week = 7 * day
)

// rules begin to bite where mailbox providers begin to distrust a sender: 4 % bounces, and the 0.1 % and 0.3 % complaints that
// Google and Yahoo publish.
var rules = []rule{
	{bounces, day, 100, 10, 0.04, 0.06, 0.10},
	{bounces, week, 300, 20, 0.04, 0.06, 0.10},
	{complaints, day, 1000, 5, 0.001, 0.002, 0.003},
	{complaints, week, 2000, 5, 0.001, 0.002, 0.003},
}

const (
	// newFor is how long a sender is new. Nobody knows yet whether it buys its lists, so numbers count, whatever the rate.
	newFor = 30 * day
	// newBounces and newComplaints are how many a new sender may have in a day before it is slowed down.
	newBounces    = 500
	newComplaints = 20
)

// verdict is what should be done with a sender, and why.
type verdict struct {
	step            Step
	metric          metric
	window          time.Duration
	rate, threshold float64
	bad, sample     int64
}

// judge returns the hardest step that the counts of the last day and week ask for.
func judge(lastDay, lastWeek stats.Counts, newcomer bool) verdict {
	worst := verdict{step: Clear}
	for _, r := range rules {
		counts := lastDay
		if r.window == week {
			counts = lastWeek
		}
		if v := r.judge(counts); v.step.harderThan(worst.step) {
			worst = v
		}
	}
	if newcomer {
		for _, ceiling := range []struct {
			metric metric
			most   int64
		}{{bounces, newBounces}, {complaints, newComplaints}} {
			bad, all := ceiling.metric.share(lastDay)
			if v := (verdict{step: Throttled, metric: ceiling.metric, window: day, bad: bad, sample: all}); bad >= ceiling.most && v.step.harderThan(worst.step) {
				v.rate = float64(bad) / float64(max(all, 1))
				worst = v
			}
		}
	}
	return worst
}

func (r rule) judge(c stats.Counts) verdict {
	bad, all := r.metric.share(c)
	if all < r.sample || bad < r.least {
		return verdict{step: Clear}
	}
	v := verdict{step: Clear, metric: r.metric, window: r.window, rate: float64(bad) / float64(all), bad: bad, sample: all}
	for _, limit := range []struct {
		step Step
		from float64
	}{{Warned, r.warn}, {Throttled, r.throttle}, {Paused, r.pause}} {
		if v.rate >= limit.from {
			v.step, v.threshold = limit.step, limit.from
		}
	}
	return v
}

// because is the reason in words, for the people who have to do something about it.
func (v verdict) because() string {
	what, period := "bounced", "24 hours"
	if v.metric == complaints {
		what = "were called spam"
	}
	if v.window == week {
		period = "7 days"
	}
	if v.threshold == 0 {
		return fmt.Sprintf("%d mails of a new sender %s in %s.", v.bad, what, period)
	}
	return fmt.Sprintf("%.2f %% of %d mails %s in %s; the limit is %.1f %%.", 100*v.rate, v.sample, what, period, 100*v.threshold)
}

const (
	// slowShare is which part of its usual mail a throttled sender may go on with, and leastHourly how much in any case.
	slowShare   = 10
	leastHourly = 100
)

// hourlyOf returns how many recipients an hour a sender may mail while it is throttled.
func hourlyOf(lastDay stats.Counts) int64 {
	return max(leastHourly, lastDay[stats.Sent]/24/slowShare)
}

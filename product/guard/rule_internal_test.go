package guard

import (
	"testing"
	"time"

	"postrider/product/stats"
)

func mail(sent, bounced, complained int64) stats.Counts {
	var c stats.Counts
	c[stats.Sent], c[stats.Delivered], c[stats.Bounced], c[stats.Complained] = sent, sent-bounced, bounced, complained
	return c
}

// relayed is mail that a relay has taken.
func relayed(sent, complained int64) stats.Counts {
	c := mail(sent, 0, complained)
	c[stats.Delivered] = 0
	return c
}

func TestRatesDecideHowFarASenderIsHeldBack(t *testing.T) {
	t.Parallel()
	none := stats.Counts{}
	for _, c := range []struct {
		name          string
		today, lately stats.Counts
		newcomer      bool
		want          Step
	}{
		{"nothing was sent", none, none, false, Clear},
		{"all of very little mail bounced", mail(99, 99, 0), mail(99, 99, 0), false, Clear},
		{"few bounces of little mail", mail(100, 9, 0), mail(100, 9, 0), false, Clear},
		{"just below the limit", mail(10_000, 399, 9), mail(10_000, 399, 9), false, Clear},
		{"4 % bounces", mail(1_000, 40, 0), none, false, Warned},
		{"6 % bounces", mail(1_000, 60, 0), none, false, Throttled},
		{"10 % bounces", mail(100, 10, 0), none, false, Paused},
		{"4 % bounces in a week", mail(50, 2, 0), mail(1_000, 40, 0), false, Warned},
		{"four complaints of little mail", mail(1_000, 0, 4), mail(1_000, 0, 4), false, Clear},
		{"0.1 % complaints", mail(10_000, 0, 10), none, false, Warned},
		{"0.2 % complaints", mail(10_000, 0, 20), none, false, Throttled},
		{"0.3 % complaints in a week", none, mail(10_000, 0, 30), false, Paused},
		{"0.3 % complaints about mail that went to a relay", relayed(10_000, 30), none, false, Paused},
		{"0.1 % complaints about mail that went to a relay", relayed(10_000, 10), none, false, Warned},
		{"many bounces of much mail", mail(1_000_000, 500, 0), none, false, Clear},
		{"many bounces of a newcomer", mail(1_000_000, 500, 0), none, true, Throttled},
		{"many complaints of a newcomer", mail(1_000_000, 0, 20), none, true, Throttled},
		{"what is worse counts", mail(1_000, 100, 0), none, true, Paused},
	} {
		v := judge(c.today, c.lately, c.newcomer)
		if v.step != c.want {
			t.Errorf("%s: %s, want %s", c.name, v.step, c.want)
		}
		if v.step != Clear && (v.metric == "" || v.window == 0 || v.bad == 0 || v.rate == 0) {
			t.Errorf("%s: the reason is %+v", c.name, v)
		}
	}
}

func TestMailOfAThrottledSenderIsSpread(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	p := &pacer{hourly: map[string]int64{"slow": 100}, next: map[string]time.Time{}}
	if wait := p.delay(now, 50, "", "fast"); wait != 0 {
		t.Errorf("a sender who is not throttled waits %s", wait)
	}
	for i, want := range []time.Duration{0, 30 * time.Minute, time.Hour} {
		if wait := p.delay(now, 50, "slow", "fast"); wait != want {
			t.Errorf("mail %d waits %s, want %s", i, wait, want)
		}
	}
	if wait := p.delay(now.Add(time.Hour), 10_000, "slow"); wait != 30*time.Minute {
		t.Errorf("an hour later mail waits %s", wait)
	}
	if wait := p.delay(now.Add(time.Hour), 1, "slow"); wait != longestDelay {
		t.Errorf("behind much mail it waits %s", wait)
	}
	p.hourly["slower"] = 10
	p.delay(now.Add(48*time.Hour), 10, "slower")
	if wait := p.delay(now.Add(48*time.Hour), 1, "slower", "fast"); wait != time.Hour {
		t.Errorf("a customer that is throttled waits %s", wait)
	}
	p.hourly["fast"] = 3600
	p.delay(now.Add(96*time.Hour), 10, "slower", "fast")
	if wait := p.delay(now.Add(96*time.Hour), 1, "slower", "fast"); wait != time.Hour {
		t.Errorf("of two times a mail waits for %s", wait)
	}
}

func TestAThrottledSenderKeepsAPartOfItsMail(t *testing.T) {
	t.Parallel()
	for sent, want := range map[int64]int64{0: leastHourly, 10_000: leastHourly, 240_000: 1_000} {
		if got := hourlyOf(mail(sent, 0, 0)); got != want {
			t.Errorf("of %d a day, %d an hour", sent, got)
		}
	}
}

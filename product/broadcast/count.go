package broadcast

import (
	"strconv"
	"strings"
	"time"

	"postrider/product/email"
)

// counter is one thing that is counted of a broadcast.
type counter int

const (
	recipients counter = iota
	queued
	sent
	delivered
	bounced
	bouncedHard
	bouncedSoft
	bouncedBlock
	complained
	suppressed
	skipped
	failed
	cancelled
	opened
	uniqueOpened
	automatedOpens
	clicked
	uniqueClicked
	automatedClicks
	unsubscribed
	counters // how many there are
)

// counterNames are the columns of the counters.
var counterNames = [counters]string{"recipients", "queued", "sent", "delivered", "bounced", "bounced_hard", "bounced_soft", "bounced_block", "complained", "suppressed",
	"skipped", "failed", "cancelled", "opened", "unique_opened", "automated_opens", "clicked", "unique_clicked", "automated_clicks", "unsubscribed"}

// counts are all counters of a broadcast, or what is to be added to them.
type counts [counters]int64

// bounceCounters are what bounces of a class are counted as.
var bounceCounters = map[string]counter{"hard": bouncedHard, "soft": bouncedSoft, "block": bouncedBlock}

// follows tells of the counters that are how many recipients are in certain states.
var follows = map[counter]func(email.State) bool{
	queued: isOpen, sent: wentOut, delivered: arrived,
	bounced:    func(s email.State) bool { return s == email.Bounced },
	complained: func(s email.State) bool { return s == email.Complained },
	suppressed: func(s email.State) bool { return s == email.Suppressed },
	skipped:    func(s email.State) bool { return s == Skipped },
	failed:     func(s email.State) bool { return s == email.Failed },
	cancelled:  func(s email.State) bool { return s == email.Cancelled },
}

// move counts that n recipients went from one state to another.
func (c *counts) move(from, to email.State, n int64) {
	for which, in := range follows {
		if in(from) {
			c[which] -= n
		}
		if in(to) {
			c[which] += n
		}
	}
}

// part is what is counted apart: an hour, or a mailbox provider.
type part struct{ kind, name string }

const (
	kindHour = "hour"
	kindISP  = "isp"
	otherISP = "other"
)

func hourOf(at time.Time) part {
	return part{kindHour, strconv.FormatInt(at.UTC().Truncate(time.Hour).UnixMicro(), 10)}
}

func ispOf(name string) part {
	if name = strings.TrimSpace(name); name == "" {
		name = otherISP
	}
	return part{kindISP, name}
}

// partCounters are the counters that parts have.
var partCounters = []counter{sent, delivered, bounced, opened, clicked}

// tally is what a batch of events adds up to for one broadcast.
type tally struct {
	counts counts
	parts  map[part]*counts
	// clicks are those of people, by the id of the recipient's row and the link.
	clicks map[click]int64
}

type click struct{ recipient, url string }

func newTally() *tally { return &tally{parts: map[part]*counts{}, clicks: map[click]int64{}} }

// add counts something once more, or once less, in all and apart.
func (t *tally) add(which counter, by int64, at time.Time, isp string) {
	t.counts[which] += by
	for _, p := range []part{hourOf(at), ispOf(isp)} {
		if t.parts[p] == nil {
			t.parts[p] = &counts{}
		}
		t.parts[p][which] += by
	}
}

// move takes a recipient to another state and counts that.
func (t *tally) move(r *recipient, to email.State, at time.Time, isp string) {
	var change counts
	change.move(r.State, to, 1)
	for which, by := range change {
		switch {
		case by == 0:
		case by < 0 && counter(which) == delivered:
			t.add(delivered, by, r.DeliveredAt, isp) // where it was counted
		case counter(which) == sent || counter(which) == delivered || counter(which) == bounced:
			t.add(counter(which), by, at, isp)
		default:
			t.counts[which] += by
		}
	}
	if wentOut(to) && r.SentAt.IsZero() {
		r.SentAt = at
	}
	if arrived(to) && r.DeliveredAt.IsZero() {
		r.DeliveredAt = at
	}
	r.State = to
}

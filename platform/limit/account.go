package limit

import (
	"sync"
	"time"
)

// account is what one node knows of a bucket that it shares with others. Moments are counted from 1970.
type account struct {
	mu sync.Mutex
	// All below is guarded by mu.
	bucket bucket
	// full is when the bucket is full again, as the database last said; everything in it was paid for, what prepaid holds too.
	full time.Duration
	// prepaid are requests that were taken from the bucket and not used yet, debt those that were let through and not taken yet, the last of
	// them at owedAt.
	prepaid, debt int
	owedAt        time.Duration
	// bundle is how many were taken at once the last time, and when.
	bundle    int
	settledAt time.Duration
	usedAt    time.Duration
}

const (
	// creditShare is which part of a bucket a node lets through before it asks. Together the nodes allow that much more than the rate,
	// each its part, once: it is paid back.
	creditShare = 20
	// bundleShare is which part of a bucket a node takes at once at most.
	bundleShare = 10
	// A bundle that lasts for less than busy is doubled the next time, one that lasts for longer than quiet is halved.
	busy  = 50 * time.Millisecond
	quiet = 500 * time.Millisecond
)

func (b bucket) credit() int { return max(b.size/creditShare, 1) }

// begin gets the account ready for a request. If the clock was set back since the last one, nobody has to wait until it comes there again.
func (a *account) begin(b bucket, now time.Duration) {
	a.bucket = b
	a.owedAt = min(a.owedAt, now)
	if a.full > b.latest(now) {
		a.full = now
	}
}

// room is how many requests the bucket has left, as far as this node knows, besides those that are prepaid. It is negative if more
// was let through than the rate allows.
func (a *account) room(now time.Duration) int {
	free := a.bucket.window - a.missing(now)
	if free < 0 {
		return int((free - a.bucket.interval + 1) / a.bucket.interval)
	}
	return int(free / a.bucket.interval)
}

// missing is how long the bucket needs to be full again. What is owed counts from when it was let through, however late it is told.
func (a *account) missing(now time.Duration) time.Duration {
	full := a.full
	if a.debt > 0 {
		full = max(full, a.owedAt) + time.Duration(a.debt)*a.bucket.interval
	}
	return max(full-now, 0)
}

// pay lets one request through if it is prepaid, or on credit.
func (a *account) pay(now time.Duration) bool {
	a.usedAt = now
	switch {
	case a.prepaid > 0:
		a.prepaid--
	case a.debt < a.bucket.credit() && a.room(now) > 0:
		if a.debt++; a.debt == 1 || now > a.owedAt {
			a.owedAt = now
		}
	default:
		return false
	}
	return true
}

// wants returns how many requests to take from the bucket besides those that are owed.
func (a *account) wants(now time.Duration) int {
	switch lasted := now - a.settledAt; {
	case a.bundle == 0:
		a.bundle = 1
	case lasted < busy:
		a.bundle *= 2
	case lasted > quiet:
		a.bundle /= 2
	}
	a.bundle = max(min(a.bundle, a.bucket.size/bundleShare), 1)
	return a.bundle
}

// granted returns how many of the wanted requests fit into a bucket that is full again at the given moment, which counts all of them,
// and the moment if only those are taken.
func (b bucket) granted(wanted int, full, now time.Duration) (int, time.Duration) {
	over := full - now - b.window
	if over <= 0 {
		return wanted, full
	}
	refused := min(int((over+b.interval-1)/b.interval), wanted)
	return wanted - refused, full - time.Duration(refused)*b.interval
}

// told takes over what the database said.
func (a *account) told(prepaid int, full, now time.Duration) {
	a.prepaid, a.debt, a.full, a.settledAt = prepaid, 0, full, now
}

// decision tells the caller about a request that was let through; alone is what this node would say without the others.
func (a *account) decision(alone Decision, now time.Duration) Decision {
	alone.Remaining = max(min(alone.Remaining, a.room(now)+a.prepaid), 0)
	alone.Reset = max(alone.Reset, a.missing(now)-time.Duration(a.prepaid)*a.bucket.interval)
	return alone
}

// refusal tells the caller when to come again.
func (a *account) refusal(now time.Duration) Decision {
	missing := a.missing(now)
	return Decision{Limit: a.bucket.size, Reset: missing, RetryAfter: max(a.bucket.interval-(a.bucket.window-missing), 1)}
}

// untold tells whether the database has to hear of the account: of what is owed, and of what is not needed.
func (a *account) untold(now time.Duration) bool { return a.debt > 0 || a.prepaid > 0 && a.idle(now) }

func (a *account) idle(now time.Duration) bool { return now-a.usedAt > idleFor || now < a.usedAt }

// clean tells whether nobody would miss the account.
func (a *account) clean() bool { return a.debt == 0 && a.prepaid == 0 }

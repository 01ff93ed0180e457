package account

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/limit"
)

const (
	// maxFailures is how many wrong tries an account takes within failureWindow before it is locked for as long.
	maxFailures   = 10
	failureWindow = 15 * time.Minute
)

// addressRate is how many wrong tries one network address has, over all accounts. Tries that succeed are given back.
var addressRate = limit.Rate{Count: 100, Per: failureWindow, Burst: 100}

// countTry takes a try from the network address, or refuses it.
func (s *Service) countTry(from netip.Addr) error {
	taken := s.limits.Take(limit.Site(from), addressRate)
	if !taken.Allowed {
		return tooMany(taken.Limit, taken.RetryAfter)
	}
	return nil
}

// checkAddress refuses a network address that has no tries left, before anything is spent on it.
func (s *Service) checkAddress(from netip.Addr) error {
	if left := s.limits.Peek(limit.Site(from), addressRate); !left.Allowed {
		return tooMany(left.Limit, left.RetryAfter)
	}
	return nil
}

// giveBack returns the try of a sign-in that succeeded.
func (s *Service) giveBack(from netip.Addr) { s.limits.GiveBack(limit.Site(from), addressRate) }

func tooMany(most int, wait time.Duration) error {
	return api.ErrRateLimit.With("bucket", api.BucketAuth).With("limit", most).With("retry_after_sec", api.WholeSeconds(wait)).After(wait)
}

// attempts are the failures noted for an email address since a moment.
type attempts struct {
	failures int64
	since    time.Time
}

// wait is how long the address stays locked.
func (a attempts) wait(now time.Time) time.Duration {
	if a.failures < maxFailures {
		return 0
	}
	return max(0, a.since.Add(failureWindow).Sub(now))
}

// failed adds a failure. The last one that is allowed starts the lock.
func (a attempts) failed(now time.Time) attempts {
	if !now.Before(a.since.Add(failureWindow)) {
		a = attempts{since: now}
	}
	a.failures++
	if a.failures >= maxFailures {
		a.since = now
	}
	return a
}

// addressHash is how an email address is kept in the list of failures: people mistype their password into the address field.
func (s *Service) addressHash(email string) []byte {
	return s.keyring.MAC("account/attempt", []byte(email))
}

// checkLock refuses an email address that is locked, before anything is spent on it.
func (s *Service) checkLock(tx *db.Tx, email string) error {
	noted, err := selectAttempts(tx, s.addressHash(email))
	if errors.Is(err, db.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if wait := noted.wait(tx.Now()); wait > 0 {
		return tooMany(maxFailures, wait)
	}
	return nil
}

// verdict is what a try to prove oneself has come to.
type verdict int

const (
	// wrong counts as a failure.
	wrong verdict = iota
	// halfway is right as far as it goes; earlier failures stay noted.
	halfway
	// right forgets earlier failures.
	right
)

// try is somebody's claim to be the owner of an email address. User is empty if the address has no account.
type try struct {
	email string
	user  User
	from  Visitor
}

// judge lets decide say whether a try is right, in one transaction with everything that follows from it. A wrong try is noted,
// and once there are too many, even a right one is refused.
func (s *Service) judge(ctx context.Context, t try, decide func(tx *db.Tx) (verdict, error)) error {
	if err := s.countTry(t.from.IP); err != nil {
		return err
	}
	var refused error
	err := s.db.Write(ctx, func(tx *db.Tx) error {
		refused = nil
		hash := s.addressHash(t.email)
		noted, err := lockAttempts(tx, hash)
		if err != nil {
			return err
		}
		if wait := noted.wait(tx.Now()); wait > 0 {
			refused = tooMany(maxFailures, wait)
			return nil
		}
		outcome, err := decide(tx)
		switch {
		case err != nil || outcome == halfway:
			return err
		case outcome == right:
			return deleteAttempts(tx, hash)
		}
		refused = ErrInvalidCredentials
		if t.user.ID != "" {
			if err := s.auditHome(tx, t.user, SignInFailed, t.from.IP); err != nil {
				return err
			}
		}
		return updateAttempts(tx, hash, noted.failed(tx.Now()))
	})
	if err == nil {
		err = refused
	}
	if err == nil {
		s.giveBack(t.from.IP)
	}
	return err
}

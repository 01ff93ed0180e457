package domain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/platform/limit"
	"postrider/platform/queue"
	"postrider/platform/space"
)

const (
	// checkBudget is how long a customer waits for a verification.
	checkBudget = 10 * time.Second
	// A verified domain keeps its standing until this many checks have failed, the first of them this long ago: an outage
	// of a name server must not stop a customer's mail.
	graceRounds = 3
	graceTime   = 24 * time.Hour
	// giveUpAfter is when a domain that never passed counts as failed.
	giveUpAfter = 72 * time.Hour
)

// Verify looks at the DNS of a domain now and stores what it shows.
func (s *Service) Verify(ctx context.Context, ws space.ID, id string) (Domain, error) {
	d, err := s.Get(ctx, ws, id)
	if err != nil {
		return Domain{}, err
	}
	looking, done := context.WithTimeout(ctx, checkBudget)
	defer done()
	seen := s.look(looking, d)
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		if d, err = lockDomain(tx, ws, seen.domain.ID); err != nil {
			return err
		}
		if err := s.settle(tx, &d, seen); err != nil {
			return err
		}
		_, err := queue.Reschedule(tx, checkLane, string(d.ID), d.NextCheckAt)
		return err
	})
	switch {
	case errors.Is(err, db.ErrUnique):
		return Domain{}, ErrTaken
	case errors.Is(err, db.ErrNotFound):
		return Domain{}, api.NotFound("domain")
	}
	s.Forget(d)
	return d, err
}

// VerifyLimited is Verify for people with a button: at most six times a minute and domain.
func (s *Service) VerifyLimited(ctx context.Context, ws space.ID, id string) (Domain, error) {
	if taken := s.verifying.Take(string(ws)+"/"+id, verifyRate); !taken.Allowed {
		return Domain{}, api.ErrRateLimit.With("bucket", "domain_verify").With("limit", taken.Limit).
			With("retry_after_sec", api.WholeSeconds(taken.RetryAfter)).After(taken.RetryAfter)
	}
	return s.Verify(ctx, ws, id)
}

// verifyRate is how often one domain may be verified by hand: DNS does not change faster.
var verifyRate = limit.Rate{Count: 6, Per: time.Minute, Burst: 6}

// sight is what a look at a domain, outside any transaction, has shown.
type sight struct {
	domain Domain // as it was then
	checks Checks
	// receiver is what the receiver said; nil if nobody asked it.
	receiver []HealthCheck
}

// look asks DNS about a domain, and the receiver if the domain waits to receive.
func (s *Service) look(ctx context.Context, d Domain) sight {
	seen := sight{domain: d, checks: s.inspect(ctx, d)}
	if d.ReceivingRequested && !d.Receiving {
		seen.receiver = s.receiverChecks(ctx)
	}
	return seen
}

// settle applies what was seen to the standing of the domain, which the transaction has locked.
func (s *Service) settle(tx *db.Tx, d *Domain, seen sight) error {
	if err := loadKeys(tx, d); err != nil {
		return err
	}
	checks := seen.checks.of(seen.domain, *d)
	verified, status, receiving := d.Verified, d.Status, d.Receiving
	d.Checks, d.LastCheckedAt, d.UpdatedAt = checks, tx.Now(), tx.Now()
	if checks.ReturnPath.Status != CheckDNSError {
		d.ReturnVerified = checks.ReturnPath.Status == CheckPass
	}
	if err := s.settleKeys(tx, d); err != nil {
		return err
	}
	d.judge(tx.Now())
	if d.ReceivingRequested && seen.receiver != nil {
		d.Receiving = d.Receiving || receivable(seen.receiver, *d) == nil
	}
	d.NextCheckAt = tx.Now().Add(s.world.Jitter(d.checkAfter(tx.Now()), checkJitter))
	if err := updateDomain(tx, *d); err != nil {
		return err
	}
	var news []event.Event
	switch {
	case d.Verified && !verified:
		news = append(news, s.newEvent(*d, "domain.verified"))
	case verified && !d.Verified, d.Status == Failed && status != Failed:
		news = append(news, s.newEvent(*d, "domain.failed"))
	}
	if d.Receiving != receiving {
		news = append(news, s.newEvent(*d, "domain.updated"))
	}
	return event.Append(tx, news...)
}

// settleKeys lets a next key take over once its record is there, lets the Ed25519 key sign while its record is, and forgets old
// keys when no signature of theirs can be on its way any more.
func (s *Service) settleKeys(tx *db.Tx, d *Domain) error {
	next, rotating := d.key(Next, RSA)
	current, _ := d.key(Current, RSA)
	if rotating && d.Checks.key(next.Selector).Status == CheckPass {
		if err := setRole(tx, *d, current.Selector, Old); err != nil {
			return err
		}
		if err := setRole(tx, *d, next.Selector, Current); err != nil {
			return err
		}
		current = next
	}
	if err := deleteOldKeys(tx, *d, tx.Now().Add(-oldKeyFor)); err != nil {
		return err
	}
	d.Signing = []string{current.Selector}
	if small, ok := d.key(Current, Ed25519); ok && d.Checks.key(small.Selector).Status == CheckPass {
		d.Signing = append(d.Signing, small.Selector)
	}
	d.Checks.DKIM = d.Checks.key(current.Selector)
	return loadKeys(tx, d)
}

// judge derives the standing from the checks.
func (d *Domain) judge(now time.Time) {
	spf, key := d.Checks.SPF.Status == CheckPass, d.Checks.DKIM.Status == CheckPass
	if spf && key {
		if !d.Verified {
			d.VerifiedAt = now
		}
		d.Verified, d.Status, d.FailingSince, d.FailedRounds = true, Verified, time.Time{}, 0
		return
	}
	if d.Verified {
		if !d.Checks.SPF.fails() && !d.Checks.DKIM.fails() {
			return // name servers that do not answer say nothing about the records
		}
		if d.FailingSince.IsZero() {
			d.FailingSince = now
		}
		d.FailedRounds++
		if d.FailedRounds < graceRounds || now.Sub(d.FailingSince) < graceTime {
			return
		}
		d.Verified, d.Status = false, PartiallyFailed
		return
	}
	switch {
	case d.Status == PartiallyFailed:
	case spf || key:
		d.Status = PartiallyVerified
	case now.Sub(d.CreatedAt) >= giveUpAfter:
		d.Status = Failed
	default:
		d.Status = Pending
	}
}

func (s *Service) newEvent(d Domain, kind string) event.Event {
	raw, err := json.Marshal(map[string]any{
		"id": d.ID, "name": d.Name, "domain": d.Name, "status": d.Status, "verified": d.Verified, "region": d.Region,
		"managed_tenant_id": api.Ref(d.TenantID), "created_at": api.Time(d.CreatedAt), "records": s.records(d),
	})
	if err != nil {
		panic(fmt.Sprintf("domain: event %s: %v", kind, err))
	}
	return event.Event{ID: s.world.NewID(), Workspace: d.Workspace, Type: kind, Subject: string(d.ID), Domain: string(d.ID), Tenant: d.TenantID,
		OccurredAt: d.UpdatedAt, Data: raw}
}

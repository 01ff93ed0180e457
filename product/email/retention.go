package email

import (
	"context"
	"time"

	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/platform/space"
	"postrider/product/plan"
)

const (
	// sweepEvery is how long contents may stay after their time; sweepBatch is how many emails one transaction looks at.
	sweepEvery = time.Hour
	sweepBatch = 200
)

// Workers returns what has to be done again and again.
func (s *Service) Workers() []queue.Worker {
	return []queue.Worker{
		{Name: "old contents of emails", Step: s.SweepContents, Every: sweepEvery, Gentle: true},
		{Name: "mail of nodes that are gone", Step: s.EndOverdue, Every: overdueEvery, Gentle: true},
	}
}

// SweepContents removes what emails say once it is older than the plan keeps it, workspace by workspace. That an email was sent, to whom
// and what became of it, stays. What a plan keeps is decided now, so that an upgrade counts for all that is still there.
func (s *Service) SweepContents(ctx context.Context) (bool, error) {
	return s.swept.Step(ctx, s.db, nextWorkspace, func(tx *db.Tx, ws space.ID) (more bool, err error) {
		plans, err := s.accounts.Plans(tx, []space.ID{ws})
		if err != nil {
			return false, err
		}
		keep, ends := s.keeps(plans[ws])
		if !ends {
			return false, nil
		}
		return sweepContents(tx, ws, tx.Now().Add(-keep))
	})
}

// keeps returns how long a plan keeps contents; ends is false if it keeps them for good.
func (s *Service) keeps(name plan.Name) (span time.Duration, ends bool) {
	p, err := s.plans.Get(name)
	if err != nil || p.Limits.LogRetentionDays == nil {
		return 0, false
	}
	return plan.Days(*p.Limits.LogRetentionDays), true
}

// sweepContents goes on with a workspace and tells whether there is more to do. Emails that are still to be sent are come back to.
func sweepContents(tx *db.Tx, ws space.ID, before time.Time) (more bool, err error) {
	late, err := selectUnswept(tx, ws, sweepBatch)
	if err != nil {
		return false, err
	}
	if err := deleteUnswept(tx, ws, late); err != nil {
		return false, err
	}
	from, err := selectSwept(tx, ws)
	if err != nil {
		return false, err
	}
	old, err := selectOld(tx, ws, from, before, sweepBatch)
	if err != nil {
		return false, err
	}
	over, waiting := late, []ID(nil)
	for _, e := range old {
		if e.status.Terminal() {
			over = append(over, e.id)
		} else {
			waiting = append(waiting, e.id)
		}
	}
	if err := removeContents(tx, ws, over); err != nil {
		return false, err
	}
	if err := insertUnswept(tx, ws, waiting); err != nil {
		return false, err
	}
	if len(old) > 0 {
		err = upsertSwept(tx, ws, old[len(old)-1].createdAt)
	}
	return len(late) == sweepBatch || len(old) >= sweepBatch, err // the emails of one moment come together, so there may be more
}

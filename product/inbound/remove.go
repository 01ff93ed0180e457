package inbound

import (
	"context"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/platform/space"
	"postrider/product/account"
	"postrider/product/plan"
)

const (
	// MessageDeleted is what the audit log tells of a message that somebody deleted.
	MessageDeleted account.Action = "received_email.deleted"

	// removeEvery is how long messages may stay after their time, and removeBatch how many one transaction removes.
	removeEvery = time.Hour
	removeBatch = 100
	// clockGap is how far the clocks of two nodes may be apart.
	clockGap = time.Minute
)

var errUnderWay = api.ErrInvalidState.Saying("The message is still being checked or passed on. Delete it in a moment.").
	With("current", "processing").With("allowed", []string{"processed"})

func (s *Service) handleDelete(ctx context.Context, caller api.Caller, r idRequest) (api.Deleted, error) {
	err := s.db.Write(ctx, func(tx *db.Tx) error {
		m, err := find(tx, caller, r.ID)
		if err != nil {
			return err
		}
		removed, err := s.remove(tx, m.Workspace, []ID{m.ID})
		if err == nil && removed == 0 {
			if _, err = find(tx, caller, r.ID); err == nil { // or somebody else deleted it at the same moment
				err = errUnderWay
			}
		}
		if err != nil {
			return err
		}
		return s.accounts.Audit(tx, account.By(caller, MessageDeleted, account.Target{Type: "received_email", ID: string(m.ID), Name: m.From}))
	})
	return api.Deleted{Object: "email", ID: r.ID, Deleted: true}, err
}

// remove removes messages for good, and the facts from what was told of them. Those that something still has to be done with stay; it
// returns how many went.
func (s *Service) remove(tx *db.Tx, ws space.ID, ids []ID) (int, error) {
	removed, err := deleteProcessed(tx, ws, ids)
	if err != nil || len(removed) == 0 {
		return 0, err
	}
	var told, names []string
	for _, id := range removed {
		names = append(names, string(id))
		events, err := event.Redact(tx, ws, string(id), "", tx.Now().Add(clockGap))
		if err != nil {
			return 0, err
		}
		told = append(told, events...)
	}
	if err := s.webhooks.Forget(tx, ws, told); err != nil {
		return 0, err
	}
	if err := s.logs.EraseReceived(tx, ws, names); err != nil {
		return 0, err
	}
	return len(removed), addTotal(tx, ws, -int64(len(removed)))
}

// RemoveOld removes what is older than the plan of its workspace keeps, workspace by workspace. Plans keep received mail for good unless the
// operator says otherwise.
func (s *Service) RemoveOld(ctx context.Context) (bool, error) {
	return s.removed.Step(ctx, s.db, nextWorkspace, func(tx *db.Tx, ws space.ID) (more bool, err error) {
		plans, err := s.accounts.Plans(tx, []space.ID{ws})
		if err != nil {
			return false, err
		}
		keep, ends := s.keeps(plans[ws])
		if !ends {
			return false, nil
		}
		old, err := selectOldProcessed(tx, ws, tx.Now().Add(-keep), removeBatch)
		if err != nil {
			return false, err
		}
		_, err = s.remove(tx, ws, old)
		return len(old) == removeBatch, err
	})
}

// keeps returns how long a plan keeps received mail; ends is false if it keeps it for good.
func (s *Service) keeps(name plan.Name) (span time.Duration, ends bool) {
	p, err := s.plans.Get(name)
	if err != nil || p.Limits.ReceivedRetentionDays == nil {
		return 0, false
	}
	return time.Duration(*p.Limits.ReceivedRetentionDays) * 24 * time.Hour, true
}

package inbound

import (
	"context"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/platform/queue"
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

	// DeletedLane is the queue of messages that were deleted, for slices above that keep what they were told of them.
	DeletedLane queue.Lane = "received_deleted"
)

// Deleted is messages that were deleted, and the events that had told of them.
type Deleted struct {
	Workspace space.ID `json:"workspace_id"`
	Messages  []ID     `json:"messages"`
	Events    []string `json:"events"`
}

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
	names := make([]string, len(removed))
	for i, id := range removed {
		names[i] = string(id)
	}
	told, err := event.RedactAll(tx, ws, names, "", tx.Now().Add(clockGap))
	if err != nil {
		return 0, err
	}
	if err := s.webhooks.Forget(tx, ws, told); err != nil {
		return 0, err
	}
	if err := s.logs.EraseReceived(tx, ws, names); err != nil {
		return 0, err
	}
	if err := s.tellDeleted(tx, Deleted{ws, removed, told}); err != nil {
		return 0, err
	}
	return len(removed), addTotal(tx, ws, -int64(len(removed)))
}

// tellDeleted lets slices above know which messages are gone, if they can have been told of them.
func (s *Service) tellDeleted(tx *db.Tx, gone Deleted) error {
	if len(gone.Events) == 0 {
		return nil
	}
	return queue.Add(tx, queue.Item{ID: s.world.NewID(), Lane: DeletedLane, Rank: queue.Normal, Due: tx.Now(), Payload: db.JSON(gone)})
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
	return plan.Days(*p.Limits.ReceivedRetentionDays), true
}

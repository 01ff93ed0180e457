package broadcast

import (
	"context"
	"errors"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/email"
)

// alter lets change change a broadcast of a workspace, and returns how it is then.
func (s *Service) alter(ctx context.Context, ws space.ID, id string, change func(tx *db.Tx, b *Broadcast) error) (record Record, err error) {
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		b, err := lock(tx, ws, id)
		if err != nil {
			return err
		}
		if err := change(tx, &b); err != nil {
			return err
		}
		b.UpdatedAt = tx.Now()
		if err := updateProgress(tx, b); err != nil {
			return err
		}
		all, err := selectCounts(tx, []ID{b.ID})
		record = newRecord(b, all[b.ID].counts)
		return err
	})
	return record, err
}

// cancel stops a broadcast. Once it is answered nobody else is handed over, and no mail that was goes to a server: what a conversation of
// this process has not ended breaks off. Rows are settled soon after, a first page of them at once. What went out stays out.
func (s *Service) cancel(ctx context.Context, ws space.ID, id string) (Record, error) {
	record, err := s.alter(ctx, ws, id, func(tx *db.Tx, b *Broadcast) error {
		if b.Status != Scheduled && b.Status != Queued && b.Status != Sending {
			return b.refuse(Scheduled, Queued, Sending)
		}
		if _, err := s.settleRest(tx, *b, email.Cancelled, cancelledProblem()); err != nil {
			return err
		}
		begun := b.Status == Sending
		b.Status, b.CancelledAt, b.PausedAt, b.place = Cancelled, tx.Now(), time.Time{}, 0
		if err := s.tell(tx, *b, cancelledEvent); err != nil {
			return err
		}
		if !begun {
			return s.rest(tx, b)
		}
		if err := s.parts.Emails.CallBack(tx, b.Workspace, string(b.ID)); err != nil {
			return err
		}
		return s.wake(tx, b, tx.Now())
	})
	if err == nil {
		s.parts.Emails.CalledBack(string(record.ID))
	}
	return record, err
}

// pause holds a broadcast where it is. What has been handed over goes out.
func (s *Service) pause(ctx context.Context, ws space.ID, id string) (Record, error) {
	return s.alter(ctx, ws, id, func(tx *db.Tx, b *Broadcast) error {
		if b.Status != Queued && b.Status != Sending || !b.HandedAt.IsZero() {
			return b.refuse(Queued, Sending)
		}
		if b.PausedAt.IsZero() {
			b.PausedAt = tx.Now()
		}
		return s.rest(tx, b)
	})
}

// mayMove refuses to let a key for tests move a broadcast on that goes out for real.
func (b Broadcast) mayMove(caller api.Caller) error {
	if caller.Test && !b.Test {
		return api.ErrInvalidState.Saying("The broadcast is real, and a test key sends nothing for real. Use a live key.").
			With("current", b.Status).With("allowed", []Status{})
	}
	return nil
}

// resume lets a broadcast that was paused go on.
func (s *Service) resume(ctx context.Context, caller api.Caller, id string) (Record, error) {
	return s.alter(ctx, caller.Workspace, id, func(tx *db.Tx, b *Broadcast) error {
		if err := b.mayMove(caller); err != nil {
			return err
		}
		if b.PausedAt.IsZero() {
			return api.ErrInvalidState.Saying("The broadcast is not paused.").With("current", b.Status).With("allowed", []string{"paused"})
		}
		b.PausedAt = time.Time{}
		return s.wake(tx, b, tx.Now())
	})
}

// retry sends to those again, and only to those, whose mail failed: because the plan or the domain did not allow it, a value was
// missing, or no server took it in time. Whoever bounced, was left out or has the mail is not touched.
func (s *Service) retry(ctx context.Context, caller api.Caller, id string) (Record, error) {
	seen, err := s.get(ctx, caller.Workspace, id)
	if err != nil {
		return Record{}, err
	}
	if seen.Status == Sent || seen.Status == Failed {
		from := seen
		from.ScheduledAt = s.world.Clock.Now() // its recipients are known, and most have their mail: they are not counted again
		if err := s.permit(ctx, caller, &from); err != nil {
			return Record{}, err
		}
	}
	return s.alter(ctx, caller.Workspace, id, func(tx *db.Tx, b *Broadcast) error {
		if err := b.mayMove(caller); err != nil {
			return err
		}
		if b.Status != Sent && b.Status != Failed {
			return b.refuse(Sent, Failed)
		}
		if b.ExpandedAt.IsZero() {
			return api.ErrInvalidState.Saying("The broadcast failed before all its recipients were known. Duplicate it and send the copy.").
				With("current", b.Status).With("allowed", []Status{})
		}
		b.place = 0
		some, err := reopenSome(tx, b)
		if err != nil {
			return err
		}
		if !some {
			return api.ErrInvalidState.Saying("No recipient has failed.").With("current", b.Status).With("allowed", []Status{})
		}
		b.Status, b.Failure, b.HandedAt, b.SentAt, b.nextAt = Sending, nil, time.Time{}, time.Time{}, time.Time{}
		return s.wake(tx, b, tx.Now())
	})
}

// reopenPage is how many of those who failed one transaction lets wait again.
const reopenPage = 2000

// reopenSome lets the next of those who failed wait again, and tells whether there were any. Whoever fails once more is behind the place by
// then.
func reopenSome(tx *db.Tx, b *Broadcast) (bool, error) {
	contacts, err := selectFailed(tx, b.ID, b.place, reopenPage)
	if err != nil || len(contacts) == 0 {
		return false, err
	}
	b.place = contacts[len(contacts)-1]
	var change counts
	change.move(email.Failed, Pending, int64(len(contacts)))
	return true, errors.Join(reopen(tx, b.ID, contacts), addCounts(tx, b.ID, change))
}

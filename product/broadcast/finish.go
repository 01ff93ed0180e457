package broadcast

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/product/email"
)

// Types of the events that tell of broadcasts.
const (
	sentEvent      = "broadcast.sent"
	cancelledEvent = "broadcast.cancelled"
	failedEvent    = "broadcast.failed"
)

// handedIfAll notes that nobody waits to be handed over any more, and nobody is to wait again. The queue item has done its work then.
func (s *Service) handedIfAll(tx *db.Tx, b *Broadcast) error {
	waiting, err := selectOpen(tx, b.ID, Pending, 0, 1)
	if err != nil || len(waiting) > 0 {
		return err
	}
	if again, err := reopenSome(tx, b); err != nil || again {
		return err
	}
	b.HandedAt = tx.Now()
	return s.endIfDone(tx, b)
}

// endIfDone ends a broadcast none of whose rows has anything left to happen.
func (s *Service) endIfDone(tx *db.Tx, b *Broadcast) error {
	if b.Status != Sending || b.HandedAt.IsZero() {
		return nil
	}
	open, err := hasOpen(tx, b.ID)
	if err != nil || open {
		return err
	}
	all, err := selectCounts(tx, []ID{b.ID})
	if err != nil {
		return err
	}
	b.Status, b.SentAt, b.UpdatedAt = Sent, tx.Now(), tx.Now()
	kind := sentEvent
	if c := all[b.ID]; c.counts[sent] == 0 && c.counts[failed] > 0 {
		b.Status, b.SentAt, kind = Failed, time.Time{}, failedEvent
		b.Failure = &Failure{reasonNobody, "No recipient was reached. The errors of the recipients say why."}
	}
	if err := updateProgress(tx, *b); err != nil {
		return err
	}
	return s.tell(tx, *b, kind)
}

// fail ends a broadcast that cannot go on. What has been handed over goes its way; everybody else is told of the same reason.
func (s *Service) fail(tx *db.Tx, b *Broadcast, reason, message string) error {
	b.Status, b.Failure = Failed, &Failure{reason, message}
	if err := s.settleFailed(tx, b); err != nil {
		return err
	}
	return s.tell(tx, *b, failedEvent)
}

// settleFailed gives some of those who were not handed over the reason of a broadcast that failed. After the last it rests.
func (s *Service) settleFailed(tx *db.Tx, b *Broadcast) error {
	more, err := s.settleRest(tx, *b, email.Failed, problem{Stage: atDelivery, Reason: b.Failure.Reason, Message: b.Failure.Message})
	if err != nil || more {
		return err
	}
	return s.rest(tx, b)
}

// settlePage is how many rows one transaction ends. All rows of a large broadcast at once would keep everybody else from writing.
const settlePage = 10_000

// settleRest ends some of those who have not been handed over, and tells whether there may be more.
func (s *Service) settleRest(tx *db.Tx, b Broadcast, state email.State, why problem) (more bool, err error) {
	why.At = api.Time(tx.Now())
	n, err := settlePending(tx, b.ID, state, why, settlePage)
	if err != nil || n == 0 {
		return false, err
	}
	var change counts
	change.move(Pending, state, n)
	return n == settlePage, addCounts(tx, b.ID, change)
}

// cancelledProblem is why recipients of a cancelled broadcast do not get the mail.
func cancelledProblem() problem {
	return problem{Stage: atDelivery, Reason: reasonCancel, Message: cancelMessage}
}

// recallPage is how many mails one transaction calls back.
const recallPage = 500

// recall ends those of a cancelled broadcast who were not handed over, and then calls mail back: what waits for its first attempt, and what
// waits for another. It tells whether there may be more.
func (s *Service) recall(ctx context.Context, seen Broadcast) (again bool, err error) {
	err = s.change(ctx, seen, func(tx *db.Tx, b *Broadcast) error {
		if again, err = s.settleRest(tx, *b, email.Cancelled, cancelledProblem()); err != nil || again {
			return err
		}
		rows, err := selectOpen(tx, b.ID, email.Queued, 0, recallPage)
		if err == nil && len(rows) == 0 {
			if rows, err = selectOpen(tx, b.ID, email.Sending, b.place, recallPage); len(rows) > 0 {
				b.place = rows[len(rows)-1].Contact
			}
		}
		if err != nil {
			return err
		}
		if again = len(rows) > 0; !again {
			return s.rest(tx, b)
		}
		return s.recallRows(tx, b, rows)
	})
	return again, err
}

// recallRows calls the mail of some rows back. Rows of mail that a server is being asked to take, or has taken, are left for the follower
// of events, and say that they are being sent.
func (s *Service) recallRows(tx *db.Tx, b *Broadcast, rows []recipient) error {
	ids := make([]email.ID, len(rows))
	for i, r := range rows {
		ids[i] = r.Email
	}
	recalled, err := s.parts.Emails.Recall(tx, ids)
	if err != nil {
		return err
	}
	back := make(map[email.ID]bool, len(recalled))
	for _, id := range recalled {
		back[id] = true
	}
	var change counts
	var changed []recipient
	for _, r := range rows {
		before := r.State
		if r.State = email.Sending; back[r.Email] {
			r.State = email.Cancelled
			why := cancelledProblem()
			why.At = api.Time(tx.Now())
			r.Problem = &why
		}
		if r.State == before {
			continue
		}
		change.move(before, r.State, 1)
		r.UpdatedAt = tx.Now()
		changed = append(changed, r)
	}
	if err := updateRecipients(tx, changed); err != nil {
		return err
	}
	return addCounts(tx, b.ID, change)
}

const cancelMessage = "The broadcast was cancelled before the mail was sent."

// tell records what happened to a broadcast.
func (s *Service) tell(tx *db.Tx, b Broadcast, kind string) error {
	all, err := selectCounts(tx, []ID{b.ID})
	if err != nil {
		return err
	}
	raw, err := json.Marshal(newRow(b, all[b.ID].counts))
	if err != nil {
		panic(fmt.Sprintf("broadcast: event %s: %v", kind, err))
	}
	return event.Append(tx, event.Event{ID: s.world.NewID(), Workspace: b.Workspace, Type: kind, Subject: string(b.ID), OccurredAt: tx.Now(), Data: raw})
}

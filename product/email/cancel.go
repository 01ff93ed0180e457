package email

import (
	"context"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/platform/queue"
	"postrider/platform/space"
)

// ErrNotScheduled means that an email is past the point where it could be changed.
var ErrNotScheduled = api.NewError(409, "email_not_scheduled", "validation_error", "Only a scheduled email can be changed or cancelled.")

// Cancel stops a scheduled email. If it returns without error, the email will never be sent.
func (s *Service) Cancel(ctx context.Context, ws space.ID, id string) (Record, error) {
	return s.change(ctx, ws, id, func(tx *db.Tx, e *Email, recipients []Recipient) error {
		e.Status, e.UpdatedAt = Cancelled, tx.Now()
		items := make([]string, len(recipients))
		for i, r := range recipients {
			items[i] = string(r.ID)
		}
		if err := cancelRecipients(tx, ws, e.ID); err != nil {
			return err
		}
		if err := queue.Finish(tx, items...); err != nil {
			return err
		}
		if err := s.giveBack(tx, uses{useOf(e): int64(len(recipients))}); err != nil {
			return err
		}
		at := api.Time(tx.Now())
		return s.tellChange(tx, e, "email.cancelled", extras{change: change{Previous: Scheduled}, CancelledAt: &at})
	})
}

// Reschedule moves a scheduled email to another time.
func (s *Service) Reschedule(ctx context.Context, ws space.ID, id string, text string) (Record, error) {
	var wrong api.Fields
	now := s.world.Clock.Now()
	at := checkSchedule(&wrong, text, now)
	if text == "" {
		wrong.Add("scheduled_at", "A time is required.")
	}
	if err := wrong.Err(); err != nil {
		return Record{}, err
	}
	if at.IsZero() {
		at = now
	}
	wait, err := s.delayOf(ctx, ws, id)
	if err != nil {
		return Record{}, err
	}
	earliest := now.Add(wait)
	return s.change(ctx, ws, id, func(tx *db.Tx, e *Email, recipients []Recipient) error {
		within := e.ExpiresAt.Sub(e.ScheduledAt)
		e.ScheduledAt, e.ExpiresAt, e.UpdatedAt = at.Truncate(time.Microsecond), at.Add(within), tx.Now()
		due := e.ScheduledAt
		if earliest.After(due) {
			due = earliest
		}
		for _, r := range recipients {
			if moved, err := queue.Reschedule(tx, LaneOf(e.Node()), string(r.ID), due); err != nil {
				return err
			} else if !moved {
				return ErrNotScheduled.With("status", Sending)
			}
		}
		return s.tellChange(tx, e, "email.scheduled", extras{change: change{Previous: Scheduled}})
	})
}

// delayOf tells how long an email has to wait whose sender is slowed down: another time is no way around it.
func (s *Service) delayOf(ctx context.Context, ws space.ID, id string) (wait time.Duration, err error) {
	if s.delay == nil {
		return 0, nil
	}
	var e Email
	var recipients []Recipient
	err = s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if e, err = findEmail(tx, ws, id); err != nil {
			return err
		}
		recipients, err = selectRecipients(tx, ws, e.ID)
		return err
	})
	if err != nil || e.Test || e.Status != Scheduled {
		return 0, err
	}
	return s.delay(ctx, ws, e.Tenant, len(recipients)), nil
}

// change locks a scheduled email and lets alter change it. Whoever picks mail up locks the same row, so one of both comes first.
func (s *Service) change(ctx context.Context, ws space.ID, id string, alter func(*db.Tx, *Email, []Recipient) error) (Record, error) {
	var record Record
	var content storedContent
	err := s.db.Write(ctx, func(tx *db.Tx) error {
		if _, err := findEmail(tx, ws, id); err != nil {
			return err
		}
		e, err := lockEmail(tx, ws, ID(id))
		if err != nil {
			return err
		}
		if e.Status != Scheduled {
			return ErrNotScheduled.With("status", e.Status)
		}
		recipients, err := selectRecipients(tx, ws, e.ID)
		if err != nil {
			return err
		}
		if err := alter(tx, &e, recipients); err != nil {
			return err
		}
		if err := updateEmails(tx, &e); err != nil {
			return err
		}
		record, content, err = assemble(tx, e)
		return err
	})
	if err != nil {
		return Record{}, err
	}
	return s.withContent(ctx, record, content)
}

func (s *Service) tellChange(tx *db.Tx, e *Email, kind string, more extras) error {
	headers, err := headersOf(tx, e)
	if err != nil {
		return err
	}
	return event.Append(tx, s.newEvent(e, headers, kind, "", tx.Now(), more))
}

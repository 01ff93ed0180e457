package broadcast

import (
	"context"
	"strings"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
)

// create makes a broadcast, and sends it at once or later if that is wanted.
func (s *Service) create(ctx context.Context, caller api.Caller, body Body, send bool) (record Record, err error) {
	var wrong api.Fields
	wish := body.apply(&wrong, Broadcast{Workspace: caller.Workspace, Status: Draft}, s.world.Clock.Now())
	if err := wrong.Err(); err != nil {
		return record, err
	}
	if send {
		if err := s.permit(ctx, caller, &wish); err != nil {
			return record, err
		}
	}
	wish.ID, wish.CreatedBy = ID(s.world.NewID()), creator(caller)
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		b := wish
		b.CreatedAt, b.UpdatedAt = tx.Now(), tx.Now()
		if err := s.checkSender(tx, caller, b); err != nil {
			return err
		}
		if err := s.resolve(tx, &b); err != nil {
			return err
		}
		if send {
			b.orderedBy(caller)
			if err := s.launch(tx, &b); err != nil {
				return err
			}
		}
		record = newRecord(b, counts{})
		return insert(tx, b)
	})
	return record, err
}

func creator(caller api.Caller) string {
	if caller.UserID != "" {
		return caller.UserID
	}
	return caller.KeyID
}

// update changes a broadcast that has not begun. One that is scheduled stays so, and must stay fit to be sent.
func (s *Service) update(ctx context.Context, caller api.Caller, id string, body Body) (record Record, err error) {
	before, err := s.get(ctx, caller.Workspace, id)
	if err != nil {
		return record, err
	}
	var wrong api.Fields
	wish := body.apply(&wrong, before, s.world.Clock.Now())
	if err := wrong.Err(); err != nil {
		return record, err
	}
	if before.Status == Scheduled && !body.withoutTime() {
		if err := s.permit(ctx, caller, &wish); err != nil {
			return record, err
		}
	}
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		b, err := lock(tx, caller.Workspace, id)
		if err != nil {
			return err
		}
		if b.Status != Draft && b.Status != Scheduled || b.Status != before.Status {
			return b.refuse(Draft, Scheduled)
		}
		var wrong api.Fields
		b = body.apply(&wrong, b, s.world.Clock.Now())
		if err := wrong.Err(); err != nil { // somebody changed it meanwhile, and the two do not go together
			return err
		}
		b.UpdatedAt = tx.Now()
		if err := s.checkSender(tx, caller, b); err != nil {
			return err
		}
		if err := s.resolve(tx, &b); err != nil {
			return err
		}
		if err := s.reschedule(tx, caller, &b, body); err != nil {
			return err
		}
		record = newRecord(b, counts{})
		return update(tx, b)
	})
	return record, err
}

// reschedule lets a changed broadcast wait for its time anew. Without a time it is a draft again: to take the time away must not send.
// What a key for tests has scheduled, or changed, stays a test until somebody else sends it: to change is not to send.
func (s *Service) reschedule(tx *db.Tx, caller api.Caller, b *Broadcast, body Body) error {
	switch {
	case b.Status != Scheduled:
		return nil
	case body.withoutTime():
		b.Status = Draft
		return s.rest(tx, b)
	}
	if !b.Test {
		b.orderedBy(caller)
	}
	return s.launch(tx, b)
}

// duplicate makes a draft of what another broadcast says.
func (s *Service) duplicate(ctx context.Context, caller api.Caller, id, name string) (record Record, err error) {
	var wrong api.Fields
	name = strings.TrimSpace(name)
	api.CheckLine(&wrong, "name", name, maxName)
	if err := wrong.Err(); err != nil {
		return record, err
	}
	newID := ID(s.world.NewID())
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		original, err := find(tx, caller.Workspace, id)
		if err != nil {
			return err
		}
		b := original.copied()
		b.ID, b.CreatedBy, b.CreatedAt, b.UpdatedAt = newID, creator(caller), tx.Now(), tx.Now()
		if b.Name = name; name == "" && original.Name != "" {
			runes := []rune(original.Name + " (copy)")
			b.Name = string(runes[:min(len(runes), maxName)])
		}
		record = newRecord(b, counts{})
		return insert(tx, b)
	})
	return record, err
}

func (s *Service) get(ctx context.Context, ws space.ID, id string) (b Broadcast, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		b, err = find(tx, ws, id)
		return err
	})
	return b, err
}

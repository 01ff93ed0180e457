package audience

import (
	"context"
	"errors"
	"fmt"

	"postrider/mail/address"
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/audience/internal/filter"
	"postrider/product/plan"
)

// limitOf returns how many contacts the plan allows; nil is no limit.
func (s *Service) limitOf(name string) (*int64, error) {
	p, err := s.parts.Plans.Get(plan.Name(name))
	return p.Limits.Contacts, err
}

// upsert makes a contact, or changes the one that is there.
func (s *Service) upsert(ctx context.Context, caller api.Caller, body contactBody) (record contactRecord, created bool, err error) {
	var wrong api.Fields
	to, err := address.Parse(body.Email)
	if err != nil {
		wrong.Add("email", fmt.Sprintf("Not an email address: %s.", err))
	}
	w := body.check(&wrong, s.world.Clock.Now())
	w.address = to.Key()
	switch body.OnConflict {
	case "":
		body.OnConflict = update
	case "upsert":
		body.OnConflict = update
	case update, skip, refuse:
	default:
		wrong.Add("on_conflict", "Must be update, skip or error.")
	}
	if err := wrong.Err(); err != nil {
		return record, false, err
	}
	limit, err := s.limitOf(caller.Plan)
	if err != nil {
		return record, false, err
	}
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		record, created, err = s.upsertIn(tx, caller, body, w, limit)
		return err
	})
	return record, created, err
}

func (s *Service) upsertIn(tx *db.Tx, caller api.Caller, body contactBody, w wish, limit *int64) (record contactRecord, created bool, err error) {
	known, err := loadSchema(tx, caller.Workspace)
	if err != nil {
		return record, false, err
	}
	var wrong api.Fields
	w.topics, w.values, w.lists, w.segments = map[int64]Subscription{}, map[int64]*filter.Value{}, nil, nil
	body.resolve(&wrong, known, &w)
	if err := wrong.Err(); err != nil {
		return record, false, err
	}
	outcomes, err := s.save(tx, caller.Workspace, known, limit, []wish{w}, body.OnConflict)
	if err != nil {
		return record, false, err
	}
	one := outcomes[0]
	if one.full {
		return record, false, s.fullError(tx, caller.Workspace, caller.Plan, limit)
	}
	kind := updatedEvent
	if one.created {
		kind = createdEvent
	}
	if one.skipped {
		kind = ""
	}
	d, err := s.tell(tx, known, *one.Contact, kind)
	return d.record(known, tx), one.created, err
}

func (s *Service) fullError(tx *db.Tx, ws space.ID, on string, limit *int64) error {
	used, err := total.Of(tx, ws)
	if err != nil {
		return err
	}
	return ErrQuota.With("plan", on).With("limit", *limit).With("used", used)
}

// find returns a contact by its id or its address.
func find(tx *db.Tx, ws space.ID, idOrEmail string) (c Contact, err error) {
	err = db.ErrNotFound
	if api.IsID(idOrEmail) {
		c, err = selectContactByID(tx, ws, idOrEmail)
	} else if to, wrong := address.Parse(idOrEmail); wrong == nil {
		c, err = selectContactByAddress(tx, ws, to.Key())
	}
	return c, db.OrMissing(err, ErrContactNotFound)
}

// lock is find for a contact that is about to change.
func lock(tx *db.Tx, ws space.ID, idOrEmail string) (Contact, error) {
	c, err := find(tx, ws, idOrEmail)
	if err != nil {
		return c, err
	}
	c, err = lockContact(tx, ws, c.Number)
	return c, db.OrMissing(err, ErrContactNotFound)
}

// patch changes a contact that is there.
func (s *Service) patch(ctx context.Context, caller api.Caller, name string, body contactBody) (record contactRecord, err error) {
	var wrong api.Fields
	w := body.check(&wrong, s.world.Clock.Now())
	var renamed string
	if body.Email != "" {
		to, err := address.Parse(body.Email)
		if err != nil {
			wrong.Add("email", fmt.Sprintf("Not an email address: %s.", err))
		}
		renamed = to.Key()
	}
	if err := wrong.Err(); err != nil {
		return record, err
	}
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		c, err := lock(tx, caller.Workspace, name)
		if err != nil {
			return err
		}
		if renamed != "" && renamed != c.Address {
			if err := s.move(tx, &c, renamed); err != nil {
				return err
			}
		}
		change := w
		change.address = c.Address
		record, _, err = s.upsertIn(tx, caller, contactBody{contactChange: body.contactChange, OnConflict: update}, change, nil)
		return err
	})
	return record, err
}

// move gives a contact another address.
func (s *Service) move(tx *db.Tx, c *Contact, to string) error {
	other, err := selectContactByAddress(tx, c.Workspace, to)
	if err == nil {
		return api.ErrAlreadyExists.With("resource", "contact").With("id", other.ID)
	}
	if !errors.Is(err, db.ErrNotFound) {
		return err
	}
	before := *c
	c.Address = to
	if c.Suppression, err = s.suppressionOf(tx, c.Workspace, to); err != nil {
		return err
	}
	c.settle()
	if err := tx.UnindexWords(searchIndex, documents([]Contact{before})...); err != nil {
		return err
	}
	if err := updateContact(tx, *c); err != nil {
		return ifTaken(err)
	}
	return tx.IndexWords(searchIndex, documents([]Contact{*c})...)
}

// remove deletes a contact. What the suppression list says of the address stays.
func (s *Service) remove(ctx context.Context, ws space.ID, name string) (gone Contact, err error) {
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		if gone, err = lock(tx, ws, name); err != nil {
			return err
		}
		known, err := loadSchema(tx, ws)
		if err != nil {
			return err
		}
		if _, err := s.tell(tx, known, gone, deletedEvent); err != nil {
			return err
		}
		return removeContacts(tx, ws, []Contact{gone})
	})
	return gone, err
}

// removeContacts deletes contacts that the transaction has locked, and counts them out of everything.
func removeContacts(tx *db.Tx, ws space.ID, gone []Contact) error {
	gap := newCounts()
	details, err := loadDetails(tx, gone)
	if err != nil {
		return err
	}
	for _, d := range details {
		for _, m := range d.memberships {
			gap.move(m.List, m.Status, "")
		}
		for _, t := range d.said {
			gap.change(t.topic, t.subscription, "")
		}
	}
	if err := addTotal(tx, ws, -int64(len(gone))); err != nil {
		return err
	}
	if err := gap.save(tx); err != nil {
		return err
	}
	return deleteContacts(tx, ws, gone)
}

// recount works out the status of contacts whose lists have changed.
func (s *Service) recount(tx *db.Tx, ws space.ID, numbers []int64) error {
	if len(numbers) == 0 {
		return nil
	}
	if err := recountLists(tx, ws, numbers); err != nil {
		return err
	}
	rows, err := selectContactsByNumber(tx, ws, numbers)
	if err != nil {
		return err
	}
	for _, c := range rows {
		before := c.Status
		if c.settle(); c.Status == before {
			continue
		}
		if err := updateStatus(tx, c); err != nil {
			return err
		}
	}
	return nil
}

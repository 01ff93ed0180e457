package tenant

import (
	"errors"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
)

// Paused tells whether the customer may not act.
func (t Tenant) Paused() bool { return t.Status == Paused }

// Find returns a customer of the workspace in a transaction; found is false if there is none.
func (s *Service) Find(tx *db.Tx, ws space.ID, id string) (t Tenant, found bool, err error) {
	t, err = find(tx, ws, id)
	if errors.Is(err, ErrNotFound) {
		return Tenant{}, false, nil
	}
	return t, err == nil, err
}

// Pause stops a customer in a transaction. One that is paused or gone stays so. Processes that have just sent for it notice within a
// second.
func (s *Service) Pause(tx *db.Tx, ws space.ID, id, reason string) error {
	before, err := lock(tx, ws, id)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil || before.Paused() {
		return err
	}
	e, err := Change{Status: Paused, Reason: api.Optional[string]{Set: true, Value: reason}}.check()
	if err != nil {
		return err
	}
	after := e.apply(before, tx)
	after.UpdatedAt = tx.Now()
	if err := updateTenant(tx, after); err != nil {
		return err
	}
	return s.tell(tx, after, newsOf(before, after))
}

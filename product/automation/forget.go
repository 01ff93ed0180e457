package automation

import (
	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/platform/space"
	"postrider/product/audience"
)

// Forget takes out of runs what they know of a contact, because somebody's data is to be forgotten: the address, what events said and
// what steps gave. Runs that go on are cancelled, or they would learn it again.
func (s *Service) Forget(tx *db.Tx, ws space.ID, contact audience.ContactID) error {
	if err := event.HoldFollowers(tx); err != nil { // the one of automations locks runs too
		return err
	}
	runs, err := selectRunsOf(tx, ws, contact)
	if err != nil || len(runs) == 0 {
		return err
	}
	ids := make([]string, len(runs))
	for i := range runs {
		ids[i] = string(runs[i].ID)
	}
	if err := s.cancel(tx, ids); err != nil {
		return err
	}
	for i := range runs {
		if err := s.forgetRun(tx, &runs[i], "The person was forgotten."); err != nil {
			return err
		}
	}
	return clearRuns(tx, ws, ids)
}

// forgetRun takes the facts out of what was told of a run: the event that began it, its end, and why it failed, which may quote an
// address that the run asked. why stands in its place.
func (s *Service) forgetRun(tx *db.Tx, r *Run, why string) error {
	subjects := []string{string(r.ID)}
	if r.Cause.Type == "event" {
		subjects = append(subjects, string(r.Cause.EventID))
	}
	for _, subject := range subjects {
		told, err := event.Redact(tx, r.Workspace, subject, "", tx.Now())
		if err != nil {
			return err
		}
		if err := s.parts.Webhooks.Forget(tx, r.Workspace, told); err != nil {
			return err
		}
	}
	if r.Failure == nil {
		return nil
	}
	r.Failure.Message = why
	return updateRun(tx, r)
}

package webhook

import (
	"postrider/platform/db"
	"postrider/platform/space"
)

// Forget takes the facts out of what is posted for events, because somebody's data is to be forgotten.
func (s *Service) Forget(tx *db.Tx, ws space.ID, events []string) error {
	if len(events) == 0 {
		return nil
	}
	return redactPayloads(tx, ws, events)
}

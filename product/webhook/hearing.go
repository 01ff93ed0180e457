package webhook

import (
	"postrider/platform/db"
	"postrider/platform/space"
)

// Hearing counts the enabled endpoints of a workspace that want to hear of a type of event.
func (s *Service) Hearing(tx *db.Tx, ws space.ID, eventType string) (int, error) {
	rows, err := selectEndpoints(tx, ws)
	count := 0
	for i := range rows {
		if rows[i].Status == Enabled && rows[i].hears(eventType) {
			count++
		}
	}
	return count, err
}

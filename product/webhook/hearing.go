package webhook

import (
	"postrider/platform/db"
	"postrider/platform/space"
)

// Hearing counts the enabled endpoints of a workspace that will hear of an event of a type that concerns no domain and no managed
// customer.
func (s *Service) Hearing(tx *db.Tx, ws space.ID, eventType string) (int, error) {
	rows, err := selectEndpoints(tx, ws)
	count := 0
	for i := range rows {
		if rows[i].Status == Enabled && rows[i].hears(eventType) && rows[i].concerns("", "") {
			count++
		}
	}
	return count, err
}

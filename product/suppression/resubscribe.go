package suppression

import (
	"postrider/platform/db"
	"postrider/platform/space"
)

// Resubscribe takes addresses off the list that stand there because somebody unsubscribed, and no others: who agrees to be mailed
// again takes back their own no, not what a server said.
func (s *Service) Resubscribe(tx *db.Tx, ws space.ID, addresses []string) error {
	if len(addresses) == 0 {
		return nil
	}
	found, err := selectNamed(tx, ws, namesOf(addresses))
	if err != nil {
		return err
	}
	var ids []ID
	for _, row := range found {
		if row.Reason == Unsubscribe {
			ids = append(ids, row.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	removed, err := deleteUnsubscribed(tx, ws, ids)
	if err != nil {
		return err
	}
	return s.removed(tx, removed)
}

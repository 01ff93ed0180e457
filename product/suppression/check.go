package suppression

import (
	"maps"
	"slices"

	"postrider/platform/db"
	"postrider/platform/space"
)

// Query asks whether a recipient may be mailed.
type Query struct {
	Workspace space.ID
	// Address may be in any spelling.
	Address string
	// Bulk mail is a broadcast, an automation, or mail that carries a topic or an unsubscribe link of ours.
	Bulk bool
}

// Check returns what stops each recipient, in the order of the queries; nil means that nothing does. It asks the database once,
// whatever the number of recipients and of workspaces.
func (s *Service) Check(tx *db.Tx, queries []Query) ([]*Suppression, error) {
	stops := make([]*Suppression, len(queries))
	if len(queries) == 0 {
		return stops, nil
	}
	mailboxes := make([]mailbox, len(queries))
	for i, q := range queries {
		mailboxes[i] = mailboxOf(q.Workspace, Key(q.Address))
	}
	found, err := selectMailboxes(tx, mailboxes)
	if err != nil {
		return nil, err
	}
	listed := map[mailbox]*Suppression{}
	for i := range found {
		listed[found[i].mailbox()] = &found[i]
	}
	for i, q := range queries {
		if row := listed[mailboxes[i]]; row != nil && row.Blocks(q.Bulk) {
			stops[i] = row
		}
	}
	return stops, nil
}

// Hit counts mails that entries have stopped, one for each time an entry is named. Nil entries, as Check returns them, are skipped.
func (s *Service) Hit(tx *db.Tx, stops []*Suppression) error {
	times := map[ID]int64{}
	for _, row := range stops {
		if row != nil {
			times[row.ID]++
		}
	}
	byTimes := map[int64][]ID{}
	for id, n := range times {
		byTimes[n] = append(byTimes[n], id)
	}
	for _, n := range slices.Sorted(maps.Keys(byTimes)) {
		if err := addHits(tx, byTimes[n], n); err != nil {
			return err
		}
	}
	return nil
}

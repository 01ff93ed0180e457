package suppression

import (
	"time"

	"postrider/platform/db"
)

const (
	// maxStrikes emails that fail within strikeWindow because the mailbox is full make it an abandoned one.
	maxStrikes   = 5
	strikeWindow = 30 * 24 * time.Hour
)

// NoteSoftBounces takes note of emails that failed because a mailbox was full, and puts an address on the list once that has
// happened five times within 30 days. Each entry says what the list would say, and names its email; an email counts once. It
// returns what was added.
func (s *Service) NoteSoftBounces(tx *db.Tx, entries []Entry) ([]Added, error) {
	if len(entries) == 0 {
		return nil, nil
	}
	last, mailboxes := map[mailbox]Entry{}, make([]mailbox, len(entries))
	for i, e := range entries {
		mailboxes[i] = mailboxOf(e.Workspace, Key(e.Address))
		last[mailboxes[i]] = e
	}
	if err := insertStrikes(tx, entries); err != nil {
		return nil, err
	}
	full, err := selectStruck(tx, mailboxes, tx.Now().Add(-strikeWindow))
	if err != nil || len(full) == 0 {
		return nil, err
	}
	out := make([]Entry, len(full))
	for i, m := range full {
		out[i] = last[m]
	}
	if err := deleteStrikes(tx, full); err != nil { // whoever is taken off the list begins anew
		return nil, err
	}
	return s.AddMany(tx, out)
}

package suppression

import (
	"cmp"
	"context"
	"slices"

	"postrider/mail/address"
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/platform/space"
)

// find returns the entry with an id, or the one of an address.
func find(tx *db.Tx, ws space.ID, idOrAddress string) (Suppression, error) {
	found, err := selectNamed(tx, ws, namesOf([]string{idOrAddress}))
	if err == nil && len(found) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return Suppression{}, err
	}
	return found[0], nil
}

// names are entries by id and by address.
type names struct {
	ids, addresses []string
}

// namesOf sorts texts into ids and addresses. What is neither names nothing.
func namesOf(texts []string) names {
	var n names
	for _, text := range texts {
		if api.IsID(text) {
			n.ids = append(n.ids, text)
		} else if a, err := address.Parse(text); err == nil {
			n.addresses = append(n.addresses, a.Key())
		}
	}
	return n
}

// mailboxes are those of the addresses in a workspace.
func (n names) mailboxes(ws space.ID) []mailbox {
	all := make([]mailbox, len(n.addresses))
	for i, key := range n.addresses {
		all[i] = mailboxOf(ws, key)
	}
	return all
}

// Remove takes entries off the list of a workspace, named by id or by address, and returns those that were on it, by address. It takes an
// address off whatever the reasons were that led there.
func (s *Service) Remove(ctx context.Context, ws space.ID, idsOrAddresses []string) (removed []Suppression, err error) {
	named := namesOf(idsOrAddresses)
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		found, err := selectNamed(tx, ws, named)
		if err != nil || len(found) == 0 {
			removed = nil
			return err
		}
		ids := make([]ID, len(found))
		for i, row := range found {
			ids[i] = row.ID
		}
		removed, err = deleteSuppressions(tx, ws, ids)
		if err != nil {
			return err
		}
		return s.removed(tx, removed)
	})
	slices.SortFunc(removed, func(a, b Suppression) int { return cmp.Compare(a.Address, b.Address) })
	return removed, err
}

// removed counts and tells what has been deleted.
func (s *Service) removed(tx *db.Tx, rows []Suppression) error {
	gone, events := counts{}, make([]event.Event, len(rows))
	for i := range rows {
		gone.add(&rows[i], -1)
		events[i] = s.newEvent(rows[i], removedEvent, tx.Now())
	}
	if err := gone.save(tx); err != nil {
		return err
	}
	return event.Append(tx, events...)
}

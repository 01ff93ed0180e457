package suppression

import (
	"errors"
	"strings"

	"postrider/platform/db"
	"postrider/platform/space"
)

// Erase forgets the address of an entry and keeps the entry: a digest still tells whom not to mail, and nobody can read from it who
// that is. It returns the id of the entry; empty if the address is not on the list.
func (s *Service) Erase(tx *db.Tx, ws space.ID, address string) (ID, error) {
	row, err := find(tx, ws, address)
	if errors.Is(err, ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return row.ID, eraseAddress(tx, row)
}

// erasedMark begins what stands in place of an address that was forgotten; its mailbox follows.
const erasedMark = "erased:"

// mailbox is what the entry is looked up by, also once its address is forgotten.
func (s Suppression) mailbox() mailbox {
	if kept, erased := strings.CutPrefix(s.Address, erasedMark); erased {
		return mailbox(kept)
	}
	return mailboxOf(s.Workspace, s.Address)
}

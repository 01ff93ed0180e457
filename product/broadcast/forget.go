package broadcast

import (
	"postrider/platform/db"
	"postrider/platform/space"
)

const (
	// forgottenAddress stands where that of somebody was whose data is forgotten. It looks like those of their emails.
	forgottenAddress = "forgotten@erased.invalid"
	// forgottenMessage stands for what a server said, which often names the address.
	forgottenMessage = "The person was forgotten."
)

// Forget takes out of broadcasts who a contact, named by its number, was. What became of the mail stays, and so do the counters.
func (s *Service) Forget(tx *db.Tx, ws space.ID, contact int64) error {
	ids, err := lockThoseOf(tx, ws, contact)
	if err != nil || len(ids) == 0 {
		return err
	}
	rows, err := selectRowsOf(tx, ids, contact)
	if err != nil {
		return err
	}
	for i := range rows {
		rows[i].Address = forgottenAddress
		rows[i].keepSilent()
	}
	return updateRecipients(tx, rows)
}

// keepSilent drops what was said about the mail of somebody who is forgotten.
func (r *recipient) keepSilent() {
	if r.Problem != nil && r.Address == forgottenAddress {
		r.Problem.Message = forgottenMessage
	}
}

package broadcast

import (
	"encoding/json"

	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/audience"
	"postrider/product/email"
)

const recipientColumns = `id, workspace_id, broadcast_id, contact, contact_id, address, state, email_id, error, bounce_type, opens, clicks, unsubscribed,
	sent_at, delivered_at, updated_at`

func scanRecipient(s db.Scanner) (r recipient, err error) {
	var problem string
	err = s.Scan(&r.ID, &r.Workspace, &r.Broadcast, &r.Contact, &r.ContactID, &r.Address, &r.State, db.Text(&r.Email), db.Text(&problem), db.Text(&r.BounceType),
		&r.Opens, &r.Clicks, &r.Unsubscribed, db.Time(&r.SentAt), db.Time(&r.DeliveredAt), db.Time(&r.UpdatedAt))
	if err == nil && problem != "" {
		err = json.Unmarshal([]byte(problem), &r.Problem)
	}
	return r, err
}

// insertRecipients writes who a broadcast is for.
func insertRecipients(tx *db.Tx, b Broadcast, found []audience.Meant, newID func() string) error {
	values := make([]any, 0, 8*len(found))
	for _, r := range found {
		values = append(values, newID(), b.Workspace, b.ID, r.Number, r.ID, r.Address, Pending, tx.Now())
	}
	_, err := tx.InsertRows(`
		INSERT INTO broadcast_recipient (id, workspace_id, broadcast_id, contact, contact_id, address, state, updated_at)`, 8, values, ``)
	return err
}

// openRows is the condition of the index of rows that are not settled.
const openRows = `state IN ('pending', 'queued', 'sending', 'accepted_by_remote_mx')`

// selectOpen returns the next rows in one of the open states, after a contact. Without a place to begin at, the embedded engine would read
// the index of all rows.
func selectOpen(tx *db.Tx, id ID, state email.State, after int64, limit int) ([]recipient, error) {
	return db.All(tx, scanRecipient, `
		SELECT `+recipientColumns+` FROM broadcast_recipient
		WHERE broadcast_id = $1 AND `+openRows+` AND state = $2 AND contact > $3
		ORDER BY contact
		LIMIT $4`, id, state, after, limit)
}

// selectStillPending returns the rows of the contacts that wait, by contact. The broadcast is locked, so nobody else moves them.
func selectStillPending(tx *db.Tx, id ID, contacts []int64) (map[int64]recipient, error) {
	found, err := db.All(tx, scanRecipient, `
		SELECT `+recipientColumns+` FROM broadcast_recipient
		WHERE broadcast_id = $1 AND `+openRows+` AND state = 'pending' AND contact {in $2}`, id, contacts)
	pending := make(map[int64]recipient, len(found))
	for _, r := range found {
		pending[r.Contact] = r
	}
	return pending, err
}

// hasOpen tells whether any row of a broadcast is not settled.
func hasOpen(tx *db.Tx, id ID) (bool, error) {
	found, err := db.All(tx, db.Value[int64], `
		SELECT contact FROM broadcast_recipient
		WHERE broadcast_id = $1 AND `+openRows+`
		LIMIT 1`, id)
	return len(found) > 0, err
}

// markQueued notes that the rows have emails of their own id now.
func markQueued(tx *db.Tx, id ID, contacts []int64) (int64, error) {
	return tx.Exec(`
		UPDATE broadcast_recipient SET state = 'queued', email_id = id, updated_at = $1
		WHERE broadcast_id = $2 AND contact {in $3} AND state = 'pending'`, tx.Now(), id, contacts)
}

// settlePending ends the first rows that wait, and returns how many there were.
func settlePending(tx *db.Tx, id ID, state email.State, p problem, limit int) (int64, error) {
	return tx.Exec(`
		UPDATE broadcast_recipient SET state = $1, reason = $2, error = $3, updated_at = $4
		WHERE broadcast_id = $5 AND `+openRows+` AND state = 'pending' AND contact <= (
			SELECT MAX(contact) FROM (
				SELECT contact FROM broadcast_recipient
				WHERE broadcast_id = $5 AND `+openRows+` AND state = 'pending' AND contact > 0
				ORDER BY contact
				LIMIT $6) AS page)`, state, p.Reason, db.JSON(p), tx.Now(), id, limit)
}

// selectFailed returns the next contacts, after one, whose rows failed.
func selectFailed(tx *db.Tx, id ID, after int64, limit int) ([]int64, error) {
	return db.All(tx, db.Value[int64], `
		SELECT contact FROM broadcast_recipient
		WHERE broadcast_id = $1 AND state = 'failed' AND contact > $2
		ORDER BY contact
		LIMIT $3`, id, after, limit)
}

// reopen lets rows that failed wait again.
func reopen(tx *db.Tx, id ID, contacts []int64) error {
	_, err := tx.Exec(`
		UPDATE broadcast_recipient SET state = 'pending', reason = NULL, error = NULL, updated_at = $1
		WHERE broadcast_id = $2 AND contact {in $3}`, tx.Now(), id, contacts)
	return err
}

// deleteRecipients deletes some rows of a broadcast with their clicks, and returns how many.
func deleteRecipients(tx *db.Tx, id ID, limit int) (int, error) {
	gone, err := db.All(tx, db.Value[string], `
		DELETE FROM broadcast_recipient
		WHERE broadcast_id = $1 AND contact IN (
			SELECT contact FROM broadcast_recipient
			WHERE broadcast_id = $1
			LIMIT $2)
		RETURNING id`, id, limit)
	if err != nil || len(gone) == 0 {
		return 0, err
	}
	_, err = tx.Exec(`
		DELETE FROM broadcast_click
		WHERE recipient_id {in $1}`, gone)
	return len(gone), err
}

// updateRecipients writes rows whose broadcast the transaction has locked.
func updateRecipients(tx *db.Tx, recipients []recipient) error {
	rows := make([][]any, len(recipients))
	for i, r := range recipients {
		var reason, text any
		if r.Problem != nil {
			reason, text = r.Problem.Reason, db.JSON(r.Problem)
		}
		rows[i] = []any{r.State, db.NullText(r.Email), reason, text, db.NullText(r.BounceType), r.Opens, r.Clicks, r.Unsubscribed, r.SentAt,
			r.DeliveredAt, r.UpdatedAt, r.Address, r.Broadcast, r.Contact}
	}
	return tx.ExecEach(`
		UPDATE broadcast_recipient SET state = $1, email_id = $2, reason = $3, error = $4, bounce_type = $5, opens = $6, clicks = $7, unsubscribed = $8,
			sent_at = $9, delivered_at = $10, updated_at = $11, address = $12
		WHERE broadcast_id = $13 AND contact = $14`, rows)
}

// lockThoseOf locks the broadcasts that have a row of a contact, in the order in which everybody locks them.
func lockThoseOf(tx *db.Tx, ws space.ID, contact int64) ([]ID, error) {
	return db.All(tx, db.Value[ID], `
		SELECT id FROM broadcast
		WHERE workspace_id = $1 AND EXISTS (SELECT 1 FROM broadcast_recipient WHERE broadcast_id = broadcast.id AND contact = $2)
		ORDER BY id
		{for_update}`, ws, contact)
}

func selectRowsOf(tx *db.Tx, ids []ID, contact int64) ([]recipient, error) {
	return db.All(tx, scanRecipient, `
		SELECT `+recipientColumns+` FROM broadcast_recipient
		WHERE broadcast_id {in $1} AND contact = $2`, ids, contact)
}

// selectByEmails serves the follower, which works across workspaces.
func selectByEmails(tx *db.Tx, emails []string) ([]recipient, error) {
	return db.All(tx, scanRecipient, `
		SELECT `+recipientColumns+` FROM broadcast_recipient
		WHERE email_id {in $1}
		ORDER BY broadcast_id, contact`, emails)
}

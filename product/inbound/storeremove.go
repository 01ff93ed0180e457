package inbound

import (
	"time"

	"postrider/platform/db"
	"postrider/platform/space"
)

// processed is what nothing has to be done with any more: a message that was checked, and passed on to all whom it is for.
const processed = `kept = TRUE AND authentication IS NOT NULL AND forwards_left <= 0`

// deleteProcessed removes messages, and returns which there were.
func deleteProcessed(tx *db.Tx, ws space.ID, ids []ID) ([]ID, error) {
	removed, err := db.All(tx, db.Value[ID], `
		DELETE FROM inbound_received
		WHERE workspace_id = $1 AND id {in $2} AND `+processed+`
		RETURNING id`, ws, ids)
	if err != nil || len(removed) == 0 {
		return nil, err
	}
	if _, err := tx.Exec(`
		DELETE FROM inbound_message
		WHERE workspace_id = $1 AND received_id {in $2}`, ws, removed); err != nil {
		return nil, err
	}
	_, err = tx.Exec(`
		DELETE FROM inbound_forward
		WHERE workspace_id = $1 AND received_id {in $2}`, ws, removed)
	return removed, err
}

// selectOldProcessed returns the oldest messages that came before a moment.
func selectOldProcessed(tx *db.Tx, ws space.ID, before time.Time, limit int) ([]ID, error) {
	return db.All(tx, db.Value[ID], `
		SELECT id FROM inbound_received
		WHERE workspace_id = $1 AND created_at < $2 AND `+processed+`
		ORDER BY created_at, id
		LIMIT $3`, ws, before, limit)
}

// nextWorkspace returns the next workspace that has received mail.
func nextWorkspace(tx *db.Tx, after space.ID) (space.ID, error) {
	return db.One(tx, db.Value[space.ID], `
		SELECT workspace_id FROM inbound_total
		WHERE workspace_id > $1
		ORDER BY workspace_id
		LIMIT 1`, after)
}

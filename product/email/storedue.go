package email

import (
	"time"

	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/platform/space"
	"postrider/product/domain"
)

type dueRow struct {
	Due
	state  State
	domain domain.ID
}

// selectDue serves delivery, which works across workspaces.
func selectDue(tx *db.Tx, items []queue.Item) (map[string]dueRow, error) {
	ids := make([]string, len(items))
	for i, item := range items {
		ids[i] = item.ID
	}
	rows := make(map[string]dueRow, len(items))
	_, err := db.All(tx, func(s db.Scanner) (none struct{}, err error) {
		var id string
		var r dueRow
		err = s.Scan(&id, &r.state, &r.Address, &r.Due.Email, &r.Workspace, db.Text(&r.Flow), &r.domain, &r.Provider, &r.Test, db.Time(&r.ExpiresAt))
		if r.Flow == "" {
			r.Flow = string(r.Workspace)
		}
		rows[id] = r
		return none, err
	}, `
		SELECT email_recipient.id, email_recipient.state, email_recipient.address, email.id, email.workspace_id, email.tenant_id,
			email.domain_id, email.provider, email.test, email.expires_at
		FROM email_recipient
		JOIN email ON email.id = email_recipient.email_id
		WHERE email_recipient.id {in $1}`, ids)
	return rows, err
}

// selectWaiting returns the recipients whom nobody speaks to a server about: their first attempt is to come, or another. It serves work
// across workspaces.
func selectWaiting(tx *db.Tx, emails []ID) ([]string, error) {
	return db.All(tx, db.Value[string], `
		SELECT id FROM email_recipient
		WHERE email_id {in $1} AND (state = 'queued' OR state = 'sending' AND next_attempt_at IS NOT NULL)
		ORDER BY id`, emails)
}

// selectExpired returns those of the recipients whose mail may not be sent any more. It serves work across workspaces.
func selectExpired(tx *db.Tx, recipients []string) ([]string, error) {
	return db.All(tx, db.Value[string], `
		SELECT email_recipient.id FROM email_recipient
		JOIN email ON email.id = email_recipient.email_id
		WHERE email_recipient.id {in $1} AND email.expires_at <= $2`, recipients, tx.Now())
}

func insertCalledBack(tx *db.Tx, ws space.ID, broadcast string) error {
	_, err := tx.Exec(`
		INSERT INTO email_called_back (broadcast_id, workspace_id, called_at)
		VALUES ($1, $2, $3)
		ON CONFLICT (broadcast_id) DO NOTHING`, broadcast, ws, tx.Now())
	return err
}

// selectCalledBack serves delivery, which works across workspaces.
func selectCalledBack(tx *db.Tx, broadcasts []string) ([]string, error) {
	return db.All(tx, db.Value[string], `
		SELECT broadcast_id FROM email_called_back
		WHERE broadcast_id {in $1}`, broadcasts)
}

// deleteCalledBack forgets what is of no more use, of all workspaces.
func deleteCalledBack(tx *db.Tx, before time.Time) error {
	_, err := tx.Exec(`
		DELETE FROM email_called_back
		WHERE called_at < $1`, before)
	return err
}

package email

import (
	"postrider/platform/db"
	"postrider/platform/space"
)

type tallyRow struct {
	recipient RecipientID
	tally
}

func byRecipient(rows []tallyRow) map[RecipientID]tally {
	found := make(map[RecipientID]tally, len(rows))
	for _, row := range rows {
		found[row.recipient] = row.tally
	}
	return found
}

const tallyColumns = `recipient_id, opens, clicks, automated_opens, automated_clicks, first_opened_at, last_opened_at, first_clicked_at,
	last_clicked_at`

func scanTally(s db.Scanner) (t tallyRow, err error) {
	err = s.Scan(&t.recipient, &t.opens, &t.clicks, &t.automatedOpens, &t.automatedClicks, db.Time(&t.firstOpened), db.Time(&t.lastOpened),
		db.Time(&t.firstClicked), db.Time(&t.lastClicked))
	return t, err
}

func selectTalliesOfEmail(tx *db.Tx, ws space.ID, id ID) ([]tallyRow, error) {
	return db.All(tx, scanTally, `
		SELECT `+tallyColumns+` FROM email_tracking
		WHERE workspace_id = $1 AND email_id = $2`, ws, id)
}

// selectTallies serves readers of mail, who come from all workspaces at once.
func selectTallies(tx *db.Tx, recipients []RecipientID) (map[RecipientID]tally, error) {
	rows, err := db.All(tx, scanTally, `
		SELECT `+tallyColumns+` FROM email_tracking
		WHERE recipient_id {in $1}`, recipients)
	return byRecipient(rows), err
}

// upsertTally writes the tally of a recipient whose email the transaction has locked.
func upsertTally(tx *db.Tx, r Recipient, t tally) error {
	_, err := tx.Exec(`
		INSERT INTO email_tracking (recipient_id, workspace_id, email_id, opens, clicks, automated_opens, automated_clicks,
			first_opened_at, last_opened_at, first_clicked_at, last_clicked_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
		ON CONFLICT (recipient_id) DO UPDATE SET opens = excluded.opens, clicks = excluded.clicks,
			automated_opens = excluded.automated_opens, automated_clicks = excluded.automated_clicks,
			first_opened_at = excluded.first_opened_at, last_opened_at = excluded.last_opened_at,
			first_clicked_at = excluded.first_clicked_at, last_clicked_at = excluded.last_clicked_at`,
		r.ID, r.Workspace, r.Email, t.opens, t.clicks, t.automatedOpens, t.automatedClicks, t.firstOpened, t.lastOpened, t.firstClicked, t.lastClicked)
	return err
}

// updateCounts writes the opens and clicks of emails that the transaction has locked.
func updateCounts(tx *db.Tx, emails map[ID]*Email) error {
	rows := make([][]any, 0, len(emails))
	for _, e := range emails {
		rows = append(rows, []any{e.Opens, e.Clicks, tx.Now(), e.Workspace, e.ID})
	}
	return tx.ExecEach(`
		UPDATE email SET opens = $1, clicks = $2, updated_at = $3
		WHERE workspace_id = $4 AND id = $5 AND (opens <> $1 OR clicks <> $2)`, rows)
}

// selectHeaders returns the customer's headers of emails, for the events about them. It serves workers, who have mail of all
// workspaces at once.
func selectHeaders(tx *db.Tx, emails map[ID]*Email) (map[ID]map[string]string, error) {
	ids := make([]ID, 0, len(emails))
	for id := range emails {
		ids = append(ids, id)
	}
	type row struct {
		email   ID
		headers map[string]string
	}
	rows, err := db.All(tx, func(s db.Scanner) (r row, err error) {
		var text string
		if err := s.Scan(&r.email, &text); err != nil {
			return r, err
		}
		return r, db.FromJSON(text, &r.headers)
	}, `
		SELECT email_id, headers FROM email_content
		WHERE email_id {in $1}`, ids)
	found := make(map[ID]map[string]string, len(rows))
	for _, r := range rows {
		found[r.email] = r.headers
	}
	return found, err
}

package email

import (
	"postrider/platform/db"
	"postrider/platform/space"
)

// selectWordsBefore returns mails that have all the words and stand before a place, newest first.
func selectWordsBefore(tx *db.Tx, ws space.ID, words []string, place db.Place, limit int) ([]Email, error) {
	if len(words) == 0 {
		return nil, nil
	}
	return db.All(tx, scanEmail, `
		SELECT `+emailColumns+` FROM email_search
		CROSS JOIN email
		WHERE {matching email_search $1 $2} AND {older email_search $3 $4} AND email.id = email_search.id AND email.workspace_id = $1
		ORDER BY {newest email_search}
		LIMIT $5`, ws, tx.WordQuery(string(ws), words, nil), place.At, place.ID, limit)
}

// eraseRecipient forgets who a recipient was and what their server said.
func eraseRecipient(tx *db.Tx, r Recipient, instead string) error {
	if _, err := tx.Exec(`
		UPDATE email_recipient SET address = $1, response = NULL, bounce = NULL
		WHERE workspace_id = $2 AND id = $3`, instead, r.Workspace, r.ID); err != nil {
		return err
	}
	_, err := tx.Exec(`
		UPDATE email_attempt SET recipient = $1, details = '{}'
		WHERE workspace_id = $2 AND email_id = $3 AND recipient_id = $4`, instead, r.Workspace, r.Email, r.ID)
	return err
}

// eraseContent forgets what a mail said. The contents of files are swept once nobody refers to them.
func eraseContent(tx *db.Tx, ws space.ID, id ID) error {
	if _, err := tx.Exec(`
		UPDATE email_content SET html = NULL, text = NULL, headers = '{}', blob = NULL, raw = NULL, raw_blob = NULL
		WHERE workspace_id = $1 AND email_id = $2`, ws, id); err != nil {
		return err
	}
	_, err := tx.Exec(`
		DELETE FROM email_attachment
		WHERE workspace_id = $1 AND email_id = $2`, ws, id)
	return err
}

// eraseEmail writes what is left of a mail.
func eraseEmail(tx *db.Tx, e Email) error {
	_, err := tx.Exec(`
		UPDATE email SET addresses = $1, subject = $2, metadata = $3, search = $4, failure = NULL, attachment_count = $5
		WHERE workspace_id = $6 AND id = $7`,
		db.JSON(e.Addresses), e.Subject, string(orEmptyObject(e.Metadata)), searchText(e), e.Attachments, e.Workspace, e.ID)
	return err
}

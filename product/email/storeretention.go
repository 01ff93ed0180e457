package email

import (
	"errors"
	"time"

	"postrider/platform/db"
	"postrider/platform/space"
)

// oldEmail is one whose contents may be kept no longer.
type oldEmail struct {
	id        ID
	status    State
	createdAt time.Time
}

// nextWorkspace returns the next workspace that has emails.
func nextWorkspace(tx *db.Tx, after space.ID) (space.ID, error) {
	return db.One(tx, db.Value[space.ID], `
		SELECT workspace_id FROM email
		WHERE workspace_id > $1
		ORDER BY workspace_id
		LIMIT 1`, after)
}

func selectSwept(tx *db.Tx, ws space.ID) (time.Time, error) {
	until, err := db.One(tx, db.Value[int64], `
		SELECT until FROM email_swept
		WHERE workspace_id = $1 {for_update}`, ws)
	if errors.Is(err, db.ErrNotFound) {
		return time.UnixMicro(0), nil
	}
	return time.UnixMicro(until), err
}

func upsertSwept(tx *db.Tx, ws space.ID, until time.Time) error {
	_, err := tx.Exec(`
		INSERT INTO email_swept (workspace_id, until)
		VALUES ($1, $2)
		ON CONFLICT (workspace_id) DO UPDATE SET until = excluded.until`, ws, until)
	return err
}

// selectOld returns the oldest emails in a span. Those of one moment come together: the next span begins after it.
func selectOld(tx *db.Tx, ws space.ID, from, before time.Time, limit int) ([]oldEmail, error) {
	return db.All(tx, func(s db.Scanner) (e oldEmail, err error) {
		err = s.Scan(&e.id, &e.status, db.Time(&e.createdAt))
		return e, err
	}, `
		SELECT id, status, created_at FROM email
		WHERE workspace_id = $1 AND created_at > $2 AND created_at < $3 AND created_at <= COALESCE((
			SELECT created_at FROM email
			WHERE workspace_id = $1 AND created_at > $2 AND created_at < $3
			ORDER BY created_at
			LIMIT 1 OFFSET $4), $3)
		ORDER BY created_at`, ws, from, before, limit-1)
}

// selectUnswept returns emails that were passed over and have come to their end since.
func selectUnswept(tx *db.Tx, ws space.ID, limit int) ([]ID, error) {
	return db.All(tx, db.Value[ID], `
		SELECT email.id FROM email_unswept
		JOIN email ON email.id = email_unswept.email_id
		WHERE email_unswept.workspace_id = $1 AND NOT email.status {in $2}
		ORDER BY email_unswept.email_id
		LIMIT $3`, ws, openStates, limit)
}

func insertUnswept(tx *db.Tx, ws space.ID, ids []ID) error {
	values := make([]any, 0, 2*len(ids))
	for _, id := range ids {
		values = append(values, id, ws)
	}
	_, err := tx.InsertRows(`INSERT INTO email_unswept (email_id, workspace_id)`, 2, values, `ON CONFLICT (email_id) DO NOTHING`)
	return err
}

func deleteUnswept(tx *db.Tx, ws space.ID, ids []ID) error {
	_, err := tx.Exec(`
		DELETE FROM email_unswept
		WHERE workspace_id = $1 AND email_id {in $2}`, ws, ids)
	return err
}

// removeContents removes what emails say, and their files. The contents of files are swept once nobody refers to them.
func removeContents(tx *db.Tx, ws space.ID, ids []ID) error {
	if len(ids) == 0 {
		return nil
	}
	if _, err := tx.Exec(`
		UPDATE email_content SET html = NULL, text = NULL, headers = '', blob = NULL, raw = NULL, raw_blob = NULL
		WHERE workspace_id = $1 AND email_id {in $2}`, ws, ids); err != nil {
		return err
	}
	_, err := tx.Exec(`
		DELETE FROM email_attachment
		WHERE workspace_id = $1 AND email_id {in $2}`, ws, ids)
	return err
}

package audience

import (
	"time"

	"postrider/platform/blob"
	"postrider/platform/db"
	"postrider/platform/space"
)

func insertErasure(tx *db.Tx, e erasure) error {
	_, err := tx.Exec(`
		INSERT INTO contact_erasure (id, workspace_id, contact_id, address, created_at)
		VALUES ($1, $2, $3, $4, $5)`, e.id, e.workspace, e.contact, e.address, e.createdAt)
	return err
}

// selectErasure serves the worker, which works across workspaces.
func selectErasure(tx *db.Tx, id string) (erasure, error) {
	return db.One(tx, func(s db.Scanner) (e erasure, err error) {
		err = s.Scan(&e.id, &e.workspace, &e.contact, db.Text(&e.address), &e.emails, db.Time(&e.createdAt), db.Time(&e.endedAt))
		return e, err
	}, `
		SELECT id, workspace_id, contact_id, address, emails, created_at, completed_at FROM contact_erasure
		WHERE id = $1`, id)
}

func updateErasure(tx *db.Tx, e erasure) error {
	_, err := tx.Exec(`
		UPDATE contact_erasure SET address = $1, emails = $2, completed_at = $3
		WHERE workspace_id = $4 AND id = $5`, db.NullText(e.address), e.emails, e.endedAt, e.workspace, e.id)
	return err
}

// failedRow is a row that could not be imported, and what was taken for its address.
type failedRow struct {
	importID string
	line     int64
	email    string
}

// selectFailedRows returns those of a workspace that still name somebody.
func selectFailedRows(tx *db.Tx, ws space.ID) ([]failedRow, error) {
	return db.All(tx, func(s db.Scanner) (r failedRow, err error) {
		err = s.Scan(&r.importID, &r.line, &r.email)
		return r, err
	}, `
		SELECT import_id, line, email FROM contact_import_error
		WHERE email IS NOT NULL AND import_id IN (SELECT id FROM contact_import WHERE workspace_id = $1)
		ORDER BY import_id, line`, ws)
}

// unnameRows lets rows that could not be imported name nobody.
func unnameRows(tx *db.Tx, rows []failedRow) error {
	keys := make([][]any, len(rows))
	for i, r := range rows {
		keys[i] = []any{r.importID, r.line}
	}
	return tx.ExecEach(`
		UPDATE contact_import_error SET email = NULL
		WHERE import_id = $1 AND line = $2`, keys)
}

// importsUnderWay tells whether an import that was asked for before a moment may still tell of somebody.
func importsUnderWay(tx *db.Tx, ws space.ID, before time.Time) (bool, error) {
	found, err := db.All(tx, db.Value[string], `
		SELECT id FROM contact_import
		WHERE workspace_id = $1 AND created_at <= $2 AND status IN ('queued', 'in_progress')
		LIMIT 1`, ws, before)
	return len(found) > 0, err
}

// selectErased returns those of the addresses whose people asked to be forgotten at a moment or later.
func selectErased(tx *db.Tx, ws space.ID, addresses []string, since time.Time) (map[string]bool, error) {
	found, err := db.All(tx, db.Value[string], `
		SELECT address FROM contact_erasure
		WHERE workspace_id = $1 AND address {in $2} AND created_at >= $3`, ws, addresses, since)
	erased := make(map[string]bool, len(found))
	for _, address := range found {
		erased[address] = true
	}
	return erased, err
}

// selectErrorFiles returns the files of failed rows that a workspace still has, by their imports.
func selectErrorFiles(tx *db.Tx, ws space.ID) (map[ImportID]blob.Ref, error) {
	type row struct {
		id   ImportID
		file blob.Ref
	}
	rows, err := db.All(tx, func(s db.Scanner) (r row, err error) {
		err = s.Scan(&r.id, &r.file)
		return r, err
	}, `
		SELECT id, errors_blob FROM contact_import
		WHERE workspace_id = $1 AND errors_blob IS NOT NULL`, ws)
	files := make(map[ImportID]blob.Ref, len(rows))
	for _, r := range rows {
		files[r.id] = r.file
	}
	return files, err
}

// replaceErrorFile lets an import tell another file, unless it has lost the old one meanwhile.
func replaceErrorFile(tx *db.Tx, id ImportID, old, file blob.Ref) error {
	_, err := tx.Exec(`
		UPDATE contact_import SET errors_blob = $1
		WHERE id = $2 AND errors_blob = $3`, file, id, old)
	return err
}

// forgetOldErrors drops the files of errors of imports that ended before, and returns how many.
func forgetOldErrors(tx *db.Tx, before time.Time, limit int) (int64, error) {
	if _, err := tx.Exec(`
		DELETE FROM contact_import_error
		WHERE import_id IN (SELECT id FROM contact_import WHERE errors_blob IS NOT NULL AND completed_at < $1 ORDER BY id LIMIT $2)`, before, limit); err != nil {
		return 0, err
	}
	return tx.Exec(`
		UPDATE contact_import SET errors_blob = NULL
		WHERE id IN (SELECT id FROM contact_import WHERE errors_blob IS NOT NULL AND completed_at < $1 ORDER BY id LIMIT $2)`, before, limit)
}

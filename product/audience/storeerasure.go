package audience

import (
	"slices"
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

// forgetImportErrors forgets that an address, in any spelling, could not be imported, and returns the imports that told of it.
func forgetImportErrors(tx *db.Tx, ws space.ID, address string) ([]string, error) {
	told, err := db.All(tx, db.Value[string], `
		UPDATE contact_import_error SET email = NULL
		WHERE LOWER(email) = $1 AND import_id IN (SELECT id FROM contact_import WHERE workspace_id = $2)
		RETURNING import_id`, address, ws)
	slices.Sort(told)
	return slices.Compact(told), err
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

package audience

import (
	"encoding/json"
	"fmt"

	"postrider/platform/api"
	"postrider/platform/blob"
	"postrider/platform/db"
	"postrider/platform/space"
)

const importColumns = `id, workspace_id, list_id, source, filename, status, options, blob, errors_blob, failure, done_bytes, total_count, created_count,
	updated_count, skipped_count, failed_count, created_at, started_at, completed_at`

func scanImport(s db.Scanner) (im Import, err error) {
	var options string
	if err := s.Scan(&im.ID, &im.Workspace, db.Text(&im.List), &im.Source, db.Text(&im.Filename), &im.Status, &options, db.Text(&im.blob), db.Text(&im.errors),
		db.Text(&im.Failure), &im.done, &im.Counts.Total, &im.Counts.Created, &im.Counts.Updated, &im.Counts.Skipped, &im.Counts.Failed,
		db.Time(&im.CreatedAt), db.Time(&im.StartedAt), db.Time(&im.CompletedAt)); err != nil {
		return im, err
	}
	return im, json.Unmarshal([]byte(options), &im.options)
}

func insertImport(tx *db.Tx, im Import) error {
	_, err := tx.Exec(`
		INSERT INTO contact_import (id, workspace_id, list_id, source, filename, status, options, blob, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		im.ID, im.Workspace, db.NullText(im.List), im.Source, db.NullText(im.Filename), im.Status, asJSON(im.options), db.NullText(im.blob), im.CreatedAt)
	return err
}

func selectImport(tx *db.Tx, ws space.ID, id string) (Import, error) {
	return db.One(tx, scanImport, `
		SELECT `+importColumns+` FROM contact_import
		WHERE workspace_id = $1 AND id = $2`, ws, id)
}

// selectImportForWork serves the worker, which works across workspaces.
func selectImportForWork(tx *db.Tx, id ImportID) (Import, error) {
	return db.One(tx, scanImport, `
		SELECT `+importColumns+` FROM contact_import
		WHERE id = $1`, id)
}

// selectImports returns some imports of a part, in its order.
func selectImports(tx *db.Tx, ws space.ID, statuses []string, part db.Keyset, limit, offset int) ([]Import, error) {
	where, args := part.Where("workspace_id = $1 AND status {in $2}", []any{ws, statuses}, "created_at", "id")
	return db.All(tx, scanImport, fmt.Sprintf(`
		SELECT %s FROM contact_import
		WHERE %s
		ORDER BY %s
		LIMIT $%d OFFSET $%d`, importColumns, where, part.Order("created_at", "id"), len(args)+1, len(args)+2), append(args, limit, offset)...)
}

func countImports(tx *db.Tx, ws space.ID, statuses []string) (int64, error) {
	return db.One(tx, db.Value[int64], `
		SELECT COUNT(*) FROM contact_import
		WHERE workspace_id = $1 AND status {in $2}`, ws, statuses)
}

// updateImport moves an import on, unless another process has done so: then it returns false.
func updateImport(tx *db.Tx, im Import, doneBefore, rowsBefore int64) (bool, error) {
	n, err := tx.Exec(`
		UPDATE contact_import SET status = $1, done_bytes = $2, total_count = $3, created_count = $4, updated_count = $5, skipped_count = $6,
			failed_count = $7, started_at = $8
		WHERE id = $9 AND done_bytes = $10 AND total_count = $11 AND status IN ('queued', 'in_progress')`,
		im.Status, im.done, im.Counts.Total, im.Counts.Created, im.Counts.Updated, im.Counts.Skipped, im.Counts.Failed, im.StartedAt, im.ID,
		doneBefore, rowsBefore)
	return n == 1, err
}

// closeImport ends an import once.
func closeImport(tx *db.Tx, im Import) (bool, error) {
	n, err := tx.Exec(`
		UPDATE contact_import SET status = $1, blob = NULL, errors_blob = $2, failure = $3, started_at = $4, completed_at = $5
		WHERE id = $6 AND status IN ('queued', 'in_progress')`, im.Status, db.NullText(im.errors), db.NullText(im.Failure), im.StartedAt, im.CompletedAt, im.ID)
	return n == 1, err
}

func insertImportErrors(tx *db.Tx, id ImportID, failures []importError) error {
	const width = 4
	values := make([]any, 0, width*len(failures))
	for _, e := range failures {
		values = append(values, id, e.Row, db.NullText(e.Email), e.Message)
	}
	_, err := tx.InsertRows(`
		INSERT INTO contact_import_error (import_id, line, email, message)`, width, values, `ON CONFLICT DO NOTHING`)
	return err
}

// selectImportErrors returns failed rows after a row, for an import that the caller has found.
func selectImportErrors(tx *db.Tx, id ImportID, after int64, limit int) ([]importError, error) {
	return db.All(tx, func(s db.Scanner) (e importError, err error) {
		err = s.Scan(&e.Row, db.Text((*api.Ref)(&e.Email)), &e.Message)
		return e, err
	}, `
		SELECT line, email, message FROM contact_import_error
		WHERE import_id = $1 AND line > $2
		ORDER BY line
		LIMIT $3`, id, after, limit)
}

// trimImportErrors keeps the first failed rows; the file has them all.
func trimImportErrors(tx *db.Tx, id ImportID, keep int) error {
	_, err := tx.Exec(`
		DELETE FROM contact_import_error
		WHERE import_id = $1 AND line NOT IN (
			SELECT line FROM contact_import_error
			WHERE import_id = $1
			ORDER BY line
			LIMIT $2)`, id, keep)
	return err
}

func selectUsedBlobs(tx *db.Tx, refs []blob.Ref) ([]blob.Ref, error) {
	return db.All(tx, db.Value[blob.Ref], `
		SELECT blob FROM contact_import
		WHERE blob {in $1}
		UNION
		SELECT errors_blob FROM contact_import
		WHERE errors_blob {in $1}`, refs)
}

package automation

import (
	"encoding/json"
	"errors"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
)

const automationColumns = `id, workspace_id, name, description, status, draft, draft_changed, published, latest, stops, metadata, created_at, updated_at, archived_at`

func scanAutomation(s db.Scanner) (a Automation, err error) {
	var draft, metadata string
	err = s.Scan(&a.ID, &a.Workspace, &a.Name, db.Text(&a.Description), &a.Status, &draft, &a.DraftChanged, &a.Published, &a.Latest, &a.Stops, &metadata, db.Time(&a.CreatedAt),
		db.Time(&a.UpdatedAt), db.Time(&a.ArchivedAt))
	if err == nil {
		err = errors.Join(json.Unmarshal([]byte(draft), &a.Draft), json.Unmarshal([]byte(metadata), &a.Metadata))
	}
	return a, err
}

var automationTable = table[Automation]{"automation", automationColumns, "created_at", scanAutomation,
	func(a Automation) api.Cursor { return api.Cursor{ID: string(a.ID), At: a.CreatedAt} }}

func insertAutomation(tx *db.Tx, a Automation) error {
	_, err := tx.Exec(`
		INSERT INTO automation (id, workspace_id, name, search, description, status, draft, draft_changed, published, latest, metadata, created_at, updated_at, archived_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`, a.ID, a.Workspace, a.Name, lower(a.Name), db.NullText(a.Description), a.Status, db.JSON(a.Draft),
		a.DraftChanged, a.Published, a.Latest, db.JSON(a.Metadata), a.CreatedAt, a.UpdatedAt, a.ArchivedAt)
	return err
}

// updateAutomation writes an automation that the transaction has locked.
func updateAutomation(tx *db.Tx, a Automation) error {
	_, err := tx.Exec(`
		UPDATE automation SET name = $1, search = $2, description = $3, status = $4, draft = $5, draft_changed = $6, published = $7, latest = $8, metadata = $9,
			updated_at = $10, archived_at = $11, stops = $12
		WHERE workspace_id = $13 AND id = $14`, a.Name, lower(a.Name), db.NullText(a.Description), a.Status, db.JSON(a.Draft), a.DraftChanged, a.Published, a.Latest,
		db.JSON(a.Metadata), a.UpdatedAt, a.ArchivedAt, a.Stops, a.Workspace, a.ID)
	return err
}

func findAutomation(tx *db.Tx, ws space.ID, id string) (Automation, error) {
	return automationBy(tx, ws, id, "")
}

func lockAutomation(tx *db.Tx, ws space.ID, id string) (Automation, error) {
	return automationBy(tx, ws, id, "{for_update}")
}

func automationBy(tx *db.Tx, ws space.ID, id, lock string) (Automation, error) {
	if !api.IsID(id) {
		return Automation{}, ErrNotFound
	}
	a, err := db.One(tx, scanAutomation, `
		SELECT `+automationColumns+` FROM automation
		WHERE workspace_id = $1 AND id = $2 `+lock, ws, id)
	return a, db.OrMissing(err, ErrNotFound)
}

func countByStatus(tx *db.Tx, ws space.ID) (map[Status]int64, error) {
	counts := map[Status]int64{}
	_, err := db.All(tx, func(s db.Scanner) (none struct{}, err error) {
		var status Status
		var n int64
		err = s.Scan(&status, &n)
		counts[status] = n
		return none, err
	}, `
		SELECT status, COUNT(*) FROM automation
		WHERE workspace_id = $1
		GROUP BY status`, ws)
	return counts, err
}

const versionColumns = `id, automation_id, version, definition, note, rolled_back_from, created_by, created_at`

func scanVersion(s db.Scanner) (v Version, err error) {
	var definition string
	var from *int64
	err = s.Scan(&v.ID, &v.Automation, &v.Number, &definition, db.Text(&v.Note), &from, db.Text(&v.CreatedBy), db.Time(&v.CreatedAt))
	if from != nil {
		v.RolledBackFrom = *from
	}
	if err == nil {
		err = json.Unmarshal([]byte(definition), &v.Definition)
	}
	return v, err
}

func insertVersion(tx *db.Tx, ws space.ID, v Version) error {
	var from any
	if v.RolledBackFrom > 0 {
		from = v.RolledBackFrom
	}
	_, err := tx.Exec(`
		INSERT INTO automation_version (id, workspace_id, automation_id, version, definition, note, rolled_back_from, created_by, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`, v.ID, ws, v.Automation, v.Number, db.JSON(v.Definition), db.NullText(v.Note), from, db.NullText(v.CreatedBy), v.CreatedAt)
	return err
}

// findVersion returns a version of an automation that was found in its workspace.
func findVersion(tx *db.Tx, automation ID, number int64) (Version, error) {
	v, err := db.One(tx, scanVersion, `
		SELECT `+versionColumns+` FROM automation_version
		WHERE automation_id = $1 AND version = $2`, automation, number)
	return v, db.OrMissing(err, ErrVersionNotFound)
}

// selectNumber returns the number of a version by its id.
func selectNumber(tx *db.Tx, automation ID, version string) (int64, error) {
	return db.One(tx, db.Value[int64], `
		SELECT version FROM automation_version
		WHERE automation_id = $1 AND id = $2`, automation, version)
}

// selectVersions returns the versions of a page, and one more if there are more.
func selectVersions(tx *db.Tx, automation ID, q api.PageQuery, part db.Keyset) ([]Version, error) {
	condition, args := part.Where("automation_id = $1", []any{automation, q.Limit + 1, q.Offset}, "version")
	return db.All(tx, scanVersion, `
		SELECT `+versionColumns+` FROM automation_version
		WHERE `+condition+`
		ORDER BY `+part.Order("version")+`
		LIMIT $2 OFFSET $3`, args...)
}

// selectDefinition serves runs, which work across workspaces.
func selectDefinition(tx *db.Tx, automation ID, version int64) (string, error) {
	return db.One(tx, db.Value[string], `
		SELECT definition FROM automation_version
		WHERE automation_id = $1 AND version = $2`, automation, version)
}

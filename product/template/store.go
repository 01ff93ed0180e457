package template

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/plan"
)

func insertTemplate(tx *db.Tx, t Template, draft *Source) error {
	_, err := tx.Exec(`
		INSERT INTO template (id, workspace_id, name, alias, description, search, status, active_version, active_id, latest_version,
			created_at, updated_at, published_at, draft_at, draft)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
		t.ID, t.Workspace, t.Name, db.NullText(t.Alias), db.NullText(t.Description), searchText(t), t.Status, t.Active, db.NullText(t.ActiveID),
		t.Latest, t.CreatedAt, t.UpdatedAt, t.PublishedAt, t.DraftAt, draftText(draft))
	return err
}

func searchText(t Template) string { return strings.ToLower(t.Name + " " + t.Alias) }

func draftText(draft *Source) any {
	if draft == nil {
		return nil
	}
	return db.JSON(draft)
}

const columns = `id, workspace_id, name, alias, description, status, active_version, active_id, latest_version, created_at, updated_at, published_at,
	archived_at, draft_at`

func scanTemplate(s db.Scanner) (t Template, err error) {
	err = s.Scan(&t.ID, &t.Workspace, &t.Name, db.Text(&t.Alias), db.Text(&t.Description), &t.Status, &t.Active, db.Text(&t.ActiveID), &t.Latest,
		db.Time(&t.CreatedAt), db.Time(&t.UpdatedAt), db.Time(&t.PublishedAt), db.Time(&t.ArchivedAt), db.Time(&t.DraftAt))
	return t, err
}

func selectTemplate(tx *db.Tx, ws space.ID, id ID) (Template, error) {
	return db.One(tx, scanTemplate, `
		SELECT `+columns+` FROM template
		WHERE workspace_id = $1 AND id = $2`, ws, id)
}

func lockTemplate(tx *db.Tx, ws space.ID, id ID) (Template, error) {
	return db.One(tx, scanTemplate, `
		SELECT `+columns+` FROM template
		WHERE workspace_id = $1 AND id = $2
		{for_update}`, ws, id)
}

// selectIDByAlias returns the id of the template that answers to an alias.
func selectIDByAlias(tx *db.Tx, ws space.ID, alias string) (ID, error) {
	return db.One(tx, db.Value[ID], `
		SELECT template_id FROM template_alias
		WHERE workspace_id = $1 AND alias = $2`, ws, alias)
}

// insertAlias returns false if another template answers to the alias.
func insertAlias(tx *db.Tx, t Template) (bool, error) {
	n, err := tx.Exec(`
		INSERT INTO template_alias (workspace_id, alias, template_id)
		VALUES ($1, $2, $3)
		ON CONFLICT (workspace_id, alias) DO NOTHING`, t.Workspace, t.Alias, t.ID)
	return n == 1, err
}

func deleteAlias(tx *db.Tx, t Template) error {
	_, err := tx.Exec(`
		DELETE FROM template_alias
		WHERE workspace_id = $1 AND alias = $2 AND template_id = $3`, t.Workspace, t.Alias, t.ID)
	return err
}

// updateTemplate writes a template that the transaction has locked, but not its draft.
func updateTemplate(tx *db.Tx, t Template) error {
	_, err := tx.Exec(`
		UPDATE template SET name = $1, alias = $2, description = $3, search = $4, status = $5, active_version = $6, active_id = $7,
			latest_version = $8, updated_at = $9, published_at = $10, archived_at = $11
		WHERE workspace_id = $12 AND id = $13`,
		t.Name, db.NullText(t.Alias), db.NullText(t.Description), searchText(t), t.Status, t.Active, db.NullText(t.ActiveID),
		t.Latest, t.UpdatedAt, t.PublishedAt, t.ArchivedAt, t.Workspace, t.ID)
	return err
}

// updateDraft replaces the draft of a template that the transaction has locked; nil removes it.
func updateDraft(tx *db.Tx, t Template, draft *Source) error {
	_, err := tx.Exec(`
		UPDATE template SET draft = $1, draft_at = $2
		WHERE workspace_id = $3 AND id = $4`, draftText(draft), t.DraftAt, t.Workspace, t.ID)
	return err
}

// selectDraft returns db.ErrNotFound if there is none.
func selectDraft(tx *db.Tx, ws space.ID, id ID) (source Source, err error) {
	raw, err := db.One(tx, db.Value[string], `
		SELECT draft FROM template
		WHERE workspace_id = $1 AND id = $2 AND draft IS NOT NULL`, ws, id)
	if err != nil {
		return source, err
	}
	return source, json.Unmarshal([]byte(raw), &source)
}

func insertVersion(tx *db.Tx, v Version) error {
	_, err := tx.Exec(`
		INSERT INTO template_version (id, workspace_id, template_id, version, sender, subject, reply_to, preview_text, variables, inline_css,
			checksum, note, created_by, created_at, activated_at, html, body)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`,
		v.ID, v.Workspace, v.Template, v.Number, db.NullText(v.Source.From), db.NullText(v.Source.Subject), db.JSON(v.Source.ReplyTo),
		db.NullText(v.Source.PreviewText), db.JSON(v.Source.Variables), v.Source.InlineCSS, v.Checksum, db.NullText(v.Note), db.NullText(v.CreatedBy),
		v.CreatedAt, v.ActivatedAt, db.NullText(v.Source.HTML), db.NullText(v.Source.Text))
	return err
}

const versionColumns = `id, workspace_id, template_id, version, sender, subject, reply_to, preview_text, variables, inline_css, checksum, note,
	created_by, created_at, activated_at`

func scanVersion(s db.Scanner) (v Version, err error) { return scanVersionWith(s) }

func scanWholeVersion(s db.Scanner) (v Version, err error) {
	var html, text string
	v, err = scanVersionWith(s, db.Text(&html), db.Text(&text))
	v.Source.HTML, v.Source.Text = html, text
	return v, err
}

func scanVersionWith(s db.Scanner, more ...any) (v Version, err error) {
	var replyTo, variables string
	into := []any{&v.ID, &v.Workspace, &v.Template, &v.Number, db.Text(&v.Source.From), db.Text(&v.Source.Subject), &replyTo,
		db.Text(&v.Source.PreviewText), &variables, &v.Source.InlineCSS, &v.Checksum, db.Text(&v.Note), db.Text(&v.CreatedBy), db.Time(&v.CreatedAt),
		db.Time(&v.ActivatedAt)}
	if err := s.Scan(append(into, more...)...); err != nil {
		return v, err
	}
	return v, errors.Join(json.Unmarshal([]byte(replyTo), &v.Source.ReplyTo), json.Unmarshal([]byte(variables), &v.Source.Variables))
}

func selectVersion(tx *db.Tx, ws space.ID, id ID, number int64) (Version, error) {
	return db.One(tx, scanWholeVersion, `
		SELECT `+versionColumns+`, html, body FROM template_version
		WHERE workspace_id = $1 AND template_id = $2 AND version = $3`, ws, id, number)
}

func selectVersionID(tx *db.Tx, ws space.ID, id ID, number int64) (VersionID, error) {
	return db.One(tx, db.Value[VersionID], `
		SELECT id FROM template_version
		WHERE workspace_id = $1 AND template_id = $2 AND version = $3`, ws, id, number)
}

func selectVersionNumber(tx *db.Tx, ws space.ID, id ID, version VersionID) (int64, error) {
	return db.One(tx, db.Value[int64], `
		SELECT version FROM template_version
		WHERE workspace_id = $1 AND template_id = $2 AND id = $3`, ws, id, version)
}

// selectVersions returns a page of versions without their bodies, and one more if there are more.
func selectVersions(tx *db.Tx, ws space.ID, id ID, q api.PageQuery, part db.Keyset) ([]Version, error) {
	where, args := part.Where("workspace_id = $1 AND template_id = $2", []any{ws, id}, "version")
	return db.All(tx, scanVersion, fmt.Sprintf(`
		SELECT `+versionColumns+` FROM template_version
		WHERE %s
		ORDER BY %s
		LIMIT $%d OFFSET $%d`, where, part.Order("version"), len(args)+1, len(args)+2), append(args, q.Limit+1, q.Offset)...)
}

func updateActivated(tx *db.Tx, ws space.ID, id VersionID) error {
	_, err := tx.Exec(`
		UPDATE template_version SET activated_at = $1
		WHERE workspace_id = $2 AND id = $3`, tx.Now(), ws, id)
	return err
}

// total is how many templates a workspace has.
var total = plan.Total{Table: "template_total", Column: "templates"}

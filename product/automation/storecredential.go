package automation

import (
	"encoding/json"
	"errors"
	"strings"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
)

const credentialColumns = `id, workspace_id, name, type, secret, secret_prefix, username, header_name, allowed_hosts, base_url, settings, last_test,
	last_used_at, created_at, updated_at, rotated_at`

func scanCredential(s db.Scanner) (c Credential, err error) {
	var hosts, settings, tested string
	err = s.Scan(&c.ID, &c.Workspace, &c.Name, &c.Type, &c.sealed, &c.SecretPrefix, db.Text(&c.Username), db.Text(&c.HeaderName), &hosts, db.Text(&c.BaseURL), &settings,
		db.Text(&tested), db.Time(&c.LastUsedAt), db.Time(&c.CreatedAt), db.Time(&c.UpdatedAt), db.Time(&c.RotatedAt))
	if err == nil {
		err = errors.Join(json.Unmarshal([]byte(hosts), &c.AllowedHosts), json.Unmarshal([]byte(settings), &c.Settings))
	}
	if err == nil && tested != "" {
		err = json.Unmarshal([]byte(tested), &c.LastTest)
	}
	return c, err
}

var credentialTable = table[Credential]{"automation_credential", credentialColumns, "created_at", scanCredential,
	func(c Credential) api.Cursor { return api.Cursor{ID: c.ID, At: c.CreatedAt} }}

func lower(text string) string { return strings.ToLower(text) }

// insertCredential tells whether the name was free.
func insertCredential(tx *db.Tx, c Credential) (bool, error) {
	n, err := tx.Exec(`
		INSERT INTO automation_credential (id, workspace_id, name, search, type, secret, secret_prefix, username, header_name, allowed_hosts, base_url, settings,
			created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $13)
		ON CONFLICT (workspace_id, search) DO NOTHING`, c.ID, c.Workspace, c.Name, lower(c.Name), c.Type, c.sealed, c.SecretPrefix, db.NullText(c.Username),
		db.NullText(c.HeaderName), db.JSON(c.AllowedHosts), db.NullText(c.BaseURL), db.JSON(c.Settings), c.CreatedAt)
	return n == 1, err
}

// selectCredentialNamed returns the id of another credential with the same name.
func selectCredentialNamed(tx *db.Tx, c Credential) (string, error) {
	return db.One(tx, db.Value[string], `
		SELECT id FROM automation_credential
		WHERE workspace_id = $1 AND search = $2 AND id <> $3`, c.Workspace, lower(c.Name), c.ID)
}

func updateCredential(tx *db.Tx, c Credential) error {
	_, err := tx.Exec(`
		UPDATE automation_credential SET name = $1, search = $2, secret = $3, secret_prefix = $4, username = $5, header_name = $6, allowed_hosts = $7, base_url = $8,
			settings = $9, updated_at = $10, rotated_at = $11
		WHERE workspace_id = $12 AND id = $13`, c.Name, lower(c.Name), c.sealed, c.SecretPrefix, db.NullText(c.Username), db.NullText(c.HeaderName), db.JSON(c.AllowedHosts),
		db.NullText(c.BaseURL), db.JSON(c.Settings), c.UpdatedAt, c.RotatedAt, c.Workspace, c.ID)
	return err
}

func noteTest(tx *db.Tx, ws space.ID, id string, result testResult) error {
	_, err := tx.Exec(`
		UPDATE automation_credential SET last_test = $1
		WHERE workspace_id = $2 AND id = $3`, db.JSON(result), ws, id)
	return err
}

// noteUsed writes down that credentials were shown, for workers, which work across workspaces.
func noteUsed(tx *db.Tx, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	_, err := tx.Exec(`
		UPDATE automation_credential SET last_used_at = $1
		WHERE id {in $2}`, tx.Now(), ids)
	return err
}

func removeCredential(tx *db.Tx, ws space.ID, id string) error {
	_, err := tx.Exec(`
		DELETE FROM automation_credential
		WHERE workspace_id = $1 AND id = $2`, ws, id)
	return err
}

func findCredential(tx *db.Tx, ws space.ID, id string) (Credential, error) {
	return credentialBy(tx, ws, id, "")
}

func lockCredential(tx *db.Tx, ws space.ID, id string) (Credential, error) {
	return credentialBy(tx, ws, id, "{for_update}")
}

func credentialBy(tx *db.Tx, ws space.ID, id, lock string) (Credential, error) {
	if !api.IsID(id) {
		return Credential{}, ErrCredentialNotFound
	}
	c, err := db.One(tx, scanCredential, `
		SELECT `+credentialColumns+` FROM automation_credential
		WHERE workspace_id = $1 AND id = $2 `+lock, ws, id)
	return c, db.OrMissing(err, ErrCredentialNotFound)
}

// selectUses returns the automations that need something, by its id or name.
func selectUses(tx *db.Tx, ws space.ID, target string) ([]ID, error) {
	return db.All(tx, db.Value[ID], `
		SELECT automation_id FROM automation_use
		WHERE workspace_id = $1 AND target = $2
		ORDER BY automation_id`, ws, target)
}

// selectTriggered returns the enabled automations that begin with an event.
func selectTriggered(tx *db.Tx, ws space.ID, name string) ([]ID, error) {
	return db.All(tx, db.Value[ID], `
		SELECT DISTINCT automation_id FROM automation_trigger
		WHERE workspace_id = $1 AND event_name = $2
		ORDER BY automation_id`, ws, name)
}

package apikey

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
)

func insertKey(tx *db.Tx, k Key) error {
	_, err := tx.Exec(`
		INSERT INTO apikey_key (id, workspace_id, public_id, hash, name, search, mode, scopes, preset, domain_ids, networks, created_by,
			created_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
		k.ID, k.Workspace, k.publicID, k.hash[:], k.Name, strings.ToLower(k.Name+" "+k.Prefix()), k.Mode, db.JSON(k.Scopes), db.NullText(k.Preset),
		db.JSON(k.DomainIDs), db.JSON(k.Networks), db.NullText(k.CreatedBy), k.CreatedAt, k.ExpiresAt)
	return err
}

const columns = `id, workspace_id, public_id, hash, previous_hash, previous_until, name, mode, scopes, preset, domain_ids, networks, created_by,
	created_at, expires_at, rotated_at, revoked_at, last_used_at, last_used_ip`

func scanKey(s db.Scanner) (Key, error) {
	var k Key
	var scopes, domains, networks string
	var hash, previous []byte
	err := s.Scan(&k.ID, &k.Workspace, &k.publicID, &hash, &previous, db.Time(&k.previousUntil), &k.Name, &k.Mode, &scopes, db.Text(&k.Preset), &domains,
		&networks, db.Text(&k.CreatedBy), db.Time(&k.CreatedAt), db.Time(&k.ExpiresAt), db.Time(&k.RotatedAt), db.Time(&k.RevokedAt),
		db.Time(&k.LastUsedAt), db.Text(&k.LastUsedIP))
	if err != nil {
		return k, err
	}
	copy(k.hash[:], hash)
	copy(k.previousHash[:], previous)
	return k, errors.Join(db.FromJSON(scopes, &k.Scopes), db.FromJSON(domains, &k.DomainIDs), db.FromJSON(networks, &k.Networks))
}

// selectKeyByPublicID serves the check of a key, which is how a workspace is found.
func selectKeyByPublicID(tx *db.Tx, publicID string) (Key, error) {
	return db.One(tx, scanKey, `
		SELECT `+columns+` FROM apikey_key
		WHERE public_id = $1`, publicID)
}

func lockKey(tx *db.Tx, ws space.ID, id ID) (Key, error) {
	return db.One(tx, scanKey, `
		SELECT `+columns+` FROM apikey_key
		WHERE workspace_id = $1 AND id = $2
		{for_update}`, ws, id)
}

// updateKey writes the secrets and moments of a key that the transaction has locked.
func updateKey(tx *db.Tx, k Key) error {
	var previous any
	if !k.previousUntil.IsZero() {
		previous = k.previousHash[:]
	}
	_, err := tx.Exec(`
		UPDATE apikey_key SET hash = $1, previous_hash = $2, previous_until = $3, rotated_at = $4, revoked_at = $5
		WHERE workspace_id = $6 AND id = $7`, k.hash[:], previous, k.previousUntil, k.RotatedAt, k.RevokedAt, k.Workspace, k.ID)
	return err
}

// updateUse serves the worker, which notes uses of all workspaces.
func updateUse(tx *db.Tx, id ID, last use) error {
	_, err := tx.Exec(`
		UPDATE apikey_key SET last_used_at = $1, last_used_ip = $2
		WHERE id = $3 AND (last_used_at IS NULL OR last_used_at < $1)`, last.at, last.from.String(), id)
	return err
}

// filter says which keys of a workspace are meant.
type filter struct {
	status []Status
	search string
}

// where returns the condition and its arguments. Filters are arguments, never text.
func (f filter) where(tx *db.Tx, ws space.ID) (string, []any) {
	condition, args := "workspace_id = $1", []any{ws}
	if len(f.status) > 0 {
		args = append(args, tx.Now())
		var states []string
		if slices.Contains(f.status, Active) {
			states = append(states, "revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)")
		}
		if slices.Contains(f.status, Expired) {
			states = append(states, "revoked_at IS NULL AND expires_at <= $2")
		}
		if slices.Contains(f.status, Revoked) {
			states = append(states, "revoked_at <= $2")
		}
		condition += " AND (" + strings.Join(states, " OR ") + ")"
	}
	if f.search != "" {
		args = append(args, db.Contains(f.search))
		condition += fmt.Sprintf(` AND search LIKE $%d ESCAPE '\'`, len(args))
	}
	return condition, args
}

// selectKeys returns the keys of a page, and one more if there are more.
func selectKeys(tx *db.Tx, ws space.ID, f filter, q api.PageQuery, part db.Keyset) ([]Key, error) {
	condition, args := f.where(tx, ws)
	condition, args = part.Where(condition, args, "created_at", "id")
	args = append(args, q.Limit+1, q.Offset)
	return db.All(tx, scanKey, fmt.Sprintf(`
		SELECT `+columns+` FROM apikey_key
		WHERE `+condition+`
		ORDER BY `+part.Order("created_at", "id")+`
		LIMIT $%d OFFSET $%d`, len(args)-1, len(args)), args...)
}

func selectCreated(tx *db.Tx, ws space.ID, id ID) (time.Time, error) {
	return db.One(tx, db.Moment, `
		SELECT created_at FROM apikey_key
		WHERE workspace_id = $1 AND id = $2`, ws, id)
}

func countKeys(tx *db.Tx, ws space.ID, f filter) (int64, error) {
	condition, args := f.where(tx, ws)
	return db.One(tx, db.Value[int64], `
		SELECT COUNT(*) FROM apikey_key
		WHERE `+condition, args...)
}

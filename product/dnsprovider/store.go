package dnsprovider

import (
	"postrider/platform/db"
	"postrider/platform/space"
)

const columns = `id, workspace_id, provider, name, token, token_end, created_by, created_at`

func scanConnection(s db.Scanner) (c Connection, err error) {
	err = s.Scan(&c.ID, &c.Workspace, &c.Provider, &c.Name, &c.token, &c.TokenEnd, db.Text(&c.CreatedBy), db.Time(&c.CreatedAt))
	return c, err
}

// insertConnection tells whether the name was free.
func insertConnection(tx *db.Tx, c Connection) (bool, error) {
	n, err := tx.Exec(`
		INSERT INTO dnsprovider_connection (id, workspace_id, provider, name, token, token_end, created_by, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT DO NOTHING`,
		c.ID, c.Workspace, c.Provider, c.Name, c.token, c.TokenEnd, db.NullText(c.CreatedBy), c.CreatedAt)
	return n == 1, err
}

func selectByName(tx *db.Tx, ws space.ID, name string) (Connection, error) {
	return db.One(tx, scanConnection, `
		SELECT `+columns+` FROM dnsprovider_connection
		WHERE workspace_id = $1 AND name = $2`, ws, name)
}

func selectConnection(tx *db.Tx, ws space.ID, id ID) (Connection, error) {
	return db.One(tx, scanConnection, `
		SELECT `+columns+` FROM dnsprovider_connection
		WHERE workspace_id = $1 AND id = $2`, ws, id)
}

func lockConnection(tx *db.Tx, ws space.ID, id ID) (Connection, error) {
	return db.One(tx, scanConnection, `
		SELECT `+columns+` FROM dnsprovider_connection
		WHERE workspace_id = $1 AND id = $2
		{for_update}`, ws, id)
}

// selectNewest returns connections, the newest first.
func selectNewest(tx *db.Tx, ws space.ID, limit, offset int) ([]Connection, error) {
	return db.All(tx, scanConnection, `
		SELECT `+columns+` FROM dnsprovider_connection
		WHERE workspace_id = $1
		ORDER BY created_at DESC, id DESC
		LIMIT $2 OFFSET $3`, ws, limit, offset)
}

func countConnections(tx *db.Tx, ws space.ID) (int64, error) {
	return db.One(tx, db.Value[int64], `
		SELECT COUNT(*) FROM dnsprovider_connection
		WHERE workspace_id = $1`, ws)
}

func deleteConnection(tx *db.Tx, ws space.ID, id ID) error {
	_, err := tx.Exec(`
		DELETE FROM dnsprovider_connection
		WHERE workspace_id = $1 AND id = $2`, ws, id)
	return err
}

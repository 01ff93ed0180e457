package relay

import (
	"postrider/platform/db"
	"postrider/platform/space"
)

func upsertRelay(tx *db.Tx, r Relay, sealed []byte) (Relay, error) {
	var err error
	r.UpdatedAt = tx.Now()
	r.CreatedAt, err = db.One(tx, db.Moment, `
		INSERT INTO relay (workspace_id, host, port, security, username, password, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $7)
		ON CONFLICT (workspace_id) DO UPDATE
		SET host = excluded.host, port = excluded.port, security = excluded.security, username = excluded.username,
			password = excluded.password, updated_at = excluded.updated_at
		RETURNING created_at`, r.Workspace, r.Host, r.Port, r.Security, r.Username, sealed, tx.Now())
	return r, err
}

func selectRelay(tx *db.Tx, ws space.ID) (Relay, []byte, error) {
	var sealed []byte
	r, err := db.One(tx, func(s db.Scanner) (r Relay, err error) {
		err = s.Scan(&r.Workspace, &r.Host, &r.Port, &r.Security, &r.Username, &sealed, db.Time(&r.CreatedAt), db.Time(&r.UpdatedAt))
		return r, err
	}, `
		SELECT workspace_id, host, port, security, username, password, created_at, updated_at FROM relay
		WHERE workspace_id = $1`, ws)
	return r, sealed, err
}

func deleteRelay(tx *db.Tx, ws space.ID) (bool, error) {
	n, err := tx.Exec(`
		DELETE FROM relay
		WHERE workspace_id = $1`, ws)
	return n == 1, err
}

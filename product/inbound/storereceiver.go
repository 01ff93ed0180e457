package inbound

import (
	"time"

	"postrider/platform/db"
	"postrider/platform/space"
)

func saveReceiver(tx *db.Tx, r Receiver) error {
	_, err := tx.Exec(`
		INSERT INTO inbound_receiver (node_id, hostname, port, starttls, tls_expires_at, seen_at)
		VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (node_id) DO UPDATE
		SET hostname = excluded.hostname, port = excluded.port, starttls = excluded.starttls, tls_expires_at = excluded.tls_expires_at,
			seen_at = excluded.seen_at`, r.Node, r.Hostname, r.Port, r.StartTLS, r.TLSExpiresAt, tx.Now())
	return err
}

func deleteReceiver(tx *db.Tx, node string) error {
	_, err := tx.Exec(`
		DELETE FROM inbound_receiver
		WHERE node_id = $1`, node)
	return err
}

func selectReceivers(tx *db.Tx) ([]Receiver, error) {
	return db.All(tx, func(s db.Scanner) (r Receiver, err error) {
		err = s.Scan(&r.Node, &r.Hostname, &r.Port, &r.StartTLS, db.Time(&r.TLSExpiresAt), db.Time(&r.SeenAt))
		return r, err
	}, `
		SELECT node_id, hostname, port, starttls, tls_expires_at, seen_at FROM inbound_receiver
		ORDER BY node_id`)
}

func selectLastMessage(tx *db.Tx, ws space.ID) (time.Time, error) {
	rows, err := db.All(tx, db.Moment, `
		SELECT created_at FROM inbound_received
		WHERE workspace_id = $1
		ORDER BY created_at DESC, id DESC
		LIMIT 1`, ws)
	if err != nil || len(rows) == 0 {
		return time.Time{}, err
	}
	return rows[0], nil
}

package delivery

import "postrider/platform/db"

func upsertState(tx *db.Tx, node, state string) error {
	_, err := tx.Exec(`
		INSERT INTO delivery_state (node, state, updated_at)
		VALUES ($1, $2, $3)
		ON CONFLICT (node) DO UPDATE SET state = excluded.state, updated_at = excluded.updated_at`, node, state, tx.Now())
	return err
}

func selectState(tx *db.Tx, node string) (string, error) {
	return db.One(tx, db.Value[string], `
		SELECT state FROM delivery_state
		WHERE node = $1`, node)
}

package api

import (
	"cmp"
	"errors"

	"postrider/platform/db"
)

type rememberedResult struct{ hash, result string }

func recall(tx *db.Tx, request Idempotency) (rememberedResult, bool, error) {
	stored, err := db.One(tx, func(s db.Scanner) (r rememberedResult, err error) {
		err = s.Scan(&r.hash, &r.result)
		return r, err
	}, `
		SELECT hash, result FROM api_idempotency
		WHERE workspace_id = $1 AND operation = $2 AND key = $3 AND expires_at > $4`,
		request.Workspace, request.operation(), request.Key, tx.Now())
	if errors.Is(err, db.ErrNotFound) {
		return stored, false, nil
	}
	return stored, err == nil, err
}

// remember keeps the result. If a twin has committed in between, the transaction must run again to find the twin's result.
func remember(tx *db.Tx, request Idempotency, result string) error {
	n, err := tx.Exec(`
		INSERT INTO api_idempotency (workspace_id, operation, key, hash, result, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (workspace_id, operation, key) DO UPDATE
		SET hash = excluded.hash, result = excluded.result, expires_at = excluded.expires_at
		WHERE api_idempotency.expires_at <= $7`,
		request.Workspace, request.operation(), request.Key, request.Hash, result, tx.Now().Add(cmp.Or(request.For, rememberFor)), tx.Now())
	if err == nil && n == 0 {
		return db.ErrConflict
	}
	return err
}

// forgetExpired says twice what has expired: without the first the keys it has found are looked for among all that are kept.
func forgetExpired(tx *db.Tx) (int64, error) {
	return tx.Exec(`
		DELETE FROM api_idempotency
		WHERE expires_at <= $1 AND (workspace_id, operation, key) IN (
			SELECT workspace_id, operation, key FROM api_idempotency
			WHERE expires_at <= $1
			LIMIT 1000)`, tx.Now())
}

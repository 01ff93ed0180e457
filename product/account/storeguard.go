package account

import (
	"time"

	"postrider/platform/db"
	"postrider/platform/space"
)

func insertChallenge(tx *db.Tx, id string, user UserID, expires time.Time) error {
	_, err := tx.Exec(`
		INSERT INTO account_challenge (id, user_id, expires_at)
		VALUES ($1, $2, $3)`, id, user, expires)
	return err
}

// tryChallenge takes one of the tries of a challenge and returns whose it is. Without tries left there is no row.
func tryChallenge(tx *db.Tx, id string, maxTries int) (UserID, error) {
	return db.One(tx, db.Value[UserID], `
		UPDATE account_challenge SET tries = tries + 1
		WHERE id = $1 AND tries < $2 AND expires_at > $3
		RETURNING user_id`, id, maxTries, tx.Now())
}

func deleteChallenge(tx *db.Tx, id string) error {
	_, err := tx.Exec(`
		DELETE FROM account_challenge
		WHERE id = $1`, id)
	return err
}

// deleteChallengesOf ends every sign-in of the user that waits for a second factor.
func deleteChallengesOf(tx *db.Tx, user UserID) error {
	_, err := tx.Exec(`
		DELETE FROM account_challenge
		WHERE user_id = $1`, user)
	return err
}

// lockAttempts returns the failures noted for an address and holds the row, so that parallel tries are counted one by one.
func lockAttempts(tx *db.Tx, addressHash []byte) (attempts, error) {
	return db.One(tx, scanAttempts, `
		INSERT INTO account_attempt (address_hash, failures, since)
		VALUES ($1, 0, $2)
		ON CONFLICT (address_hash) DO UPDATE SET failures = account_attempt.failures
		RETURNING failures, since`, addressHash, tx.Now())
}

func selectAttempts(tx *db.Tx, addressHash []byte) (attempts, error) {
	return db.One(tx, scanAttempts, `
		SELECT failures, since FROM account_attempt
		WHERE address_hash = $1`, addressHash)
}

func scanAttempts(s db.Scanner) (attempts, error) {
	var a attempts
	err := s.Scan(&a.failures, db.Time(&a.since))
	return a, err
}

func updateAttempts(tx *db.Tx, addressHash []byte, a attempts) error {
	_, err := tx.Exec(`
		UPDATE account_attempt SET failures = $1, since = $2
		WHERE address_hash = $3`, a.failures, a.since, addressHash)
	return err
}

func deleteAttempts(tx *db.Tx, addressHash []byte) error {
	_, err := tx.Exec(`
		DELETE FROM account_attempt
		WHERE address_hash = $1`, addressHash)
	return err
}

type storedCode struct {
	id   string
	hash []byte
}

func insertRecoveryCodes(tx *db.Tx, user UserID, codes []storedCode) error {
	values := make([]any, 0, 3*len(codes))
	for _, code := range codes {
		values = append(values, code.id, user, code.hash)
	}
	_, err := tx.InsertRows(`INSERT INTO account_recovery_code (id, user_id, hash)`, 3, values, ``)
	return err
}

func selectRecoveryCodes(tx *db.Tx, user UserID) ([]storedCode, error) {
	return db.All(tx, func(s db.Scanner) (c storedCode, err error) {
		err = s.Scan(&c.id, &c.hash)
		return c, err
	}, `
		SELECT id, hash FROM account_recovery_code
		WHERE user_id = $1`, user)
}

// deleteRecoveryCode spends a code; it tells whether it was still there.
func deleteRecoveryCode(tx *db.Tx, user UserID, id string) (bool, error) {
	n, err := tx.Exec(`
		DELETE FROM account_recovery_code
		WHERE user_id = $1 AND id = $2`, user, id)
	return n == 1, err
}

func deleteRecoveryCodes(tx *db.Tx, user UserID) error {
	_, err := tx.Exec(`
		DELETE FROM account_recovery_code
		WHERE user_id = $1`, user)
	return err
}

func insertAudit(tx *db.Tx, id string, e Entry) error {
	_, err := tx.Exec(`
		INSERT INTO account_audit (id, workspace_id, actor_id, key_id, action, target_type, target_id, target_name, ip, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		id, e.Workspace, db.NullText(e.Actor), db.NullText(e.Key), e.Action, db.NullText(e.Target.Type), db.NullText(e.Target.ID), db.NullText(e.Target.Name),
		db.NullText(addrText(e.IP)), tx.Now())
	return err
}

func selectAudit(tx *db.Tx, ws space.ID, limit, offset int) ([]auditRow, error) {
	return db.All(tx, func(s db.Scanner) (r auditRow, err error) {
		err = s.Scan(&r.id, db.Text(&r.Actor), db.Text(&r.actorEmail), db.Text(&r.Key), &r.Action, db.Text(&r.Target.Type), db.Text(&r.Target.ID), db.Text(&r.Target.Name),
			db.Text(&r.ip), db.Time(&r.createdAt))
		return r, err
	}, `
		SELECT a.id, a.actor_id, u.email, a.key_id, a.action, a.target_type, a.target_id, a.target_name, a.ip, a.created_at
		FROM account_audit a
		LEFT JOIN account_user u ON u.id = a.actor_id
		WHERE a.workspace_id = $1
		ORDER BY a.seq DESC
		LIMIT $2 OFFSET $3`, ws, limit, offset)
}

func countAudit(tx *db.Tx, ws space.ID) (int64, error) {
	return db.One(tx, db.Value[int64], `
		SELECT COUNT(*) FROM account_audit
		WHERE workspace_id = $1`, ws)
}

// deleteExpired removes what has run out, across all workspaces, and tells how many rows it was.
func deleteExpired(tx *db.Tx, limit int) (int64, error) {
	var total int64
	for _, sweep := range []struct {
		query  string
		before time.Time
	}{
		{`DELETE FROM account_session WHERE id IN (SELECT id FROM account_session WHERE expires_at <= $1 LIMIT $2)`, tx.Now()},
		{`DELETE FROM account_session WHERE id IN (SELECT id FROM account_session WHERE seen_at <= $1 LIMIT $2)`, tx.Now().Add(-sessionIdle)},
		{`DELETE FROM account_challenge WHERE id IN (SELECT id FROM account_challenge WHERE expires_at <= $1 LIMIT $2)`, tx.Now()},
		{`DELETE FROM account_ceremony WHERE id IN (SELECT id FROM account_ceremony WHERE expires_at <= $1 LIMIT $2)`, tx.Now()},
		{`DELETE FROM account_invitation WHERE id IN (SELECT id FROM account_invitation WHERE expires_at <= $1 LIMIT $2)`, tx.Now()},
		{`DELETE FROM account_attempt WHERE address_hash IN (SELECT address_hash FROM account_attempt WHERE since <= $1 LIMIT $2)`, tx.Now().Add(-failureWindow)},
	} {
		n, err := tx.Exec(sweep.query, sweep.before, limit)
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}

package account

import (
	"time"

	"postrider/platform/db"
	"postrider/platform/space"
)

func insertUser(tx *db.Tx, u User) error {
	_, err := tx.Exec(`
		INSERT INTO account_user (id, email, name, locale, timezone, operator, password, password_changed_at, verified_at, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		u.ID, u.Email, u.Name, u.Locale, u.Timezone, u.Operator, u.password, u.passwordChangedAt, u.VerifiedAt, u.CreatedAt)
	return err
}

// claimFounder tells whether the user is the first of the instance.
func claimFounder(tx *db.Tx, id UserID) (bool, error) {
	n, err := tx.Exec(`
		INSERT INTO account_founder (one, user_id)
		VALUES (1, $1)
		ON CONFLICT DO NOTHING`, id)
	return n == 1, err
}

const userColumns = `u.id, u.email, u.name, u.locale, u.timezone, u.operator, u.password, u.password_changed_at, u.verified_at, u.created_at,
	u.totp_secret, u.totp_enabled_at, u.totp_step, u.totp_offered, u.totp_offered_until`

func userFields(u *User) []any {
	return []any{&u.ID, &u.Email, &u.Name, &u.Locale, &u.Timezone, &u.Operator, &u.password, db.Time(&u.passwordChangedAt), db.Time(&u.VerifiedAt),
		db.Time(&u.CreatedAt), &u.factor.secret, db.Time(&u.factor.enabledAt), &u.factor.lastStep, &u.factor.offered, db.Time(&u.factor.offeredUntil)}
}

func scanUser(s db.Scanner) (User, error) {
	var u User
	err := s.Scan(userFields(&u)...)
	return u, err
}

func selectUser(tx *db.Tx, id UserID) (User, error) {
	return db.One(tx, scanUser, `
		SELECT `+userColumns+` FROM account_user u
		WHERE u.id = $1`, id)
}

// lockUser holds the user, so that changes of what belongs to one come one after the other.
func lockUser(tx *db.Tx, id UserID) (User, error) {
	return db.One(tx, scanUser, `
		SELECT `+userColumns+` FROM account_user u
		WHERE u.id = $1
		{for_update}`, id)
}

func selectUserByEmail(tx *db.Tx, email string) (User, error) {
	return db.One(tx, scanUser, `
		SELECT `+userColumns+` FROM account_user u
		WHERE u.email = $1`, email)
}

func updateProfile(tx *db.Tx, u User) error {
	_, err := tx.Exec(`
		UPDATE account_user SET name = $1, locale = $2, timezone = $3
		WHERE id = $4`, u.Name, u.Locale, u.Timezone, u.ID)
	return err
}

func updateHome(tx *db.Tx, id UserID, ws space.ID) error {
	_, err := tx.Exec(`
		UPDATE account_user SET workspace_id = $1
		WHERE id = $2`, ws, id)
	return err
}

// updateVerified marks the address as verified unless the account has another one by now.
func updateVerified(tx *db.Tx, id UserID, email string) (bool, error) {
	n, err := tx.Exec(`
		UPDATE account_user SET verified_at = COALESCE(verified_at, $1)
		WHERE id = $2 AND email = $3`, tx.Now(), id, email)
	return n == 1, err
}

// updatePassword replaces the password that was set at the given moment; if it has been replaced since, nothing happens.
func updatePassword(tx *db.Tx, id UserID, setAt time.Time, password string) (bool, error) {
	n, err := tx.Exec(`
		UPDATE account_user SET password = $1, password_changed_at = $2
		WHERE id = $3 AND password_changed_at = $4`, password, tx.Now(), id, setAt)
	return n == 1, err
}

func updateOffer(tx *db.Tx, id UserID, sealed []byte, until time.Time) error {
	_, err := tx.Exec(`
		UPDATE account_user SET totp_offered = $1, totp_offered_until = $2
		WHERE id = $3 AND totp_enabled_at IS NULL`, sealed, until, id)
	return err
}

// enableFactor takes the sealed secret into use unless another was offered meanwhile. step is that of the code which confirmed it.
func enableFactor(tx *db.Tx, id UserID, sealed []byte, step int64) (bool, error) {
	n, err := tx.Exec(`
		UPDATE account_user SET totp_secret = totp_offered, totp_enabled_at = $1, totp_step = $2, totp_offered = NULL, totp_offered_until = NULL
		WHERE id = $3 AND totp_enabled_at IS NULL AND totp_offered = $4`, tx.Now(), step, id, sealed)
	return n == 1, err
}

func disableFactor(tx *db.Tx, id UserID) error {
	_, err := tx.Exec(`
		UPDATE account_user SET totp_secret = NULL, totp_enabled_at = NULL
		WHERE id = $1`, id)
	return err
}

// useStep spends a one-time code: a step is good once, and never after a later one.
func useStep(tx *db.Tx, id UserID, step int64) (bool, error) {
	n, err := tx.Exec(`
		UPDATE account_user SET totp_step = $1
		WHERE id = $2 AND totp_step < $1`, step, id)
	return n == 1, err
}

func insertSession(tx *db.Tx, s Session, tokenHash []byte) error {
	_, err := tx.Exec(`
		INSERT INTO account_session (id, user_id, workspace_id, token_hash, ip, user_agent, created_at, seen_at, expires_at,
			reauthenticated_at, two_factor_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
		s.ID, s.User, db.NullText(s.Workspace), tokenHash, s.IP, s.UserAgent, s.AuthenticatedAt, s.SeenAt, s.ExpiresAt, s.ReauthenticatedAt,
		s.TwoFactorAt)
	return err
}

const sessionColumns = `s.id, s.user_id, s.workspace_id, s.ip, s.user_agent, s.created_at, s.seen_at, s.expires_at, s.reauthenticated_at, s.two_factor_at`

func sessionFields(s *Session) []any {
	return []any{&s.ID, &s.User, db.Text(&s.Workspace), &s.IP, &s.UserAgent, db.Time(&s.AuthenticatedAt), db.Time(&s.SeenAt), db.Time(&s.ExpiresAt),
		db.Time(&s.ReauthenticatedAt), db.Time(&s.TwoFactorAt)}
}

func scanSession(row db.Scanner) (Session, error) {
	var s Session
	err := row.Scan(sessionFields(&s)...)
	return s, err
}

// selectVisit finds the session of a token with what its user may do. Role and workspace are empty if the user no longer belongs
// to the workspace.
func selectVisit(tx *db.Tx, tokenHash []byte) (visit, error) {
	return db.One(tx, func(row db.Scanner) (v visit, err error) {
		var status Status
		fields := append(sessionFields(&v.session), db.Time(&v.factorSince), db.Text(&v.role), db.Text(&v.plan), db.Text(&status), db.Text(&v.reason))
		err = row.Scan(fields...)
		v.suspended = status == Suspended
		return v, err
	}, `
		SELECT `+sessionColumns+`, u.totp_enabled_at, m.role, w.plan, w.status, w.reason
		FROM account_session s
		JOIN account_user u ON u.id = s.user_id
		LEFT JOIN account_member m ON m.workspace_id = s.workspace_id AND m.user_id = s.user_id
		LEFT JOIN account_workspace w ON w.id = m.workspace_id
		WHERE s.token_hash = $1`, tokenHash)
}

func selectSession(tx *db.Tx, user UserID, id SessionID) (Session, error) {
	return db.One(tx, scanSession, `
		SELECT `+sessionColumns+` FROM account_session s
		WHERE s.user_id = $1 AND s.id = $2`, user, id)
}

// selectSessions returns the sessions of a user that have not run out, the newest first.
func selectSessions(tx *db.Tx, user UserID, seenAfter time.Time) ([]Session, error) {
	return db.All(tx, scanSession, `
		SELECT `+sessionColumns+` FROM account_session s
		WHERE s.user_id = $1 AND s.expires_at > $2 AND s.seen_at > $3
		ORDER BY s.created_at DESC, s.id DESC`, user, tx.Now(), seenAfter)
}

func updateSeen(tx *db.Tx, s Session) error {
	if _, err := tx.Exec(`
		UPDATE account_session SET seen_at = $1
		WHERE id = $2 AND seen_at < $1`, tx.Now(), s.ID); err != nil {
		return err
	}
	return updateUserSeen(tx, s.User)
}

func updateUserSeen(tx *db.Tx, id UserID) error {
	_, err := tx.Exec(`
		UPDATE account_user SET seen_at = $1
		WHERE id = $2`, tx.Now(), id)
	return err
}

// updateSession writes what a signed-in user has proved or chosen.
func updateSession(tx *db.Tx, s Session) error {
	_, err := tx.Exec(`
		UPDATE account_session SET workspace_id = $1, reauthenticated_at = $2, two_factor_at = $3
		WHERE user_id = $4 AND id = $5`, db.NullText(s.Workspace), s.ReauthenticatedAt, s.TwoFactorAt, s.User, s.ID)
	return err
}

func updateToken(tx *db.Tx, user UserID, id SessionID, tokenHash []byte) error {
	_, err := tx.Exec(`
		UPDATE account_session SET token_hash = $1
		WHERE user_id = $2 AND id = $3`, tokenHash, user, id)
	return err
}

func deleteSession(tx *db.Tx, user UserID, id SessionID) (bool, error) {
	n, err := tx.Exec(`
		DELETE FROM account_session
		WHERE user_id = $1 AND id = $2`, user, id)
	return n == 1, err
}

func deleteSessionByToken(tx *db.Tx, tokenHash []byte) error {
	_, err := tx.Exec(`
		DELETE FROM account_session
		WHERE token_hash = $1`, tokenHash)
	return err
}

// deleteOtherSessions ends every session of the user but one; an empty id keeps none.
func deleteOtherSessions(tx *db.Tx, user UserID, keep SessionID) error {
	if keep == "" {
		_, err := tx.Exec(`
			DELETE FROM account_session
			WHERE user_id = $1`, user)
		return err
	}
	_, err := tx.Exec(`
		DELETE FROM account_session
		WHERE user_id = $1 AND id <> $2`, user, keep)
	return err
}

// deleteOldSessions keeps the newest sessions of a user.
func deleteOldSessions(tx *db.Tx, user UserID, keep int) error {
	_, err := tx.Exec(`
		DELETE FROM account_session
		WHERE user_id = $1 AND id NOT IN (
			SELECT id FROM account_session
			WHERE user_id = $1
			ORDER BY created_at DESC, id DESC
			LIMIT $2)`, user, keep)
	return err
}

// deleteSessionsIn ends the sessions of a user in one workspace.
func deleteSessionsIn(tx *db.Tx, ws space.ID, user UserID) error {
	_, err := tx.Exec(`
		DELETE FROM account_session
		WHERE workspace_id = $1 AND user_id = $2`, ws, user)
	return err
}

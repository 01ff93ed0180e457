package account

import (
	"time"

	"github.com/go-webauthn/webauthn/webauthn"

	"postrider/platform/db"
)

const passkeyColumns = `id, user_id, name, record, created_at, used_at`

func scanPasskey(s db.Scanner) (Passkey, error) {
	var (
		key    Passkey
		record string
	)
	if err := s.Scan(&key.ID, &key.User, &key.Name, &record, db.Time(&key.CreatedAt), db.Time(&key.UsedAt)); err != nil {
		return key, err
	}
	return key, db.FromJSON(record, &key.credential)
}

func insertPasskey(tx *db.Tx, key Passkey) error {
	_, err := tx.Exec(`
		INSERT INTO account_passkey (id, user_id, name, credential_id, record, created_at)
		VALUES ($1, $2, $3, $4, $5, $6)`, key.ID, key.User, key.Name, key.credential.ID, db.JSON(key.credential), key.CreatedAt)
	return err
}

func selectPasskeys(tx *db.Tx, user UserID) ([]Passkey, error) {
	return db.All(tx, scanPasskey, `
		SELECT `+passkeyColumns+` FROM account_passkey
		WHERE user_id = $1
		ORDER BY created_at, id`, user)
}

// updatePasskey notes that a passkey was used: its counter, and when.
func updatePasskey(tx *db.Tx, user UserID, credential webauthn.Credential) error {
	_, err := tx.Exec(`
		UPDATE account_passkey SET record = $1, used_at = $2
		WHERE user_id = $3 AND credential_id = $4`, db.JSON(credential), tx.Now(), user, credential.ID)
	return err
}

func deletePasskey(tx *db.Tx, user UserID, id string) (bool, error) {
	n, err := tx.Exec(`
		DELETE FROM account_passkey
		WHERE user_id = $1 AND id = $2`, user, id)
	return n == 1, err
}

func insertCeremony(tx *db.Tx, id string, asked webauthn.SessionData, expires time.Time) error {
	_, err := tx.Exec(`
		INSERT INTO account_ceremony (id, record, expires_at)
		VALUES ($1, $2, $3)`, id, db.JSON(asked), expires)
	return err
}

// deleteCeremony takes what was asked out of the table, so that it is answered once at most.
func deleteCeremony(tx *db.Tx, id string) (webauthn.SessionData, error) {
	return db.One(tx, scanCeremony, `
		DELETE FROM account_ceremony
		WHERE id = $1 AND expires_at > $2
		RETURNING record`, id, tx.Now())
}

func scanCeremony(s db.Scanner) (webauthn.SessionData, error) {
	var (
		asked  webauthn.SessionData
		record string
	)
	if err := s.Scan(&record); err != nil {
		return asked, err
	}
	return asked, db.FromJSON(record, &asked)
}

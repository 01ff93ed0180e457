package custody

import (
	"time"

	"postrider/platform/db"
)

func insertSign(tx *db.Tx, sign string) error {
	_, err := tx.Exec(`
		INSERT INTO blob_claim (sign, claimed_at)
		VALUES ($1, $2)`, sign, tx.Now())
	return err
}

func signKnown(tx *db.Tx, sign string) (bool, error) {
	found, err := db.One(tx, db.Value[int64], `
		SELECT COUNT(*) FROM blob_claim
		WHERE sign = $1`, sign)
	return found > 0, err
}

func deleteSigns(tx *db.Tx, before time.Time) error {
	_, err := tx.Exec(`
		DELETE FROM blob_claim
		WHERE claimed_at < $1`, before)
	return err
}

func selectReason(tx *db.Tx) (Reason, error) {
	return db.One(tx, db.Value[Reason], `SELECT reason FROM `+asideTable)
}

func dropReason(tx *db.Tx) error {
	_, err := tx.Exec(`DROP TABLE IF EXISTS ` + asideTable)
	return err
}

func createReason(tx *db.Tx, why Reason) error {
	if _, err := tx.Exec(`CREATE TABLE ` + asideTable + ` (reason TEXT PRIMARY KEY)`); err != nil {
		return err
	}
	_, err := tx.Exec(`INSERT INTO `+asideTable+` (reason) VALUES ($1)`, why)
	return err
}

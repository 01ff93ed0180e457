package suppression

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"postrider/platform/db"
	"postrider/platform/space"
)

// mailbox is what an address of a workspace is looked up by: a digest of both, in the form of an id. It is long enough that no two
// are ever the same, and short and even enough for the fastest index there is.
type mailbox string

func mailboxOf(ws space.ID, key string) mailbox {
	sum := sha256.Sum256([]byte(string(ws) + "\x00" + key))
	text := hex.EncodeToString(sum[:16])
	return mailbox(text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:])
}

const columns = `suppression.id, suppression.workspace_id, suppression.address, reason, detail, email_id, domain_id, tenant_id, note, expires_at, hits,
	last_hit_at, created_by, suppression.created_at`

func scanSuppression(s db.Scanner) (Suppression, error) {
	var row Suppression
	var address []byte
	var detail string
	err := s.Scan(&row.ID, &row.Workspace, &address, &row.Reason, db.Text(&detail), db.Text(&row.EmailID), db.Text(&row.DomainID),
		db.Text(&row.TenantID), db.Text(&row.Note), db.Time(&row.ExpiresAt), &row.Hits, db.Time(&row.LastHitAt), db.Text(&row.CreatedBy),
		db.Time(&row.CreatedAt))
	row.Address = string(address)
	if detail != "" {
		row.Detail = json.RawMessage(detail)
	}
	return row, err
}

// selectByMailbox is the question that every recipient of every mail is asked. It serves delivery, which works across workspaces:
// the workspace is part of the digest.
const selectByMailbox = `
		SELECT ` + columns + ` FROM suppression
		WHERE mailbox {in $1} AND (expires_at IS NULL OR expires_at > $2)`

func selectMailboxes(tx *db.Tx, mailboxes []mailbox) ([]Suppression, error) {
	return db.All(tx, scanSuppression, selectByMailbox, mailboxes, tx.Now())
}

// lockMailboxes also returns what has expired. It serves delivery, which works across workspaces.
func lockMailboxes(tx *db.Tx, mailboxes []mailbox) ([]Suppression, error) {
	return db.All(tx, scanSuppression, `
		SELECT `+columns+` FROM suppression
		WHERE mailbox {in $1}
		ORDER BY mailbox
		{for_update}`, mailboxes)
}

// selectByID also finds an entry that has expired and was not swept yet: a page may begin after it.
func selectByID(tx *db.Tx, ws space.ID, id ID) (Suppression, error) {
	return db.One(tx, scanSuppression, `
		SELECT `+columns+` FROM suppression
		WHERE {beside workspace_id} = $1 AND id = $2`, ws, id)
}

// selectNamed finds entries that have not expired by id and by address.
func selectNamed(tx *db.Tx, ws space.ID, named names) ([]Suppression, error) {
	var found []Suppression
	if len(named.ids) > 0 {
		rows, err := db.All(tx, scanSuppression, `
		SELECT `+columns+` FROM suppression
		WHERE {beside workspace_id} = $1 AND id {in $2} AND (expires_at IS NULL OR expires_at > $3)`, ws, named.ids, tx.Now())
		if err != nil {
			return nil, err
		}
		found = rows
	}
	if len(named.addresses) == 0 {
		return found, nil
	}
	rows, err := selectMailboxes(tx, named.mailboxes(ws))
	return append(found, rows...), err
}

// insertSuppressions returns how many rows were inserted: fewer if an address has been added in between.
func insertSuppressions(tx *db.Tx, rows []*Suppression) (int64, error) {
	const width = 14
	values := make([]any, 0, width*len(rows))
	for _, row := range rows {
		values = append(values, row.ID, row.Workspace, []byte(row.Address), hostOf(row.Address), mailboxOf(row.Workspace, row.Address), row.Reason,
			db.NullText(string(row.Detail)), db.NullText(row.EmailID), db.NullText(row.DomainID), db.NullText(row.TenantID), db.NullText(row.Note),
			row.ExpiresAt, db.NullText(row.CreatedBy), row.CreatedAt)
	}
	return tx.InsertRows(`
		INSERT INTO suppression (id, workspace_id, address, host, mailbox, reason, detail, email_id, domain_id, tenant_id, note, expires_at, created_by,
			created_at)`, width, values, `ON CONFLICT DO NOTHING`)
}

// updateSuppression writes a row that the transaction has locked.
func updateSuppression(tx *db.Tx, row Suppression) error {
	_, err := tx.Exec(`
		UPDATE suppression SET reason = $1, detail = $2, email_id = $3, domain_id = $4, tenant_id = $5, note = $6, expires_at = $7, created_by = $8
		WHERE workspace_id = $9 AND id = $10`,
		row.Reason, db.NullText(string(row.Detail)), db.NullText(row.EmailID), db.NullText(row.DomainID), db.NullText(row.TenantID),
		db.NullText(row.Note), row.ExpiresAt, db.NullText(row.CreatedBy), row.Workspace, row.ID)
	return err
}

func deleteSuppressions(tx *db.Tx, ws space.ID, ids []ID) ([]Suppression, error) {
	return db.All(tx, scanSuppression, `
		DELETE FROM suppression
		WHERE {beside workspace_id} = $1 AND id {in $2}
		RETURNING `+columns, ws, ids)
}

// deleteUnsubscribed leaves an entry alone that has got a stronger reason since it was read.
func deleteUnsubscribed(tx *db.Tx, ws space.ID, ids []ID) ([]Suppression, error) {
	return db.All(tx, scanSuppression, `
		DELETE FROM suppression
		WHERE {beside workspace_id} = $1 AND id {in $2} AND reason = 'unsubscribe'
		RETURNING `+columns, ws, ids)
}

// deleteExpired deletes rows that the transaction has locked. It serves delivery, which works across workspaces.
func deleteExpired(tx *db.Tx, ids []ID) error {
	_, err := tx.Exec(`
		DELETE FROM suppression
		WHERE id {in $1}`, ids)
	return err
}

// addHits serves delivery, which works across workspaces.
func addHits(tx *db.Tx, ids []ID, times int64) error {
	_, err := tx.Exec(`
		UPDATE suppression SET hits = hits + $1, last_hit_at = $2
		WHERE id {in $3}`, times, tx.Now(), ids)
	return err
}

func addTotal(tx *db.Tx, t tally, by int64) error {
	_, err := tx.Exec(`
		INSERT INTO suppression_total (workspace_id, reason, entries)
		VALUES ($1, $2, $3)
		ON CONFLICT (workspace_id, reason) DO UPDATE
		SET entries = suppression_total.entries + excluded.entries`, t.workspace, t.reason, by)
	return err
}

// insertStrikes counts an email once, however often it is noted.
func insertStrikes(tx *db.Tx, entries []Entry) error {
	const width = 3
	values := make([]any, 0, width*len(entries))
	for _, e := range entries {
		values = append(values, mailboxOf(e.Workspace, Key(e.Address)), e.EmailID, tx.Now())
	}
	_, err := tx.InsertRows(`
		INSERT INTO suppression_strike (mailbox, email_id, occurred_at)`, width, values, `ON CONFLICT DO NOTHING`)
	return err
}

// selectStruck returns those that have had enough strikes since. It serves delivery, which works across workspaces.
func selectStruck(tx *db.Tx, mailboxes []mailbox, since time.Time) ([]mailbox, error) {
	return db.All(tx, db.Value[mailbox], `
		SELECT mailbox FROM suppression_strike
		WHERE mailbox {in $1} AND occurred_at > $2
		GROUP BY mailbox
		HAVING COUNT(*) >= $3`, mailboxes, since, maxStrikes)
}

// deleteStrikes serves delivery, which works across workspaces.
func deleteStrikes(tx *db.Tx, mailboxes []mailbox) error {
	_, err := tx.Exec(`
		DELETE FROM suppression_strike
		WHERE mailbox {in $1}`, mailboxes)
	return err
}

// anythingToSweep looks across workspaces.
func anythingToSweep(tx *db.Tx, since time.Time) (bool, error) {
	found, err := db.All(tx, db.Value[int64], `
		SELECT 1 FROM suppression
		WHERE expires_at <= $1
		UNION ALL
		SELECT 1 FROM suppression_strike
		WHERE occurred_at <= $2
		LIMIT 1`, tx.Now(), since)
	return len(found) > 0, err
}

// sweepExpired deletes across workspaces. It leaves an entry alone that has got a later end since it was found.
func sweepExpired(tx *db.Tx, limit int) ([]Suppression, error) {
	return db.All(tx, scanSuppression, `
		DELETE FROM suppression
		WHERE expires_at <= $1 AND id IN (
			SELECT id FROM suppression
			WHERE expires_at <= $1
			ORDER BY expires_at
			LIMIT $2)
		RETURNING `+columns, tx.Now(), limit)
}

// sweepStrikes deletes across workspaces.
func sweepStrikes(tx *db.Tx, since time.Time, limit int) (int64, error) {
	return tx.Exec(`
		DELETE FROM suppression_strike
		WHERE (mailbox, email_id) IN (
			SELECT mailbox, email_id FROM suppression_strike
			WHERE occurred_at <= $1
			ORDER BY occurred_at
			LIMIT $2)`, since, limit)
}

// eraseAddress replaces the address by its digest. mailbox, by which recipients are looked up, stays as it is.
func eraseAddress(tx *db.Tx, row Suppression) error {
	_, err := tx.Exec(`
		UPDATE suppression SET address = $1, host = '', detail = NULL, note = NULL
		WHERE workspace_id = $2 AND id = $3`, []byte(erasedMark+string(row.mailbox())), row.Workspace, row.ID)
	return err
}

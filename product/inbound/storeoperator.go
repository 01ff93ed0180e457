package inbound

import (
	"time"

	"postrider/platform/blob"
	"postrider/platform/db"
)

func insertLetter(tx *db.Tx, l Letter) error {
	_, err := tx.Exec(`
		INSERT INTO inbound_operator_mail (id, kind, recipient, sender, remote_ip, subject, raw, raw_blob, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		l.ID, l.Kind, l.Recipient, l.Sender, l.RemoteIP, l.Subject, l.content.raw, db.NullText(string(l.content.blob)), l.CreatedAt)
	return err
}

func scanLetter(s db.Scanner) (Letter, error) {
	var l Letter
	var ref string
	err := s.Scan(&l.ID, &l.Kind, &l.Recipient, &l.Sender, &l.RemoteIP, &l.Subject, db.Text(&l.Note), &l.content.raw, db.Text(&ref), db.Time(&l.CreatedAt))
	l.content.blob = blob.Ref(ref)
	return l, err
}

func selectLetters(tx *db.Tx, ids []string) ([]Letter, error) {
	return db.All(tx, scanLetter, `
		SELECT id, kind, recipient, sender, remote_ip, subject, note, raw, raw_blob, created_at FROM inbound_operator_mail
		WHERE id {in $1}`, ids)
}

// selectNewestLetters leaves the contents out.
func selectNewestLetters(tx *db.Tx, limit int) ([]Letter, error) {
	return db.All(tx, func(s db.Scanner) (l Letter, err error) {
		err = s.Scan(&l.ID, &l.Kind, &l.Recipient, &l.Sender, &l.RemoteIP, &l.Subject, db.Text(&l.Note), db.Time(&l.CreatedAt))
		return l, err
	}, `
		SELECT id, kind, recipient, sender, remote_ip, subject, note, created_at FROM inbound_operator_mail
		ORDER BY created_at DESC, id DESC
		LIMIT $1`, limit)
}

func updateLetter(tx *db.Tx, id ID, kind, note string) error {
	_, err := tx.Exec(`
		UPDATE inbound_operator_mail SET kind = $1, note = $2
		WHERE id = $3`, kind, db.NullText(note), id)
	return err
}

func selectOldLetters(tx *db.Tx, before time.Time, limit int) ([]ID, error) {
	return db.All(tx, db.Value[ID], `
		SELECT id FROM inbound_operator_mail
		WHERE created_at < $1
		ORDER BY created_at
		LIMIT $2`, before, limit)
}

func deleteLetters(tx *db.Tx, ids []ID) error {
	_, err := tx.Exec(`
		DELETE FROM inbound_operator_mail
		WHERE id {in $1}`, ids)
	return err
}

// insertDMARC stores a report once, however often it is sent. One that is proven takes the place of one that is not.
func insertDMARC(tx *db.Tx, id string, r dmarcReport) error {
	_, err := tx.Exec(`
		INSERT INTO inbound_dmarc_report (id, domain, organization, report_id, policy, proven, messages, passed, records, begins_at, ends_at, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
		ON CONFLICT (domain, organization, report_id) DO UPDATE
		SET policy = excluded.policy, proven = excluded.proven, messages = excluded.messages, passed = excluded.passed, records = excluded.records,
			begins_at = excluded.begins_at, ends_at = excluded.ends_at
		WHERE inbound_dmarc_report.proven = FALSE AND excluded.proven = TRUE`,
		id, r.Domain, r.Organization, r.ReportID, r.Policy, r.Proven, r.Messages, r.Passed, db.JSON(r.Records), r.Begin, r.End, tx.Now())
	return err
}

// insertTLS stores a report once, as insertDMARC does.
func insertTLS(tx *db.Tx, id string, r tlsReport) error {
	_, err := tx.Exec(`
		INSERT INTO inbound_tls_report (id, domain, organization, report_id, proven, successful, failed, policies, begins_at, ends_at, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
		ON CONFLICT (domain, organization, report_id) DO UPDATE
		SET proven = excluded.proven, successful = excluded.successful, failed = excluded.failed, policies = excluded.policies,
			begins_at = excluded.begins_at, ends_at = excluded.ends_at
		WHERE inbound_tls_report.proven = FALSE AND excluded.proven = TRUE`,
		id, r.Domain, r.Organization, r.ReportID, r.Proven, r.Successful, r.Failed, db.JSON(r.Policies), r.Begin, r.End, tx.Now())
	return err
}

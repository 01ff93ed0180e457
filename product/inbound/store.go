package inbound

import (
	"errors"
	"slices"
	"strings"
	"time"

	"postrider/platform/blob"
	"postrider/platform/db"
	"postrider/platform/space"
)

func insertMessages(tx *db.Tx, all []arrival) error {
	const columns = 23
	values := make([]any, 0, columns*len(all))
	for _, a := range all {
		m := a.message
		values = append(values, m.ID, m.Workspace, m.Domain, db.NullText(m.Tenant), m.Source, m.MessageID, m.From, db.JSON(m.Addresses), m.Subject,
			searchText(m), strings.ToLower(m.From), recipientText(m), db.JSON(m.Envelope), db.JSON(m.Ancestors), m.Thread, m.Automatic, m.Bulk, m.Truncated, db.JSON(m.Files), len(m.Files),
			m.SizeBytes, m.Kept, m.CreatedAt)
	}
	_, err := tx.InsertRows(`
		INSERT INTO inbound_received (id, workspace_id, domain_id, tenant_id, source, message_id, sender, addresses, subject, search, from_text, to_text, envelope,
			ancestors, thread_id, automatic, bulk, truncated, files, file_count, size_bytes, kept, created_at)`, columns, values, ``)
	return err
}

// searchText is what a search looks through: lower case, because the engines disagree about the case of other letters.
func searchText(m Message) string {
	parts := []string{m.Subject, m.From, m.MessageID, strings.Join(m.Addresses.To, "\n"), strings.Join(m.Addresses.Cc, "\n"),
		strings.Join(m.Addresses.ReceivedFor, "\n"), string(m.ID)}
	return strings.ToLower(strings.Join(parts, "\n"))
}

// recipientText is what is looked through for a recipient: those that the message names, and those it came for.
func recipientText(m Message) string {
	return strings.ToLower(strings.Join(slices.Concat(m.Addresses.To, m.Addresses.Cc, m.Addresses.Bcc, m.Addresses.ReceivedFor), "\n"))
}

const messageColumns = `id, workspace_id, domain_id, tenant_id, source, message_id, sender, addresses, subject, envelope, ancestors,
	answers_email_id, thread_id, authentication, spam, automatic, bulk, truncated, files, size_bytes, starred, kept, created_at, read_at`

func scanMessage(s db.Scanner) (Message, error) {
	var m Message
	var addresses, envelope, ancestors, authentication, spam, files string
	err := s.Scan(&m.ID, &m.Workspace, &m.Domain, db.Text(&m.Tenant), &m.Source, &m.MessageID, &m.From, &addresses, &m.Subject, &envelope, &ancestors,
		db.Text(&m.AnswersEmail), &m.Thread, db.Text(&authentication), db.Text(&spam), &m.Automatic, &m.Bulk, &m.Truncated, &files, &m.SizeBytes,
		&m.Starred, &m.Kept, db.Time(&m.CreatedAt), db.Time(&m.ReadAt))
	if err != nil {
		return m, err
	}
	return m, errors.Join(db.FromJSON(addresses, &m.Addresses), db.FromJSON(envelope, &m.Envelope), db.FromJSON(ancestors, &m.Ancestors),
		db.FromJSON(authentication, &m.Authentication), db.FromJSON(spam, &m.Spam), db.FromJSON(files, &m.Files))
}

func selectMessage(tx *db.Tx, ws space.ID, id ID) (Message, error) {
	return db.One(tx, scanMessage, `
		SELECT `+messageColumns+` FROM inbound_received
		WHERE workspace_id = $1 AND id = $2 AND kept = TRUE`, ws, id)
}

// selectByIDs serves the checks, which work across workspaces.
func selectByIDs(tx *db.Tx, ids []string) ([]Message, error) {
	return db.All(tx, scanMessage, `
		SELECT `+messageColumns+` FROM inbound_received
		WHERE id {in $1}`, ids)
}

// updateRead marks a message as read or not. The time it was read first stays. The star is left alone: somebody else may be setting it.
func updateRead(tx *db.Tx, ws space.ID, id ID, read bool) error {
	var at time.Time
	if read {
		at = tx.Now()
	}
	_, err := tx.Exec(`
		UPDATE inbound_received SET read_at = $1
		WHERE workspace_id = $2 AND id = $3 AND (read_at IS NULL) = $4`, at, ws, id, read)
	return err
}

func updateStarred(tx *db.Tx, ws space.ID, id ID, starred bool) error {
	_, err := tx.Exec(`
		UPDATE inbound_received SET starred = $1
		WHERE workspace_id = $2 AND id = $3`, starred, ws, id)
	return err
}

// updateChecked writes what was found out about a message.
func updateChecked(tx *db.Tx, m Message, forwards int) error {
	_, err := tx.Exec(`
		UPDATE inbound_received SET authentication = $1, spam = $2, answers_email_id = $3, thread_id = $4, kept = $5, forwards_left = $6
		WHERE workspace_id = $7 AND id = $8`,
		db.JSON(m.Authentication), db.JSON(m.Spam), db.NullText(string(m.AnswersEmail)), m.Thread, m.Kept, forwards, m.Workspace, m.ID)
	return err
}

func insertContents(tx *db.Tx, all []arrival) error {
	values := make([]any, 0, 5*len(all))
	for _, a := range all {
		values = append(values, a.message.ID, a.message.Workspace, a.trace, a.content.raw, db.NullText(string(a.content.blob)))
	}
	_, err := tx.InsertRows(`INSERT INTO inbound_message (received_id, workspace_id, trace, raw, raw_blob)`, 5, values, ``)
	return err
}

// stored is a message as the database has it.
type stored struct {
	content
	id      ID
	trace   string
	results string
}

func scanStored(s db.Scanner) (c stored, err error) {
	var ref string
	err = s.Scan(&c.id, &c.trace, db.Text(&c.results), &c.raw, db.Text(&ref))
	c.blob = blob.Ref(ref)
	return c, err
}

func selectContent(tx *db.Tx, ws space.ID, id ID) (stored, error) {
	return db.One(tx, scanStored, `
		SELECT received_id, trace, results, raw, raw_blob FROM inbound_message
		WHERE workspace_id = $1 AND received_id = $2`, ws, id)
}

// selectContents serves the checks, which work across workspaces.
func selectContents(tx *db.Tx, ids []string) (map[ID]stored, error) {
	rows, err := db.All(tx, scanStored, `
		SELECT received_id, trace, results, raw, raw_blob FROM inbound_message
		WHERE received_id {in $1}`, ids)
	contents := make(map[ID]stored, len(rows))
	for _, r := range rows {
		contents[r.id] = r
	}
	return contents, err
}

func updateResults(tx *db.Tx, ws space.ID, id ID, results string) error {
	_, err := tx.Exec(`
		UPDATE inbound_message SET results = $1
		WHERE workspace_id = $2 AND received_id = $3`, results, ws, id)
	return err
}

// addTotals counts messages that came.
func addTotals(tx *db.Tx, all []arrival) error {
	counts := map[space.ID]int64{}
	var order []space.ID
	for _, a := range all {
		if counts[a.message.Workspace]++; counts[a.message.Workspace] == 1 {
			order = append(order, a.message.Workspace)
		}
	}
	slices.Sort(order) // two transactions that lock the same rows in two orders would wait for each other
	for _, ws := range order {
		if err := addTotal(tx, ws, counts[ws]); err != nil {
			return err
		}
	}
	return nil
}

func addTotal(tx *db.Tx, ws space.ID, count int64) error {
	_, err := tx.Exec(`
		INSERT INTO inbound_total (workspace_id, messages)
		VALUES ($1, $2)
		ON CONFLICT (workspace_id) DO UPDATE
		SET messages = inbound_total.messages + excluded.messages`, ws, count)
	return err
}

func selectTotal(tx *db.Tx, ws space.ID) (int64, error) {
	total, err := db.One(tx, db.Value[int64], `
		SELECT messages FROM inbound_total
		WHERE workspace_id = $1`, ws)
	if errors.Is(err, db.ErrNotFound) {
		return 0, nil
	}
	return total, err
}

// deleteMessage removes a message that was only to be passed on.
func deleteMessage(tx *db.Tx, ws space.ID, id ID) error {
	if _, err := tx.Exec(`
		DELETE FROM inbound_message
		WHERE workspace_id = $1 AND received_id = $2`, ws, id); err != nil {
		return err
	}
	_, err := tx.Exec(`
		DELETE FROM inbound_received
		WHERE workspace_id = $1 AND id = $2`, ws, id)
	return err
}

// selectReferenced looks across workspaces: equal contents are one blob.
func selectReferenced(tx *db.Tx, refs []blob.Ref) ([]blob.Ref, error) {
	return db.All(tx, db.Value[blob.Ref], `
		SELECT raw_blob FROM inbound_message
		WHERE raw_blob {in $1}
		UNION
		SELECT raw_blob FROM inbound_operator_mail
		WHERE raw_blob {in $1}`, refs)
}

package audience

import (
	"strings"
	"time"

	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/audience/internal/filter"
	"postrider/product/plan"
)

const contactColumns = `contact.number, contact.id, contact.workspace_id, contact.address, contact.first_name, contact.last_name, contact.status,
	contact.unsubscribed, contact.left_at, contact.suppression, contact.pending_lists, contact.subscribed_lists, contact.sent_count, contact.open_count,
	contact.click_count, contact.last_sent_at, contact.last_opened_at, contact.last_clicked_at, contact.consent, contact.created_at, contact.updated_at`

func scanContact(s db.Scanner) (c Contact, err error) {
	var consent string
	if err := s.Scan(&c.Number, &c.ID, &c.Workspace, &c.Address, db.Text(&c.FirstName), db.Text(&c.LastName), &c.Status, &c.Unsubscribed,
		db.Time(&c.LeftAt), db.Text(&c.Suppression), &c.pending, &c.subscribed, &c.Sent, &c.Opened, &c.Clicked, db.Time(&c.LastSentAt),
		db.Time(&c.LastOpenedAt), db.Time(&c.LastClickedAt), db.Text(&consent), db.Time(&c.CreatedAt), db.Time(&c.UpdatedAt)); err != nil {
		return c, err
	}
	return c, db.FromJSON(consent, &c.Consent)
}

func selectContactByID(tx *db.Tx, ws space.ID, id string) (Contact, error) {
	return db.One(tx, scanContact, `
		SELECT `+contactColumns+` FROM contact
		WHERE workspace_id = $1 AND id = $2`, ws, id)
}

func selectContactByAddress(tx *db.Tx, ws space.ID, key string) (Contact, error) {
	return db.One(tx, scanContact, `
		SELECT `+contactColumns+` FROM contact
		WHERE workspace_id = $1 AND address = $2`, ws, key)
}

func selectContactsByNumber(tx *db.Tx, ws space.ID, numbers []int64) ([]Contact, error) {
	return db.All(tx, scanContact, `
		SELECT `+contactColumns+` FROM contact
		WHERE workspace_id = $1 AND number {in $2}
		ORDER BY number DESC`, ws, numbers)
}

// lockContacts returns the contacts that the workspace has of the addresses, in an order in which two transactions never wait for
// each other.
func lockContacts(tx *db.Tx, ws space.ID, addresses []string) ([]Contact, error) {
	return db.All(tx, scanContact, `
		SELECT `+contactColumns+` FROM contact
		WHERE workspace_id = $1 AND address {in $2}
		ORDER BY address
		{for_update}`, ws, addresses)
}

func lockContact(tx *db.Tx, ws space.ID, number int64) (Contact, error) {
	return db.One(tx, scanContact, `
		SELECT `+contactColumns+` FROM contact
		WHERE workspace_id = $1 AND number = $2
		{for_update}`, ws, number)
}

// selectNumbers returns the contacts that the workspace has of the ids and of the addresses.
func selectNumbers(tx *db.Tx, ws space.ID, ids, addresses []string) ([]Contact, error) {
	return db.All(tx, scanContact, `
		SELECT `+contactColumns+` FROM contact
		WHERE workspace_id = $1 AND (id {in $2} OR address {in $3})`, ws, ids, addresses)
}

// insertContacts returns how many rows were inserted: fewer if an address has been added in between.
func insertContacts(tx *db.Tx, rows []*Contact) (int64, error) {
	const width = 17
	values := make([]any, 0, width*len(rows))
	for _, c := range rows {
		values = append(values, c.ID, c.Workspace, c.Address, hostOf(c.Address), db.NullText(c.FirstName), db.NullText(c.LastName),
			db.NullText(filter.Fold(c.FirstName)), db.NullText(filter.Fold(c.LastName)), c.Status, c.Unsubscribed, c.LeftAt, db.NullText(c.Suppression),
			c.pending, c.subscribed, consentText(c.Consent), c.CreatedAt, c.UpdatedAt)
	}
	return tx.InsertRows(`
		INSERT INTO contact (id, workspace_id, address, host, first_name, last_name, first_folded, last_folded, status, unsubscribed, left_at, suppression,
			pending_lists, subscribed_lists, consent, created_at, updated_at)`, width, values, `ON CONFLICT DO NOTHING`)
}

func consentText(c *Consent) any {
	if c == nil {
		return nil
	}
	return asJSON(c)
}

// selectNumbersOf returns the numbers of contacts that have just been inserted.
func selectNumbersOf(tx *db.Tx, ws space.ID, addresses []string) (map[string]int64, error) {
	numbers := map[string]int64{}
	_, err := db.All(tx, func(s db.Scanner) (number int64, err error) {
		var key string
		err = s.Scan(&number, &key)
		numbers[key] = number
		return number, err
	}, `
		SELECT number, address FROM contact
		WHERE workspace_id = $1 AND address {in $2}`, ws, addresses)
	return numbers, err
}

// updateContact writes what a customer or the person can change of a contact that the transaction has locked.
func updateContact(tx *db.Tx, c Contact) error {
	_, err := tx.Exec(`
		UPDATE contact SET address = $1, host = $2, first_name = $3, last_name = $4, first_folded = $5, last_folded = $6, status = $7,
			unsubscribed = $8, left_at = $9, suppression = $10, pending_lists = $11, subscribed_lists = $12, consent = $13, updated_at = $14
		WHERE workspace_id = $15 AND number = $16`,
		c.Address, hostOf(c.Address), db.NullText(c.FirstName), db.NullText(c.LastName), db.NullText(filter.Fold(c.FirstName)),
		db.NullText(filter.Fold(c.LastName)), c.Status, c.Unsubscribed, c.LeftAt, db.NullText(c.Suppression), c.pending, c.subscribed,
		consentText(c.Consent), c.UpdatedAt, c.Workspace, c.Number)
	return err
}

// updateStatus writes what follows from lists and from the suppression list.
func updateStatus(tx *db.Tx, c Contact) error {
	_, err := tx.Exec(`
		UPDATE contact SET status = $1, suppression = $2
		WHERE workspace_id = $3 AND number = $4`, c.Status, db.NullText(c.Suppression), c.Workspace, c.Number)
	return err
}

// addEngagement counts what happened to mail for contacts. The later moment of two stays.
func addEngagement(tx *db.Tx, at []mailbox, engaged map[mailbox]engagement) error {
	rows := make([][]any, len(at))
	for i, place := range at {
		e := engaged[place]
		rows[i] = []any{e.sent, e.opened, e.clicked, orNone(e.sentAt), orNone(e.openedAt), orNone(e.clickedAt), place.workspace, place.address}
	}
	return tx.ExecEach(`
		UPDATE contact SET sent_count = sent_count + $1, open_count = open_count + $2, click_count = click_count + $3,
			last_sent_at = CASE WHEN last_sent_at IS NULL OR last_sent_at < $4 THEN $4 ELSE last_sent_at END,
			last_opened_at = CASE WHEN last_opened_at IS NULL OR last_opened_at < $5 THEN $5 ELSE last_opened_at END,
			last_clicked_at = CASE WHEN last_clicked_at IS NULL OR last_clicked_at < $6 THEN $6 ELSE last_clicked_at END
		WHERE workspace_id = $7 AND address = $8`, rows)
}

// orNone is a moment, or one before all others, which a later one replaces.
func orNone(at time.Time) any {
	if at.IsZero() {
		return nil
	}
	return at.UnixMicro()
}

// deleteContacts deletes contacts and everything that is kept about them, but for the counts that others keep of them.
func deleteContacts(tx *db.Tx, ws space.ID, rows []Contact) error {
	numbers := numbersOf(rows)
	for _, table := range []string{"contact_value", "contact_topic", "list_contact", "segment_contact"} {
		if _, err := tx.Exec(`
		DELETE FROM `+table+`
		WHERE contact {in $1}`, numbers); err != nil {
			return err
		}
	}
	if err := tx.UnindexWords(searchIndex, documents(rows)...); err != nil {
		return err
	}
	_, err := tx.Exec(`
		DELETE FROM contact
		WHERE workspace_id = $1 AND number {in $2}`, ws, numbers)
	return err
}

func numbersOf(rows []Contact) []int64 {
	numbers := make([]int64, len(rows))
	for i, c := range rows {
		numbers[i] = c.Number
	}
	return numbers
}

const searchIndex = "contact_search"

// documents are contacts as the index of words has them. Their number stands for their moment: it is in the same order, and no two
// are equal.
func documents(rows []Contact) []db.Document {
	docs := make([]db.Document, len(rows))
	for i, c := range rows {
		docs[i] = db.Document{Space: string(c.Workspace), ID: string(c.ID), At: time.UnixMicro(c.Number),
			Words: db.Words(strings.Join([]string{c.Address, c.FirstName, c.LastName}, " "))}
	}
	return docs
}

// total is how many contacts a workspace has.
var total = plan.Total{Table: "contact_total", Column: "contacts"}

// lockTotal returns how many contacts there are, and keeps others from adding some until the transaction ends.
func lockTotal(tx *db.Tx, ws space.ID) (int64, error) {
	if _, err := tx.Exec(`
		INSERT INTO contact_total (workspace_id, contacts)
		VALUES ($1, 0)
		ON CONFLICT (workspace_id) DO NOTHING`, ws); err != nil {
		return 0, err
	}
	return db.One(tx, db.Value[int64], `
		SELECT contacts FROM contact_total
		WHERE workspace_id = $1
		{for_update}`, ws)
}

func addTotal(tx *db.Tx, ws space.ID, by int64) error {
	_, err := tx.Exec(`
		UPDATE contact_total SET contacts = contacts + $1
		WHERE workspace_id = $2`, by, ws)
	return err
}

// selectNewest returns the number of the contact that came last.
func selectNewest(tx *db.Tx, ws space.ID) (int64, error) {
	return db.One(tx, db.Value[int64], `
		SELECT COALESCE(MAX(number), 0) FROM contact
		WHERE workspace_id = $1`, ws)
}

// selectNumbered returns contacts by number; those who are gone are missing.
func selectNumbered(tx *db.Tx, ws space.ID, numbers []int64) ([]Contact, error) {
	return db.All(tx, scanContact, `
		SELECT `+contactColumns+` FROM contact
		WHERE contact.workspace_id = $1 AND contact.number {in $2}`, ws, numbers)
}

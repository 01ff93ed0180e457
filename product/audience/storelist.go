package audience

import (
	"encoding/json"
	"errors"
	"time"

	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/audience/internal/filter"
)

var lists = shelf[List]{table: "audience_list", name: "name_folded", scan: scanList, missing: ErrListNotFound,
	columns: `number, id, workspace_id, name, description, double_opt_in, confirmation, subscribed_count, pending_count, unsubscribed_count, created_at,
		updated_at`}

func scanList(s db.Scanner) (l List, err error) {
	var confirmation string
	if err := s.Scan(&l.Number, &l.ID, &l.Workspace, &l.Name, db.Text(&l.Description), &l.DoubleOptIn, &confirmation, &l.Subscribed, &l.Pending,
		&l.Unsubscribed, db.Time(&l.CreatedAt), db.Time(&l.UpdatedAt)); err != nil {
		return l, err
	}
	return l, json.Unmarshal([]byte(confirmation), &l.Confirmation)
}

// insertList returns false if another list has the name.
func insertList(tx *db.Tx, l List) (bool, error) {
	n, err := tx.Exec(`
		INSERT INTO audience_list (id, workspace_id, name, name_folded, description, double_opt_in, confirmation, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		ON CONFLICT (workspace_id, name_folded) DO NOTHING`,
		l.ID, l.Workspace, l.Name, filter.Fold(l.Name), db.NullText(l.Description), l.DoubleOptIn, asJSON(l.Confirmation), l.CreatedAt, l.UpdatedAt)
	return n == 1, err
}

// updateList writes a list that the transaction has locked, but not its counts.
func updateList(tx *db.Tx, l List) error {
	_, err := tx.Exec(`
		UPDATE audience_list SET name = $1, name_folded = $2, description = $3, double_opt_in = $4, confirmation = $5, updated_at = $6
		WHERE workspace_id = $7 AND id = $8`,
		l.Name, filter.Fold(l.Name), db.NullText(l.Description), l.DoubleOptIn, asJSON(l.Confirmation), l.UpdatedAt, l.Workspace, l.ID)
	return err
}

// deleteNamed deletes a row of a shelf.
func deleteNamed(tx *db.Tx, ws space.ID, table, id string) error {
	_, err := tx.Exec(`
		DELETE FROM `+table+`
		WHERE workspace_id = $1 AND id = $2`, ws, id)
	return err
}

// addToList counts who came to a list and who went. Who comes to one that another transaction has just deleted is a conflict: the next
// try sees that it is gone.
func addToList(tx *db.Tx, list int64, by listCounts) error {
	n, err := tx.Exec(`
		UPDATE audience_list SET subscribed_count = subscribed_count + $1, pending_count = pending_count + $2,
			unsubscribed_count = unsubscribed_count + $3
		WHERE number = $4`, by[Subscribed], by[Pending], by[Unsubscribed], list)
	if err == nil && n == 0 && by[Subscribed]+by[Pending]+by[Unsubscribed] > 0 {
		return db.ErrConflict
	}
	return err
}

// Membership is what somebody said to a list.
type Membership struct {
	List, Contact int64
	Status        Status
	Consent       *Consent
	// asked are the last moments at which the contact was asked to confirm.
	asked []time.Time

	SubscribedAt, ConfirmedAt, UnsubscribedAt time.Time
}

const membershipColumns = `list_contact.list, list_contact.contact, list_contact.status, list_contact.subscribed_at, list_contact.confirmed_at,
	list_contact.unsubscribed_at, list_contact.asked, list_contact.consent`

func scanMembership(s db.Scanner) (m Membership, err error) {
	var asked, consent string
	if err := s.Scan(&m.List, &m.Contact, &m.Status, db.Time(&m.SubscribedAt), db.Time(&m.ConfirmedAt), db.Time(&m.UnsubscribedAt), db.Text(&asked),
		db.Text(&consent)); err != nil {
		return m, err
	}
	return m, errors.Join(db.FromJSON(asked, &m.asked), db.FromJSON(consent, &m.Consent))
}

// selectMemberships returns those of contacts that the caller has found in its workspace.
func selectMemberships(tx *db.Tx, contacts []int64) ([]Membership, error) {
	return db.All(tx, scanMembership, `
		SELECT `+membershipColumns+` FROM list_contact
		WHERE contact {in $1}
		ORDER BY list, contact`, contacts)
}

// lockMembership returns db.ErrNotFound if the contact is not on the list.
func lockMembership(tx *db.Tx, list, contact int64) (Membership, error) {
	return db.One(tx, scanMembership, `
		SELECT `+membershipColumns+` FROM list_contact
		WHERE list = $1 AND contact = $2
		{for_update}`, list, contact)
}

// saveMemberships writes memberships whole. The transaction has locked the contacts, or the memberships.
func saveMemberships(tx *db.Tx, rows []Membership) error {
	const width = 8
	values := make([]any, 0, width*len(rows))
	for _, m := range rows {
		var asked, consent any
		if len(m.asked) > 0 {
			asked = asJSON(m.asked)
		}
		if m.Consent != nil {
			consent = asJSON(m.Consent)
		}
		values = append(values, m.List, m.Contact, m.Status, m.SubscribedAt, m.ConfirmedAt, m.UnsubscribedAt, asked, consent)
	}
	_, err := tx.InsertRows(`
		INSERT INTO list_contact (list, contact, status, subscribed_at, confirmed_at, unsubscribed_at, asked, consent)`, width, values, `
		ON CONFLICT (list, contact) DO UPDATE
		SET status = excluded.status, subscribed_at = excluded.subscribed_at, confirmed_at = excluded.confirmed_at,
			unsubscribed_at = excluded.unsubscribed_at, asked = excluded.asked, consent = excluded.consent`)
	return err
}

// deleteMembers takes some contacts off a list and returns which.
func deleteMembers(tx *db.Tx, list int64, limit int) ([]int64, error) {
	return db.All(tx, db.Value[int64], `
		DELETE FROM list_contact
		WHERE list = $1 AND contact IN (
			SELECT contact FROM list_contact
			WHERE list = $1
			LIMIT $2)
		RETURNING contact`, list, limit)
}

func deleteMembership(tx *db.Tx, list, contact int64) error {
	_, err := tx.Exec(`
		DELETE FROM list_contact
		WHERE list = $1 AND contact = $2`, list, contact)
	return err
}

// recountLists sets how many lists contacts are on, from the memberships.
func recountLists(tx *db.Tx, ws space.ID, contacts []int64) error {
	_, err := tx.Exec(`
		UPDATE contact SET
			pending_lists = (SELECT COUNT(*) FROM list_contact WHERE list_contact.contact = contact.number AND list_contact.status = 'pending'),
			subscribed_lists = (SELECT COUNT(*) FROM list_contact WHERE list_contact.contact = contact.number AND list_contact.status = 'subscribed')
		WHERE workspace_id = $1 AND number {in $2}`, ws, contacts)
	return err
}

// findMembership returns db.ErrNotFound if the contact is not on the list.
func findMembership(tx *db.Tx, list, contact int64) (Membership, error) {
	return db.One(tx, scanMembership, `
		SELECT `+membershipColumns+` FROM list_contact
		WHERE list = $1 AND contact = $2`, list, contact)
}

// hasJoined tells whether a contact has come to a list since a moment, be it that it has left since.
func hasJoined(tx *db.Tx, ws space.ID, list string, id ContactID, moment time.Time) (bool, error) {
	return db.One(tx, db.Value[bool], `
		SELECT EXISTS (SELECT 1 FROM contact
			JOIN audience_list ON audience_list.workspace_id = contact.workspace_id AND audience_list.id = $3
			JOIN list_contact ON list_contact.list = audience_list.number AND list_contact.contact = contact.number
			WHERE contact.workspace_id = $1 AND contact.id = $2 AND (list_contact.subscribed_at >= $4 OR list_contact.confirmed_at >= $4))`, ws, id, list, moment)
}

// lockMembers returns the next memberships of a list in the order of contacts, those of the given contacts only if there are any.
func lockMembers(tx *db.Tx, list, after int64, contacts []int64, limit int) ([]Membership, error) {
	if contacts != nil {
		return db.All(tx, scanMembership, `
		SELECT `+membershipColumns+` FROM list_contact
		WHERE list = $1 AND contact > $2 AND contact {in $3}
		ORDER BY contact
		LIMIT $4
		{for_update}`, list, after, contacts, limit)
	}
	return db.All(tx, scanMembership, `
		SELECT `+membershipColumns+` FROM list_contact
		WHERE list = $1 AND contact > $2
		ORDER BY contact
		LIMIT $3
		{for_update}`, list, after, limit)
}

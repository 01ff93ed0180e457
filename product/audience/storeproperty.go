package audience

import (
	"encoding/json"
	"time"

	"postrider/platform/db"
	"postrider/product/audience/internal/filter"
)

var properties = shelf[Property]{table: "contact_property", name: "key", scan: scanProperty, missing: ErrPropertyNotFound,
	columns: `number, id, workspace_id, key, type, fallback, label, created_at, updated_at`}

func scanProperty(s db.Scanner) (p Property, err error) {
	var fallback string
	err = s.Scan(&p.Number, &p.ID, &p.Workspace, &p.Key, &p.Type, db.Text(&fallback), db.Text(&p.Label), db.Time(&p.CreatedAt), db.Time(&p.UpdatedAt))
	if fallback != "" {
		p.Fallback = json.RawMessage(fallback)
	}
	return p, err
}

// insertProperty returns false if another property has the key.
func insertProperty(tx *db.Tx, p Property) (bool, error) {
	n, err := tx.Exec(`
		INSERT INTO contact_property (id, workspace_id, key, type, fallback, label, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (workspace_id, key) DO NOTHING`,
		p.ID, p.Workspace, p.Key, p.Type, db.NullText(string(p.Fallback)), db.NullText(p.Label), p.CreatedAt, p.UpdatedAt)
	return n == 1, err
}

func updateProperty(tx *db.Tx, p Property) error {
	_, err := tx.Exec(`
		UPDATE contact_property SET fallback = $1, label = $2, updated_at = $3
		WHERE workspace_id = $4 AND id = $5`, db.NullText(string(p.Fallback)), db.NullText(p.Label), p.UpdatedAt, p.Workspace, p.ID)
	return err
}

// held is the value that a contact has of a property.
type held struct {
	contact, property int64
	value             filter.Value
	at                time.Time
}

// selectHeld returns the values of contacts that the caller has found in its workspace.
func selectHeld(tx *db.Tx, contacts []int64) ([]held, error) {
	return db.All(tx, func(s db.Scanner) (h held, err error) {
		var text *string
		var amount *float64
		err = s.Scan(&h.contact, &h.property, &text, &amount, db.Time(&h.at))
		switch {
		case text != nil:
			h.value = filter.Text(*text)
		case amount != nil:
			h.value = filter.Amount(*amount)
			h.value.At = time.UnixMilli(int64(*amount)).UTC()
		}
		return h, err
	}, `
		SELECT contact, property, text, amount, updated_at FROM contact_value
		WHERE contact {in $1}
		ORDER BY contact, property`, contacts)
}

// saveHeld writes values. The transaction has locked the contacts. types tells how each property is kept.
func saveHeld(tx *db.Tx, rows []held, types map[int64]filter.Type) error {
	const width = 6
	values := make([]any, 0, width*len(rows))
	for _, h := range rows {
		var text, folded, amount any
		switch types[h.property] {
		case filter.String:
			text, folded = h.value.Text, filter.Fold(h.value.Text)
		case filter.Date:
			amount = filter.Millis(h.value.At)
		default:
			amount = h.value.Amount
		}
		values = append(values, h.contact, h.property, text, folded, amount, h.at)
	}
	_, err := tx.InsertRows(`
		INSERT INTO contact_value (contact, property, text, folded, amount, updated_at)`, width, values, `
		ON CONFLICT (contact, property) DO UPDATE
		SET text = excluded.text, folded = excluded.folded, amount = excluded.amount, updated_at = excluded.updated_at`)
	return err
}

func deleteHeld(tx *db.Tx, contact, property int64) error {
	_, err := tx.Exec(`
		DELETE FROM contact_value
		WHERE contact = $1 AND property = $2`, contact, property)
	return err
}

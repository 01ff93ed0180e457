package automation

import (
	"postrider/platform/db"
	"postrider/product/audience"
)

// noteMember notes that a contact is where a trigger watches, and tells whether that is new.
func noteMember(tx *db.Tx, l listener, contact audience.ContactID) (bool, error) {
	n, err := tx.Exec(`
		INSERT INTO automation_member (automation_id, step_key, contact_id)
		VALUES ($1, $2, $3)
		ON CONFLICT (automation_id, step_key, contact_id) DO NOTHING`, l.automation, l.watch, contact)
	return n == 1, err
}

// noteMembers is noteMember for many contacts.
func noteMembers(tx *db.Tx, l listener, contacts []audience.Meant) error {
	values := make([]any, 0, 3*len(contacts))
	for _, c := range contacts {
		values = append(values, l.automation, l.watch, c.ID)
	}
	_, err := tx.InsertRows(`
		INSERT INTO automation_member (automation_id, step_key, contact_id)`, 3, values, `ON CONFLICT (automation_id, step_key, contact_id) DO NOTHING`)
	return err
}

// forgetMember notes that a contact is not where a trigger watches, and tells whether that is new.
func forgetMember(tx *db.Tx, l listener, contact audience.ContactID) (bool, error) {
	n, err := tx.Exec(`
		DELETE FROM automation_member
		WHERE automation_id = $1 AND step_key = $2 AND contact_id = $3`, l.automation, l.watch, contact)
	return n == 1, err
}

// forgetMembers forgets some who were noted under a key, and returns how many.
func forgetMembers(tx *db.Tx, automation ID, watch string, limit int) (int64, error) {
	return tx.Exec(`
		DELETE FROM automation_member
		WHERE automation_id = $1 AND step_key = $2 AND contact_id IN (
			SELECT contact_id FROM automation_member
			WHERE automation_id = $1 AND step_key = $2
			ORDER BY contact_id
			LIMIT $3)`, automation, watch, limit)
}

// lockListener returns nil if the trigger is gone.
func lockListener(tx *db.Tx, automation ID, step string) (*listener, error) {
	found, err := db.All(tx, scanListener, `
		SELECT `+listenerColumns+` FROM automation_trigger
		WHERE automation_id = $1 AND step_key = $2
		{for_update}`, automation, step)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// updateNoted writes the event after which all are noted who are where a trigger watches, which the transaction has locked.
func updateNoted(tx *db.Tx, l listener, noted int64) error {
	_, err := tx.Exec(`
		UPDATE automation_trigger SET noted_at = $1
		WHERE automation_id = $2 AND step_key = $3`, noted, l.automation, l.step)
	return err
}

// holdAutomation keeps the triggers of an automation as they are. It serves workers, which work across workspaces.
func holdAutomation(tx *db.Tx, automation ID) error {
	_, err := db.All(tx, db.Value[string], `
		SELECT id FROM automation
		WHERE id = $1
		{for_update}`, automation)
	return err
}

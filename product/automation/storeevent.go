package automation

import (
	"encoding/json"
	"errors"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
)

const eventColumns = `id, workspace_id, name, description, fields, sample_payload, send_count, last_sent_at, created_at, updated_at`

func scanEvent(s db.Scanner) (e Event, err error) {
	var fields, sample string
	err = s.Scan(&e.ID, &e.Workspace, &e.Name, db.Text(&e.Description), &fields, &sample, &e.Sent, db.Time(&e.SentAt), db.Time(&e.Created), db.Time(&e.Updated))
	if err == nil {
		err = errors.Join(json.Unmarshal([]byte(fields), &e.Fields), json.Unmarshal([]byte(sample), &e.Sample))
	}
	return e, err
}

var eventTable = table[Event]{"automation_event", eventColumns, "created_at", scanEvent,
	func(e Event) api.Cursor { return api.Cursor{ID: e.ID, At: e.Created} }}

// insertEvent tells whether the name was free.
func insertEvent(tx *db.Tx, e Event) (bool, error) {
	n, err := tx.Exec(`
		INSERT INTO automation_event (id, workspace_id, name, search, description, fields, sample_payload, send_count, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, 0, $8, $8)
		ON CONFLICT (workspace_id, name) DO NOTHING`, e.ID, e.Workspace, e.Name, lower(e.Name), db.NullText(e.Description), db.JSON(e.Fields), db.JSON(e.Sample), e.Created)
	return n == 1, err
}

func updateEvent(tx *db.Tx, e Event) error {
	_, err := tx.Exec(`
		UPDATE automation_event SET description = $1, fields = $2, sample_payload = $3, updated_at = $4
		WHERE workspace_id = $5 AND id = $6`, db.NullText(e.Description), db.JSON(e.Fields), db.JSON(e.Sample), e.Updated, e.Workspace, e.ID)
	return err
}

// countSent notes that an event was sent; one that nobody has defined is not counted.
func countSent(tx *db.Tx, ws space.ID, name string) error {
	_, err := tx.Exec(`
		UPDATE automation_event SET send_count = send_count + 1, last_sent_at = $1
		WHERE workspace_id = $2 AND name = $3`, tx.Now(), ws, name)
	return err
}

func removeEvent(tx *db.Tx, ws space.ID, id string) error {
	_, err := tx.Exec(`
		DELETE FROM automation_event
		WHERE workspace_id = $1 AND id = $2`, ws, id)
	return err
}

// findEvent returns an event by its id or its name.
func findEvent(tx *db.Tx, ws space.ID, name string) (Event, error) {
	return eventBy(tx, ws, name, "")
}

func lockEvent(tx *db.Tx, ws space.ID, name string) (Event, error) {
	return eventBy(tx, ws, name, "{for_update}")
}

func eventBy(tx *db.Tx, ws space.ID, name, lock string) (Event, error) {
	column := "name"
	if api.IsID(name) {
		column = "id"
	}
	e, err := db.One(tx, scanEvent, `
		SELECT `+eventColumns+` FROM automation_event
		WHERE workspace_id = $1 AND `+column+` = $2 `+lock, ws, name)
	return e, db.OrMissing(err, ErrEventNotFound)
}

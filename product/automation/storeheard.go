package automation

import (
	"encoding/json"

	"postrider/platform/db"
)

// noteHeard notes which runs an event about a received message began, or let go on.
func noteHeard(tx *db.Tx, h happening, runs ...RunID) error {
	if h.name != mailReceived || len(runs) == 0 {
		return nil
	}
	values := make([]any, 0, 2*len(runs))
	for _, run := range runs {
		values = append(values, h.id, run)
	}
	_, err := tx.InsertRows(`INSERT INTO automation_heard (event_id, run_id)`, 2, values, `ON CONFLICT DO NOTHING`)
	return err
}

// selectHeard returns the runs that were told of something.
func selectHeard(tx *db.Tx, events []string) ([]string, error) {
	return db.All(tx, db.Value[string], `
		SELECT DISTINCT run_id FROM automation_heard
		WHERE event_id {in $1}
		ORDER BY run_id`, events)
}

// deleteHeard removes what is known of runs that are deleted.
func deleteHeard(tx *db.Tx, runs []string) error {
	_, err := tx.Exec(`
		DELETE FROM automation_heard
		WHERE run_id {in $1}`, runs)
	return err
}

// deleteEvents removes what is known of events that are forgotten.
func deleteEvents(tx *db.Tx, events []string) error {
	_, err := tx.Exec(`
		DELETE FROM automation_heard
		WHERE event_id {in $1}`, events)
	return err
}

// updatePayload writes what is left of what a run was told, which the transaction has locked.
func updatePayload(tx *db.Tx, r *Run) error {
	_, err := tx.Exec(`
		UPDATE automation_run SET payload = $1
		WHERE id = $2`, db.JSON(r.Payload), r.ID)
	return err
}

// selectReceived returns what the event said that a run has waited for, if it has come and the run has not gone on yet.
func selectReceived(tx *db.Tx, run RunID) (said json.RawMessage, err error) {
	texts, err := db.All(tx, db.Value[string], `
		SELECT received FROM automation_wait
		WHERE run_id = $1 AND received IS NOT NULL`, run)
	if err == nil && len(texts) > 0 {
		said = json.RawMessage(texts[0])
	}
	return said, err
}

// updateReceived leaves of what a run has waited for that it has come.
func updateReceived(tx *db.Tx, run RunID) error {
	_, err := tx.Exec(`
		UPDATE automation_wait SET received = '{}'
		WHERE run_id = $1`, run)
	return err
}

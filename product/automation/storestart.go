package automation

import (
	"cmp"
	"encoding/json"
	"time"

	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/audience"
	"postrider/product/automation/internal/flow"
)

// listener is a trigger of an enabled automation.
type listener struct {
	automation ID
	workspace  space.ID
	step       string
	event      string
	version    int64
	since      time.Time
	// stops is that of the automation, as whoever hears the event knows it.
	stops int64
	// watch is under which key those stand who are where it watches, and noted the event after which all of them do.
	watch string
	noted int64
	// after is the event that was the newest when it began to listen.
	after int64
}

const listenerColumns = `automation_id, workspace_id, step_key, event_name, version, since, stops, watch, noted_at, since_event`

func scanListener(s db.Scanner) (l listener, err error) {
	err = s.Scan(&l.automation, &l.workspace, &l.step, &l.event, &l.version, db.Time(&l.since), &l.stops, db.Text(&l.watch), &l.noted, &l.after)
	l.watch = cmp.Or(l.watch, l.step)
	return l, err
}

func selectListeners(tx *db.Tx, ws space.ID, event string) ([]listener, error) {
	return db.All(tx, scanListener, `
		SELECT `+listenerColumns+` FROM automation_trigger
		WHERE workspace_id = $1 AND event_name = $2
		ORDER BY automation_id, step_key`, ws, event)
}

// selectSystemListeners serves the follower, which works across workspaces.
func selectSystemListeners(tx *db.Tx, workspaces []space.ID, events []string) ([]listener, error) {
	return db.All(tx, scanListener, `
		SELECT `+listenerColumns+` FROM automation_trigger
		WHERE workspace_id {in $1} AND event_name {in $2}
		ORDER BY automation_id, step_key`, workspaces, events)
}

func listenersOf(tx *db.Tx, automation ID) ([]listener, error) {
	return db.All(tx, scanListener, `
		SELECT `+listenerColumns+` FROM automation_trigger
		WHERE automation_id = $1`, automation)
}

func deleteListeners(tx *db.Tx, automation ID) error {
	_, err := tx.Exec(`
		DELETE FROM automation_trigger
		WHERE automation_id = $1`, automation)
	return err
}

func insertListeners(tx *db.Tx, listeners []listener) error {
	const columns = 10
	var values []any
	for _, l := range listeners {
		values = append(values, l.automation, l.workspace, l.step, l.event, l.version, l.since, l.stops, db.NullText(l.watch), l.noted, l.after)
	}
	if len(values) == 0 {
		return nil
	}
	_, err := tx.InsertRows(`INSERT INTO automation_trigger (`+listenerColumns+`)`, columns, values, ``)
	return err
}

// replaceUses writes what an automation needs.
func replaceUses(tx *db.Tx, a Automation, uses []string) error {
	if _, err := tx.Exec(`
		DELETE FROM automation_use
		WHERE automation_id = $1`, a.ID); err != nil || len(uses) == 0 {
		return err
	}
	var values []any
	for _, use := range uses {
		values = append(values, a.ID, use, a.Workspace)
	}
	_, err := tx.InsertRows(`INSERT INTO automation_use (automation_id, target, workspace_id)`, 3, values, ``)
	return err
}

// enter notes that a contact begins an automation, if it may, and returns how often it did in the current period. It returns 0 if the
// contact may not. The rule is in the statement, so two events at once begin one run.
func enter(tx *db.Tx, r *Run, rule flow.ReEntry, period time.Duration) (int64, error) {
	condition, args := `1 = 1`, []any{r.Automation, r.Contact, r.ID, tx.Now(), tx.Now().Add(-period)}
	switch rule {
	case flow.Once:
		condition = `1 = 0`
	case flow.AfterExit:
		// Who was also sent in by a request, or by a trigger with another rule, can be in several runs, of which run_id is the newest.
		condition = `automation_entry.run_id IS NULL AND NOT EXISTS (
			SELECT 1 FROM automation_run
			WHERE workspace_id = $6 AND contact_id = $2 AND automation_id = $1 AND completed_at IS NULL AND simulated = $7)`
		args = append(args, r.Workspace, false)
	}
	starts, err := db.All(tx, db.Value[int64], `
		INSERT INTO automation_entry (automation_id, contact_id, run_id, counted_from, starts)
		VALUES ($1, $2, $3, $4, 1)
		ON CONFLICT (automation_id, contact_id) DO UPDATE
		SET run_id = excluded.run_id,
			starts = CASE WHEN automation_entry.counted_from < $5 THEN 1 ELSE automation_entry.starts + 1 END,
			counted_from = CASE WHEN automation_entry.counted_from < $5 THEN excluded.counted_from ELSE automation_entry.counted_from END
		WHERE `+condition+`
		RETURNING starts`, args...)
	if err != nil || len(starts) == 0 {
		return 0, err
	}
	return starts[0], nil
}

// leave notes that a contact is through with a run. A run without one leaves nobody.
func leave(tx *db.Tx, r *Run) error {
	if r.Contact == "" {
		return nil
	}
	_, err := tx.Exec(`
		UPDATE automation_entry SET run_id = NULL
		WHERE automation_id = $1 AND contact_id = $2 AND run_id = $3`, r.Automation, r.Contact, r.ID)
	return err
}

func insertWait(tx *db.Tx, r *Run, event string) error {
	_, err := tx.Exec(`
		INSERT INTO automation_wait (run_id, workspace_id, contact_id, event_name)
		VALUES ($1, $2, $3, $4)
		ON CONFLICT (run_id) DO NOTHING`, r.ID, r.Workspace, r.Contact, event)
	return err
}

// selectWaits returns the runs that wait for an event of a contact.
func selectWaits(tx *db.Tx, ws space.ID, contact audience.ContactID, event string) ([]string, error) {
	return db.All(tx, db.Value[string], `
		SELECT run_id FROM automation_wait
		WHERE workspace_id = $1 AND contact_id = $2 AND event_name = $3 AND received IS NULL
		ORDER BY run_id`, ws, contact, event)
}

// receive keeps what the first event says that a run has waited for.
func receive(tx *db.Tx, run RunID, payload map[string]any) error {
	_, err := tx.Exec(`
		UPDATE automation_wait SET received = $1
		WHERE run_id = $2 AND received IS NULL`, db.JSON(payload), run)
	return err
}

// takeWait ends the wait of a run and returns what the event said; ok is false if none came.
func takeWait(tx *db.Tx, run RunID) (said json.RawMessage, ok bool, err error) {
	rows, err := db.All(tx, func(s db.Scanner) (text string, err error) {
		err = s.Scan(db.Text(&text))
		return text, err
	}, `
		DELETE FROM automation_wait
		WHERE run_id = $1
		RETURNING received`, run)
	if err != nil || len(rows) == 0 || rows[0] == "" {
		return nil, false, err
	}
	return json.RawMessage(rows[0]), true, nil
}

func hasReceived(tx *db.Tx, run RunID) (bool, error) {
	n, err := db.One(tx, db.Value[int64], `
		SELECT COUNT(*) FROM automation_wait
		WHERE run_id = $1 AND received IS NOT NULL`, run)
	return n > 0, err
}

func deleteWaits(tx *db.Tx, runs []string) error {
	_, err := tx.Exec(`
		DELETE FROM automation_wait
		WHERE run_id {in $1}`, runs)
	return err
}

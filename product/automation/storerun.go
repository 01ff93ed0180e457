package automation

import (
	"encoding/json"
	"errors"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/audience"
)

const runColumns = `id, workspace_id, automation_id, version, status, test, simulated, contact_id, email, cause, payload, depth, step, pass, tries, taken, resume_at,
	failure, started_at, completed_at, stops`

func scanRun(s db.Scanner) (r Run, err error) {
	var why, payload, failed string
	err = s.Scan(&r.ID, &r.Workspace, &r.Automation, &r.Version, &r.Status, &r.Test, &r.Simulated, db.Text(&r.Contact), db.Text(&r.Email), &why, &payload, &r.Depth,
		db.Text(&r.Step), &r.Pass, &r.Tries, &r.Taken, db.Time(&r.ResumeAt), db.Text(&failed), db.Time(&r.StartedAt), db.Time(&r.CompletedAt), &r.Stops)
	if err == nil {
		err = errors.Join(json.Unmarshal([]byte(why), &r.Cause), decodeExactly([]byte(payload), &r.Payload))
	}
	if err == nil && failed != "" {
		err = json.Unmarshal([]byte(failed), &r.Failure)
	}
	return r, err
}

var runTable = table[Run]{"automation_run", runColumns, "started_at", scanRun,
	func(r Run) api.Cursor { return api.Cursor{ID: string(r.ID), At: r.StartedAt} }}

func insertRuns(tx *db.Tx, runs []*Run) error {
	const columns = 21
	values := make([]any, 0, columns*len(runs))
	for _, r := range runs {
		values = append(values, r.ID, r.Workspace, r.Automation, r.Version, r.Status, r.Test, r.Simulated, db.NullText(r.Contact), db.NullText(r.Email), db.JSON(r.Cause),
			db.JSON(r.Payload), r.Depth, db.NullText(r.Step), r.Pass, r.Tries, r.Taken, r.ResumeAt, nullFailure(r.Failure), r.StartedAt, r.CompletedAt, r.Stops)
	}
	_, err := tx.InsertRows(`INSERT INTO automation_run (`+runColumns+`)`, columns, values, ``)
	return err
}

func nullFailure(f *failure) any {
	if f == nil {
		return nil
	}
	return db.JSON(f)
}

// updateRun writes how far a run is that the transaction has locked. It serves workers, which work across workspaces.
func updateRun(tx *db.Tx, r *Run) error {
	_, err := tx.Exec(`
		UPDATE automation_run SET status = $1, step = $2, pass = $3, tries = $4, taken = $5, resume_at = $6, failure = $7, completed_at = $8
		WHERE id = $9`, r.Status, db.NullText(r.Step), r.Pass, r.Tries, r.Taken, r.ResumeAt, nullFailure(r.Failure), r.CompletedAt, r.ID)
	return err
}

// lockRuns serves workers, which work across workspaces.
func lockRuns(tx *db.Tx, ids []string) (map[RunID]*Run, error) {
	rows, err := db.All(tx, scanRun, `
		SELECT `+runColumns+` FROM automation_run
		WHERE id {in $1}
		ORDER BY id
		{for_update}`, ids)
	found := make(map[RunID]*Run, len(rows))
	for i := range rows {
		found[rows[i].ID] = &rows[i]
	}
	return found, err
}

func findRun(tx *db.Tx, ws space.ID, automation ID, id string) (Run, error) {
	if !api.IsID(id) {
		return Run{}, ErrRunNotFound
	}
	r, err := db.One(tx, scanRun, `
		SELECT `+runColumns+` FROM automation_run
		WHERE workspace_id = $1 AND automation_id = $2 AND id = $3`, ws, automation, id)
	return r, db.OrMissing(err, ErrRunNotFound)
}

// selectActive returns the ids of some runs of an automation that go on.
func selectActive(tx *db.Tx, automation ID, limit int) ([]string, error) {
	return db.All(tx, db.Value[string], `
		SELECT id FROM automation_run
		WHERE automation_id = $1 AND completed_at IS NULL
		ORDER BY id
		LIMIT $2`, automation, limit)
}

// selectStops tells how often all runs of each automation were stopped. It serves workers, which work across workspaces.
func selectStops(tx *db.Tx, automations []ID) (map[ID]int64, error) {
	stops := make(map[ID]int64, len(automations))
	_, err := db.All(tx, func(s db.Scanner) (none struct{}, err error) {
		var id ID
		var n int64
		err = s.Scan(&id, &n)
		stops[id] = n
		return none, err
	}, `
		SELECT id, stops FROM automation
		WHERE id {in $1}`, automations)
	return stops, err
}

// selectRunsOf returns the runs that were about a contact.
func selectRunsOf(tx *db.Tx, ws space.ID, contact audience.ContactID) ([]Run, error) {
	return db.All(tx, scanRun, `
		SELECT `+runColumns+` FROM automation_run
		WHERE workspace_id = $1 AND contact_id = $2
		ORDER BY id`, ws, contact)
}

// clearRuns leaves of runs only that they were, and which way they went.
func clearRuns(tx *db.Tx, ws space.ID, ids []string) error {
	if _, err := tx.Exec(`
		UPDATE automation_step SET output = NULL, failure = NULL
		WHERE run_id {in $1}`, ids); err != nil {
		return err
	}
	_, err := tx.Exec(`
		UPDATE automation_run SET email = NULL, payload = '{}'
		WHERE workspace_id = $1 AND id {in $2}`, ws, ids)
	return err
}

const takenColumns = `run_id, number, step_key, type, status, output, failure, started_at, completed_at`

func scanTaken(s db.Scanner) (t taken, err error) {
	var output string
	err = s.Scan(&t.Run, &t.Number, &t.Key, &t.Type, &t.Status, db.Text(&output), db.Text(&t.Failure), db.Time(&t.StartedAt), db.Time(&t.CompletedAt))
	if output != "" {
		t.Output = json.RawMessage(output)
	}
	return t, err
}

// insertTaken writes steps. A step that waited was written before, and is over now.
func insertTaken(tx *db.Tx, steps []taken) error {
	const columns = 9
	values := make([]any, 0, columns*len(steps))
	for _, t := range steps {
		values = append(values, t.Run, t.Number, t.Key, t.Type, t.Status, db.NullText(string(t.Output)), db.NullText(t.Failure), t.StartedAt, t.CompletedAt)
	}
	_, err := tx.InsertRows(`INSERT INTO automation_step (`+takenColumns+`)`, columns, values, `
		ON CONFLICT (run_id, number) DO UPDATE
		SET status = excluded.status, output = excluded.output, failure = excluded.failure, completed_at = excluded.completed_at`)
	return err
}

// selectTaken returns the steps of a run, oldest first.
func selectTaken(tx *db.Tx, run RunID) ([]taken, error) {
	return db.All(tx, scanTaken, `
		SELECT `+takenColumns+` FROM automation_step
		WHERE run_id = $1
		ORDER BY number`, run)
}

// addTally counts runs of a version that stand in a new way.
func addTally(tx *db.Tx, key tallyKey, runs int64) error {
	_, err := tx.Exec(`
		INSERT INTO automation_tally (automation_id, version, status, runs)
		VALUES ($1, $2, $3, $4)
		ON CONFLICT (automation_id, version, status) DO UPDATE
		SET runs = automation_tally.runs + excluded.runs`, key.automation, key.version, key.status, runs)
	return err
}

// selectTallies returns how the runs of automations stand, by version.
func selectTallies(tx *db.Tx, automations []ID) (map[tallyKey]int64, error) {
	found := map[tallyKey]int64{}
	_, err := db.All(tx, func(s db.Scanner) (none struct{}, err error) {
		var key tallyKey
		var n int64
		err = s.Scan(&key.automation, &key.version, &key.status, &n)
		found[key] = n
		return none, err
	}, `
		SELECT automation_id, version, status, runs FROM automation_tally
		WHERE automation_id {in $1}`, automations)
	return found, err
}

func countEnded(tx *db.Tx, ws space.ID, status RunStatus, since any) (int64, error) {
	return db.One(tx, db.Value[int64], `
		SELECT COUNT(*) FROM automation_run
		WHERE workspace_id = $1 AND completed_at >= $2 AND status = $3 AND test = $4`, ws, since, status, false)
}

func countRunning(tx *db.Tx, ws space.ID) (int64, error) {
	return db.One(tx, db.Value[int64], `
		SELECT CAST(COALESCE(SUM(t.runs), 0) AS BIGINT) FROM automation_tally t
		JOIN automation a ON a.id = t.automation_id
		WHERE a.workspace_id = $1 AND t.status = 'running'`, ws)
}

// selectOld serves the sweep, which works across workspaces.
func selectOld(tx *db.Tx, before time.Time, limit int) ([]string, error) {
	return db.All(tx, db.Value[string], `
		SELECT id FROM automation_run
		WHERE completed_at < $1
		ORDER BY completed_at
		LIMIT $2`, before, limit)
}

func deleteRuns(tx *db.Tx, ids []string) error {
	if _, err := tx.Exec(`
		DELETE FROM automation_step
		WHERE run_id {in $1}`, ids); err != nil {
		return err
	}
	if err := deleteHeard(tx, ids); err != nil {
		return err
	}
	_, err := tx.Exec(`
		DELETE FROM automation_run
		WHERE id {in $1}`, ids)
	return err
}

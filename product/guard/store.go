package guard

import (
	"cmp"
	"slices"

	"postrider/platform/db"
	"postrider/platform/space"
)

// Only selectHeld filters by workspace: the guard watches all of them.

// upsertHeard notes bad news. Whoever is to be judged sooner still is.
func upsertHeard(tx *db.Tx, heard []state) error {
	if len(heard) == 0 {
		return nil
	}
	// In one order, so that two writers never wait for each other.
	slices.SortFunc(heard, func(a, b state) int { return cmp.Compare(a.subject, b.subject) })
	values := make([]any, 0, 6*len(heard))
	for _, h := range heard {
		values = append(values, h.subject, h.workspace, h.step, h.hourly, h.heardAt, h.dueAt)
	}
	_, err := tx.InsertRows(`
		INSERT INTO guard (subject_id, workspace_id, step, hourly, heard_at, due_at)`, 6, values, `
		ON CONFLICT (subject_id) DO UPDATE
		SET heard_at = excluded.heard_at, due_at = CASE WHEN guard.due_at < excluded.due_at THEN guard.due_at ELSE excluded.due_at END`)
	return err
}

func scanState(s db.Scanner) (state, error) {
	var g state
	err := s.Scan(&g.subject, &g.workspace, &g.step, &g.hourly, db.Time(&g.judgedFrom), db.Time(&g.steppedAt), db.Time(&g.heardAt), db.Time(&g.dueAt))
	return g, err
}

// lockDue holds subjects that are to be judged and that no other node holds.
func lockDue(tx *db.Tx, limit int) ([]state, error) {
	return db.All(tx, scanState, `
		SELECT subject_id, workspace_id, step, hourly, judged_from, stepped_at, heard_at, due_at FROM guard
		WHERE due_at <= $1
		ORDER BY due_at
		LIMIT $2
		{skip_locked}`, tx.Now(), limit)
}

// hasDue tells whether somebody is to be judged.
func hasDue(tx *db.Tx) (bool, error) {
	found, err := db.All(tx, db.Value[string], `
		SELECT subject_id FROM guard
		WHERE due_at <= $1
		LIMIT 1`, tx.Now())
	return len(found) > 0, err
}

// updateState writes a subject that the transaction has locked.
func updateState(tx *db.Tx, g state) error {
	_, err := tx.Exec(`
		UPDATE guard SET step = $1, hourly = $2, judged_from = $3, stepped_at = $4, due_at = $5
		WHERE subject_id = $6`, g.step, g.hourly, g.judgedFrom, g.steppedAt, g.dueAt, g.subject)
	return err
}

func deleteState(tx *db.Tx, subject string) error {
	_, err := tx.Exec(`DELETE FROM guard WHERE subject_id = $1`, subject)
	return err
}

// slowed is a subject that is throttled.
type slowed struct {
	subject string
	hourly  int64
}

func selectThrottled(tx *db.Tx, limit int) ([]slowed, error) {
	return db.All(tx, func(s db.Scanner) (slowed, error) {
		var one slowed
		err := s.Scan(&one.subject, &one.hourly)
		return one, err
	}, `
		SELECT subject_id, hourly FROM guard
		WHERE step = 'throttled'
		ORDER BY subject_id
		LIMIT $1`, limit)
}

// selectHeld returns the subjects of a workspace that are held back; without subjects it means all.
func selectHeld(tx *db.Tx, ws space.ID, subjects []string, limit int) ([]state, error) {
	return db.All(tx, scanState, `
		SELECT subject_id, workspace_id, step, hourly, judged_from, stepped_at, heard_at, due_at FROM guard
		WHERE workspace_id = $1 AND step <> 'clear' AND (subject_id {in $2} OR $3 = 0)
		ORDER BY subject_id
		LIMIT $4`, ws, subjects, len(subjects), limit)
}

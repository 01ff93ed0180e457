package webhook

import (
	"encoding/json"
	"errors"
	"time"

	"postrider/platform/db"
	"postrider/platform/space"
)

// insertAttempts writes attempts down. One that is there already was recorded by a process that had lost its lease; it stands.
func insertAttempts(tx *db.Tx, outcomes []outcome) error {
	values := make([]any, 0, 8*len(outcomes))
	for _, o := range outcomes {
		var status any
		if o.attempt.Status != 0 {
			status = o.attempt.Status
		}
		values = append(values, o.delivery.ID, o.attempt.Number, o.delivery.Workspace, o.attempt.StartedAt, o.attempt.Took.Microseconds(), status,
			db.NullText(o.attempt.Error), string(mustMarshal(o.attempt.Details)))
	}
	_, err := tx.InsertRows(`
		INSERT INTO webhook_attempt (delivery_id, number, workspace_id, started_at, duration_us, status_code, error, details)`, 8, values,
		`ON CONFLICT DO NOTHING`)
	return err
}

func selectAttempts(tx *db.Tx, ws space.ID, id DeliveryID) ([]Attempt, error) {
	return db.All(tx, func(s db.Scanner) (Attempt, error) {
		var a Attempt
		var status, micros *int64
		var details string
		err := s.Scan(&a.Number, db.Time(&a.StartedAt), &micros, &status, db.Text(&a.Error), &details)
		a.fill(status, micros)
		return a, errors.Join(err, json.Unmarshal([]byte(details), &a.Details))
	}, `
		SELECT number, started_at, duration_us, status_code, error, details FROM webhook_attempt
		WHERE workspace_id = $1 AND delivery_id = $2
		ORDER BY number`, ws, id)
}

// lastColumns are what a list shows of the last attempt a; all are NULL if there was none.
const lastColumns = `a.started_at, a.duration_us, a.status_code, a.error`

// lastAttempt is what a list shows of an attempt.
type lastAttempt struct {
	startedAt      time.Time
	micros, status *int64
	failure        Failure
}

func lastFields(a *lastAttempt) []any {
	return []any{db.Time(&a.startedAt), &a.micros, &a.status, db.Text(&a.failure)}
}

func (a *Attempt) fill(status, micros *int64) {
	if status != nil {
		a.Status = int(*status)
	}
	if micros != nil {
		a.Took = time.Duration(*micros) * time.Microsecond
	}
}

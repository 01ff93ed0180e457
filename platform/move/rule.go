package move

import (
	"fmt"
	"slices"

	"postrider/platform/db"
)

// A few columns mean something only to the engine, or to the process, that wrote them. They are changed on the way.

// change makes a row of the source what it is to be in the target; number is its place among all rows of the table, from 1.
type change func(source *db.Tx, t db.Table, row []any, number int64) error

const (
	eventTable    = "event"
	followerTable = "event_follower"
	queueTable    = "queue_item"
	endpointTable = "webhook"
)

// ruleOf says in which order a table is read and how its rows are changed; nil leaves them as they are.
func ruleOf(t db.Table) (db.Table, change) {
	switch t.Name {
	case eventTable:
		if t.Key[0] != "rowid" { // on the embedded engine that is the order of followers already
			t.Key = []string{"tx_id", "seq"}
		}
		return t, renumber
	case followerTable:
		return t, follow
	case queueTable:
		return t, free
	case endpointTable:
		return t, forgetSince
	}
	return t, nil
}

// renumber counts events in the order in which followers read them. Transaction ids are the engine's own: as 0, they come before
// all that the new one will give out.
func renumber(_ *db.Tx, t db.Table, row []any, number int64) error {
	return set(t, row, map[string]any{"tx_id": int64(0), "seq": number})
}

// follow puts a follower after the same events, by their new numbers.
func follow(source *db.Tx, t db.Table, row []any, _ int64) error {
	txID, seq := row[slices.Index(t.Columns, "tx_id")], row[slices.Index(t.Columns, "seq")]
	handled, err := db.One(source, db.Value[int64], `
		SELECT COUNT(*) FROM event
		WHERE tx_id < $1 OR (tx_id = $1 AND seq <= $2)`, txID, seq)
	if err != nil {
		return err
	}
	return set(t, row, map[string]any{"tx_id": int64(0), "seq": handled})
}

// free ends all leases: nobody works on either side, and the nodes of the new one may have other names.
func free(_ *db.Tx, t db.Table, row []any, _ int64) error {
	return set(t, row, map[string]any{"lease_owner": nil, "lease_until": nil})
}

// forgetSince lets an endpoint go by the time, as those do that were made before it was kept since which event they are there: by their new
// numbers, events to come may stand before that one.
func forgetSince(_ *db.Tx, t db.Table, row []any, _ int64) error {
	return set(t, row, map[string]any{"since_event": nil})
}

func set(t db.Table, row []any, values map[string]any) error {
	for name, value := range values {
		i := slices.Index(t.Columns, name)
		if i < 0 {
			return fmt.Errorf("%s has no column %s", t.Name, name)
		}
		row[i] = value
	}
	return nil
}

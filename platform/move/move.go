// Package move carries everything an installation keeps from one storage to another: rows between databases of either engine, and
// blobs between files and a bucket. It reads from the database itself which tables there are, and compares both sides at the end.
//
// Nobody else may use either side meanwhile. A move that was interrupted goes on where it stopped; until it has ended, the target
// says so (see Unfinished) and no server starts on it.
//
//	Owns     move_progress, for as long as a move lasts
package move

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"postrider/platform/custody"
	"postrider/platform/db"
)

// Tell hears how far a move has come: what is being done, how much of it, of how much.
type Tell func(what string, done, total int64)

// Summary is what was moved and found to be the same on both sides.
type Summary struct {
	Tables int
	Rows   int64
	Blobs  int64
	Bytes  int64
}

// What can be wrong with a target or a source.
var (
	// ErrForeign means that the target holds something that did not come from this source.
	ErrForeign = errors.New("the target is not empty")
	// ErrInUse means that a server, or another verb, is connected to one of the databases.
	ErrInUse = errors.New("a running postrider is connected to the database; stop every node first")
	// ErrHalf means that the source is itself the target of a move that has not ended.
	ErrHalf = errors.New("the source does not hold everything: a move into it has not ended; finish that one first")
	// ErrDiffers means that source and target are not the same after the copy.
	ErrDiffers = errors.New("source and target differ")
)

// mover is one move of a database.
type mover struct {
	from, to *db.DB
	tell     Tell
	tables   []db.Table
	done     map[string]progress
}

// Database copies all rows of one database into another, which must be empty or hold an earlier part of the same move. source names
// where they come from, without passwords; a move is only gone on with from the same source.
func Database(ctx context.Context, from, to *db.DB, source string, tell Tell) (Summary, error) {
	m := &mover{from: from, to: to, tell: tell}
	if err := m.prepare(ctx, source); err != nil {
		return Summary{}, err
	}
	var sum Summary
	for _, t := range m.tables {
		if err := m.copyTable(ctx, t); err != nil {
			return sum, fmt.Errorf("copy %s: %w", t.Name, err)
		}
	}
	if err := m.carryNumbers(ctx); err != nil {
		return sum, fmt.Errorf("carry numbers over: %w", err)
	}
	for _, t := range m.tables {
		rows, err := m.compare(ctx, t)
		if err != nil {
			return sum, fmt.Errorf("compare %s: %w", t.Name, err)
		}
		sum.Tables, sum.Rows = sum.Tables+1, sum.Rows+rows
	}
	if err := m.alone(ctx); err != nil { // a server that came meanwhile may have changed what we had read
		return sum, err
	}
	return sum, to.Write(ctx, func(tx *db.Tx) error {
		_, err := tx.Exec(`DROP TABLE ` + progressTable)
		return err
	})
}

// prepare brings both schemas up to date and finds out what there is to do.
func (m *mover) prepare(ctx context.Context, source string) error {
	if err := m.alone(ctx); err != nil {
		return err
	}
	if err := m.from.Migrate(ctx); err != nil {
		return fmt.Errorf("bring the source up to date: %w", err)
	}
	half, err := Unfinished(ctx, m.from)
	if err != nil {
		return err
	}
	if half {
		return ErrHalf // both sides would be the same at the end, and the new one would not say what it lacks
	}
	found, err := tablesOf(ctx, m.to)
	if err != nil {
		return err
	}
	if len(found) > 0 && !slices.ContainsFunc(found, func(t db.Table) bool { return t.Name == migrationTable }) {
		return fmt.Errorf("%w: it has tables that are not ours, such as %s", ErrForeign, found[0].Name)
	}
	if err := m.to.Migrate(ctx); err != nil {
		return fmt.Errorf("bring the target up to date: %w", err)
	}
	if m.tables, err = tablesOf(ctx, m.from); err != nil {
		return err
	}
	m.tables = slices.DeleteFunc(m.tables, func(t db.Table) bool {
		return t.Name == migrationTable || t.Name == progressTable || custody.IsAside(t)
	})
	return m.resume(ctx, source)
}

// migrationTable is written by migrating, not by moving.
const migrationTable = "schema_migration"

// alone makes sure that nobody else uses the databases.
func (m *mover) alone(ctx context.Context) error {
	for _, d := range []*db.DB{m.from, m.to} {
		if err := Alone(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

// Alone is ErrInUse if somebody else is connected to a shared database.
func Alone(ctx context.Context, d *db.DB) error {
	return d.Read(ctx, func(tx *db.Tx) error {
		others, err := tx.Others()
		if err == nil && others > 0 {
			err = ErrInUse
		}
		return err
	})
}

func tablesOf(ctx context.Context, d *db.DB) (tables []db.Table, err error) {
	err = d.Read(ctx, func(tx *db.Tx) error {
		tables, err = tx.Tables()
		return err
	})
	return tables, err
}

// Unfinished tells whether the database is the target of a move that has not ended.
func Unfinished(ctx context.Context, d *db.DB) (bool, error) {
	tables, err := tablesOf(ctx, d)
	return slices.ContainsFunc(tables, func(t db.Table) bool { return t.Name == progressTable }), err
}

// progress is how far a table has been copied. place is the key of the last row that was.
type progress struct {
	rows  int64
	place []any
}

const progressTable = "move_progress"

// resume reads how far an earlier run came, or begins if there was none.
func (m *mover) resume(ctx context.Context, source string) error {
	begun, err := Unfinished(ctx, m.to)
	if err != nil {
		return err
	}
	if !begun {
		if err := m.checkEmpty(ctx); err != nil {
			return err
		}
		return m.begin(ctx, source)
	}
	m.done = map[string]progress{}
	return m.to.Read(ctx, func(tx *db.Tx) error {
		type line struct {
			name, place string
			rows        int64
		}
		lines, err := db.All(tx, func(s db.Scanner) (l line, err error) {
			err = s.Scan(&l.name, &l.place, &l.rows)
			return l, err
		}, `SELECT name, place, copied FROM `+progressTable)
		if err != nil {
			return err
		}
		for _, l := range lines {
			if l.name == "" {
				if l.place != source {
					return fmt.Errorf("%w: a move from %s into it has not ended; go on with that one, or empty the target", ErrForeign, l.place)
				}
				continue
			}
			place, err := readPlace(l.place)
			if err != nil {
				return fmt.Errorf("how far %s was copied: %w", l.name, err)
			}
			m.done[l.name] = progress{rows: l.rows, place: place}
		}
		return nil
	})
}

func (m *mover) checkEmpty(ctx context.Context) error {
	return m.to.Read(ctx, func(tx *db.Tx) error {
		for _, t := range m.tables {
			rows, err := db.One(tx, db.Value[int64], `SELECT COUNT(*) FROM (SELECT 1 FROM `+t.Name+` LIMIT 1) AS first_row`)
			if err != nil {
				return err
			}
			if rows > 0 {
				return fmt.Errorf("%w: %s has rows. Give an empty database, or remove what is in this one yourself", ErrForeign, t.Name)
			}
		}
		return nil
	})
}

// begin marks the target. The row without a name says where the rows come from.
func (m *mover) begin(ctx context.Context, source string) error {
	m.done = map[string]progress{}
	return m.to.Write(ctx, func(tx *db.Tx) error {
		if _, err := tx.Exec(`CREATE TABLE ` + progressTable + ` (name TEXT PRIMARY KEY, place TEXT NOT NULL, copied BIGINT NOT NULL)`); err != nil {
			return err
		}
		_, err := tx.Exec(`INSERT INTO `+progressTable+` (name, place, copied) VALUES ('', $1, 0)`, source)
		return err
	})
}

func (m *mover) note(tx *db.Tx, table string, p progress) error {
	place, err := writePlace(p.place)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`
		INSERT INTO `+progressTable+` (name, place, copied) VALUES ($1, $2, $3)
		ON CONFLICT (name) DO UPDATE SET place = excluded.place, copied = excluded.copied`, table, place, p.rows)
	return err
}

// part is one column of a place, with its type: JSON alone would make numbers of all kinds one.
type part struct {
	Number *int64  `json:"n,omitempty"`
	Text   *string `json:"t,omitempty"`
	Bytes  []byte  `json:"b,omitempty"`
}

func writePlace(place []any) (string, error) {
	parts := make([]part, len(place))
	for i, value := range place {
		switch v := value.(type) {
		case int64:
			parts[i].Number = &v
		case string:
			parts[i].Text = &v
		case []byte:
			parts[i].Bytes = v
		default:
			return "", fmt.Errorf("a key of type %T", value)
		}
	}
	raw, err := json.Marshal(parts)
	return string(raw), err
}

func readPlace(text string) ([]any, error) {
	var parts []part
	if err := json.Unmarshal([]byte(text), &parts); err != nil {
		return nil, err
	}
	place := make([]any, len(parts))
	for i, p := range parts {
		switch {
		case p.Number != nil:
			place[i] = *p.Number
		case p.Text != nil:
			place[i] = *p.Text
		default:
			place[i] = p.Bytes
		}
	}
	return place, nil
}

package move

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"postrider/platform/db"
)

// pageRows is how many rows are carried at once: few transactions, and little memory even if each holds a message.
const pageRows = 500

// page is some rows of a table that follow each other, and the key of the last.
type page struct {
	rows  [][]any
	docs  []db.Document
	place []any
}

func (p page) size() int { return len(p.rows) + len(p.docs) }

// read returns the rows after a place. changed makes them what they are to be in the target.
func read(ctx context.Context, d *db.DB, t db.Table, after progress, changed change) (p page, err error) {
	err = d.Read(ctx, func(tx *db.Tx) error {
		if t.WordIndex {
			p.docs, p.place, err = tx.ReadWords(t, after.place, pageRows)
			return err
		}
		p, err = readRows(tx, t, after.place)
		if err != nil || changed == nil {
			return err
		}
		for i, row := range p.rows {
			if err := changed(tx, t, row, after.rows+int64(i)+1); err != nil {
				return err
			}
		}
		return nil
	})
	return p, err
}

func readRows(tx *db.Tx, t db.Table, after []any) (page, error) {
	key := strings.Join(t.Key, ", ")
	query := `SELECT ` + key + `, ` + strings.Join(t.Columns, ", ") + ` FROM ` + t.Name
	if after != nil {
		query += ` WHERE (` + key + `) > (` + marks(len(t.Key)) + `)`
	}
	query += fmt.Sprintf(` ORDER BY %s LIMIT %d`, key, pageRows)
	width := len(t.Key) + len(t.Columns)
	rows, err := db.All(tx, func(s db.Scanner) ([]any, error) {
		values, into := make([]any, width), make([]any, width)
		for i := range values {
			into[i] = &values[i]
		}
		err := s.Scan(into...)
		return values, err
	}, query, slices.Clone(after)...)
	if err != nil || len(rows) == 0 {
		return page{place: after}, err
	}
	p := page{place: rows[len(rows)-1][:len(t.Key)]}
	for _, row := range rows {
		row = row[len(t.Key):]
		for _, name := range t.Truths {
			if n, ok := row[slices.Index(t.Columns, name)].(int64); ok {
				row[slices.Index(t.Columns, name)] = n != 0
			}
		}
		p.rows = append(p.rows, row)
	}
	return p, nil
}

func marks(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("$%d", i+1)
	}
	return strings.Join(all, ", ")
}

// copyTable copies what an earlier run has not. A page and how far it reaches are one transaction.
func (m *mover) copyTable(ctx context.Context, t db.Table) error {
	t, changed := ruleOf(t)
	total, err := count(ctx, m.from, t.Name)
	if err != nil {
		return err
	}
	at := m.done[t.Name]
	for {
		m.tell(t.Name, at.rows, total)
		p, err := read(ctx, m.from, t, at, changed)
		if err != nil || p.size() == 0 {
			return err
		}
		next := progress{rows: at.rows + int64(p.size()), place: p.place}
		err = m.to.Write(ctx, func(tx *db.Tx) error {
			if err := write(tx, t, p); err != nil {
				return err
			}
			return m.note(tx, t.Name, next)
		})
		if err != nil {
			return err
		}
		at = next
		m.done[t.Name] = at
	}
}

func write(tx *db.Tx, t db.Table, p page) error {
	if t.WordIndex {
		return tx.RestoreWords(t.Name, p.docs...)
	}
	values := make([]any, 0, len(p.rows)*len(t.Columns))
	for _, row := range p.rows {
		values = append(values, row...)
	}
	_, err := tx.InsertRows(`INSERT INTO `+t.Name+` (`+strings.Join(t.Columns, ", ")+`)`, len(t.Columns), values, ``)
	return err
}

func count(ctx context.Context, d *db.DB, table string) (rows int64, err error) {
	err = d.Read(ctx, func(tx *db.Tx) error {
		rows, err = db.One(tx, db.Value[int64], `SELECT COUNT(*) FROM `+table)
		return err
	})
	return rows, err
}

// carryNumbers lets numbered columns go on where they were: a number that was given out and deleted must not come again.
func (m *mover) carryNumbers(ctx context.Context) error {
	for _, t := range m.tables {
		if t.Numbered == "" {
			continue
		}
		var last int64
		if err := m.from.Read(ctx, func(tx *db.Tx) (err error) {
			last, err = tx.LastNumber(t)
			return err
		}); err != nil {
			return err
		}
		if t.Name == eventTable {
			last = m.done[t.Name].rows // they were numbered anew
		}
		if err := m.to.Write(ctx, func(tx *db.Tx) error { return tx.SetLastNumber(t, last) }); err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
	}
	return nil
}

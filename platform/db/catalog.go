package db

import (
	"errors"
	"strings"
)

// Table is a table as the engine itself describes it.
type Table struct {
	Name    string
	Columns []string
	// Key are the columns by which all rows can be read in order, page by page.
	Key []string
	// Truths are the columns of truth values: the embedded engine keeps them as numbers.
	Truths []string
	// Numbered is the column that the engine counts up by itself; empty if there is none.
	Numbered string
	// WordIndex tells that it is made by {word_index}: its rows are read with ReadWords and written with RestoreWords.
	WordIndex bool
}

// catalog is how an engine is asked what it holds.
type catalog struct {
	// tables returns a row for every column: table, column, place in the primary key or 0, whether it is counted up, whether it is a
	// truth value, whether the table is a word index.
	tables string
	// key replaces the primary key, if the engine has a faster way through a table.
	key []string
	// last returns the last number that was given out in TABLE.COLUMN, or nothing.
	last string
	// setLast makes $1 that number.
	setLast []string
	// others counts the connections of other programs of ours; empty if a lock on the directory tells.
	others string
	// unhurried lets the statements of a transaction take as long as they need; empty if nothing bounds them.
	unhurried string
	// next returns a transaction id above all that have been given out; empty if there are none.
	next string
	// clock returns what time the server has, in microseconds since 1970; empty if the engine has no clock but ours.
	clock string
}

var sqliteCatalog = catalog{
	tables: `
		SELECT t.name, c.name, c.pk, CASE WHEN c.pk > 0 AND s.sql LIKE '%AUTOINCREMENT%' THEN 1 ELSE 0 END,
			CASE WHEN c.type = 'BOOLEAN' THEN 1 ELSE 0 END, CASE WHEN t.type = 'virtual' THEN 1 ELSE 0 END
		FROM pragma_table_list AS t
		JOIN sqlite_schema AS s ON s.name = t.name
		JOIN pragma_table_info(t.name) AS c
		WHERE t.schema = 'main' AND t.type IN ('table', 'virtual') AND t.name NOT LIKE 'sqlite~_%' ESCAPE '~'
		ORDER BY t.name, c.cid`,
	key:  []string{"rowid"},
	last: `SELECT seq FROM sqlite_sequence WHERE name = 'TABLE'`,
	setLast: []string{
		`DELETE FROM sqlite_sequence WHERE name = 'TABLE'`,
		`INSERT INTO sqlite_sequence (name, seq) VALUES ('TABLE', $1)`,
	},
}

var postgresCatalog = catalog{
	tables: `
		SELECT c.relname, a.attname, COALESCE(array_position(i.indkey::int2[], a.attnum), -1) + 1, CASE WHEN a.attidentity <> '' THEN 1 ELSE 0 END,
			CASE WHEN a.atttypid = 'bool'::regtype THEN 1 ELSE 0 END,
			CASE WHEN EXISTS (SELECT 1 FROM pg_attribute AS w WHERE w.attrelid = c.oid AND w.atttypid = 'tsvector'::regtype) THEN 1 ELSE 0 END
		FROM pg_class AS c
		JOIN pg_namespace AS n ON n.oid = c.relnamespace
		JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
		LEFT JOIN pg_index AS i ON i.indrelid = c.oid AND i.indisprimary
		WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') AND NOT c.relispartition
		ORDER BY c.relname COLLATE "C", a.attnum`,
	last: `
		SELECT last_value FROM pg_sequences
		WHERE last_value IS NOT NULL AND (quote_ident(schemaname) || '.' || quote_ident(sequencename)) = pg_get_serial_sequence('TABLE', 'COLUMN')`,
	setLast: []string{`SELECT setval(pg_get_serial_sequence('TABLE', 'COLUMN'), $1)`},
	others: `
		SELECT COUNT(*) FROM pg_stat_activity
		WHERE datname = current_database() AND application_name = '` + applicationName + `' AND pid <> pg_backend_pid()`,
	unhurried: `SET LOCAL statement_timeout = 0`,
	next:      `SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint`,
	clock:     `SELECT (EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::bigint`,
}

// Tables describes every table of the database, in the order of their names.
func (tx *Tx) Tables() ([]Table, error) {
	type column struct {
		table, name               string
		key, counted, truth, word int64
	}
	columns, err := All(tx, func(s Scanner) (column, error) {
		var c column
		err := s.Scan(&c.table, &c.name, &c.key, &c.counted, &c.truth, &c.word)
		return c, err
	}, tx.db.dialect.catalog.tables)
	if err != nil {
		return nil, err
	}
	var tables []Table
	keys := map[int64]string{}
	for i, c := range columns {
		if i == 0 || columns[i-1].table != c.table {
			tables, keys = append(tables, Table{Name: c.table, WordIndex: c.word == 1}), map[int64]string{}
		}
		t := &tables[len(tables)-1]
		t.Columns = append(t.Columns, c.name)
		if c.key > 0 {
			keys[c.key] = c.name
		}
		if c.truth == 1 {
			t.Truths = append(t.Truths, c.name)
		}
		if c.counted == 1 {
			t.Numbered = c.name
		}
		if i == len(columns)-1 || columns[i+1].table != c.table {
			for n := int64(1); keys[n] != ""; n++ {
				t.Key = append(t.Key, keys[n])
			}
			if tx.db.dialect.catalog.key != nil {
				t.Key = tx.db.dialect.catalog.key
			}
		}
	}
	return tables, nil
}

// LastNumber returns the last number that was given out in the numbered column of the table, 0 if none was.
func (tx *Tx) LastNumber(t Table) (int64, error) {
	last, err := One(tx, Value[int64], t.in(tx.db.dialect.catalog.last))
	if errors.Is(err, ErrNotFound) {
		return 0, nil
	}
	return last, err
}

// SetLastNumber makes the next number of the table's numbered column the one after last.
func (tx *Tx) SetLastNumber(t Table, last int64) error {
	if last == 0 {
		return nil
	}
	for i, statement := range tx.db.dialect.catalog.setLast {
		args := []any{last}
		if i < len(tx.db.dialect.catalog.setLast)-1 {
			args = nil
		}
		if _, err := tx.Exec(t.in(statement), args...); err != nil {
			return err
		}
	}
	return nil
}

func (t Table) in(text string) string {
	return strings.NewReplacer("TABLE", t.Name, "COLUMN", t.Numbered).Replace(text)
}

// Others counts the connections that running servers, or other verbs, hold to the same PostgreSQL database. It is 0 for the embedded
// engine, where a lock on the directory tells.
func (tx *Tx) Others() (int64, error) {
	if tx.db.dialect.catalog.others == "" {
		return 0, nil
	}
	return One(tx, Value[int64], tx.db.dialect.catalog.others)
}

// NextTransaction returns a transaction id that is above all that this server has given out; ok is false on the embedded engine,
// which gives out none.
func (tx *Tx) NextTransaction() (id int64, ok bool, err error) {
	if tx.db.dialect.catalog.next == "" {
		return 0, false, nil
	}
	id, err = One(tx, Value[int64], tx.db.dialect.catalog.next)
	return id, true, err
}

// Unhurried lets the statements that follow in the transaction take as long as they need: those that touch every row of a table.
func (tx *Tx) Unhurried() error {
	if tx.db.dialect.catalog.unhurried == "" {
		return nil
	}
	_, err := tx.Exec(tx.db.dialect.catalog.unhurried)
	return err
}

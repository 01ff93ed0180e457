package db

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Tx is a running transaction. It belongs to the function it was given to.
type Tx struct {
	ctx        context.Context
	db         *DB
	statements statements
	now        time.Time
	writable   bool
	wakes      []string
}

func (d *DB) newTx(ctx context.Context, s statements) *Tx {
	return &Tx{ctx: ctx, db: d, statements: s, now: d.clock.Now().Truncate(time.Microsecond)}
}

func (d *DB) newWritableTx(ctx context.Context, s statements) *Tx {
	tx := d.newTx(ctx, s)
	tx.writable = true
	return tx
}

// statements runs SQL inside a transaction of one engine.
type statements interface {
	exec(ctx context.Context, query string, args []any) (sql.Result, error)
	execEach(ctx context.Context, query string, rows [][]any) error
	query(ctx context.Context, query string, args []any) (*sql.Rows, error)
	savepoint(run func() error) error
}

// Scanner is one row to read.
type Scanner interface{ Scan(into ...any) error }

// Now returns the moment of the transaction, in whole microseconds, as it will be stored.
func (tx *Tx) Now() time.Time { return tx.now }

// Context returns the context the transaction runs in.
func (tx *Tx) Context() context.Context { return tx.ctx }

// Exec runs a statement and returns how many rows it changed.
func (tx *Tx) Exec(query string, args ...any) (int64, error) {
	if !tx.writable {
		panic("db: write in a read transaction: " + query)
	}
	tx.tell(query, args)
	result, err := tx.statements.exec(tx.ctx, tx.db.dialect.translate(query), tx.db.dialect.arguments(args))
	if err != nil {
		return 0, classify(err, query)
	}
	return result.RowsAffected()
}

// ExecEach runs a statement once for every row of arguments, in their order. However many there are, a server is asked once: what a batch
// costs does not grow with the distance to it.
func (tx *Tx) ExecEach(query string, rows [][]any) error {
	if !tx.writable {
		panic("db: write in a read transaction: " + query)
	}
	if len(rows) == 0 {
		return nil
	}
	for i, args := range rows {
		tx.tell(query, args)
		rows[i] = tx.db.dialect.arguments(args)
	}
	return classify(tx.statements.execEach(tx.ctx, tx.db.dialect.translate(query), rows), query)
}

// Wake tells everyone who subscribed to topic, once the transaction has committed, that there is something new.
func (tx *Tx) Wake(topic string) { tx.wakes = append(tx.wakes, topic) }

// One returns the row that query finds, or ErrNotFound.
func One[T any](tx *Tx, scan func(Scanner) (T, error), query string, args ...any) (T, error) {
	rows, err := All(tx, scan, query, args...)
	if err == nil && len(rows) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		var none T
		return none, err
	}
	return rows[0], nil
}

// All returns every row that query finds, in its order.
func All[T any](tx *Tx, scan func(Scanner) (T, error), query string, args ...any) ([]T, error) {
	tx.tell(query, args)
	rows, err := tx.statements.query(tx.ctx, tx.db.dialect.translate(query), tx.db.dialect.arguments(args))
	if err != nil {
		return nil, classify(err, query)
	}
	defer rows.Close()
	var found []T
	for rows.Next() {
		item, err := scan(rows)
		if err != nil {
			return nil, fmt.Errorf("scan row of %q: %w", firstLine(query), err)
		}
		found = append(found, item)
	}
	return found, classify(rows.Err(), query)
}

// Value scans a row of a single column.
func Value[T any](s Scanner) (T, error) {
	var v T
	err := s.Scan(&v)
	return v, err
}

// scrub makes text storable on both engines: PostgreSQL refuses NUL and invalid UTF-8, SQLite would keep them.
func scrub(s string) string {
	if utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// insertChunks are the row counts a multi-row INSERT is cut into, so that few distinct statements are ever prepared. Up to twenty rows, which
// is what comes together most often, take at most two statements: each begins and ends a savepoint of its own.
var insertChunks = []int{64, 32, 16, 12, 8, 6, 5, 4, 3, 2, 1}

// InsertRows inserts many rows with few statements. head is the text up to VALUES, tail what follows the rows (an ON CONFLICT
// clause or nothing), columns the number of values of each row.
func (tx *Tx) InsertRows(head string, columns int, values []any, tail string) (int64, error) {
	if len(values)%columns != 0 {
		panic(fmt.Sprintf("db: %d values do not fill rows of %d", len(values), columns))
	}
	var inserted int64
	for len(values) > 0 {
		for _, chunk := range insertChunks {
			if n := chunk * columns; n <= len(values) {
				count, err := tx.Exec(insertText(insertShape{head, tail, chunk, columns}), values[:n]...)
				if err != nil {
					return inserted, err
				}
				inserted += count
				values = values[n:]
				break
			}
		}
	}
	return inserted, nil
}

// insertShape is what the text of a multi-row INSERT depends on.
type insertShape struct {
	head, tail    string
	rows, columns int
}

// insertTexts are the texts made so far: the shapes are few and the texts are long.
var insertTexts sync.Map // insertShape -> string

func insertText(shape insertShape) string {
	if text, ok := insertTexts.Load(shape); ok {
		return text.(string)
	}
	text := shape.head + " VALUES " + tuples(shape.rows, shape.columns) + " " + shape.tail
	insertTexts.Store(shape, text)
	return text
}

func tuples(rows, columns int) string {
	var b strings.Builder
	for i := range rows * columns {
		switch {
		case i == 0:
			b.WriteByte('(')
		case i%columns == 0:
			b.WriteString("), (")
		default:
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "$%d", i+1)
	}
	b.WriteByte(')')
	return b.String()
}

func firstLine(query string) string {
	query = strings.TrimSpace(query)
	line, _, _ := strings.Cut(query, "\n")
	return line[:min(len(line), 100)]
}

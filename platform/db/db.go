// Package db gives transactions on two engines, and is the only place that knows there are two.
//
// The embedded engine (SQLite) serves one machine, PostgreSQL many. Everything above writes one SQL text in the subset that
// docs/sql.md describes. Nothing else in the program begins or commits a transaction.
//
//	Owns     schema_migration, and the migrations of every table
package db

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"postrider/world"
)

// DB is an open database.
type DB struct {
	engine  engine
	clock   world.Clock
	log     *slog.Logger
	tracer  world.Tracer // nil if nobody follows work
	waker   *waker
	dialect dialect

	// watcher hears of statements; nil if nobody does.
	watcher atomic.Pointer[func(query string, args []any)]

	rehearse bool
	writes   atomic.Int64
	commits  atomic.Int64
	waited   atomic.Int64 // nanoseconds
}

// Config says which database to open and how.
type Config struct {
	// URL is postgres://… for PostgreSQL, or the path of a file for the embedded engine.
	URL string
	// Rehearse runs every write function twice, the first time for nothing, so that a hidden side effect shows in tests.
	Rehearse bool
	// Fault is asked before every commit of the embedded engine; an error is the commit's. Simulated disks fail with it.
	Fault func() error
	// Mover tells that the whole database is copied, from or to: such a connection is not counted by Others.
	Mover bool
}

// engine is what differs between SQLite and PostgreSQL.
type engine interface {
	read(ctx context.Context, run func(statements) error) error
	glance(ctx context.Context, run func(statements) error) error
	write(ctx context.Context, isolation isolation, run func(statements) error) error
	migrate(ctx context.Context, apply func(statements) error) error
	ping(ctx context.Context) error
	close() error
}

type isolation int

const (
	ordinary isolation = iota
	serializable
)

// Open opens the database that config names and brings its wake-ups to life. It does not change the schema: see Migrate.
func Open(ctx context.Context, w world.World, config Config) (*DB, error) {
	d := &DB{clock: w.Clock, log: w.Log, tracer: w.Tracer, rehearse: config.Rehearse}
	var err error
	if strings.HasPrefix(config.URL, "postgres://") || strings.HasPrefix(config.URL, "postgresql://") {
		d.dialect = postgresDialect
		name := applicationName
		if config.Mover {
			name = moverName
		}
		d.engine, d.waker, err = openPostgres(ctx, config.URL, name, w.Log)
	} else {
		d.dialect = sqliteDialect
		d.engine, err = openSQLite(ctx, config, &d.commits)
		d.waker = newWaker()
	}
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	return d, nil
}

// Close gives up every connection. Writes that wait are refused.
func (d *DB) Close() error {
	d.waker.close()
	return d.engine.close()
}

// Read runs fn in a transaction that sees one moment of the database and changes nothing.
func (d *DB) Read(ctx context.Context, fn func(*Tx) error) error {
	return d.readBy(ctx, d.engine.read, fn)
}

// Glance is Read without a transaction: every statement of fn sees a moment of its own. What takes one statement, or looks at rows that
// never change, asks a server once a statement and not twice more.
func (d *DB) Glance(ctx context.Context, fn func(*Tx) error) error {
	return d.readBy(ctx, d.engine.glance, fn)
}

func (d *DB) readBy(ctx context.Context, read func(context.Context, func(statements) error) error, fn func(*Tx) error) error {
	ctx, end := d.span(ctx, "db read")
	err := read(ctx, func(s statements) error {
		return fn(d.newTx(ctx, s))
	})
	end(err)
	return err
}

// Write runs fn in a transaction and returns nil only once its changes would survive a crash. fn must be pure but for the
// transaction: after a conflict it runs again.
func (d *DB) Write(ctx context.Context, fn func(*Tx) error) error {
	return d.write(ctx, ordinary, fn)
}

// WriteSerializable is Write for the few rules that no constraint and no conditional update can hold.
func (d *DB) WriteSerializable(ctx context.Context, fn func(*Tx) error) error {
	return d.write(ctx, serializable, fn)
}

// maxRetries bounds how often a write that lost a conflict runs again; the conflicts we have are short.
const maxRetries = 20

func (d *DB) write(ctx context.Context, level isolation, fn func(*Tx) error) error {
	ctx, end := d.span(ctx, "db write")
	var err error
	for range maxRetries {
		if err = d.writeOnce(ctx, level, fn); !errors.Is(err, ErrConflict) {
			end(err)
			return err
		}
	}
	end(err)
	return errors.Join(ErrUnavailable, err)
}

func (d *DB) writeOnce(ctx context.Context, level isolation, fn func(*Tx) error) error {
	var wakes []string
	asked := d.clock.Now()
	err := d.engine.write(ctx, level, func(s statements) error {
		d.waited.Add(int64(d.clock.Now().Sub(asked)))
		if d.rehearse {
			if err := d.rehearseOnce(ctx, s, fn); err != nil {
				return err
			}
		}
		tx := d.newWritableTx(ctx, s)
		err := fn(tx)
		wakes = tx.wakes
		return err
	})
	if err != nil {
		return err
	}
	d.writes.Add(1)
	for _, topic := range wakes {
		d.waker.wake(topic)
	}
	return nil
}

var errRehearsed = errors.New("rehearsed")

// rehearseOnce runs fn and takes its changes back. An error of fn is reported by the real run.
func (d *DB) rehearseOnce(ctx context.Context, s statements, fn func(*Tx) error) error {
	err := s.savepoint(func() error {
		if err := fn(d.newWritableTx(ctx, s)); err != nil {
			return errors.Join(errRehearsed, err)
		}
		return errRehearsed
	})
	if errors.Is(err, errRehearsed) {
		return nil
	}
	return err
}

// Shared tells whether other processes may use the database at the same time.
func (d *DB) Shared() bool { return d.dialect.catalog.others != "" }

// Ping tells whether the database answers.
func (d *DB) Ping(ctx context.Context) error { return d.engine.ping(ctx) }

// Stats counts what was written. Writes divided by Commits is how many writes shared one fsync on the embedded engine;
// PostgreSQL groups commits out of sight, so Commits stays zero there.
type Stats struct {
	Writes  int64
	Commits int64
	// WriteWait is how long writes have waited for their turn, all together.
	WriteWait time.Duration
}

// Stats returns the counts since the database was opened.
func (d *DB) Stats() Stats {
	return Stats{Writes: d.writes.Load(), Commits: d.commits.Load(), WriteWait: time.Duration(d.waited.Load())}
}

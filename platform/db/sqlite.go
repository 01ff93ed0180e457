package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
)

const (
	// maxGroup bounds how many writes share one commit, so that the first of them does not wait for ever.
	maxGroup = 512
	// maxWaiting bounds the writes that wait for the writer; past it callers wait to be let in.
	maxWaiting = 4096
	// busyMillis is how long we wait for another process (an operator's command) to finish its write.
	busyMillis = 10_000
)

// sqliteEngine is the embedded database: many readers, and one writer that commits whatever waits in one go.
type sqliteEngine struct {
	handle  *sql.DB
	readers chan *sqliteConn
	waiting chan *waitingWrite
	commits *atomic.Int64
	fault   func() error
	log     *checkpointer

	closing sync.Once
	working sync.WaitGroup
	closed  chan struct{} // closed when no new write is taken
	done    chan struct{} // closed when the writer has ended
}

type waitingWrite struct {
	ctx  context.Context
	run  func(statements) error
	done chan error // buffered; receives once, after the commit or the failure

	result   error
	panicked any
}

func openSQLite(ctx context.Context, config Config, commits *atomic.Int64) (*sqliteEngine, error) {
	path := config.URL
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	handle, err := sql.Open("sqlite", sqliteAddress(path))
	if err != nil {
		file.Close()
		return nil, err
	}
	e := &sqliteEngine{
		handle:  handle,
		readers: make(chan *sqliteConn, max(4, 2*runtime.GOMAXPROCS(0))),
		waiting: make(chan *waitingWrite, maxWaiting),
		commits: commits,
		fault:   config.Fault,
		closed:  make(chan struct{}),
		done:    make(chan struct{}),
	}
	e.log = &checkpointer{connect: e.connect, file: file, news: make(chan struct{}, 1)}
	writer, err := e.connect(ctx, writerCache)
	if err != nil {
		return nil, errors.Join(err, e.release())
	}
	for range cap(e.readers) {
		reader, err := e.connect(ctx, readerCache)
		if err != nil {
			return nil, errors.Join(err, e.release())
		}
		e.readers <- reader
	}
	e.working.Go(func() { e.writeLoop(writer) })
	e.working.Go(func() { e.log.run(e.closed) })
	return e, nil
}

// sqliteAddress asks for the write-ahead log with an fsync at every commit: an answer given after a commit survives a power cut.
func sqliteAddress(path string) string {
	options := url.Values{"_pragma": {
		fmt.Sprintf("busy_timeout(%d)", busyMillis), "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)",
		"temp_store(MEMORY)", fmt.Sprintf("wal_autocheckpoint(%d)", foldByWriter), "journal_size_limit(67108864)",
	}}
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + options.Encode()
}

// writerCache and readerCache are how much of the database each connection keeps, in kilobytes. Readers are several, and what they
// miss the operating system has.
const (
	writerCache = 32 << 10
	readerCache = 8 << 10
)

func (e *sqliteEngine) connect(ctx context.Context, cache int) (*sqliteConn, error) {
	conn, err := e.handle.Conn(ctx)
	if err != nil {
		return nil, classOf(err)
	}
	if _, err := conn.ExecContext(ctx, fmt.Sprintf("PRAGMA cache_size = -%d", cache)); err != nil {
		conn.Close()
		return nil, classOf(err)
	}
	return &sqliteConn{conn: conn, prepared: map[string]*sql.Stmt{}}, nil
}

func (e *sqliteEngine) read(ctx context.Context, run func(statements) error) error {
	var reader *sqliteConn
	select {
	case reader = <-e.readers:
	case <-e.closed:
		return ErrUnavailable
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { e.readers <- reader }()
	if err := reader.command("BEGIN"); err != nil {
		return err
	}
	defer reader.command("ROLLBACK")
	return run(reader)
}

// glance is a read: to begin one asks nobody.
func (e *sqliteEngine) glance(ctx context.Context, run func(statements) error) error {
	return e.read(ctx, run)
}

// write hands run to the writer. Isolation makes no difference: there is only one writer.
func (e *sqliteEngine) write(ctx context.Context, _ isolation, run func(statements) error) error {
	w := &waitingWrite{ctx: ctx, run: run, done: make(chan error, 1)}
	select {
	case <-e.closed:
		return ErrUnavailable
	default:
	}
	select {
	case e.waiting <- w:
	case <-e.closed:
		return ErrUnavailable
	case <-ctx.Done():
		return ctx.Err()
	}
	// Once handed over, the outcome is awaited even if the caller has gone: an answer must never guess.
	var err error
	select {
	case err = <-w.done:
	case <-e.done:
		select {
		case err = <-w.done:
		default:
			return ErrUnavailable
		}
	}
	if w.panicked != nil {
		panic(w.panicked)
	}
	return err
}

func (e *sqliteEngine) writeLoop(conn *sqliteConn) {
	defer close(e.done)
	defer conn.close()
	group := make([]*waitingWrite, 0, maxGroup)
	for {
		select {
		case first := <-e.waiting:
			group = append(group[:0], first)
		case <-e.closed:
			return
		}
		for len(group) < maxGroup {
			select {
			case next := <-e.waiting:
				group = append(group, next)
				continue
			default:
			}
			break
		}
		e.commitGroup(conn, group)
	}
}

// commitGroup runs every write of the group in a savepoint of its own, unless it is the only one, and commits once. A write that fails is
// taken back alone; if the commit fails, all have failed.
func (e *sqliteEngine) commitGroup(conn *sqliteConn, group []*waitingWrite) {
	answer := func(groupErr error) {
		for _, w := range group {
			if groupErr != nil && w.result == nil {
				w.result = errors.Join(ErrUnavailable, groupErr)
			}
			w.done <- w.result
		}
	}
	if err := conn.command("BEGIN IMMEDIATE"); err != nil {
		answer(err)
		return
	}
	succeeded := 0
	for _, w := range group {
		if w.result = w.ctx.Err(); w.result != nil {
			continue
		}
		if len(group) == 1 { // nobody else's changes have to be kept: it is taken back with the transaction
			w.result = w.runSafely(conn)
		} else {
			w.result = conn.savepoint(func() error { return w.runSafely(conn) })
		}
		if errors.Is(w.result, errTransactionLost) {
			conn.command("ROLLBACK")
			answer(w.result)
			return
		}
		if w.result == nil {
			succeeded++
		}
	}
	if succeeded == 0 {
		conn.command("ROLLBACK")
		answer(nil)
		return
	}
	if err := e.commit(conn); err != nil {
		conn.command("ROLLBACK")
		answer(err)
		return
	}
	e.commits.Add(1)
	e.log.committed()
	answer(nil)
}

func (e *sqliteEngine) commit(conn *sqliteConn) error {
	if e.fault != nil {
		if err := e.fault(); err != nil {
			return err
		}
	}
	return conn.command("COMMIT")
}

var errPanicked = errors.New("write function panicked")

// runSafely keeps a panic of one caller from ending the writer of all; the caller's own goroutine panics instead.
func (w *waitingWrite) runSafely(s statements) (err error) {
	defer func() {
		if p := recover(); p != nil {
			w.panicked, err = p, errPanicked
		}
	}()
	return w.run(s)
}

func (e *sqliteEngine) migrate(ctx context.Context, apply func(statements) error) error {
	return e.write(ctx, serializable, apply)
}

func (e *sqliteEngine) ping(ctx context.Context) error {
	return e.read(ctx, func(statements) error { return nil })
}

// close waits for reads and writes under way, so that SQLite can fold its log into the file.
func (e *sqliteEngine) close() (err error) {
	e.closing.Do(func() {
		close(e.closed)
		for range cap(e.readers) {
			reader := <-e.readers
			reader.close()
		}
		e.working.Wait()
		err = e.release()
	})
	return err
}

// release gives up the files, that of the checkpointer last.
func (e *sqliteEngine) release() error { return errors.Join(e.handle.Close(), e.log.file.Close()) }

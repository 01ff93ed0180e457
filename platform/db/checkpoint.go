package db

import (
	"context"
	"os"
)

// The write-ahead log is folded into the file beside the writer. Otherwise a commit would wait, now and then, until the disk has taken
// the pages of thousands before it.

const (
	// foldFrom is how many pages of the log are worth folding.
	foldFrom = 4000
	// foldByWriter is how long the log may get before the writer folds what is left of it. Only it can come to the end of a log that is always
	// written to, and only one that was folded to its end begins anew.
	foldByWriter = 16_000
	// lookEvery is after how many commits one looks how long the log is.
	lookEvery = 8
)

// checkpointer folds the log of an engine. What it cannot do the writer does later, and fails if need be.
type checkpointer struct {
	connect func(ctx context.Context, cache int) (*sqliteConn, error)
	// file is the database. A process that closes a file gives up the locks that SQLite has on it, so this one stays open until SQLite is done.
	file *os.File

	commits int // counted by the writer
	news    chan struct{}
}

// committed is told of every commit.
func (c *checkpointer) committed() {
	if c.commits++; c.commits%lookEvery != 0 {
		return
	}
	select {
	case c.news <- struct{}{}:
	default:
	}
}

// run folds until the engine is closed.
func (c *checkpointer) run(closed <-chan struct{}) {
	var conn *sqliteConn
	for {
		select {
		case <-c.news:
		case <-closed:
			if conn != nil {
				conn.close()
			}
			return
		}
		if conn == nil {
			var err error
			if conn, err = c.connect(context.Background(), readerCache); err != nil {
				continue
			}
		}
		c.fold(conn)
	}
}

func (c *checkpointer) fold(conn *sqliteConn) {
	if waiting, err := conn.checkpoint("NOOP"); err != nil || waiting < foldFrom {
		return
	}
	if _, err := conn.checkpoint("PASSIVE"); err == nil {
		c.file.Sync() // SQLite does it too, but only at the end of the log, and then the writer would wait for all of it
	}
}

// checkpoint folds the log, as far as the mode does, and returns how many of its pages are not in the file yet.
func (c *sqliteConn) checkpoint(mode string) (waiting int64, err error) {
	rows, err := c.query(context.Background(), "PRAGMA wal_checkpoint("+mode+")", nil)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	var busy, length, folded int64
	for rows.Next() {
		if err := rows.Scan(&busy, &length, &folded); err != nil {
			return 0, err
		}
	}
	return length - folded, rows.Err()
}

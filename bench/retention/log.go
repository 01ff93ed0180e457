package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"postrider/bench/measure"
	"postrider/platform/db"
	"postrider/world"
)

// oldLog is the log of a workspace, with entries whose time is over.
type oldLog struct {
	world     world.World
	database  *db.DB
	workspace string
	postgres  bool
	rows      int
	last      string // id of the youngest of the old entries
}

func openLog(ctx context.Context, in measure.Installation) (*oldLog, error) {
	w := world.New(slog.New(slog.NewTextHandler(io.Discard, nil)))
	d, err := db.Open(ctx, w, db.Config{URL: in.Database})
	return &oldLog{world: w, database: d, workspace: in.Workspace, postgres: len(in.Storage) > 2}, err
}

func (l *oldLog) close() { l.database.Close() }

// fill writes entries of the tenth to the third day before today.
func (l *oldLog) fill(ctx context.Context, rows int) error {
	const batch = 2000
	l.rows = rows
	begin, every := time.Now().Add(-10*24*time.Hour), 7*24*time.Hour/time.Duration(rows)
	for from := 0; from < rows; from += batch {
		err := l.database.Write(ctx, func(tx *db.Tx) error {
			var values []any
			var docs []db.Document
			for n := from; n < min(from+batch, rows); n++ {
				at := begin.Add(time.Duration(n) * every)
				id := world.IDAt(at, l.world.Random)
				l.last = id
				values = append(values, id, l.workspace, "api_request", "info", at, "POST", "/v1/emails", "/emails", 202, 900, "", 1,
					fmt.Sprintf("user%d@example.net", n), `{"user_agent":"bench","ip":"192.0.2.1","request_id":"`+id+`"}`)
				docs = append(docs, db.Document{Space: l.workspace, ID: id, At: at, Words: []string{fmt.Sprintf("user%d", n), "example", "net", "post", "emails", "v1", "202"}})
			}
			if _, err := tx.InsertRows(`
				INSERT INTO log_entry (id, workspace_id, kind, level, created_at, method, endpoint, route, response_status, duration_us, status, recipients,
					message, details)`, 14, values, ``); err != nil {
				return err
			}
			return tx.IndexWords("log_search", docs...)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// await returns once the last of the old entries is gone: they go oldest first.
func (l *oldLog) await(ctx context.Context) error {
	for {
		err := l.database.Read(ctx, func(tx *db.Tx) error {
			_, err := db.One(tx, db.Value[string], `SELECT id FROM log_entry WHERE workspace_id = $1 AND id = $2`, l.workspace, l.last)
			return err
		})
		if errors.Is(err, db.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// size is what the tables of the log take on the disk, with their indexes.
func (l *oldLog) size(ctx context.Context) (bytes int64) {
	query := `SELECT SUM(pgsize) FROM dbstat JOIN sqlite_schema ON sqlite_schema.name = dbstat.name WHERE tbl_name = 'log_entry' OR tbl_name LIKE 'log_search%'`
	if l.postgres {
		query = `SELECT pg_total_relation_size('log_entry') + pg_total_relation_size('log_search')`
	}
	_ = l.database.Read(ctx, func(tx *db.Tx) (err error) { // a size that cannot be read is shown as zero
		bytes, err = db.One(tx, db.Value[int64], query)
		return err
	})
	return bytes
}

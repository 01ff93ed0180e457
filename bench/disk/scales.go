package main

import (
	"context"
	"io"
	"log/slog"
	"time"

	"postrider/bench/measure"
	"postrider/platform/db"
	"postrider/world"
)

// weight is what a table takes with its indexes.
type weight struct {
	name  string
	bytes int64
}

// scales weigh the tables of an installation.
type scales struct {
	database *db.DB
	postgres bool
}

func openScales(ctx context.Context, in measure.Installation) (*scales, error) {
	d, err := db.Open(ctx, world.New(slog.New(slog.NewTextHandler(io.Discard, nil))), db.Config{URL: in.Database})
	return &scales{database: d, postgres: len(in.Storage) > 2}, err
}

func (s *scales) close() { s.database.Close() }

// weigh returns all tables together, and then each with its indexes, the heaviest first.
func (s *scales) weigh(ctx context.Context) (all []weight, err error) {
	query := `
		SELECT 'all tables', (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size
		UNION ALL
		SELECT * FROM (
			SELECT tbl_name, SUM(pgsize) FROM dbstat JOIN sqlite_schema ON sqlite_schema.name = dbstat.name
			GROUP BY tbl_name
			ORDER BY 2 DESC) AS each`
	if s.postgres {
		query = `
			SELECT 'all tables', CAST(SUM(pg_total_relation_size(oid)) AS BIGINT) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
			UNION ALL
			SELECT * FROM (
				SELECT relname, pg_total_relation_size(oid) FROM pg_class
				WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
				ORDER BY 2 DESC) AS each`
	}
	err = s.database.Read(ctx, func(tx *db.Tx) error {
		all, err = db.All(tx, func(row db.Scanner) (w weight, err error) {
			err = row.Scan(&w.name, &w.bytes)
			return w, err
		}, query)
		return err
	})
	return all, err
}

// await returns once so many emails are delivered and the log has heard of them.
func (s *scales) await(ctx context.Context, messages int) error {
	for {
		var open, told int64
		err := s.database.Read(ctx, func(tx *db.Tx) (err error) {
			if open, err = db.One(tx, db.Value[int64], `SELECT COUNT(*) FROM queue_item WHERE lane LIKE 'mail%'`); err != nil || open > 0 {
				return err
			}
			told, err = db.One(tx, db.Value[int64], `SELECT COUNT(*) FROM log_entry WHERE kind = 'email' AND status = 'delivered'`)
			return err
		})
		if err != nil || open == 0 && told >= int64(messages) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(2 * time.Second):
		}
	}
}

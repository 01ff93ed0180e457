package db

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate brings the schema to the newest version. Several nodes may call it at once; one does the work.
func (d *DB) Migrate(ctx context.Context) error {
	return d.engine.migrate(ctx, func(s statements) error {
		if _, err := s.exec(ctx, `CREATE TABLE IF NOT EXISTS schema_migration (name TEXT PRIMARY KEY)`, nil); err != nil {
			return classify(err, "create schema_migration")
		}
		names, err := fs.Glob(migrations, "migrations/*.sql")
		if err != nil {
			return err
		}
		if err := d.refuseNewer(ctx, s, names); err != nil {
			return err
		}
		for _, name := range names { // Glob sorts
			if err := d.applyOnce(ctx, s, name); err != nil {
				return fmt.Errorf("migration %s: %w", name, err)
			}
		}
		return nil
	})
}

// ErrNewer means that a newer program than this has changed the schema: what it expects of the tables is not known here.
var ErrNewer = errors.New("the database was brought up to date by a newer postrider than this one")

// refuseNewer looks for migrations that this program does not know.
func (d *DB) refuseNewer(ctx context.Context, s statements, known []string) error {
	applied, err := All(d.newTx(ctx, s), Value[string], `SELECT name FROM schema_migration ORDER BY name`)
	if err != nil {
		return err
	}
	for _, name := range applied {
		if !slices.Contains(known, "migrations/"+name) {
			return fmt.Errorf("%w (it knows %s, this one does not): install that version again, or restore a backup made before it", ErrNewer, name)
		}
	}
	return nil
}

func (d *DB) applyOnce(ctx context.Context, s statements, name string) error {
	tx := d.newWritableTx(ctx, s)
	added, err := tx.Exec(`INSERT INTO schema_migration (name) VALUES ($1) ON CONFLICT DO NOTHING`, strings.TrimPrefix(name, "migrations/"))
	if err != nil || added == 0 {
		return err
	}
	text, err := migrations.ReadFile(name)
	if err != nil {
		return err
	}
	for _, statement := range splitStatements(string(text)) {
		if _, err := s.exec(ctx, d.dialect.translate(statement), nil); err != nil {
			return classify(err, statement)
		}
	}
	return nil
}

// splitStatements cuts a migration at the semicolons that end a line. Comments start with -- at the beginning of a line.
func splitStatements(text string) []string {
	var kept []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimSpace(line), "--") {
			kept = append(kept, line)
		}
	}
	var statements []string
	for statement := range strings.SplitSeq(strings.Join(kept, ""), ";\n") {
		if strings.TrimSpace(statement) != "" {
			statements = append(statements, strings.TrimSpace(statement))
		}
	}
	return statements
}

// Migrated tells whether the schema is at the version this program needs.
func (d *DB) Migrated(ctx context.Context) (bool, error) {
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return false, err
	}
	applied := 0
	err = d.Read(ctx, func(tx *Tx) error {
		count, err := One(tx, Value[int64], `SELECT COUNT(*) FROM schema_migration`)
		applied = int(count)
		return err
	})
	return applied >= len(names), err
}

// CheckWritable tells whether the database takes a write now, by one that changes nothing. It has to be of a row: without one the engine
// writes nothing, and a full disk would not be noticed.
func (d *DB) CheckWritable(ctx context.Context) error {
	return d.Write(ctx, func(tx *Tx) error {
		_, err := tx.Exec(`
			UPDATE schema_migration SET name = name
			WHERE name = (SELECT MIN(name) FROM schema_migration)`)
		return err
	})
}

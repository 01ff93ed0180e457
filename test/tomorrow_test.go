package test

import (
	"log/slog"
	"testing"

	"postrider/platform/db"
	"postrider/world"
)

// tomorrow leaves the mark of a migration in a database that only a later program knows.
func tomorrow(t *testing.T, url string) {
	t.Helper()
	d, err := db.Open(t.Context(), world.New(slog.New(slog.DiscardHandler)), db.Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	err = d.Write(t.Context(), func(tx *db.Tx) error {
		_, err := tx.Exec(`INSERT INTO schema_migration (name) VALUES ('9999_tomorrow.sql')`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

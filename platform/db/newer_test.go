package db_test

import (
	"errors"
	"strings"
	"testing"

	"postrider/platform/db"
	"postrider/platform/db/dbtest"
)

func TestASchemaOfANewerProgramIsRefused(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, testWorld(), func(t *testing.T, d *db.DB) {
		if err := d.Migrate(t.Context()); err != nil {
			t.Fatalf("our own schema: %v", err)
		}
		err := d.Write(t.Context(), func(tx *db.Tx) error {
			_, err := tx.Exec(`INSERT INTO schema_migration (name) VALUES ('9999_tomorrow.sql')`)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Migrate(t.Context()); !errors.Is(err, db.ErrNewer) || !strings.Contains(err.Error(), "9999_tomorrow.sql") {
			t.Errorf("%v", err)
		}
	})
}

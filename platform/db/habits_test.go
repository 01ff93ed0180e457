package db_test

import (
	"strings"
	"testing"

	"postrider/platform/db"
	"postrider/platform/db/dbtest"
)

func TestPostgreSQLIsToldHowTheRowsOfATableLive(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t, testWorld(), "postgres")
	for table, want := range map[string]string{
		"queue_item": "fillfactor=70 autovacuum_vacuum_threshold=2000",
		"event":      "autovacuum_vacuum_insert_scale_factor=0.02 autovacuum_analyze_scale_factor=0.02",
		"log_entry":  "autovacuum_vacuum_scale_factor=0.02",
		"plan_usage": "fillfactor=50 autovacuum_vacuum_threshold=1000",
	} {
		err := d.Read(t.Context(), func(tx *db.Tx) error {
			options, err := db.One(tx, db.Value[string], `SELECT array_to_string(reloptions, ' ') FROM pg_class WHERE oid = CAST($1 AS regclass)`, table)
			for option := range strings.FieldsSeq(want) {
				if !strings.Contains(options+" ", option+" ") {
					t.Errorf("%s is kept with %q, want %s", table, options, option)
				}
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

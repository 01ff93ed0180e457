package db_test

import (
	"testing"

	"postrider/platform/db"
	"postrider/platform/db/dbtest"
)

// PostgreSQL looks at its connections one by one. What begins after it has begun to look must not move the horizon past what began between.
func TestWhatBeginsWhileTheServerLooksIsBeyondTheHorizon(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t, "postgres")
	d, err := db.Open(t.Context(), testWorld(), db.Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	begin := func(then func()) (number int64) {
		write(t, d, func(tx *db.Tx) (err error) {
			number, err = db.One(tx, db.Value[int64], `SELECT pg_current_xact_id()::text::bigint`)
			then()
			return err
		})
		return number
	}
	err = d.Read(t.Context(), func(tx *db.Tx) error {
		if _, err := db.One(tx, db.Value[int64], `SELECT 1`); err != nil { // from here on it sees this moment
			return err
		}
		between := begin(func() {})
		begin(func() {
			horizon, err := db.HorizonOf(tx)
			if err != nil || horizon > between {
				t.Errorf("the horizon is %d, %v; %d began later", horizon, err, between)
			}
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

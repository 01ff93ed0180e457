package stats_test

import (
	"context"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/platform/db"
)

func TestSubjectsAreForgottenAfterAYearAndAMonth(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		in.Send("ann@example.net")
		in.Deliver()
		in.CatchUp(in.App.Stats.Followers())
		names := func() (count int64) {
			err := in.App.DB.Read(context.Background(), func(tx *db.Tx) (err error) {
				count, err = db.One(tx, db.Value[int64], `SELECT COUNT(*) FROM stats_rank`)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return count
		}
		sweep := func() {
			for _, w := range in.App.Stats.Workers() {
				if _, err := w.Step(context.Background()); err != nil {
					t.Fatal(err)
				}
			}
		}
		sweep()
		if names() == 0 {
			t.Fatal("names of today are gone")
		}
		in.Clock.Advance(400 * 24 * time.Hour)
		sweep()
		if n := names(); n != 0 {
			t.Errorf("%d names are left", n)
		}
	})
}

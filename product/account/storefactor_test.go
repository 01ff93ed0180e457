package account

import (
	"context"
	"io"
	"log/slog"
	"testing"
	"time"

	"postrider/platform/db"
	"postrider/platform/db/dbtest"
	realworld "postrider/world"
)

// A code proves that a phone has one secret; another that was offered meanwhile may be in no phone at all.
func TestOnlyTheSecretThatWasProvedIsTakenIntoUse(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			w := realworld.New(slog.New(slog.NewTextHandler(io.Discard, nil)))
			d := dbtest.Open(t, w, engine)
			id := UserID(w.NewID())
			var byFirst, bySecond bool
			err := d.Write(context.Background(), func(tx *db.Tx) (err error) {
				until := tx.Now().Add(time.Minute)
				if err := insertUser(tx, User{ID: id, Email: "olga@acme.test", CreatedAt: tx.Now(), passwordChangedAt: tx.Now()}); err != nil {
					return err
				}
				for _, offered := range []string{"first", "second"} {
					if err := updateOffer(tx, id, []byte(offered), until); err != nil {
						return err
					}
				}
				if byFirst, err = enableFactor(tx, id, []byte("first"), 1); err != nil {
					return err
				}
				bySecond, err = enableFactor(tx, id, []byte("second"), 1)
				return err
			})
			if err != nil || byFirst || !bySecond {
				t.Errorf("enabled by the first secret: %v, by the second: %v, %v", byFirst, bySecond, err)
			}
		})
	}
}

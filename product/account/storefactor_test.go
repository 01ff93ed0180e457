package account

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/netip"
	"testing"
	"time"

	"postrider/platform/db"
	"postrider/platform/db/dbtest"
	"postrider/platform/reseal"
	"postrider/platform/seal"
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

// Whoever changes a secret that somebody else has drops the old one as soon as everything is sealed again.
func TestARecoveryCodeOutlivesTheSecretItWasMadeUnder(t *testing.T) {
	t.Parallel()
	before, after := bytes.Repeat([]byte("old!"), 8), bytes.Repeat([]byte("new!"), 8)
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			w := realworld.New(slog.New(slog.DiscardHandler))
			d := dbtest.Open(t, w, engine)
			user := User{ID: UserID(w.NewID()), Email: "olga@acme.test"}
			codes, stored := (&Service{world: w, keyring: seal.NewKeyring(before)}).newRecoveryCodes(user.ID)
			if err := d.Write(t.Context(), func(tx *db.Tx) error { return insertRecoveryCodes(tx, user.ID, stored) }); err != nil {
				t.Fatal(err)
			}
			again := reseal.New(d, seal.NewKeyring(after, before), w.Log, Sealed())
			for busy := true; busy; {
				var err error
				if busy, err = again.Step(t.Context()); err != nil {
					t.Fatal(err)
				}
			}

			var first, second verdict
			err := d.Write(t.Context(), func(tx *db.Tx) (err error) {
				s := &Service{world: w, keyring: seal.NewKeyring(after)}
				if first, err = s.spendRecoveryCode(tx, user, codes[3], netip.Addr{}); err == nil {
					second, err = s.spendRecoveryCode(tx, user, codes[3], netip.Addr{})
				}
				return err
			})

			if err != nil || first != right || second != wrong {
				t.Errorf("the code is judged %v, then %v, %v", first, second, err)
			}
		})
	}
}

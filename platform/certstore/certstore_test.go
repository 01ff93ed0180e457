package certstore_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"postrider/platform/certstore"
	"postrider/platform/db"
	"postrider/platform/db/dbtest"
	"postrider/platform/seal"
	"postrider/world"
)

// clock is real but for what a test adds to it. Waits end at once, after moving it.
type clock struct {
	mu    sync.Mutex
	ahead time.Duration
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().UTC().Add(c.ahead)
}

func (c *clock) After(d time.Duration) (<-chan time.Time, func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += 20 * d // a clock that hurries: fewer looks
	fired := make(chan time.Time, 1)
	fired <- time.Now().UTC().Add(c.ahead)
	return fired, func() {}
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += d
}

func newWorld() world.World {
	return world.New(slog.New(slog.NewTextHandler(io.Discard, nil)))
}

func keyring() *seal.Keyring { return seal.NewKeyring(bytes.Repeat([]byte("test"), 8)) }

func TestFilesAreKeptByPathAndShared(t *testing.T) {
	t.Parallel()
	w := newWorld()
	dbtest.Each(t, w, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		one, other := certstore.New(w, d, keyring()), certstore.New(w, d, keyring())
		for path, value := range map[string]string{"certs/ca/a.test/a.test.crt": "A", "certs/ca/a.test/a.test.key": "K", "certs/ca/ä.test/x": "Ä", "certs_/y": "Y"} {
			if err := one.Store(ctx, path, []byte(value)); err != nil {
				t.Fatal(err)
			}
		}
		if raw, err := other.Load(ctx, "certs/ca/a.test/a.test.key"); err != nil || string(raw) != "K" {
			t.Errorf("%q %v", raw, err)
		}
		if _, err := other.Load(ctx, "certs/ca/a.test"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a folder was loaded: %v", err)
		}
		if all, err := other.List(ctx, "certs", true); err != nil || len(all) != 3 {
			t.Errorf("all: %v %v", all, err)
		}
		if sites, err := other.List(ctx, "certs/ca", false); err != nil || !slices.Equal(sites, []string{"certs/ca/a.test", "certs/ca/ä.test"}) {
			t.Errorf("sites: %v %v", sites, err)
		}
		if info, err := other.Stat(ctx, "certs/ca/a.test/a.test.crt"); err != nil || info.Size != 1 || !info.IsTerminal || info.Modified.IsZero() {
			t.Errorf("%+v %v", info, err)
		}
		if info, err := other.Stat(ctx, "certs/ca"); err != nil || info.IsTerminal {
			t.Errorf("%+v %v", info, err)
		}
		if err := other.Delete(ctx, "certs/ca/a.test"); err != nil {
			t.Fatal(err)
		}
		if one.Exists(ctx, "certs/ca/a.test/a.test.crt") || one.Exists(ctx, "certs/ca/a.test") || !one.Exists(ctx, "certs/ca/ä.test/x") || !one.Exists(ctx, "certs_/y") {
			t.Error("deleted too much or too little")
		}
	})
}

func TestAnotherSecretOpensNothing(t *testing.T) {
	t.Parallel()
	w := newWorld()
	dbtest.Each(t, w, func(t *testing.T, d *db.DB) {
		if err := certstore.New(w, d, keyring()).Store(t.Context(), "a.key", []byte("PRIVATE")); err != nil {
			t.Fatal(err)
		}
		thief := certstore.New(w, d, seal.NewKeyring(bytes.Repeat([]byte("evil"), 8)))
		if raw, err := thief.Load(t.Context(), "a.key"); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q %v", raw, err)
		}
	})
}

func TestARenewedFileTakesThePlaceOfTheOldOne(t *testing.T) {
	t.Parallel()
	w := newWorld()
	dbtest.Each(t, w, func(t *testing.T, d *db.DB) {
		store := certstore.New(w, d, keyring())
		for _, value := range []string{"old", "renewed"} {
			if err := store.Store(t.Context(), "a.crt", []byte(value)); err != nil {
				t.Fatal(err)
			}
		}
		raw, err := store.Load(t.Context(), "a.crt")
		info, statErr := store.Stat(t.Context(), "a.crt")
		if string(raw) != "renewed" || info.Size != 7 || err != nil || statErr != nil {
			t.Errorf("%q of %d bytes, %v, %v", raw, info.Size, err, statErr)
		}
	})
}

func TestAFileThatWasMovedToAnotherPlaceDoesNotOpenThere(t *testing.T) {
	t.Parallel()
	w := newWorld()
	dbtest.Each(t, w, func(t *testing.T, d *db.DB) {
		store := certstore.New(w, d, keyring())
		if err := store.Store(t.Context(), "a.key", []byte("PRIVATE")); err != nil {
			t.Fatal(err)
		}
		if err := d.Write(t.Context(), func(tx *db.Tx) error {
			_, err := tx.Exec(`UPDATE certificate_file SET path = 'b.key'`)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if raw, err := store.Load(t.Context(), "b.key"); err == nil {
			t.Errorf("opened as %q", raw)
		}
	})
}

// ring is a clock whose waits end when a test says so.
type ring struct {
	*clock
	waits chan chan time.Time
}

func (r ring) After(time.Duration) (<-chan time.Time, func()) {
	fired := make(chan time.Time, 1)
	r.waits <- fired
	return fired, func() {}
}

func TestALockIsHeldForAsLongAsItsHolderLives(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			hand := ring{&clock{}, make(chan chan time.Time, 1)}
			moved := newWorld()
			moved.Clock = hand
			d := dbtest.Open(t, moved, engine)
			one, other := certstore.New(moved, d, keyring()), certstore.New(moved, d, keyring())
			if err := one.Lock(t.Context(), "a.test"); err != nil {
				t.Fatal(err)
			}
			for range 3 { // more than a lease lasts
				due := <-hand.waits
				hand.advance(45 * time.Second)
				due <- hand.Now()
				hand.waits <- <-hand.waits // the lock was kept, and the next wait has begun
			}

			if taken, err := other.TryLock(t.Context(), "a.test"); taken || err != nil {
				t.Errorf("taken from the living: %v, %v", taken, err)
			}
			if err := one.Unlock(t.Context(), "a.test"); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestOnlyOneNodeHoldsALock(t *testing.T) {
	t.Parallel()
	w := newWorld()
	dbtest.Each(t, w, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		one, other := certstore.New(w, d, keyring()), certstore.New(w, d, keyring())
		if err := one.Lock(ctx, "a.test"); err != nil {
			t.Fatal(err)
		}
		if taken, err := other.TryLock(ctx, "a.test"); taken || err != nil {
			t.Errorf("taken twice: %v %v", taken, err)
		}
		if taken, err := other.TryLock(ctx, "b.test"); !taken || err != nil {
			t.Errorf("another lock: %v %v", taken, err)
		}
		if err := other.Unlock(ctx, "a.test"); err == nil {
			t.Error("gave up what it does not hold")
		}
		if err := one.Unlock(ctx, "a.test"); err != nil {
			t.Fatal(err)
		}
		if err := other.Lock(ctx, "a.test"); err != nil {
			t.Error(err)
		}
		gone, cancel := context.WithCancel(ctx)
		cancel()
		if err := one.Lock(gone, "a.test"); err == nil {
			t.Error("waited for nobody")
		}
	})
}

func TestTheLockOfADeadNodeIsTaken(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			moved := newWorld()
			moved.Clock = &clock{}
			d := dbtest.Open(t, moved, engine)
			// The keeper of the first one waits by a real clock, and so says nothing while the test lasts: as if it had died.
			if err := certstore.New(newWorld(), d, keyring()).Lock(t.Context(), "a.test"); err != nil {
				t.Fatal(err)
			}
			heir := certstore.New(moved, d, keyring())
			before := moved.Clock.Now()
			if err := heir.Lock(t.Context(), "a.test"); err != nil {
				t.Fatal(err)
			}
			if waited := moved.Clock.Now().Sub(before); waited < 59*time.Second {
				t.Errorf("took it from the living after %s", waited)
			}
			if err := heir.Unlock(t.Context(), "a.test"); err != nil {
				t.Error(err)
			}
		})
	}
}

// A process whose lock has run out, because the database was away, has not given it up.
func TestALockThatRanOutIsNotTakenTwiceByOneProcess(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			moved, hand := newWorld(), &clock{}
			moved.Clock = hand
			d := dbtest.Open(t, moved, engine)
			// The keeper waits by a real clock, and so says nothing while the test lasts.
			one, other, third := certstore.New(newWorld(), d, keyring()), certstore.New(newWorld(), d, keyring()), certstore.New(newWorld(), d, keyring())
			try := func(s *certstore.Store, want bool) {
				t.Helper()
				if taken, err := s.TryLock(t.Context(), "a.test"); taken != want || err != nil {
					t.Fatalf("taken: %v, %v", taken, err)
				}
			}
			try(one, true)
			hand.After(time.Minute)
			try(one, false)
			try(other, true)
			if err := one.Unlock(t.Context(), "a.test"); err != nil {
				t.Fatal(err)
			}
			try(third, false)
			try(one, false)
			if err := other.Unlock(t.Context(), "a.test"); err != nil {
				t.Fatal(err)
			}
			try(one, true)
		})
	}
}

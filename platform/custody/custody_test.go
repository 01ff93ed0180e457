package custody_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"postrider/platform/blob"
	"postrider/platform/custody"
	"postrider/platform/db"
	"postrider/platform/db/dbtest"
	"postrider/world"
)

// clock stands still until it is moved.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) After(time.Duration) (<-chan time.Time, func()) { panic("a sweeper never waits") }

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// house is a store that databases of one engine share.
type house struct {
	*testing.T
	engine string
	clock  *clock
	world  world.World
	store  blob.Store
	orphan blob.Ref
}

// inEveryHouse runs a test with a store that holds a blob which nobody refers to, old enough to be removed.
func inEveryHouse(t *testing.T, test func(h *house)) {
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			h := &house{T: t, engine: engine, clock: &clock{now: time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)}}
			h.world = world.New(slog.New(slog.NewTextHandler(io.Discard, nil)))
			h.world.Clock = h.clock
			store, err := blob.NewFiles(t.TempDir(), h.clock, h.world.Random)
			if err != nil {
				t.Fatal(err)
			}
			put, err := store.Put(t.Context(), strings.NewReader("orphan"), 10)
			if err != nil {
				t.Fatal(err)
			}
			h.store, h.orphan = store, put.Ref
			h.clock.pass(48 * time.Hour)
			test(h)
		})
	}
}

// member is a database and the sweeper of the server on it.
type member struct {
	h       *house
	db      *db.DB
	sweeper *custody.Sweeper
}

func (h *house) member() *member {
	m := &member{h: h, db: dbtest.Open(h.T, h.world, h.engine)}
	m.restart()
	return m
}

func (m *member) restart() { m.sweeper = custody.NewSweeper(m.h.world, m.db, m.h.store) }

// copied is a server on a copy of the database as it is now.
func (m *member) copied() *member {
	m.h.Helper()
	var signs []string
	err := m.db.Read(m.h.Context(), func(tx *db.Tx) (err error) {
		signs, err = db.All(tx, db.Value[string], `SELECT sign FROM blob_claim`)
		return err
	})
	if err != nil {
		m.h.Fatal(err)
	}
	other := m.h.member()
	for _, sign := range signs {
		err := other.db.Write(m.h.Context(), func(tx *db.Tx) error {
			_, err := tx.Exec(`INSERT INTO blob_claim (sign, claimed_at) VALUES ($1, $2)`, sign, tx.Now())
			return err
		})
		if err != nil {
			m.h.Fatal(err)
		}
	}
	return other
}

// sweeps lets a server look, and checks what came of it.
func (m *member) sweeps(wantRemoved int, wantErr error) {
	m.h.Helper()
	removed, err := m.sweeper.Sweep(m.h.Context(), m.h.clock.Now().Add(-24*time.Hour), func(context.Context, []blob.Ref) (map[blob.Ref]bool, error) { return nil, nil })
	if removed != wantRemoved || !errors.Is(err, wantErr) || m.sweeper.Contested() != (wantErr != nil) {
		m.h.Errorf("removed %d, %v; contested: %v; want %d, %v", removed, err, m.sweeper.Contested(), wantRemoved, wantErr)
	}
}

func TestAStoreIsSweptByTheOneDatabaseThatUsesIt(t *testing.T) {
	t.Parallel()
	inEveryHouse(t, func(h *house) {
		live := h.member()
		live.sweeps(0, nil)
		h.clock.pass(time.Hour)
		live.sweeps(0, nil)
		h.clock.pass(time.Hour)
		live.sweeps(1, nil)
	})
}

func TestNodesOfOneInstallationSweepOneStore(t *testing.T) {
	t.Parallel()
	inEveryHouse(t, func(h *house) {
		one := h.member()
		other := &member{h: h, db: one.db}
		other.restart()
		for range 2 {
			one.sweeps(0, nil)
			other.sweeps(0, nil)
			h.clock.pass(time.Hour)
		}
		other.sweeps(1, nil)
		one.sweeps(0, nil)
	})
}

func TestAnOldCopyOfTheDatabaseRemovesNothingAndNeitherDoesTheOriginalUntilItIsSaidWhoseTheStoreIs(t *testing.T) {
	t.Parallel()
	inEveryHouse(t, func(h *house) {
		live := h.member()
		live.sweeps(0, nil)
		backup := live.copied()
		h.clock.pass(time.Hour)
		live.sweeps(0, nil)
		h.clock.pass(24 * time.Hour)
		for range 5 {
			backup.sweeps(0, custody.ErrContested)
			live.sweeps(0, custody.ErrContested)
			h.clock.pass(time.Hour)
		}
		if contested, err := custody.Contested(t.Context(), live.db, h.store); err != nil || !contested {
			t.Errorf("%v %v", contested, err)
		}

		if err := custody.Claim(t.Context(), h.world, live.db, h.store); err != nil {
			t.Fatal(err)
		}
		if contested, err := custody.Contested(t.Context(), live.db, h.store); err != nil || contested {
			t.Errorf("%v %v", contested, err)
		}
		live.sweeps(0, nil)
		h.clock.pass(2 * time.Hour)
		live.sweeps(1, nil)
	})
}

func TestACopyThatWasMadeAMomentAgoIsNoticedBeforeItHasRemovedAnything(t *testing.T) {
	t.Parallel()
	inEveryHouse(t, func(h *house) {
		live := h.member()
		live.sweeps(0, nil)
		h.clock.pass(time.Hour / 2)
		fresh := live.copied()
		fresh.sweeps(0, nil)
		h.clock.pass(time.Hour / 2)
		live.sweeps(0, custody.ErrContested)
		for range 5 {
			h.clock.pass(time.Hour / 2)
			fresh.sweeps(0, custody.ErrContested)
			h.clock.pass(time.Hour / 2)
			live.sweeps(0, custody.ErrContested)
		}
	})
}

func TestASweepEndsAsSoonAsAnotherDatabaseSignsTheStore(t *testing.T) {
	t.Parallel()
	inEveryHouse(t, func(h *house) {
		live := h.member()
		live.sweeps(0, nil)
		h.clock.pass(2 * time.Hour)
		other := h.member()
		removed, err := live.sweeper.Sweep(t.Context(), h.clock.Now().Add(-24*time.Hour), func(ctx context.Context, _ []blob.Ref) (map[blob.Ref]bool, error) {
			return nil, custody.Claim(ctx, h.world, other.db, h.store)
		})
		if removed != 0 || !errors.Is(err, custody.ErrContested) {
			t.Errorf("removed %d, %v", removed, err)
		}
	})
}

package api_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/db/dbtest"
	"postrider/world"
)

func TestFiftyTwinsDoTheWorkOnce(t *testing.T) {
	t.Parallel()
	w := world.New(slog.New(slog.NewTextHandler(io.Discard, nil)))
	dbtest.Each(t, w, func(t *testing.T, d *db.DB) {
		request := api.Idempotency{Workspace: "00000000-0000-7000-8000-000000000001", Operation: "POST /emails", Key: "welcome:1", Hash: "h"}
		var results sync.Map
		var replays atomic.Int64
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				var result string
				var replayed bool
				err := d.Write(context.Background(), func(tx *db.Tx) (err error) {
					result, replayed, err = api.Once(tx, request, func() (string, error) { return w.NewID(), nil })
					return err
				})
				if err != nil {
					t.Error(err)
				}
				if replayed {
					replays.Add(1)
				}
				results.Store(result, true)
			})
		}
		all.Wait()
		distinct := 0
		results.Range(func(any, any) bool { distinct++; return true })
		if distinct != 1 || replays.Load() != 49 {
			t.Fatalf("%d distinct results, %d replays", distinct, replays.Load())
		}
	})
}

func TestKeyWithAnotherBodyIsRefusedAndAFailureFreesTheKey(t *testing.T) {
	t.Parallel()
	w := world.New(slog.New(slog.NewTextHandler(io.Discard, nil)))
	dbtest.Each(t, w, func(t *testing.T, d *db.DB) {
		once := func(hash string, do func() (string, error)) error {
			request := api.Idempotency{Workspace: "00000000-0000-7000-8000-000000000001", Operation: "POST /emails", Key: "welcome:1", Hash: hash}
			return d.Write(context.Background(), func(tx *db.Tx) error {
				_, _, err := api.Once(tx, request, do)
				return err
			})
		}
		refused := errors.New("refused")
		if err := once("a", func() (string, error) { return "", refused }); !errors.Is(err, refused) {
			t.Fatalf("err = %v", err)
		}
		if err := once("b", func() (string, error) { return "done", nil }); err != nil {
			t.Fatalf("the key was burnt by a failure: %v", err)
		}
		if err := once("c", func() (string, error) { return "done", nil }); !errors.Is(err, api.ErrKeyReused) {
			t.Fatalf("err = %v", err)
		}
	})
}

func TestARefusalThatATwinHasCausedIsAnsweredAsTheTwinWas(t *testing.T) {
	t.Parallel()
	w := world.New(slog.New(slog.DiscardHandler))
	dbtest.Each(t, w, func(t *testing.T, d *db.DB) {
		if !d.Shared() {
			return // one writer at a time: no twin can come in between
		}
		request := api.Idempotency{Workspace: "00000000-0000-7000-8000-000000000001", Operation: "POST /broadcasts/1/send", Key: "november", Hash: "h"}
		twin := func() error {
			return d.Write(t.Context(), func(tx *db.Tx) error {
				_, _, err := api.Once(tx, request, func() (string, error) { return "sent", nil })
				return err
			})
		}
		tries, result, replayed := 0, "", false

		err := d.Write(t.Context(), func(tx *db.Tx) (err error) {
			result, replayed, err = api.Once(tx, request, func() (string, error) {
				if tries++; tries != 2 { // the first is the rehearsal of the transaction
					return "", nil
				}
				return "", errors.Join(api.ErrInvalidState, twin())
			})
			return err
		})

		if err != nil || result != "sent" || !replayed {
			t.Errorf("%q, replayed %v, %v", result, replayed, err)
		}
	})
}

func TestBodiesThatMeanTheSameHashTheSame(t *testing.T) {
	t.Parallel()
	hash := func(body string) string {
		sum, err := api.HashBody([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	if hash(`{"a":1, "b":[2,3],"idempotency_key":"x"}`) != hash(`{"b":[2,3],"a":1}`) {
		t.Error("order, space or key made a difference")
	}
	if hash(`{"a":1}`) == hash(`{"a":2}`) || hash(`{"a":1.0}`) == hash(`{"a":1}`) {
		t.Error("different bodies hash alike")
	}
	file := strings.Repeat("255,", 1000)
	if hash(`{"a":[`+file+`1],"b":"[1,"}`) != hash(`{"b":"[1,", "a":[ `+strings.ReplaceAll(file, ",", ",\n ")+`1 ]}`) {
		t.Error("the space in a long list made a difference")
	}
	if hash(`{"a":[`+file+`1]}`) == hash(`{"a":[`+file+`2]}`) || hash(`{"a":[`+file+`1]}`) == hash(`{"b":[`+file+`1]}`) {
		t.Error("different lists hash alike")
	}
}

// hand is a clock that only moves when told to.
type hand struct{ now time.Time }

func (h *hand) Now() time.Time                                 { return h.now }
func (h *hand) After(time.Duration) (<-chan time.Time, func()) { return nil, func() {} }

func TestAKeyAnswersForItsWorkspaceItsRouteAndItsModeAlone(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, world.New(slog.New(slog.DiscardHandler)), func(t *testing.T, d *db.DB) {
		first := api.Idempotency{Workspace: "00000000-0000-7000-8000-000000000001", Operation: "POST /emails", Key: "welcome:1", Hash: "h"}
		workspace, route, test, key := first, first, first, first
		workspace.Workspace = "00000000-0000-7000-8000-000000000002"
		route.Operation = "POST /emails/batch"
		test.Test = true
		key.Key = "welcome:2"
		requests := []api.Idempotency{first, workspace, route, test, key}
		for _, known := range []bool{false, true} {
			for i, request := range requests {
				var got int
				var replayed bool
				err := d.Write(t.Context(), func(tx *db.Tx) (err error) {
					got, replayed, err = api.Once(tx, request, func() (int, error) { return i, nil })
					return err
				})
				if err != nil || got != i || replayed != known {
					t.Errorf("%+v: %d, replayed %v, %v", request, got, replayed, err)
				}
			}
		}
	})
}

func TestAKeyIsRememberedForADay(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			clock := &hand{now: time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC)}
			d := dbtest.Open(t, world.World{Clock: clock, Log: slog.New(slog.DiscardHandler)}, engine)
			replayed := func(key, hash string) (again bool) {
				t.Helper()
				request := api.Idempotency{Workspace: "00000000-0000-7000-8000-000000000001", Operation: "POST /emails", Key: key, Hash: hash}
				if err := d.Write(t.Context(), func(tx *db.Tx) (err error) {
					_, again, err = api.Once(tx, request, func() (string, error) { return "done", nil })
					return err
				}); err != nil {
					t.Fatal(err)
				}
				return again
			}
			forgotten := func() (n int64) {
				t.Helper()
				if err := d.Write(t.Context(), func(tx *db.Tx) (err error) { n, err = api.Forget(tx); return err }); err != nil {
					t.Fatal(err)
				}
				return n
			}
			replayed("first:11", "a")
			replayed("second:2", "a")
			clock.now = clock.now.Add(24*time.Hour - time.Microsecond)
			replayed("third:33", "a")
			if n := forgotten(); n != 0 || !replayed("first:11", "a") {
				t.Errorf("%d forgotten before the day was over", n)
			}
			clock.now = clock.now.Add(time.Microsecond)
			if replayed("first:11", "b") { // with another body, and its time has come before it was forgotten
				t.Error("remembered for longer than a day")
			}
			if n := forgotten(); n != 1 || !replayed("first:11", "b") || !replayed("third:33", "a") || replayed("second:2", "a") {
				t.Errorf("%d forgotten, want the one whose day is over", n)
			}
		})
	}
}

func TestKeysOfHeaderAndBodyMustAgreeAndBeHarmless(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		header, body, want string
		refused            bool
	}{
		{"", "", "", false},
		{"welcome:1", "", "welcome:1", false},
		{"", "welcome:1", "welcome:1", false},
		{"welcome:1", "welcome:1", "welcome:1", false},
		{"welcome:1", "welcome:2", "", true},
		{"welcome", "", "", true}, // too short
		{"", "welcome/1", "", true},
	} {
		var wrong api.Fields
		key := api.CheckIdempotencyKey(&wrong, c.header, c.body)
		if refused := wrong["idempotency_key"] != nil; refused != c.refused || !refused && key != c.want {
			t.Errorf("%q and %q: %q, %v", c.header, c.body, key, wrong)
		}
	}
}

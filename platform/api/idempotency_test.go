package api_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"

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
}

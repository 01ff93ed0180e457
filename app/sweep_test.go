package app_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"postrider/app"
	"postrider/app/apptest"
	"postrider/platform/blob"
	"postrider/platform/db"
	"postrider/platform/db/dbtest"
	"postrider/platform/queue"
)

func TestABlobThatARequestMayBeAboutToReferToIsNotSwept(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		blobs, err := blob.NewFiles(t.TempDir(), in.App.World.Clock, in.App.World.Random)
		if err != nil {
			t.Fatal(err)
		}
		workers := app.Assemble(in.App.World, in.App.DB, blobs, in.Keys, app.Settings{ServiceDomain: "mail.postrider.test"}).Workers()
		sweep := workers[slices.IndexFunc(workers, func(w queue.Worker) bool { return w.Name == "unused blobs" })].Step
		put, err := blobs.Put(t.Context(), strings.NewReader("a file of a request"), 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			later time.Duration
			want  error
		}{{23 * time.Hour, nil}, {2 * time.Hour, blob.ErrNotFound}} {
			in.Clock.Advance(c.later)
			if _, err := sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
			file, err := blobs.Open(t.Context(), put.Ref)
			if !errors.Is(err, c.want) {
				t.Errorf("%s later: %v", c.later, err)
			}
			if err == nil {
				file.Close()
			}
		}
	})
}

// A rehearsal of a restore on the bucket of the installation: its database knows nothing of what has come since.
func TestACopyOfADatabaseSweepsNothingFromTheStoreOfTheOriginal(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		blobs, err := blob.NewFiles(t.TempDir(), in.App.World.Clock, in.App.World.Random)
		if err != nil {
			t.Fatal(err)
		}
		sweepOf := func(d *db.DB) func(context.Context) (bool, error) {
			workers := app.Assemble(in.App.World, d, blobs, in.Keys, app.Settings{ServiceDomain: "mail.postrider.test"}).Workers()
			return workers[slices.IndexFunc(workers, func(w queue.Worker) bool { return w.Name == "unused blobs" })].Step
		}
		put, err := blobs.Put(t.Context(), strings.NewReader("a file that only the original refers to"), 100)
		if err != nil {
			t.Fatal(err)
		}
		original, copied := sweepOf(in.App.DB), sweepOf(dbtest.Open(t, in.App.World, "sqlite"))
		if _, err := original(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range 30 {
			in.Clock.Advance(time.Hour)
			if _, err := copied(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		file, err := blobs.Open(t.Context(), put.Ref)
		if err != nil {
			t.Fatal(err)
		}
		file.Close()
	})
}

package apptest

import (
	"context"

	"postrider/platform/event"
)

// Finish steps a worker until it has nothing left to do.
func (in *Installation) Finish(step func(context.Context) (busy bool, err error)) {
	in.t.Helper()
	const most = 100_000
	for range most {
		busy, err := step(context.Background())
		if err != nil {
			in.t.Fatal(err)
		}
		if !busy {
			return
		}
	}
	in.t.Fatal("the worker never rests")
}

// CatchUp lets followers handle all that has happened. What they may not see yet is waited for: on PostgreSQL the call that wakes
// other nodes is a transaction too, and may still be open when what came after it has been answered.
func (in *Installation) CatchUp(followers []event.Follower) {
	in.t.Helper()
	for _, f := range followers {
		in.Finish(func(ctx context.Context) (bool, error) {
			if busy, err := f.Step(ctx, in.App.DB); busy || err != nil {
				return busy, err
			}
			return f.Waiting(ctx, in.App.DB)
		})
	}
}

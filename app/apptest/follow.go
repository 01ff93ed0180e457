package apptest

import (
	"context"

	"postrider/platform/event"
)

// CatchUp lets followers handle all that has happened. What they may not see yet is waited for: on PostgreSQL the call that wakes
// other nodes is a transaction too, and may still be open when what came after it has been answered.
func (in *Installation) CatchUp(followers []event.Follower) {
	in.t.Helper()
	for _, f := range followers {
		for waiting := true; waiting; {
			busy, err := f.Step(context.Background(), in.App.DB)
			if err == nil && !busy {
				waiting, err = f.Waiting(context.Background(), in.App.DB)
			}
			if err != nil {
				in.t.Fatal(err)
			}
		}
	}
}

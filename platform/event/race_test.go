package event_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"postrider/platform/db"
	"postrider/platform/db/dbtest"
	"postrider/platform/event"
)

// Transactions end in another order than they began, all the time, while a follower reads.
func TestEventsOfManyWritersAreAllFollowed(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t, testWorld(), "postgres")
	const writers, each = 8, 60
	var writing sync.WaitGroup
	var ended atomic.Bool
	for w := range writers {
		writing.Go(func() {
			for n := range each {
				if err := d.Write(context.Background(), func(tx *db.Tx) error { return event.Append(tx, newEvent(w*1000+2*n), newEvent(w*1000+2*n+1)) }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	go func() { writing.Wait(); ended.Store(true) }()
	l := newListener("all", event.NewWindow())
	for last := false; !last; {
		last = ended.Load()
		for l.step(t, d) {
		}
	}
	seen := map[string]int{}
	for _, id := range l.told {
		seen[id]++
	}
	if len(l.told) != 2*writers*each || len(seen) != len(l.told) {
		t.Errorf("told of %d events, %d different ones, want %d", len(l.told), len(seen), 2*writers*each)
	}
}

package queue_test

import (
	"crypto/rand"
	"testing"
	"time"

	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/world"
)

func TestAHolderSeesWhatIsDueAndTakesBackOnceWhatItHeldBefore(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *db.DB, clock *hand) {
		process := func() *queue.Holder {
			return queue.NewHolder(world.World{Clock: clock, Random: rand.Reader}, d, "service/node")
		}
		claimed := func(h *queue.Holder) int {
			t.Helper()
			items, err := h.Claim(t.Context(), lane, time.Hour, 10)
			if err != nil {
				t.Fatal(err)
			}
			return len(items)
		}
		due := func(h *queue.Holder, want bool) {
			t.Helper()
			if got, err := h.IsDue(t.Context(), lane); err != nil || got != want {
				t.Errorf("due %v, %v; want %v", got, err, want)
			}
		}
		first := process()
		due(first, false)
		later := clock.now.Add(time.Minute)
		add(t, d, queue.Item{ID: id(1), Lane: lane, Due: later, Payload: "{}"})
		due(first, false)
		if at, ok, err := first.NextIn(lane)(t.Context()); err != nil || !ok || !at.Equal(later) {
			t.Errorf("next at %s, %v, %v; want %s", at, ok, err, later)
		}
		clock.now = later
		due(first, true)
		if n := claimed(first); n != 1 {
			t.Fatalf("%d claimed, want 1", n)
		}
		due(first, false)

		second := process()                // the first one was killed
		for _, want := range []int{1, 0} { // the second time it holds the item itself
			if err := second.Resume(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n := claimed(second); n != want {
				t.Fatalf("%d claimed, want %d", n, want)
			}
		}
		if err := second.GiveBack(t.Context()); err != nil {
			t.Fatal(err)
		}
		due(second, true)
	})
}

func TestLeasesOfAHolderAreToldApart(t *testing.T) {
	t.Parallel()
	h := queue.NewHolder(world.World{Random: rand.Reader}, nil, "service/node")
	one, other := h.Lease(time.Minute), h.Lease(time.Minute)
	if one.Token == other.Token || one.Token < 0 || other.Token < 0 || one.Owner != h.Name || one.For != time.Minute {
		t.Errorf("%+v and %+v", one, other)
	}
}

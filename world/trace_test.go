package world_test

import (
	"context"
	"testing"

	"postrider/world"
)

func followNothing(ctx context.Context, w world.World) {
	_, span := w.Span(ctx, "work", world.Working)
	span.Text("postrider.site", "mx.example.net")
	span.Number("postrider.attempt", 3)
	span.Fail("no")
	span.End()
}

// Counting allocations needs the process for itself, so this test is not parallel.
func TestWorkThatNobodyFollowsCostsNoMemory(t *testing.T) {
	var w world.World
	if n := testing.AllocsPerRun(100, func() { followNothing(t.Context(), w) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkUnfollowedSpan(b *testing.B) {
	var w world.World
	ctx := context.Background()
	for b.Loop() {
		followNothing(ctx, w)
	}
}

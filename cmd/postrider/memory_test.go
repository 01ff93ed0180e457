package main

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

func TestALargeHeapGrowsByLess(t *testing.T) {
	for _, c := range []struct {
		megabytes uint64
		want      int
	}{{0, 400}, {20, 400}, {40, 320}, {64, 200}, {80, 160}, {128, 100}, {4000, 100}} {
		if got := growthOf(c.megabytes << 20); got != c.want {
			t.Errorf("%d MB may grow by %d %%, want %d", c.megabytes, got, c.want)
		}
	}
}

func TestGrowthFollowsWhatIsInUse(t *testing.T) {
	t.Setenv("GOGC", "")
	before := debug.SetGCPercent(50)
	defer debug.SetGCPercent(before)
	boundMemory()
	sweepsTo := func(want int) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); runtime.Gosched() { // cleanups have a goroutine of their own
			runtime.GC()
			now := debug.SetGCPercent(-1)
			debug.SetGCPercent(now)
			if now == want {
				return
			}
		}
		t.Errorf("the heap does not come to grow by %d %%", want)
	}
	sweepsTo(mostGrowth)
	large := make([]byte, 2*freeGrowth)
	sweepsTo(leastGrowth)
	runtime.KeepAlive(large)
	sweepsTo(mostGrowth)
}

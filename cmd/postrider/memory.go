package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// The heap may grow to five times what is in use before it is swept: most of it is short-lived, and a few megabytes are cheaper than the processor
// time of sweeping more often. Once much is in use, as with a million messages that wait for a hundred thousand domains, that would be
// hundreds of megabytes of nothing; then it grows by freeGrowth, or to twice of what is in use.
const (
	mostGrowth  = 400 // percent
	leastGrowth = 100
	freeGrowth  = 128 << 20
)

// growthOf is by how many percent a heap of which so much is in use may grow.
func growthOf(inUse uint64) int {
	return int(min(max(100*freeGrowth/max(inUse, 1), leastGrowth), mostGrowth))
}

// boundMemory sets the growth of the heap anew whenever it was swept, unless somebody has set it for this process.
func boundMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(mostGrowth)
		afterSweep(mostGrowth)
	}
}

func afterSweep(growth int) {
	// Nothing holds this: it is gone with the next sweep.
	runtime.AddCleanup(new([16]byte), func(before int) {
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(sample)
		growth := growthOf(sample[0].Value.Uint64())
		if growth != before {
			debug.SetGCPercent(growth)
		}
		afterSweep(growth)
	}, growth)
}

package sim_test

import (
	"flag"
	"fmt"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postrider/platform/db/dbtest"
	"postrider/sim"
)

var (
	seeds = flag.Int("seeds", 20, "how many seeds to run")
	first = flag.Uint64("seed", 1, "the first seed")
)

// actions is how many things happen in one run.
const actions = 400

// past are seeds that have found a mistake once.
var past = []uint64{}

func TestPromisesAreKeptOnManySeeds(t *testing.T) {
	t.Parallel()
	list := past
	for i := range *seeds {
		list = append(list, *first+uint64(i))
	}
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, seed := range list {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			slots <- struct{}{}
			defer func() { <-slots }()
			report, err := sim.Run(sim.Options{Seed: seed, Dir: t.TempDir(), Actions: actions})
			if err != nil {
				t.Errorf("%v\nreplay: go test ./sim -run TestPromises -args -seeds 1 -seed %d", err, seed)
			}
			if report.Emails < actions/10 || report.Crashes == 0 {
				t.Errorf("seed %d proves little: %d emails, %d crashes", seed, report.Emails, report.Crashes)
			}
		})
	}
}

func TestPromisesAreKeptOnPostgreSQL(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			options := sim.Options{Seed: 1000 + seed, Dir: t.TempDir(), Actions: 200, DatabaseURL: dbtest.URL(t, "postgres")}
			if _, err := sim.Run(options); err != nil {
				t.Error(err)
			}
		})
	}
}

// A seed that fails must fail again, or it could not be found out why.
func TestASeedTellsTheSameStoryTwice(t *testing.T) {
	t.Parallel()
	var stories [2]sim.Report
	for i := range stories {
		var err error
		if stories[i], err = sim.Run(sim.Options{Seed: 7, Dir: t.TempDir(), Actions: 200}); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(stories[0], stories[1]); diff != "" {
		t.Fatal(diff)
	}
}

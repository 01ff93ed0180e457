package limit_test

import (
	"context"
	"io"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"postrider/platform/db"
	"postrider/platform/db/dbtest"
	"postrider/platform/limit"
	"postrider/world"
)

// hundred is a rate with a credit of five.
var hundred = limit.Rate{Per: time.Second, Count: 50, Burst: 100}

const credit = 5

func quiet(c world.Clock) world.World {
	return world.World{Clock: c, Log: slog.New(slog.NewTextHandler(io.Discard, nil))}
}

// together returns several limiters on one PostgreSQL, each with connections of its own.
func together(t *testing.T, c world.Clock, count int) ([]*limit.Shared, []*db.DB) {
	t.Helper()
	url := dbtest.URL(t, "postgres")
	var all []*limit.Shared
	var handles []*db.DB
	for range count {
		d, err := db.Open(t.Context(), quiet(c), db.Config{URL: url, Rehearse: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		all, handles = append(all, limit.NewShared(quiet(c), d, 1000).Patient()), append(handles, d)
	}
	return all, handles
}

func settle(t *testing.T, all ...*limit.Shared) {
	t.Helper()
	for _, s := range all {
		if _, err := s.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestNodesTogetherAllowWhatOneBucketHoldsAndALittleCredit(t *testing.T) {
	t.Parallel()
	c := newClock()
	all, _ := together(t, c, 3)
	allowed := 0
	for range 200 {
		for _, s := range all {
			if s.Take(t.Context(), "a", hundred).Allowed {
				allowed++
			}
		}
	}
	if allowed < 100-2*10 || allowed > 100+3*credit { // bundles that others hold are not lost, but not used either
		t.Fatalf("%d allowed at once by three nodes with a bucket of 100", allowed)
	}
}

func TestOneNodeAloneMayUseAllOfIt(t *testing.T) {
	t.Parallel()
	c := newClock()
	all, _ := together(t, c, 2)
	for i := range 100 {
		if d := all[0].Take(t.Context(), "a", hundred); !d.Allowed || d.Limit != 100 || d.Remaining != 99-i {
			t.Fatalf("request %d of a bucket of 100: %+v", i+1, d)
		}
	}
	d := all[0].Take(t.Context(), "a", hundred)
	if d.Allowed || d.Remaining != 0 || d.RetryAfter <= 0 || d.RetryAfter > 20*time.Millisecond {
		t.Fatalf("request 101: %+v", d)
	}
	c.move(d.RetryAfter)
	if d := all[0].Take(t.Context(), "a", hundred); !d.Allowed {
		t.Fatalf("after the wait: %+v", d)
	}
}

func TestANodeHearsWithinAMomentWhatOthersHaveAllowed(t *testing.T) {
	t.Parallel()
	c := newClock()
	all, _ := together(t, c, 2)
	for range 60 {
		all[0].Take(t.Context(), "a", hundred)
	}
	settle(t, all[0])
	all[1].Take(t.Context(), "a", hundred) // on credit, before anything is known
	settle(t, all[1])
	if d := all[1].Take(t.Context(), "a", hundred); d.Remaining > 39 || d.Remaining < 25 {
		t.Fatalf("after 61 of 100 elsewhere: %+v", d)
	}
}

func TestARequestWaitsForTheAccountsThatAreSettledWithItsOwnOnly(t *testing.T) {
	t.Parallel()
	c := newClock()
	d, err := db.Open(t.Context(), quiet(c), db.Config{URL: dbtest.URL(t, "postgres")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	s := limit.NewShared(quiet(c), d, 1000).Patient()
	var keys []string
	for i := range 100 { // more than one transaction settles
		keys = append(keys, "key"+strconv.Itoa(i))
	}
	slices.SortFunc(keys, func(a, b string) int { return strings.Compare(limit.NameOf(a), limit.NameOf(b)) })
	for _, key := range keys {
		s.Take(t.Context(), key, hundred)
	}
	first, last := keys[0], keys[len(keys)-1]
	settled := make(chan error, 1)
	err = d.Write(t.Context(), func(tx *db.Tx) error {
		if _, err := tx.Exec(`INSERT INTO rate_bucket (key, full_at) VALUES ($1, 0)`, limit.NameOf(last)); err != nil { // the settling of this one waits for us
			return err
		}
		go func() {
			_, err := s.Settle(context.WithoutCancel(t.Context()))
			settled <- err
		}()
		taken := make(chan limit.Decision, 1)
		for waiting := true; waiting; { // until the first ones are settled
			err := d.Read(t.Context(), func(other *db.Tx) error {
				known, err := db.One(other, db.Value[int64], `SELECT COUNT(*) FROM rate_bucket`)
				waiting = known == 0
				return err
			})
			if err != nil {
				return err
			}
		}
		go func() { taken <- s.Take(t.Context(), first, hundred) }()
		select {
		case <-taken:
		case <-settled:
			t.Error("nothing waited for the last one")
		case <-time.After(20 * time.Second):
			t.Error("the first one waits for the last")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-settled; err != nil {
		t.Fatal(err)
	}
}

func TestWhatIsNotUsedOfABundleIsGivenBack(t *testing.T) {
	t.Parallel()
	c := newClock()
	slow := limit.Rate{Per: time.Hour, Count: 100, Burst: 100} // nothing comes back by itself
	all, _ := together(t, c, 2)
	for range 40 {
		all[0].Take(t.Context(), "a", slow)
	}
	c.move(2 * time.Second)
	settle(t, all[0])
	allowed := 0
	for range 100 {
		if all[1].Take(t.Context(), "a", slow).Allowed {
			allowed++
		}
	}
	if allowed < 60 || allowed > 60+credit {
		t.Fatalf("%d allowed after 40 of 100 elsewhere", allowed)
	}
}

func TestABucketThatIsFullAgainIsForgotten(t *testing.T) {
	t.Parallel()
	c := newClock()
	all, handles := together(t, c, 1)
	known := func() (count int64) {
		t.Helper()
		if err := handles[0].Read(t.Context(), func(tx *db.Tx) (err error) {
			count, err = db.One(tx, db.Value[int64], `SELECT COUNT(*) FROM rate_bucket`)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return count
	}
	slow := limit.Rate{Per: time.Hour, Count: 100, Burst: 100}
	all[0].Take(t.Context(), "a", hundred)
	all[0].Take(t.Context(), "b", slow)
	settle(t, all[0])
	if count := known(); count != 2 {
		t.Fatalf("%d buckets", count)
	}
	c.move(62 * time.Second) // the second has got one back, and was given out no more
	all[0].Take(t.Context(), "b", slow)
	settle(t, all[0])
	if count := known(); count != 1 {
		t.Errorf("%d buckets after a minute", count)
	}
}

func TestOverTimeNodesTogetherKeepTheRate(t *testing.T) {
	t.Parallel()
	c, random := newClock(), rand.New(rand.NewPCG(3, 4))
	all, _ := together(t, c, 2)
	allowed, passed := 0, time.Duration(0)
	for range 1500 {
		if all[random.IntN(2)].Take(t.Context(), "a", hundred).Allowed {
			allowed++
		}
		step := time.Duration(random.IntN(10)) * time.Millisecond // about four times the rate
		c.move(step)
		if passed += step; random.IntN(40) == 0 {
			settle(t, all...)
		}
		most := 100 + int(passed/(20*time.Millisecond)) + 1 + 2*credit
		if allowed > most {
			t.Fatalf("%d allowed in %v, at most %d", allowed, passed, most)
		}
	}
	if least := 100 + int(passed/(20*time.Millisecond)) - 40; allowed < least {
		t.Errorf("%d allowed in %v, at least %d could have been", allowed, passed, least)
	}
}

func TestWithoutADatabaseEachNodeCountsForItself(t *testing.T) {
	t.Parallel()
	c := newClock()
	all, handles := together(t, c, 2)
	handles[0].Close()
	allowed := 0
	for range 200 {
		if all[0].Take(t.Context(), "a", hundred).Allowed {
			allowed++
		}
	}
	if allowed != 100 {
		t.Errorf("%d allowed by a node without a database", allowed)
	}
	embedded := limit.NewShared(quiet(c), dbtest.Open(t, quiet(c), "sqlite"), 100)
	nobody, end := context.WithCancel(t.Context())
	end()
	for i := range 100 {
		if d := embedded.Take(nobody, "a", hundred); !d.Allowed || d.Remaining != 99-i {
			t.Fatalf("request %d on the embedded database: %+v", i, d)
		}
	}
	if embedded.Take(nobody, "a", hundred).Allowed {
		t.Error("101 allowed on the embedded database")
	}
}

func BenchmarkTakeShared(b *testing.B) {
	d := dbtest.Open(b, quiet(world.SystemClock{}), "postgres")
	s := limit.NewShared(quiet(world.SystemClock{}), d, 1000)
	rate := limit.Rate{Per: time.Second, Count: 100_000, Burst: 200_000}
	for b.Loop() {
		s.Take(context.Background(), "a", rate)
	}
}

func TestWhatWasLetThroughLongAgoCostsNothingNow(t *testing.T) {
	t.Parallel()
	c := newClock()
	all, _ := together(t, c, 1)
	for range 9 { // and nobody tells the database of the last ones
		all[0].Take(t.Context(), "a", hundred)
	}
	c.move(time.Minute)
	allowed := 0
	for range 150 {
		if all[0].Take(t.Context(), "a", hundred).Allowed {
			allowed++
		}
	}
	if allowed != 100 {
		t.Errorf("%d requests were allowed, want 100", allowed)
	}
}

func TestAClockThatWasADayAheadLocksNobodyOut(t *testing.T) {
	t.Parallel()
	c := newClock()
	all, _ := together(t, c, 2)
	c.move(24 * time.Hour)
	for range 110 {
		all[0].Take(t.Context(), "a", hundred)
	}
	settle(t, all[0])
	c.move(-24 * time.Hour)
	for name, s := range map[string]*limit.Shared{"the node whose clock it was": all[0], "another": all[1]} {
		allowed := 0
		for range 5 * 100 {
			if s.Take(t.Context(), "a", hundred).Allowed {
				allowed++
			}
			c.move(20 * time.Millisecond) // as fast as the bucket fills
		}
		if allowed < 5*100-2*credit {
			t.Errorf("%s lets %d of 500 requests through", name, allowed)
		}
	}
}

// lockBuckets has everybody who asks the database for a bucket wait until the returned function is called.
func lockBuckets(t *testing.T, d *db.DB) (unlock func()) {
	t.Helper()
	locked, release, over := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	told := sync.OnceFunc(func() { close(locked) }) // writes are rehearsed here
	go func() {
		over <- d.Write(context.WithoutCancel(t.Context()), func(tx *db.Tx) error {
			if _, err := tx.Exec("LOCK TABLE rate_bucket IN ACCESS EXCLUSIVE MODE"); err != nil {
				return err
			}
			told()
			<-release
			return nil
		})
	}()
	<-locked
	return func() {
		t.Helper()
		close(release)
		if err := <-over; err != nil {
			t.Error(err)
		}
	}
}

func TestManyWhoWaitForADatabaseThatDoesNotAnswerWaitOnce(t *testing.T) {
	t.Parallel()
	const patience, callers = 200 * time.Millisecond, 50
	c := newClock()
	all, handles := together(t, c, 2)
	all[0].Waits(patience)
	unlock := lockBuckets(t, handles[1])
	began := time.Now()
	var asking sync.WaitGroup
	for range callers {
		asking.Go(func() {
			if !all[0].Take(t.Context(), "a", hundred).Allowed {
				t.Error("refused")
			}
		})
	}
	asking.Wait()
	if took := time.Since(began); took > callers*patience/2 {
		t.Errorf("%d callers waited for %s", callers, took)
	}
	unlock()
}

// watchedClock tells how often it was looked at.
type watchedClock struct {
	*clock
	looks atomic.Int64
}

func (c *watchedClock) Now() time.Time {
	c.looks.Add(1)
	return c.clock.Now()
}

func TestWhoeverWaitedForASlowDatabaseIsNotChargedForTheTime(t *testing.T) {
	t.Parallel()
	c := &watchedClock{clock: newClock()}
	all, handles := together(t, c, 2)
	for range credit {
		all[0].Take(t.Context(), "a", hundred)
	}
	unlock := lockBuckets(t, handles[1])
	c.looks.Store(0)
	var asking sync.WaitGroup
	for range 100 - credit {
		asking.Go(func() {
			if d := all[0].Take(t.Context(), "a", hundred); !d.Allowed {
				t.Errorf("refused within the bucket: %+v", d)
			}
		})
	}
	for c.looks.Load() < 2*(100-credit) { // each looks twice before it waits
		runtime.Gosched()
	}
	c.move(time.Second)
	unlock()
	asking.Wait()
}

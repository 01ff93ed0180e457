package shape_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"postrider/product/delivery/internal/shape"
)

func TestAHundredThousandPathsAreForgotten(t *testing.T) {
	t.Parallel()
	b := newBench(t, shape.Config{MaxIdlePaths: 1000})
	for i := range 100_000 {
		b.add(shape.Path{Site: shape.Site(fmt.Sprint("mx.", i, ".test"))}, fmt.Sprint("tenant", i%5000), shape.Broadcast)
		w := b.one()
		b.Observe(b.now, shape.Outcome{Connection: w.Connection, Replies: []shape.Reply{taken}, Closed: i%2 == 0})
		b.move(20 * time.Millisecond)
		b.Closing()
	}
	for kind, size := range b.Sizes() {
		if size > 5500 { // a minute's connections wait to be closed, and their paths with them
			t.Errorf("%d %s are kept", size, kind)
		}
	}
	b.move(2 * time.Minute)
	b.none("nothing to send")
	b.Closing()
	b.move(time.Hour)
	for i := range 1000 {
		b.Usable(b.now, shape.Path{Site: shape.Site(fmt.Sprint("mx.", i, ".example"))}, "")
	}
	if b.PathCount() > 1001 || b.Connections() != 0 {
		t.Errorf("%v", b.Sizes())
	}
}

func TestLimitsOfTenantsAreForgotten(t *testing.T) {
	t.Parallel()
	b := newBench(t, shape.Config{Tenant: shape.SharedLimits{MessagesPerSecond: 1}})
	for i := range 500 { // each comes again while its rate is still remembered
		b.Add(b.now, example, shape.Item{Recipient: fmt.Sprint(i), Email: fmt.Sprint(i), Tenant: fmt.Sprint("tenant", i%50)})
		for _, w := range b.all() {
			b.went(w)
		}
		b.move(25 * time.Millisecond)
	}
	b.sendOut()
	b.move(time.Hour)
	for i := range 200 {
		b.add(example, fmt.Sprint("late", i), shape.Transactional)
		b.sendOut()
		b.move(2 * time.Second)
	}
	if n := b.Sizes()["shared"]; n > 5 {
		t.Errorf("%d limits are kept", n)
	}
}

func TestPathsAreForgottenAfterAnHour(t *testing.T) {
	t.Parallel()
	b := newBench(t, shape.Config{})
	for i := range 100 {
		b.Usable(b.now, shape.Path{Site: shape.Site(fmt.Sprint("mx.", i, ".test"))}, "")
	}
	b.move(time.Hour)
	for i := range 20 {
		b.Usable(b.now, shape.Path{Site: shape.Site(fmt.Sprint("mx.", i, ".example"))}, "")
	}
	if b.PathCount() > 20 {
		t.Errorf("%d paths are known", b.PathCount())
	}
}

// Not parallel: it looks at the memory of the whole program.
func TestTwentyThousandItemsFitIntoAFewMegabytes(t *testing.T) {
	heap := func() int {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	before := heap()
	s := shape.New(shape.Config{MaxItems: 25_000})
	for i := range 20_000 {
		path := shape.Path{Site: shape.Site(fmt.Sprintf("mx.%d.test", i%500))}
		id := fmt.Sprintf("%036d", i)
		if _, ok := s.Add(noon, path, shape.Item{Recipient: id, Email: id, Domain: "example.net", Tenant: "ann", Class: shape.Broadcast}); !ok {
			t.Fatalf("item %d came back", i)
		}
	}
	used := heap() - before
	if used > 10<<20 {
		t.Errorf("%d bytes for each item", used/20_000)
	}
	t.Logf("%d bytes for each item, its id included", used/20_000)
	runtime.KeepAlive(s)
}

func TestEqualCallsHaveEqualAnswers(t *testing.T) {
	t.Parallel()
	run := func() string {
		b := newBench(t, shape.Config{MaxConnections: 7})
		log := ""
		for round := range 50 {
			for i := range 20 {
				b.next++
				item := shape.Item{Recipient: fmt.Sprint(b.next), Email: fmt.Sprint(b.next), Tenant: fmt.Sprint(i % 4), Class: shape.Class(i % 3)}
				back, ok := b.Add(b.now, shape.Path{Site: shape.Site(fmt.Sprint("mx.", (round*i)%9, ".test"))}, item)
				log += fmt.Sprintln(back, ok)
			}
			for i, w := range b.all() {
				log += fmt.Sprintln(w)
				if i%4 == 3 {
					b.failed(w, shape.NotGreeted)
				} else {
					b.went(w)
				}
			}
			log += fmt.Sprintln(b.Returned(), b.Closing(), b.NextWake(b.now))
			b.move(time.Second)
		}
		return log + fmt.Sprint(b.Snapshot(b.now), b.Explain(b.now))
	}
	first, second := run(), run()
	if first != second {
		t.Error("two runs differ")
	}
}

func TestHoldsAreBoundedAndThePastOnesGoFirst(t *testing.T) {
	t.Parallel()
	var snap shape.Snapshot
	for i := range 60_000 {
		end := noon.Add(time.Hour)
		if i < 10_000 {
			end = noon.Add(time.Minute)
		}
		snap.Holds = append(snap.Holds, shape.Hold{Path: shape.Path{Site: shape.Site(fmt.Sprint("mx.", i, ".test"))}, Kind: shape.Suspended, From: noon, Until: end})
	}
	b := newBench(t, shape.Config{})
	b.Restore(b.now, snap)
	if n := b.Sizes()["holds"]; n != 50_000 {
		t.Fatalf("%d holds", n)
	}
	if err := b.Suspend(b.now, google, "", "", noon.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, ok := b.Usable(b.now, google, ""); ok {
		t.Fatal("an operator's order counts in any case")
	}
	b.move(2 * time.Minute)
	b.add(example, "ann", shape.Transactional)
	b.refused(b.one(), said(550, "5.7.1", "client host [192.0.2.1] listed in zen.spamhaus.org"))
	if n := b.Sizes()["holds"]; n != 40_002 {
		t.Errorf("%d holds after some have ended", n)
	}
}

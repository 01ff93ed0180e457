package shape_test

import (
	"testing"
	"time"

	"postrider/product/delivery/internal/shape"
)

func TestConnectionsAreOpenedInProportionToTheBacklog(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ allowed, backlog, want int }{
		{10, 1, 1}, {10, 2, 1}, {10, 3, 2}, {10, 20, 5}, {10, 100, 9}, {10, 180, 9}, {10, 1000, 10}, {1, 1000, 1}, {2, 1, 1}, {2, 21, 2},
	} {
		if got := shape.Wanted(test.allowed, test.backlog); got != test.want {
			t.Errorf("%d messages and %d connections allowed: %d are opened, want %d", test.backlog, test.allowed, got, test.want)
		}
	}
}

func TestANewPathStartsWithTwoConnectionsOfTwentyMessages(t *testing.T) {
	t.Parallel()
	b := newBench(t, shape.Config{})
	b.addMany(500, example, "ann", shape.Transactional)
	if open := b.all(); len(open) != 2 || !open[0].Open || !open[1].Open {
		t.Fatalf("%+v", open)
	} else {
		b.went(open[0])
	}
	carried := 1
	for w := b.one(); ; w = b.one() {
		carried++
		if w.Open {
			t.Fatalf("a new connection before the old one had carried its part: %d", carried)
		}
		b.went(w)
		if w.Last {
			break
		}
		b.move(20 * time.Millisecond)
	}
	if carried != 20 {
		t.Errorf("the last of a connection is number %d", carried)
	}
	if w := b.one(); !w.Open {
		t.Errorf("after the last a new connection: %+v", w)
	}
}

// serve sends for a while, each message going well, so that the path earns more.
func (b *bench) serve(path shape.Path, length time.Duration) {
	for end := b.now.Add(length); b.now.Before(end); b.move(10 * time.Second) {
		b.addMany(3, path, "ann", shape.Transactional)
		for batch := b.all(); len(batch) > 0; batch = b.all() {
			for _, w := range batch {
				b.went(w)
			}
		}
		b.Closing()
	}
}

func TestAPathEarnsConnectionsWithTimeAndLosesThemWhenAskedForLess(t *testing.T) {
	t.Parallel()
	b := newBench(t, shape.Config{})
	b.serve(example, 14*time.Minute)
	if st := b.state(example); st.Allowed != 2 || st.Limits.MessagesPerConnection != 20 {
		t.Fatalf("before a quarter of an hour: %+v", st)
	}
	b.serve(example, 4*time.Minute)
	if st := b.state(example); st.Allowed != 4 || st.Limits.MessagesPerConnection != 40 {
		t.Fatalf("after it: %+v", st)
	}
	b.serve(example, time.Hour)
	if st := b.state(example); st.Allowed != 10 || st.Limits.MessagesPerConnection != 100 {
		t.Fatalf("after an hour it has all that the row allows: %+v", st)
	}

	b.addMany(100, example, "ann", shape.Transactional)
	busy := b.all()
	if len(busy) < 8 {
		t.Fatalf("%d connections for a hundred messages", len(busy))
	}
	for _, w := range busy { // they all hear the same
		b.refused(w, said(450, "4.7.0", "rate limit exceeded"))
	}
	if st := b.state(example); st.Allowed != 5 || st.Limits.MessagesPerConnection != 50 {
		t.Errorf("halved once: %+v", st)
	}
	b.move(time.Second) // the burst of messages is used up
	if again := b.all(); len(again) != 5 || b.Connections() != 5 {
		t.Errorf("%d go on, %d connections are left", len(again), b.Connections())
	}
}

func TestADeferralDelaysTheNextDoubling(t *testing.T) {
	t.Parallel()
	b := newBench(t, shape.Config{})
	b.serve(example, 14*time.Minute)
	b.add(example, "ann", shape.Transactional)
	b.refused(b.one(), said(451, "4.3.2", "come later"))
	b.serve(example, 10*time.Minute)
	if st := b.state(example); st.Allowed != 2 {
		t.Fatalf("%+v", st)
	}
	b.add(example, "ann", shape.Transactional)
	b.refused(b.one(), said(452, "4.2.2", "mailbox full")) // which is not about us
	b.serve(example, 8*time.Minute)
	if st := b.state(example); st.Allowed != 4 {
		t.Errorf("%+v", st)
	}
}

func TestFailuresNarrowThePathAndThenItRests(t *testing.T) {
	t.Parallel()
	b := newBench(t, shape.Config{})
	other := shape.Path{Source: "192.0.2.9", Site: example.Site}
	b.serve(example, 40*time.Minute)
	for want := 3; want >= 1; want-- {
		b.add(example, "ann", shape.Transactional)
		w := b.one()
		b.failed(w, shape.BrokenOff)
		if got := b.state(example).Allowed; got > want+4 {
			t.Fatalf("%d connections after a failure", got)
		}
	}
	for range 10 {
		if _, ok := b.Usable(b.now, example, "ann"); !ok {
			break
		}
		b.add(example, "ann", shape.Transactional)
		b.failed(b.one(), shape.BrokenOff)
	}
	st := b.state(example)
	if st.State != shape.State(shape.Resting) || st.Until != b.now.Add(5*time.Minute) || st.Allowed != 1 {
		t.Fatalf("%+v", st)
	}
	if back, ok := b.Usable(b.now, other, "ann"); !ok {
		t.Errorf("another source can still go there: %+v", back)
	}
	b.move(5 * time.Minute)
	b.addMany(50, example, "ann", shape.Transactional)
	b.one()
}

func TestAFailureOfOurOwnTeachesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, shape.Config{})
	for range 20 {
		b.add(example, "ann", shape.Transactional)
		b.failed(b.one(), shape.OurOwn)
		b.move(time.Second)
	}
	if snap := b.Snapshot(b.now); len(snap.Circuits)+len(snap.Holds)+len(snap.Windows) != 0 {
		t.Errorf("%+v", snap)
	}
}

func TestUnusedConnectionsAreClosedAfterAWhile(t *testing.T) {
	t.Parallel()
	b := newBench(t, shape.Config{})
	b.add(example, "ann", shape.Transactional)
	w := b.one()
	b.went(w)
	b.move(50 * time.Second)
	b.add(example, "ann", shape.Transactional)
	again := b.one()
	if again.Open || again.Connection != w.Connection {
		t.Fatalf("the connection is used again: %+v", again)
	}
	b.went(again)
	b.move(50 * time.Second)
	b.none("nothing to send")
	if closing := b.Closing(); len(closing) != 0 {
		t.Fatalf("closed %v although it was used", closing)
	}
	b.now = b.NextWake(b.now)
	b.none("nothing to send")
	if closing := b.Closing(); len(closing) != 1 || closing[0] != w.Connection || b.Connections() != 0 {
		t.Errorf("%v", closing)
	}
	if want := noon.Add(110 * time.Second); b.now != want {
		t.Errorf("closed at %v, want %v", b.now, want)
	}
}

func TestAConnectionIsOnlyUsedForWhatItWasOpenedFor(t *testing.T) {
	t.Parallel()
	b := newBench(t, shape.Config{MaxConnections: 1})
	b.add(example, "ann", shape.Transactional)
	first := b.one()
	b.went(first)
	b.Add(b.now, example, shape.Item{Recipient: "x", Email: "x", Route: "checked certificate"})
	w := b.one()
	if !w.Open || w.Route != "checked certificate" {
		t.Fatalf("%+v", w)
	}
	if closing := b.Closing(); len(closing) != 1 || closing[0] != first.Connection {
		t.Errorf("the place of the unused one is taken: %v", closing)
	}
}

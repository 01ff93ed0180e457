package shape_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"postrider/product/delivery/internal/shape"
)

func TestASnapshotRestoresWhatWasLearned(t *testing.T) {
	t.Parallel()
	providers := table(t, crowded)
	rapid.Check(t, func(rt *rapid.T) {
		l := newLedger(rt, providers)
		rt.Repeat(map[string]func(*rapid.T){"add": l.add, "take": l.takeAll, "observe": l.observe, "operate": l.operate, "wait": l.wait})
		before := l.Snapshot(l.now)
		text, err := json.Marshal(before)
		if err != nil {
			rt.Fatal(err)
		}
		var read shape.Snapshot
		if err := json.Unmarshal(text, &read); err != nil {
			rt.Fatal(err)
		}
		after := shape.New(shape.Config{Providers: providers, MaxIdlePaths: 100})

		after.Restore(l.now, read)

		if diff := cmp.Diff(before, after.Snapshot(l.now)); diff != "" {
			rt.Fatal(diff)
		}
		for _, site := range crowdedSites {
			for _, source := range []string{"", "192.0.2.1"} {
				path := shape.Path{Source: source, Site: site}
				was, wasUsable := l.Usable(l.now, path, "ann")
				is, isUsable := after.Usable(l.now, path, "ann")
				if was != is || wasUsable != isUsable {
					rt.Fatalf("%v was %v %+v and is %v %+v", path, wasUsable, was, isUsable, is)
				}
			}
		}
	})
}

func TestARestartKeepsSuspensionsCircuitsQuarantinesAndOrders(t *testing.T) {
	t.Parallel()
	b := newBench(t, shape.Config{})
	b.add(google, "ann", shape.Transactional)
	b.refused(b.one(), tooFast)
	for range 3 {
		b.add(example, "ann", shape.Transactional)
		b.failed(b.one(), shape.NotConnected)
	}
	listed := shape.Path{Source: "192.0.2.1", Site: "yahoo"}
	b.add(listed, "ann", shape.Transactional)
	b.refused(b.one(), said(550, "5.7.1", "client host [192.0.2.1] listed in zen.spamhaus.org"))
	stopped := shape.Path{Site: "orange"}
	if err := b.Suspend(b.now, stopped, "", "strike", b.now.Add(24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	b.SetShared(shape.SharedName{Kind: shape.OfSource, Key: "192.0.2.1"}, shape.SharedLimits{MessagesPerSecond: 2})

	after := shape.New(shape.Config{})
	after.Restore(b.now.Add(time.Minute), b.Snapshot(b.now))

	var reasons []string
	for _, path := range []shape.Path{google, example, listed, stopped, {Source: "192.0.2.2", Site: "yahoo"}} {
		back, _ := after.Usable(b.now.Add(time.Minute), path, "ann")
		reasons = append(reasons, string(back.Reason))
	}
	if want := []string{"suspended", "unreachable", "quarantined", "stopped", ""}; !slices.Equal(reasons, want) {
		t.Errorf("%q, want %q", reasons, want)
	}
	if snap := after.Snapshot(b.now); len(snap.Shared) != 1 || len(snap.Windows) != 2 {
		t.Errorf("%+v", snap)
	}
	if _, ok := after.Usable(b.now.Add(6*time.Minute), google, "ann"); !ok {
		t.Error("a suspension outlives its time")
	}
	if snap := shape.New(shape.Config{}).Snapshot(b.now); len(snap.Holds)+len(snap.Windows)+len(snap.Circuits)+len(snap.Shared) != 0 {
		t.Errorf("a new one has something to keep: %+v", snap)
	}
}

package shape_test

import (
	"testing"
	"time"

	"postrider/product/delivery/internal/shape"
)

func TestThreeFailedConnectionsInARowLeaveAProviderAlone(t *testing.T) {
	t.Parallel()
	b := newBench(t, shape.Config{})
	acme, corp := shape.Path{Site: "acme.mail.protection.outlook.com"}, shape.Path{Site: "corp.mail.protection.outlook.com"}
	for i := range 3 {
		b.addMany(1, acme, "ann", shape.Transactional)
		b.failed(b.one(), shape.NotConnected)
		if _, usable := b.Usable(b.now, acme, "ann"); usable != (i < 2) {
			t.Fatalf("usable after %d failures: %v", i+1, usable)
		}
	}
	back, ok := b.Add(b.now, corp, shape.Item{Recipient: "x"})
	if ok || back.Reason != shape.Unreachable || back.At != noon.Add(5*time.Minute) {
		t.Fatalf("another site of the same provider: %+v", back)
	}
	if _, ok := b.Usable(b.now, google, "ann"); !ok {
		t.Fatal("other providers are not concerned")
	}

	b.move(4*time.Minute + 45*time.Second) // near enough to wait in memory
	b.addMany(10, acme, "ann", shape.Transactional)
	b.addMany(10, corp, "ann", shape.Transactional)
	b.none("the five minutes are not over")
	b.now = b.NextWake(b.now)
	if b.now != noon.Add(5*time.Minute) {
		t.Fatalf("it goes on at %v", b.now)
	}
	probe := b.one()
	if !probe.Probe {
		t.Fatalf("one tries first: %+v", probe)
	}
	b.failed(probe, shape.NotGreeted)
	b.none("it failed again")
	if returned := b.Returned(); len(returned) != 19 || returned[0].Back.At != b.now.Add(5*time.Minute) {
		t.Fatalf("what waits returns: %d", len(returned))
	}

	b.move(5 * time.Minute)
	b.addMany(3, acme, "ann", shape.Transactional)
	b.addMany(3, corp, "ann", shape.Transactional)
	probe = b.one()
	b.went(probe)
	if all := b.all(); len(all) < 2 {
		t.Errorf("after a good try all go on: %+v", all)
	}
}

func TestATryThatNeverReachedTheNetworkIsTriedByAnother(t *testing.T) {
	t.Parallel()
	b := newBench(t, shape.Config{})
	for range 3 {
		b.add(example, "ann", shape.Transactional)
		b.failed(b.one(), shape.NotConnected)
	}
	b.move(5 * time.Minute)
	b.addMany(2, example, "ann", shape.Transactional)
	b.failed(b.one(), shape.OurOwn)
	if w := b.one(); !w.Probe {
		t.Errorf("%+v", w)
	}
}

func TestAProviderThatIsPausedAndUnreachableWaitsForTheLaterOfBoth(t *testing.T) {
	t.Parallel()
	b := newBench(t, shape.Config{})
	b.Restore(b.now, shape.Snapshot{Circuits: []shape.Circuit{{Key: "google", Failures: 5, OpenFrom: noon, OpenUntil: noon.Add(10 * time.Second),
		PausedFrom: noon, PausedUntil: noon.Add(25 * time.Second)}}})
	b.add(google, "ann", shape.Transactional)
	b.none("it is paused")
	b.move(10 * time.Second)
	b.none("it is still paused")
	if got := b.state(google).State; got != shape.StateBlocked {
		t.Errorf("it is %s", got)
	}
	b.now = b.NextWake(b.now)
	if w := b.one(); !w.Probe || b.now != noon.Add(25*time.Second) {
		t.Errorf("%v %+v", b.now, w)
	}
}

func TestAnotherPathTriesIfTheFirstCannot(t *testing.T) {
	t.Parallel()
	opened := shape.Snapshot{Circuits: []shape.Circuit{{Key: "google", Failures: 5, OpenFrom: noon, OpenUntil: noon.Add(10 * time.Second)}}}
	first, second := shape.Path{Source: "first", Site: "google"}, shape.Path{Source: "second", Site: "google"}

	b := newBench(t, shape.Config{})
	b.Restore(b.now, opened)
	b.SetShared(shape.SharedName{Kind: shape.OfSource, Key: "first"}, shape.SharedLimits{MessagesPerSecond: 1})
	b.add(first, "ann", shape.Transactional)
	b.add(second, "ann", shape.Transactional)
	b.none("the circuit is open")
	b.move(9900 * time.Millisecond)
	b.add(shape.Path{Source: "first", Site: example.Site}, "ann", shape.Transactional)
	b.one()
	b.move(100 * time.Millisecond)
	if w := b.one(); w.Path != second || !w.Probe {
		t.Errorf("the first has to wait for its rate: %+v", w)
	}

	b = newBench(t, shape.Config{})
	b.Restore(b.now, opened)
	b.add(first, "ann", shape.Transactional)
	b.add(second, "ann", shape.Transactional)
	b.none("the circuit is open")
	b.move(10 * time.Second)
	b.failed(b.one(), shape.OurOwn)
	if w := b.one(); w.Path != second || !w.Probe {
		t.Errorf("the first did not try: %+v", w)
	}
}

func TestAnAnswerBetweenFailuresKeepsTheCircuitClosed(t *testing.T) {
	t.Parallel()
	b := newBench(t, shape.Config{})
	for range 6 {
		b.add(example, "ann", shape.Transactional)
		b.failed(b.one(), shape.NotConnected)
		b.add(example, "ann", shape.Transactional)
		b.went(b.one())
		b.move(time.Minute)
		b.none("nothing to send")
	}
	if snap := b.Snapshot(b.now); len(snap.Circuits) != 0 {
		t.Errorf("%+v", snap)
	}
}

var unwanted = said(550, "5.7.1", "our policy: poor reputation of the sender")

func TestAProviderThatBlocksTooMuchIsPaused(t *testing.T) {
	t.Parallel()
	b := newBench(t, shape.Config{})
	tenants := []string{"ann", "bob", "cyd", "dan"}
	blocked := 0
	for i := range 98 {
		b.add(google, tenants[i%4], shape.Transactional)
		w := b.one()
		if i%13 == 0 {
			b.refused(w, unwanted)
			blocked++
		} else {
			b.went(w)
		}
		b.move(5 * time.Second)
	}
	if _, ok := b.Usable(b.now, google, "ann"); !ok || blocked < 6 {
		t.Fatalf("%d blocked of 98 are too few to judge", blocked)
	}
	for _, tenant := range tenants {
		b.add(google, tenant, shape.Transactional)
		b.refused(b.one(), unwanted)
		if _, ok := b.Usable(b.now, google, "eve"); !ok {
			break
		}
	}
	back, ok := b.Usable(b.now, google, "eve")
	if ok || back.Reason != shape.Blocked || back.At != b.now.Add(5*time.Minute) || back.Cause.Enhanced != "5.7.1" {
		t.Fatalf("%+v %v", back, ok)
	}
	b.move(5 * time.Minute)
	b.addMany(50, google, "ann", shape.Transactional)
	if all := b.all(); len(all) != 1 {
		t.Errorf("it goes on with half: %d", len(all))
	}
}

func TestOneTenantsBlockedMailStopsThatTenantOnly(t *testing.T) {
	t.Parallel()
	b := newBench(t, shape.Config{})
	for i := range 200 {
		tenant := "good"
		if i%10 == 0 {
			tenant = "bad"
		}
		if _, ok := b.Usable(b.now, google, tenant); !ok {
			break
		}
		b.add(google, tenant, shape.Broadcast)
		if w := b.one(); tenant == "bad" {
			b.refused(w, unwanted)
		} else {
			b.went(w)
		}
		b.move(time.Second)
	}
	if _, ok := b.Usable(b.now, google, "good"); !ok {
		t.Error("the good tenant is stopped too")
	}
	if back, ok := b.Usable(b.now, google, "bad"); ok || back.Reason != shape.Reason(shape.Suspended) {
		t.Errorf("the bad tenant goes on: %+v", back)
	}
}

func TestBlocksOfLongAgoAreForgotten(t *testing.T) {
	t.Parallel()
	b := newBench(t, shape.Config{})
	for i := range 300 {
		b.add(google, []string{"ann", "bob", "cyd"}[i%3], shape.Transactional)
		if w := b.one(); i < 90 && i%4 == 0 {
			b.refused(w, unwanted) // many of few
		} else {
			b.went(w)
		}
		if b.move(time.Second); i == 90 {
			b.move(16 * time.Minute)
		}
	}
	if _, ok := b.Usable(b.now, google, "ann"); !ok {
		t.Error("paused because of the past")
	}
}

func TestWhatWasBlockedLongAgoAccusesNobody(t *testing.T) {
	t.Parallel()
	b, spam := newBench(t, shape.Config{}), said(550, "5.7.1", "High probability of spam")
	send := func(count int, tenant string, answer func(shape.Work)) {
		for range count {
			b.add(example, tenant, shape.Transactional)
			answer(b.one())
			b.move(50 * time.Millisecond)
		}
	}
	for range 10 {
		send(100, "eve", b.went)
		send(4, "ann", func(w shape.Work) { b.refused(w, spam) })
		b.move(3 * time.Minute)
	}
	for range 5 {
		send(25, "eve", b.went)
		b.move(3 * time.Minute)
	}
	send(6, "bob", func(w shape.Work) { b.refused(w, spam) })
	holds := b.Snapshot(b.now).Holds
	if len(holds) != 1 || holds[0].Tenant != "bob" {
		t.Errorf("held is %+v", holds)
	}
}

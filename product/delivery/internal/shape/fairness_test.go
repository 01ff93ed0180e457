package shape_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"postrider/product/delivery/internal/shape"
)

// narrow has one connection, so that the order of messages is the order of turns.
const narrow = `
[default]
start_connections = 1
max_connections = 1
messages_per_connection = 100000
start_messages = 100000
messages_per_second = 100000
connects_per_minute = 100000
recipients_per_transaction = 10
`

func TestATenantsOnlyMessageWaitsForOneTurnOfEachOther(t *testing.T) {
	t.Parallel()
	providers := table(t, narrow)
	rapid.Check(t, func(rt *rapid.T) {
		b := &bench{t: rt, Shaper: shape.New(shape.Config{Providers: providers, MaxItems: 50_000, MaxPathItems: 50_000}), now: noon}
		others := rapid.IntRange(1, 8).Draw(rt, "others")
		class := shape.Class(rapid.IntRange(0, 2).Draw(rt, "class"))
		for i := range others {
			size := rapid.IntRange(1, 10).Draw(rt, "recipients")
			for email := range 1000 / size {
				for r := range size {
					b.Add(b.now, example, shape.Item{Recipient: fmt.Sprint(i, email, r), Email: fmt.Sprint(i, email), Tenant: fmt.Sprint("bulk", i), Class: class})
				}
			}
		}
		for range rapid.IntRange(0, 50).Draw(rt, "before") {
			b.went(b.one())
		}
		b.add(example, "small", class)

		before := 0
		for w := b.one(); w.Items[0].Tenant != "small"; w = b.one() {
			before++
			b.went(w)
		}

		if before > others {
			rt.Fatalf("%d transactions before it, with %d other tenants", before, others)
		}
	})
}

func TestTenantsShareAPathByRecipients(t *testing.T) {
	t.Parallel()
	b := newBench(t, shape.Config{Providers: table(t, narrow)})
	for email := range 60 {
		for r := range 10 {
			b.Add(b.now, example, shape.Item{Recipient: fmt.Sprint(email, "/", r), Email: fmt.Sprint("large", email), Tenant: "large"})
		}
	}
	b.addMany(600, example, "small", shape.Transactional)
	recipients := map[string]int{}
	for range 220 {
		w := b.one()
		recipients[w.Items[0].Tenant] += len(w.Items)
		b.went(w)
	}
	if diff := recipients["large"] - recipients["small"]; diff < -10 || diff > 10 {
		t.Errorf("%v", recipients)
	}
}

func TestClassesShareAPathByWeightAndBulkNeverStarves(t *testing.T) {
	t.Parallel()
	b := newBench(t, shape.Config{Providers: table(t, narrow)})
	for class := range shape.Class(3) {
		b.addMany(500, example, "ann", class)
	}
	count, since := [3]int{}, 0
	for range 400 {
		w := b.one()
		class := w.Items[0].Class
		count[class]++
		if since++; class == shape.Broadcast {
			since = 0
		}
		if since > 18 {
			t.Fatalf("%d messages without a broadcast", since)
		}
		b.went(w)
	}
	if count != [3]int{280, 80, 40} {
		t.Errorf("%v, want 70, 20 and 10 per cent", count)
	}
}

func TestAnUrgentMessagePassesBulkThatWasThereBefore(t *testing.T) {
	t.Parallel()
	b := newBench(t, shape.Config{Providers: table(t, narrow)})
	b.addMany(500, example, "ann", shape.Broadcast)
	for range 100 {
		b.went(b.one())
	}
	b.add(example, "ann", shape.Transactional)
	if w := b.one(); w.Items[0].Class != shape.Transactional {
		t.Errorf("%+v", w)
	}
}

func TestAFloodLeavesRoomForOthers(t *testing.T) {
	t.Parallel()
	b := newBench(t, shape.Config{})
	flood := func(to shape.Path) int {
		for n := 0; ; n++ {
			back, ok := b.Add(b.now, to, shape.Item{Recipient: fmt.Sprint(n), Email: fmt.Sprint(n), Tenant: "bulk", Class: shape.Broadcast})
			if !ok {
				if back.Reason != shape.Full || !back.At.After(b.now) {
					t.Fatalf("%+v", back)
				}
				return n
			}
		}
	}
	if n := flood(example); n != 1600 {
		t.Errorf("one tenant has %d of the 2,000 places of a path", n)
	}
	for i := range 20 {
		flood(shape.Path{Site: shape.Site(fmt.Sprint("mx", i, ".example.org"))})
	}
	if b.Waiting() != 16_000 || b.Room() != 4_000 {
		t.Errorf("one tenant has %d of the 20,000 places", b.Waiting())
	}
	b.add(example, "small", shape.Transactional)
	b.add(example, "bulk", shape.Transactional)
}

func TestTheMailOfATarpitsVictimsDoesNotTakeAllConnections(t *testing.T) {
	t.Parallel()
	b := newBench(t, shape.Config{MaxConnections: 50})
	for i := range 500 {
		b.add(shape.Path{Site: shape.Site(fmt.Sprint("mx.tarpit", i, ".test"))}, "bulk", shape.Broadcast)
	}
	if stuck := b.all(); len(stuck) != 45 {
		t.Fatalf("%d connections hang", len(stuck))
	}
	b.add(example, "small", shape.Transactional)
	if w := b.one(); w.Items[0].Tenant != "small" {
		t.Errorf("%+v", w)
	}
}

// When all connections are taken, who gets the next one is a matter of turns too, not of how many paths somebody waits with.
func TestAConnectionThatIsFreedGoesToWhoseTurnItIs(t *testing.T) {
	t.Parallel()
	b := newBench(t, shape.Config{MaxConnections: 10, Tenant: shape.SharedLimits{Connections: 1000}})
	for i := range 1000 {
		b.add(shape.Path{Site: shape.Site(fmt.Sprint("mx.", i, ".test"))}, "bulk", shape.Transactional)
	}
	busy := b.all()
	crowded := shape.Path{Site: "mx.999.test"}
	b.add(example, "small", shape.Transactional)
	b.add(crowded, "other", shape.Transactional)
	b.none("all connections are taken")

	var order []string
	for range 20 {
		b.failed(busy[0], shape.OurOwn)
		busy = append(busy[1:], b.all()...)
		order = append(order, busy[len(busy)-1].Items[0].Tenant)
	}
	for _, tenant := range []string{"small", "other"} {
		found := false
		for _, got := range order {
			found = found || got == tenant
		}
		if !found {
			t.Errorf("%s did not get one of the next connections: %v", tenant, order)
		}
	}
}

func TestAConnectionYieldsToMoreUrgentMail(t *testing.T) {
	t.Parallel()
	b := newBench(t, shape.Config{MaxConnections: 1})
	b.addMany(10, google, "bulk", shape.Broadcast)
	w := b.one()
	b.add(example, "small", shape.Transactional)
	b.none("the only connection is taken")
	b.went(w)
	if next := b.one(); next.Path != example || len(b.Closing()) != 1 {
		t.Errorf("%+v", next)
	}
}

func TestRecipientsOfAnEmailGoTogether(t *testing.T) {
	t.Parallel()
	b := newBench(t, shape.Config{Providers: table(t, narrow)})
	add := func(recipient, email, domain, route string) {
		b.Add(b.now, example, shape.Item{Recipient: recipient, Email: email, Domain: domain, Route: route, Tenant: "ann"})
	}
	for i := range 12 { // interleaved with others
		add(fmt.Sprint("a", i), "letter", "example.net", "")
		add(fmt.Sprint("b", i), fmt.Sprint("other", i), "example.net", "")
	}
	add("c", "letter", "example.org", "")
	add("d", "letter", "example.net", "checked")

	w := b.one()
	if len(w.Items) != 10 || w.Items[0].Recipient != "a0" || w.Items[9].Recipient != "a9" {
		t.Fatalf("the first ten together: %+v", w.Items)
	}
	b.went(w)
	b.add(example, "ann", shape.Transactional) // behind a group that was cut
	sizes := map[string]int{}
	for _, w := range b.sendOut() {
		if w.Items[0].Email == "letter" {
			sizes[w.Items[0].Domain+" "+w.Route] += len(w.Items)
		}
	}
	if sizes["example.net "] != 2 || sizes["example.org "] != 1 || sizes["example.net checked"] != 1 {
		t.Errorf("%v", sizes)
	}
}

// Who is woken for a place and cannot take it passes it on.
func TestARoomThatIsNotTakenGoesToTheNext(t *testing.T) {
	t.Parallel()
	b := newBench(t, shape.Config{MaxConnections: 2, Tenant: shape.SharedLimits{Connections: 10}})
	b.SetShared(shape.SharedName{Kind: shape.OfSource, Key: "slow"}, shape.SharedLimits{MessagesPerSecond: 1})
	slow := func(site shape.Site) shape.Path { return shape.Path{Source: "slow", Site: site} }
	b.add(slow("mx.x.test"), "ann", shape.Transactional)
	b.add(example, "ann", shape.Transactional)
	busy := b.all()
	b.move(1500 * time.Millisecond)
	b.add(slow("mx.a.test"), "ann", shape.Transactional)
	b.none("no connection is free")
	b.add(google, "ann", shape.Transactional)
	b.none("no connection is free")
	b.add(slow("mx.x.test"), "ann", shape.Transactional)
	b.went(busy[0])
	b.one() // takes the source's message of this second
	b.refused(busy[1], said(421, "4.3.2", "closing"))
	if w := b.one(); w.Path != google {
		t.Errorf("%+v", w)
	}
}

func TestATenantWaitsNoLongerBecauseTheClockWasSetBack(t *testing.T) {
	t.Parallel()
	b := newBench(t, shape.Config{Tenant: shape.SharedLimits{MessagesPerSecond: 1}})
	b.addMany(2, example, "ann", shape.Transactional)
	b.went(b.one())
	b.none("the tenant has had its message of this second")
	b.move(-time.Hour)
	b.sendOut()
	if waited := b.now.Sub(noon.Add(-time.Hour)); waited > 2*time.Second {
		t.Errorf("it waited for %v", waited)
	}
}

func TestAnEmailBehindOneThatWasCutIsNotLost(t *testing.T) {
	t.Parallel()
	b := newBench(t, shape.Config{Providers: table(t, narrow)})
	for i := range 12 {
		b.Add(b.now, example, shape.Item{Recipient: fmt.Sprint(i), Email: "letter", Domain: "example.net", Tenant: "ann"})
	}
	b.went(b.one())
	b.add(example, "ann", shape.Transactional)
	if sent := b.sendOut(); len(sent) != 2 || len(sent[0].Items) != 2 || len(sent[1].Items) != 1 {
		t.Errorf("%+v", sent)
	}
}

func TestATenantsOwnRateHoldsOnlyItsMail(t *testing.T) {
	t.Parallel()
	b := newBench(t, shape.Config{Providers: table(t, narrow)})
	b.SetShared(shape.SharedName{Kind: shape.OfTenant, Key: "slow"}, shape.SharedLimits{MessagesPerSecond: 1})
	b.addMany(5, example, "slow", shape.Transactional)
	b.went(b.one())
	b.none("the tenant has had its message of this second")
	b.addMany(5, example, "quick", shape.Broadcast)
	for range 5 {
		if w := b.one(); w.Items[0].Tenant != "quick" {
			t.Fatalf("%+v", w)
		} else {
			b.went(w)
		}
	}
	b.none("the slow tenant still has to wait")
	if wake := b.NextWake(b.now); wake != b.now.Add(time.Second) {
		t.Errorf("the slow tenant goes on at %v", wake)
	}
}

package shape_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"postrider/product/delivery/internal/shape"
)

// crowded has small limits, so that random steps meet all of them.
const crowded = `
[default]
max_connections = 4
messages_per_connection = 3
connects_per_minute = 30
messages_per_second = 5
recipients_per_transaction = 3
start_connections = 2
start_messages = 2
double_after = "1m"
idle_timeout = "20s"

[[default.rule]]
name = "slow"
says = 'slow down'
action = "slow_path"
messages_per_second = 0.1
max_connections = 1
for = "2m"

[[default.rule]]
name = "go"
says = 'go away'
action = "suspend_path"
after = 2
within = "1m"
for = "3m"

[[default.rule]]
name = "listed"
says = 'listed'
action = "quarantine_source"
for = "5m"

[[default.rule]]
name = "tenant"
says = 'this sender'
action = "suspend_tenant"
for = "1m"

[[provider]]
name = "big"
title = "Big"
mx = ["big.test"]
one_site = true
shared = { max_connections = 3, messages_per_second = 6 }

[[provider]]
name = "many"
mx = ["many.test"]
shared = { max_connections = 3, connects_per_minute = 20 }
`

var crowdedSites = []shape.Site{"big", "a.many.test", "b.many.test", "mx.one.test", "mx.two.test", "mx.three.test"}

const maxOpen = 5

var failures = []shape.Failure{shape.NoFailure, shape.NoFailure, shape.NotConnected, shape.NotConnected, shape.NotGreeted, shape.BrokenOff, shape.OurOwn}

// ledger is where every item is, and every limit's use, as a reader of the documentation would keep it.
type ledger struct {
	*bench
	rt       *rapid.T
	waiting  map[string]shape.Item
	flying   map[shape.ConnectionID]shape.Work
	open     map[shape.ConnectionID]shape.Path
	carried  map[shape.ConnectionID]int
	connects map[string][]time.Time // by path or provider
	messages map[string][]time.Time
	mood     int // how many of ten replies are good
}

func newLedger(rt *rapid.T, providers shape.Table) *ledger {
	config := shape.Config{Providers: providers, MaxItems: 60, MaxPathItems: 25, MaxConnections: maxOpen, MaxIdlePaths: 3,
		Source: shape.SharedLimits{Connections: 4, MessagesPerSecond: 8}, Tenant: shape.SharedLimits{Connections: 3, MessagesPerSecond: 7}}
	return &ledger{bench: &bench{t: rt, Shaper: shape.New(config), now: noon}, rt: rt, waiting: map[string]shape.Item{}, flying: map[shape.ConnectionID]shape.Work{},
		open: map[shape.ConnectionID]shape.Path{}, carried: map[shape.ConnectionID]int{}, connects: map[string][]time.Time{}, messages: map[string][]time.Time{},
		mood: rapid.SampledFrom([]int{0, 6, 9, 10}).Draw(rt, "mood")}
}

func drawPath(t *rapid.T) shape.Path {
	return shape.Path{Source: rapid.SampledFrom([]string{"", "192.0.2.1"}).Draw(t, "source"), Site: rapid.SampledFrom(crowdedSites).Draw(t, "site")}
}

func (l *ledger) add(t *rapid.T) {
	path, tenant := drawPath(t), rapid.SampledFrom([]string{"ann", "bob", "cyd"})
	for range rapid.IntRange(1, 20).Draw(t, "count") {
		l.next++
		item := shape.Item{Recipient: fmt.Sprint(l.next), Email: fmt.Sprint("e", rapid.IntRange(0, 5).Draw(t, "email")), Domain: "d",
			Tenant: tenant.Draw(t, "tenant"), Class: shape.Class(rapid.IntRange(0, 2).Draw(t, "class")),
			Route: rapid.SampledFrom([]string{"", "", "", "checked"}).Draw(t, "route")}
		if _, ok := l.Add(l.now, path, item); ok {
			l.waiting[item.Recipient] = item
		}
	}
}

func (l *ledger) takeAll(t *rapid.T) {
	for w, ok := l.Next(l.now); ok; w, ok = l.Next(l.now) {
		l.take(w)
	}
	l.collect()
}

func (l *ledger) take(w shape.Work) {
	if len(w.Items) == 0 || len(w.Items) > 3 {
		l.rt.Fatalf("a transaction with %d recipients", len(w.Items))
	}
	for _, item := range w.Items {
		if known, ok := l.waiting[item.Recipient]; !ok || known != item {
			l.rt.Fatalf("%+v was handed out but did not wait", item)
		}
		delete(l.waiting, item.Recipient)
		first := w.Items[0]
		if item.Email != first.Email || item.Tenant != first.Tenant || item.Route != w.Route || item.Class != first.Class {
			l.rt.Fatalf("%+v and %+v in one transaction", item, first)
		}
	}
	if _, busy := l.flying[w.Connection]; busy {
		l.rt.Fatalf("connection %d has two owners", w.Connection)
	}
	path, known := l.open[w.Connection]
	if known == w.Open || known && path != w.Path {
		l.rt.Fatalf("connection %d of %v used for %+v", w.Connection, path, w)
	}
	l.flying[w.Connection], l.open[w.Connection] = w, w.Path
	l.carried[w.Connection]++
	provider := string(w.Path.Site)
	if provider == "a.many.test" || provider == "b.many.test" {
		provider = "many"
	}
	keys := []string{fmt.Sprint(w.Path), provider, "source " + w.Path.Source}
	if w.Open {
		for _, key := range keys {
			l.connects[key] = append(l.connects[key], l.now)
		}
	}
	for _, key := range append(keys, "tenant "+w.Items[0].Tenant) {
		l.messages[key] = append(l.messages[key], l.now)
	}
}

// collect takes over what came back and what has to be closed.
func (l *ledger) collect() {
	for _, r := range l.Returned() {
		if _, ok := l.waiting[r.Item.Recipient]; !ok {
			l.rt.Fatalf("%+v came back but did not wait", r.Item)
		}
		if r.Back.Reason == "" || r.Back.At.Before(l.now.Add(-time.Hour)) {
			l.rt.Fatalf("%+v came back with %+v", r.Item, r.Back)
		}
		delete(l.waiting, r.Item.Recipient)
	}
	for _, id := range l.Closing() {
		if _, busy := l.flying[id]; busy {
			l.rt.Fatalf("connection %d has to be closed while it is busy", id)
		}
		delete(l.open, id)
	}
}

func (l *ledger) observe(t *rapid.T) {
	replies := []shape.Reply{taken, tooFast, said(450, "4.7.1", "slow down"), said(451, "4.0.0", "go away"), said(550, "5.7.1", "you are listed"),
		said(550, "5.7.1", "policy against this sender"), said(550, "5.1.1", "no such user")}
	for _, id := range slices.Sorted(maps.Keys(l.flying)) {
		w := l.flying[id]
		if !rapid.Bool().Draw(t, "done") {
			continue
		}
		o := shape.Outcome{Connection: id, Replies: []shape.Reply{taken}}
		if rapid.SampledFrom([]int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}).Draw(t, "luck") > l.mood {
			o.Failure, o.Replies = rapid.SampledFrom(failures).Draw(t, "failure"), nil
		}
		if o.Failure == shape.NoFailure && o.Replies == nil {
			o.Replies = []shape.Reply{rapid.SampledFrom(replies).Draw(t, "reply")}
			o.Closed = o.Replies[0].Code == 421
		}
		l.settle(w, o)
	}
}

func (l *ledger) settle(w shape.Work, o shape.Outcome) {
	l.Observe(l.now, o)
	delete(l.flying, w.Connection)
	if o.Closed || o.Failure != shape.NoFailure && o.Failure != shape.OurOwn || w.Last {
		delete(l.open, w.Connection)
	}
	l.collect()
}

func (l *ledger) operate(t *rapid.T) {
	path, tenant := drawPath(t), rapid.SampledFrom([]string{"", "ann"}).Draw(t, "whom")
	switch rapid.IntRange(0, 3).Draw(t, "order") {
	case 0:
		if err := l.Suspend(l.now, path, tenant, "maintenance", l.now.Add(2*time.Minute)); err != nil {
			t.Fatal(err)
		}
	case 1:
		l.Resume(l.now, path, tenant)
	case 2:
		if err := l.Adjust(l.now, path, shape.Limits{Connections: 1}, "gently", l.now.Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
	case 3:
		l.Readjust(l.now, path)
	}
	l.collect()
}

func (l *ledger) wait(t *rapid.T) {
	if wake := l.NextWake(l.now); rapid.Bool().Draw(t, "until woken") && !wake.IsZero() {
		l.now = wake
		return
	}
	if rapid.SampledFrom([]bool{true, false, false, false}).Draw(t, "long") {
		l.now = l.now.Add(time.Duration(rapid.Int64Range(0, int64(6*time.Minute)).Draw(t, "sleep")))
		return
	}
	l.now = l.now.Add(time.Duration(rapid.Int64Range(0, int64(5*time.Second)).Draw(t, "pause")))
}

// check holds what is promised against the ledger.
func (l *ledger) check(t *rapid.T) {
	if l.Waiting() != len(l.waiting) || l.Waiting() > 60 {
		t.Fatalf("%d wait, the ledger has %d", l.Waiting(), len(l.waiting))
	}
	if err := l.Audit(); err != nil {
		t.Fatal(err)
	}
	paths, providers, sources, tenants := map[shape.Path]int{}, map[shape.Site]int{}, map[string]int{}, map[string]int{}
	for _, path := range l.open {
		paths[path]++
		sources[path.Source]++
		if path.Site == "a.many.test" || path.Site == "b.many.test" {
			path.Site = "many"
		}
		providers[path.Site]++
	}
	for _, w := range l.flying {
		tenants[w.Items[0].Tenant]++
	}
	most := func(what any, count, limit int) {
		if count > limit {
			t.Fatalf("%v: %d, at most %d are allowed", what, count, limit)
		}
	}
	most("connections", len(l.open), maxOpen)
	if len(l.open) != l.Connections() {
		t.Fatalf("%d connections, the ledger has %d", l.Connections(), len(l.open))
	}
	for path, count := range paths {
		most(path, count, 4)
	}
	for source, count := range sources {
		most("source "+source, count, 4)
	}
	for tenant, count := range tenants {
		most("tenant "+tenant, count, 3)
	}
	most("big", providers["big"], 3)
	most("many", providers["many"], 3)
	for id, count := range l.carried {
		most(fmt.Sprint("messages of connection ", id), count, 3)
	}
	most("idle paths", l.PathCount(), 12)
}

// checkRates looks at every window of every rate that was used. Paths are left out of it: theirs are forgotten with them.
func (l *ledger) checkRates(t *rapid.T) {
	windows := func(what string, at []time.Time, length time.Duration, limit int) {
		first := 0
		for i := range at {
			for !at[i].Before(at[first].Add(length)) {
				first++
			}
			if i-first+1 > limit {
				t.Fatalf("%s: %d within %v, at most %d are allowed", what, i-first+1, length, limit)
			}
		}
	}
	windows("connects to many", l.connects["many"], time.Minute, 20)
	windows("messages to big", l.messages["big"], time.Second, 6)
	for _, tenant := range []string{"ann", "bob", "cyd"} {
		windows("messages of "+tenant, l.messages["tenant "+tenant], time.Second, 7)
	}
	for _, source := range []string{"", "192.0.2.1"} {
		windows("messages from "+source, l.messages["source "+source], time.Second, 8)
		for _, site := range crowdedSites {
			path := fmt.Sprint(shape.Path{Source: source, Site: site})
			windows("messages on "+path, l.messages[path], time.Second, 5)
			windows("connects on "+path, l.connects[path], time.Minute, 30)
		}
	}
}

// finish lets everything go well and sees to it that nothing is left behind.
func (l *ledger) finish(t *rapid.T) {
	for range 100_000 {
		l.takeAll(t)
		for _, id := range slices.Sorted(maps.Keys(l.flying)) {
			w := l.flying[id]
			l.settle(w, shape.Outcome{Connection: w.Connection, Replies: []shape.Reply{taken}})
		}
		if l.Waiting() == 0 && l.Connections() == 0 {
			break
		}
		wake := l.NextWake(l.now)
		if wake.IsZero() {
			t.Fatalf("%d wait and %d connections are open, and nothing will wake them", l.Waiting(), l.Connections())
		}
		l.now = wake
	}
	l.takeAll(t)
	l.check(t)
	if len(l.waiting) != 0 || len(l.open) != 0 {
		t.Fatalf("%d items and %d connections are left", len(l.waiting), len(l.open))
	}
}

func TestNothingIsLostOrDoubledAndNoLimitIsExceeded(t *testing.T) {
	t.Parallel()
	providers := table(t, crowded)
	rapid.Check(t, func(rt *rapid.T) {
		l := newLedger(rt, providers)
		steps := map[string]func(*rapid.T){"add": l.add, "add more": l.add, "take": l.takeAll, "take more": l.takeAll, "observe": l.observe, "operate": l.operate, "wait": l.wait, "": l.check}
		rt.Repeat(steps)
		l.finish(rt)
		l.checkRates(rt)
	})
}

func TestNothingIsLostWhenTheClockIsSetBackOrLimitsChange(t *testing.T) {
	t.Parallel()
	providers := table(t, crowded)
	rapid.Check(t, func(rt *rapid.T) {
		l := newLedger(rt, providers)
		setBack := func(t *rapid.T) {
			l.now = l.now.Add(-time.Duration(rapid.IntRange(1, 7200).Draw(t, "seconds")) * time.Second)
		}
		change := func(t *rapid.T) {
			name := rapid.SampledFrom([]shape.SharedName{{Kind: shape.OfProvider, Key: "big"}, {Kind: shape.OfTenant, Key: "ann"}, {Kind: shape.OfSource},
				{Kind: shape.OfProvider, Key: "none"}}).Draw(t, "name")
			l.SetShared(name, rapid.SampledFrom([]shape.SharedLimits{{}, {Connections: 1}, {Connections: 2, MessagesPerSecond: 3}}).Draw(t, "limits"))
			l.collect()
			if err := l.Audit(); err != nil {
				t.Fatal(err)
			}
		}
		divide := func(t *rapid.T) {
			of := rapid.IntRange(1, 3).Draw(t, "of")
			l.Divide(rapid.IntRange(0, of-1).Draw(t, "rank"), of)
			site := rapid.SampledFrom(crowdedSites).Draw(t, "site")
			l.Yield(l.now, func(p shape.Path) bool { return p.Site != site })
			l.collect()
			if err := l.Audit(); err != nil {
				t.Fatal(err)
			}
		}
		rt.Repeat(map[string]func(*rapid.T){"add": l.add, "take": l.takeAll, "observe": l.observe, "wait": l.wait, "set back": setBack, "change": change, "divide": divide})
		l.finish(rt)
	})
}

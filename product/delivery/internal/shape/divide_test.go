package shape_test

import (
	"slices"
	"testing"

	"postrider/product/delivery/internal/shape"
)

func TestAPathThatMovedGivesBackItsMailAndClosesItsConnections(t *testing.T) {
	t.Parallel()
	b := newBench(t, shape.Config{})
	b.addMany(30, example, "ann", shape.Transactional)
	b.addMany(2, google, "ann", shape.Transactional)
	begun := map[shape.Path][]shape.Work{}
	for _, w := range b.all() {
		begun[w.Path] = append(begun[w.Path], w)
	}
	if len(begun[example]) != 2 || len(begun[google]) == 0 {
		t.Fatalf("%d and %d begun", len(begun[example]), len(begun[google]))
	}
	b.went(begun[example][0])
	next := b.one() // on the same connection
	idle := begun[google][0]
	b.went(idle)
	for _, w := range b.all() {
		b.went(w)
	}

	b.Yield(b.now, func(p shape.Path) bool { return p != example && p != google })

	returned := b.Returned()
	for _, r := range returned {
		if r.Path != example || r.Back.Reason != shape.Moved {
			t.Fatalf("%+v came back", r)
		}
	}
	if len(returned) != 27 {
		t.Errorf("%d items came back of 27 that waited", len(returned))
	}
	if closing := b.Closing(); !slices.Contains(closing, idle.Connection) || slices.Contains(closing, next.Connection) {
		t.Errorf("%v are to be closed; %d is unused, %d carries something", closing, idle.Connection, next.Connection)
	}
	for _, w := range []shape.Work{next, begun[example][1]} {
		b.went(w)
	}
	if b.none("nothing is left"); b.Connections() != 0 || len(b.Closing()) != 2 {
		t.Errorf("%d connections are left", b.Connections())
	}
	b.addMany(1, example, "ann", shape.Transactional) // it has come back
	b.went(b.one())
	if b.Connections() != 1 {
		t.Error("a path that came back keeps no connection")
	}
}

func TestNodesDivideWhatAProviderBearsAltogether(t *testing.T) {
	t.Parallel()
	providers := table(t, `
[[provider]]
name = "many"
mx = ["many.test"]
start_connections = 10
max_connections = 10
shared = { max_connections = 5 }`)
	first, second := shape.Path{Source: "a", Site: "mx1.many.test"}, shape.Path{Source: "b", Site: "mx2.many.test"}
	count := func(rank, of int) int {
		b := newBench(t, shape.Config{Providers: providers})
		b.addMany(200, first, "ann", shape.Transactional)
		b.addMany(200, second, "ann", shape.Transactional)
		b.Divide(rank, of)
		return len(b.all())
	}
	if alone, one, other := count(0, 1), count(0, 2), count(1, 2); alone != 5 || one != 3 || other != 2 {
		t.Errorf("one node has %d connections, two have %d and %d; 5 are allowed", alone, one, other)
	}
	b := newBench(t, shape.Config{Providers: providers})
	b.Divide(0, 2)
	b.addMany(200, first, "ann", shape.Transactional)
	if begun := len(b.all()); begun != 3 {
		t.Errorf("%d connections before", begun)
	}
	b.Divide(0, 1) // the other has gone
	if begun := len(b.all()); begun != 2 {
		t.Errorf("%d connections more after the other has gone", begun)
	}
}

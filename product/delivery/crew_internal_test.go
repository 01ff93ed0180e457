package delivery

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"postrider/product/delivery/internal/shape"
	"postrider/product/node"
)

var noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// shared is a source that several nodes have.
var shared = node.Source{Name: "proxy"}

// settled returns nodes a, b, c, … that have been there for an hour, all with the same source.
func settled(count int) []node.Node {
	var nodes []node.Node
	for n := range count {
		nodes = append(nodes, node.Node{ID: node.ID(string(rune('a' + n))), StartedAt: noon.Add(-time.Hour), SeenAt: noon, Sources: []node.Source{shared}})
	}
	return nodes
}

// crews returns how each of the nodes sees all of them.
func crews(nodes []node.Node, now time.Time) map[string]crew {
	all := map[string]crew{}
	for _, n := range nodes {
		all[string(n.ID)] = newCrew(n, nodes, now)
	}
	return all
}

func path(n int) shape.Path {
	return shape.Path{Source: shared.Name, Site: shape.Site(fmt.Sprintf("mx.d%d.test", n))}
}

func TestEveryNodeNamesTheSameOwnerAndEachOwnsItsPart(t *testing.T) {
	t.Parallel()
	nodes := settled(3)
	owned := map[string]int{}
	for n := range 3000 {
		owners := map[string]bool{}
		for _, c := range crews(nodes, noon) {
			owners[c.owner(path(n))] = true
		}
		if len(owners) != 1 {
			t.Fatalf("path %d has the owners %v", n, owners)
		}
		for owner := range owners {
			owned[owner]++
		}
	}
	for id, count := range owned {
		if count < 900 || count > 1100 {
			t.Errorf("%s owns %d of 3000 paths", id, count)
		}
	}
}

func TestIfANodeGoesOnlyItsOwnPathsMove(t *testing.T) {
	t.Parallel()
	before := crews(settled(3), noon)["a"]
	for name, change := range map[string]func(*node.Node){
		"silent":   func(n *node.Node) { n.SeenAt = noon.Add(-2 * time.Minute) },
		"draining": func(n *node.Node) { n.DrainingAt = noon.Add(-leaveFor) },
	} {
		nodes := settled(3)
		change(&nodes[2])
		after := newCrew(nodes[0], nodes, noon)
		for n := range 1000 {
			was, is := before.owner(path(n)), after.owner(path(n))
			if is == "c" || was != "c" && was != is {
				t.Fatalf("%s: path %d moved from %s to %s", name, n, was, is)
			}
		}
	}
}

func TestANodeThatComesTakesPathsOnlyAfterAllHaveSeenIt(t *testing.T) {
	t.Parallel()
	nodes := settled(2)
	nodes[1].StartedAt = noon
	for _, c := range []struct {
		after        time.Duration
		others, self bool // does b own anything, as others see it and as it does itself
	}{{0, false, false}, {settleAfter - 1, false, false}, {settleAfter, true, false}, {ownAfter - 1, true, false}, {ownAfter, true, true}} {
		now := noon.Add(c.after)
		nodes[0].SeenAt, nodes[1].SeenAt = now, now
		seen := map[string]bool{}
		for id, view := range crews(nodes, now) {
			for n := range 100 {
				seen[id] = seen[id] || view.owner(path(n)) == "b"
			}
		}
		if seen["a"] != c.others || seen["b"] != c.self {
			t.Errorf("after %v: %v", c.after, seen)
		}
	}
}

func TestIfAllNodesAreNewTheFirstOwnsEverything(t *testing.T) {
	t.Parallel()
	nodes := settled(3)
	for n := range nodes {
		nodes[n].StartedAt = noon.Add(-time.Duration(n+1) * time.Second)
	}
	for id, view := range crews(nodes, noon) {
		for n := range 100 {
			if owner := view.owner(path(n)); owner != "c" {
				t.Fatalf("%s says that path %d is of %s", id, n, owner)
			}
		}
	}
}

func TestASourceWithAnotherAddressIsAnotherSourceAndRelaysAreOne(t *testing.T) {
	t.Parallel()
	nodes := settled(2)
	nodes[1].Sources = []node.Source{{Name: shared.Name, IPv4: netip.MustParseAddr("192.0.2.1")}}
	view, relays := newCrew(nodes[0], nodes, noon), map[string]bool{}
	for n := range 100 {
		if owner := view.owner(path(n)); owner != "a" {
			t.Fatalf("path %d of an address of a belongs to %s", n, owner)
		}
		relays[view.owner(shape.Path{Source: shared.Name, Site: shape.Site(fmt.Sprint(relaySite, n))})] = true
	}
	if len(relays) != 2 {
		t.Errorf("relays belong to %v", relays)
	}
}

func TestMailNeverGoesInACircleWhateverNodesBelieve(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 2000 {
		nodes := settled(5)
		views := map[string]*Service{}
		for _, me := range nodes {
			believed := settled(5)
			for n := range believed { // each sees the others as they are not
				switch random.IntN(4) {
				case 0:
					believed[n].StartedAt = noon
				case 1:
					believed[n].SeenAt = noon.Add(-time.Hour)
				}
			}
			me.StartedAt = believed[slices.IndexFunc(believed, func(n node.Node) bool { return n.ID == me.ID })].StartedAt
			views[string(me.ID)] = &Service{config: Config{Node: string(me.ID)}, crew: newCrew(me, believed, noon), desk: newClaimDesk()}
		}
		at, hops := "a", 0
		for h := (&held{path: path(round)}); ; hops++ {
			h.due.Item.Lane, h.due.ExpiresAt = "mail", noon.Add(time.Hour)
			s := views[at]
			if !s.handsOver(h, noon) {
				break
			}
			at, _ = s.returning[len(s.returning)-1].waits.handedTo()
			h.handed = true
			if hops > len(nodes) {
				t.Fatalf("round %d: mail goes round and round", round)
			}
		}
	}
}

func TestSharesOfAWholeAddUpAndAreNeverNothing(t *testing.T) {
	t.Parallel()
	for whole := 1; whole < 40; whole++ {
		for of := 1; of <= 5; of++ {
			sum := 0
			for rank := range of {
				part := shape.Share(whole, rank, of)
				if part < 1 {
					t.Fatalf("%d of %d has nothing of %d", rank, of, whole)
				}
				sum += part
			}
			if sum != max(whole, of) {
				t.Errorf("%d among %d is %d", whole, of, sum)
			}
		}
	}
}

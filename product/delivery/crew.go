package delivery

import (
	"encoding/binary"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"postrider/product/delivery/internal/shape"
	"postrider/product/node"
)

// Several nodes may have one source: a proxy, a relay, an address behind which all of them stand. A server that limits the source does
// not care which node speaks, so each path of such a source is one node's alone. All nodes reckon by the same rule who that is, from
// the list of those that are there, and ask nobody.

const (
	// settleAfter is how long a node must have been there before others leave paths to it: all have looked around by then.
	settleAfter = 2 * node.SayEvery
	// ownAfter is when it takes them for its own. Between the two nobody begins anything there, and what the former owner had under way ends.
	ownAfter = settleAfter + 3*node.SayEvery/2
	// silentFor is when a node that says nothing has lost its paths. Its leases have run out by then, so it sends nothing either.
	silentFor = leaseFor
	// leaveFor is how long the paths of a node that is about to stop stay with it, for the same reason.
	leaveFor = 5 * time.Second
)

// crew is who delivers, this node among them, as it was last seen. The zero crew is a node alone.
type crew struct {
	self string
	// rivals are the nodes of which one owns each path of a source, by the name of the source. Sources of this node alone are not in it.
	rivals map[string][]string
	// relaying are those of which one owns each path to a relay; relays are the same for all.
	relaying []string
	// alive are all that deliver, sorted; they share what bounds all together.
	alive []string
	// changeAt is when somebody's time will have passed, zero if nobody's.
	changeAt time.Time
}

// newCrew reckons who owns what now. me is this node with what it sends from; the row that stands for it in the list may be of an
// earlier run.
func newCrew(me node.Node, known []node.Node, now time.Time) crew {
	c := crew{self: string(me.ID), rivals: map[string][]string{}}
	present := append(c.others(known, now), me)
	for _, n := range present {
		c.alive = append(c.alive, string(n.ID))
	}
	slices.Sort(c.alive)
	for _, source := range me.Sources {
		having := slices.DeleteFunc(slices.Clone(present), func(n node.Node) bool { return !slices.ContainsFunc(n.Leaves(), source.Same) })
		if among := c.owners(having, now); among != nil {
			c.rivals[source.Name] = among
		}
	}
	c.relaying = c.owners(present, now)
	return c
}

// others are the nodes that are there besides this one.
func (c *crew) others(known []node.Node, now time.Time) []node.Node {
	var there []node.Node
	for _, n := range known {
		leaves := n.DrainingAt.Add(leaveFor)
		switch {
		case string(n.ID) == c.self, now.Sub(n.SeenAt) > silentFor, !n.DrainingAt.IsZero() && !now.Before(leaves):
			continue
		case !n.DrainingAt.IsZero():
			c.noteChange(leaves)
		}
		there = append(there, n)
	}
	return there
}

// owners are those among whom paths are divided: who has been there for long enough. If nobody has, it is the one that came first. Nil
// means this node alone.
func (c *crew) owners(having []node.Node, now time.Time) []string {
	var settled []string
	first := having[0]
	for _, n := range having {
		from := n.StartedAt.Add(settleAfter)
		if string(n.ID) == c.self {
			from = n.StartedAt.Add(ownAfter)
		}
		if !now.Before(from) {
			settled = append(settled, string(n.ID))
		} else {
			c.noteChange(from)
		}
		if order := n.StartedAt.Compare(first.StartedAt); order < 0 || order == 0 && n.ID < first.ID {
			first = n
		}
	}
	if len(settled) == 0 {
		settled = []string{string(first.ID)}
	}
	if len(settled) == 1 && settled[0] == c.self {
		return nil
	}
	slices.Sort(settled)
	return settled
}

func (c *crew) noteChange(at time.Time) {
	if c.changeAt.IsZero() || at.Before(c.changeAt) {
		c.changeAt = at
	}
}

// owner returns the node that a path belongs to.
func (c *crew) owner(path shape.Path) string {
	among := c.rivals[path.Source]
	if strings.HasPrefix(string(path.Site), relaySite) {
		among = c.relaying
	}
	owner, best := c.self, uint64(0)
	for _, n := range among {
		if right := rightTo(path.Site, n); right > best {
			owner, best = n, right
		}
	}
	return owner
}

func (c *crew) owns(path shape.Path) bool { return c.owner(path) == c.self }

// mayOwn tells whether a node owns anything that this one knows of. What is handed to one that does not is anybody's.
func (c *crew) mayOwn(node string) bool {
	if c.relaying == nil {
		return node == c.self
	}
	among := slices.Contains(c.relaying, node)
	for _, rivals := range c.rivals {
		among = among || slices.Contains(rivals, node)
	}
	return among
}

// share tells which part of several equal ones is this node's.
func (c *crew) share() (rank, of int) {
	rank, _ = slices.BinarySearch(c.alive, c.self)
	return rank, max(len(c.alive), 1)
}

// shareOf is the same among the owners of a source.
func (c *crew) shareOf(source string) (rank, of int) {
	among := c.rivals[source]
	rank, _ = slices.BinarySearch(among, c.self)
	return rank, max(len(among), 1)
}

func (c *crew) equal(other crew) bool {
	if len(c.rivals) != len(other.rivals) || !slices.Equal(c.alive, other.alive) || !slices.Equal(c.relaying, other.relaying) {
		return false
	}
	for source, among := range c.rivals {
		if !slices.Equal(among, other.rivals[source]) {
			return false
		}
	}
	return true
}

// rightTo is how good a right a node has to the paths to a site; the best one wins (rendezvous hashing), so if a node goes only its own
// paths move. It is the same for all sources and depends on nothing else: mail that only moves to nodes with a better right than the
// one before can never go in a circle, whatever each of them believes of the others.
func rightTo(site shape.Site, node string) uint64 { return mixed(node + "\t" + string(site)) }

// mixed is a number that texts have by chance, and always the same.
func mixed(text string) uint64 {
	sum := fnv.New64a()
	sum.Write([]byte(text))
	var bytes [8]byte
	binary.BigEndian.PutUint64(bytes[:], sum.Sum64())
	again := fnv.New64a() // texts that differ in the last letter only have sums that are close
	again.Write(bytes[:])
	return again.Sum64()
}

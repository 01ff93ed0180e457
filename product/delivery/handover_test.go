package delivery_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/platform/queue"
	"postrider/product/delivery"
	"postrider/product/email"
	nodes "postrider/product/node"
)

// crew is several nodes that send from one source, in one network.
type crew struct {
	t     *testing.T
	in    *apptest.Installation
	roads *roads
	nodes []*node
	lists map[*node]*nodes.Service
}

const exampleSite = "mx.example.net"

func newCrew(t *testing.T, in *apptest.Installation, count int, options ...func(*delivery.Config)) *crew {
	t.Helper()
	c := &crew{t: t, in: in, roads: newRoads(in.App.World), lists: map[*node]*nodes.Service{}}
	for range count {
		c.join(options...)
	}
	c.settle()
	return c
}

// join starts another node.
func (c *crew) join(options ...func(*delivery.Config)) *node {
	c.t.Helper()
	return c.start(fmt.Sprintf("00000000-0000-7000-8000-0000000001%02d", len(c.lists)), options...)
}

// start starts a node, anew if there was one of the same id.
func (c *crew) start(id string, options ...func(*delivery.Config)) *node {
	c.t.Helper()
	list := nodes.New(c.in.App.World, c.in.App.DB, nodes.Config{ID: nodes.ID(id), Hostname: "mx.test"}, func(id nodes.ID) queue.Lane { return email.LaneOf(string(id)) })
	n := newNodeIn(c.t, c.in, c.roads, c.roads, append(options, func(config *delivery.Config) { config.Node, config.Nodes, config.Inline = id, list, false })...)
	order := map[string]any{"site": exampleSite, "for": "24h", "reason": "a test", "limits": map[string]any{"max_connections": crewLimit, "connects_per_minute": 10_000, "messages_per_second": 10_000}}
	if status, answer := n.ask(http.MethodPost, "/delivery/paths/adjust", order); status != http.StatusOK {
		c.t.Fatalf("%d %v", status, answer)
	}
	c.nodes, c.lists[n] = append(c.nodes, n), list
	c.meet()
	return n
}

// crewLimit is how many connections the path of the tests may have.
const crewLimit = 2

// meet lets all say that they are there, and look around.
func (c *crew) meet() {
	c.t.Helper()
	for _, n := range c.nodes {
		if _, err := c.lists[n].Workers()[0].Step(c.t.Context()); err != nil {
			c.t.Fatal(err)
		}
	}
	for _, n := range c.nodes {
		n.work("delivery nodes")
		n.work("delivery leases")
	}
}

// settle lets the time pass that a new node waits.
func (c *crew) settle() {
	c.t.Helper()
	for range 8 {
		c.in.Clock.Advance(5 * time.Second)
		c.meet()
	}
}

// leave takes a node out of the crew; it does nothing any more.
func (c *crew) leave(gone *node) {
	var rest []*node
	for _, n := range c.nodes {
		if n != gone {
			rest = append(rest, n)
		}
	}
	c.nodes = rest
}

// step lets every node do what it has to do at once, and tells whether there may be more.
func (c *crew) step() bool {
	c.t.Helper()
	busy := false
	for _, n := range c.nodes {
		n.work("delivery handed over")
		busy = n.step() || busy
	}
	return busy
}

// run lets all nodes work until done. Time goes on when nothing happens.
func (c *crew) run(done func() bool) {
	c.t.Helper()
	for range 20_000 {
		if c.step() {
			continue
		}
		if done() {
			return
		}
		select {
		case <-c.nodes[0].Workers()[0].Wake:
		case <-time.After(2 * time.Millisecond): // conversations take real time
			c.in.Clock.Advance(50 * time.Millisecond)
		}
	}
	c.t.Fatal("it never came to an end")
}

// owner returns the node that owns the path of the tests, and another.
func (c *crew) owner() (owner, other *node) {
	c.t.Helper()
	for n := range c.lists {
		if n.Owner("mx.test", exampleSite) == n.OwnID() {
			owner = n
		} else {
			other = n
		}
	}
	if owner == nil {
		c.t.Fatal("nobody owns the path")
	}
	return owner, other
}

func (c *crew) peak() int {
	c.roads.mu.Lock()
	defer c.roads.mu.Unlock()
	return c.roads.peak
}

// arrived tells how many different recipients have mail, and fails if one has it twice.
func (c *crew) arrived() int {
	c.t.Helper()
	copies := map[string]int{}
	for _, m := range c.in.Mailbox("") {
		copies[m.Envelope.To[0]]++
		if copies[m.Envelope.To[0]] > 1 {
			c.t.Fatalf("%s has mail twice", m.Envelope.To[0])
		}
	}
	return len(copies)
}

func TestNodesThatShareASourceKeepItsLimitsTogether(t *testing.T) {
	t.Parallel()
	for _, count := range []int{2, 3} {
		t.Run(fmt.Sprint(count, " nodes"), func(t *testing.T) {
			t.Parallel()
			apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
				c := newCrew(t, in, count)
				const each = 40 // enough for all connections that are allowed
				emails, ids := count*each, []string{}
				for i, n := range c.nodes {
					ids = append(ids, sendMany(t, in, in.Key, "hello@acme.test", each, func(n int) string { return users(i*each + n) })...)
					n.step() // each claims some, whoever's they are
				}
				c.run(func() bool { return c.arrived() == emails })
				if peak := c.peak(); peak > crewLimit {
					t.Errorf("%d connections at once, %d are allowed", peak, crewLimit)
				}
				c.run(func() bool { states, _ := fates(in, ids[emails-1:]); return states["delivered"] == 1 })
				if _, attempts := fates(in, ids); attempts != emails {
					t.Errorf("%d attempts for %d emails", attempts, emails)
				}
			})
		})
	}
}

func TestANodeThatJoinsTakesPathsOverWithoutASecondSetOfConnections(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		c, sent := newCrew(t, in, 1), 0
		send := func() {
			const each = 40
			sendMany(t, in, in.Key, "hello@acme.test", each, func(n int) string { return users(sent + n) })
			sent += each
		}
		first, last := c.nodes[0], c.nodes[0]
		for last.Owner("mx.test", exampleSite) == first.OwnID() {
			last = c.join()
			send()
			c.run(func() bool { return c.arrived() == sent })
			for range 8 { // as long as it takes to settle; connections stay open for longer
				c.step()
				c.in.Clock.Advance(5 * time.Second)
				c.meet()
			}
		}
		send()
		c.run(func() bool { return c.arrived() == sent })
		if peak := c.peak(); peak != crewLimit {
			t.Errorf("%d connections at once, %d are allowed", peak, crewLimit)
		}
	})
}

func TestMailOfANodeThatDiedIsDeliveredByTheOthers(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		c := newCrew(t, in, 2)
		owner, other := c.owner()
		c.leave(owner)
		const emails = 20
		ids := sendMany(t, in, in.Key, "hello@acme.test", emails, users)
		for range 10 {
			c.step()
		}
		if arrived := c.arrived(); arrived != 0 {
			t.Fatalf("%d were delivered by one that does not own the path", arrived)
		}
		for range 8 { // nobody hears of the owner for more than a minute
			in.Clock.Advance(10 * time.Second)
			c.meet()
		}
		if other.Owner("mx.test", exampleSite) != other.OwnID() {
			t.Fatal("the path of a dead node was not taken over")
		}
		c.run(func() bool { return c.arrived() == emails })
		c.run(func() bool { states, _ := fates(in, ids); return states["delivered"] == emails })
		if _, attempts := fates(in, ids); attempts != emails {
			t.Errorf("%d attempts for %d emails", attempts, emails)
		}
	})
}

func TestWhoTakesAPathOverHoldsWhatItsOwnerHeld(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		c := newCrew(t, in, 2)
		owner, other := c.owner()
		if status, answer := owner.ask(http.MethodPost, "/delivery/paths/suspend", map[string]any{"site": exampleSite, "for": "1h", "reason": "a test"}); status != http.StatusOK {
			t.Fatalf("%d %v", status, answer)
		}
		c.leave(owner)
		ids := sendMany(t, in, in.Key, "hello@acme.test", 5, users)
		for range 8 {
			in.Clock.Advance(10 * time.Second)
			c.meet()
			c.step()
		}
		if states, made := fates(in, ids); other.Owner("mx.test", exampleSite) != other.OwnID() || states["queued"] != 5 || made != 0 {
			t.Fatalf("%v after %d attempts on a path that was stopped", states, made)
		}
		in.Clock.Advance(time.Hour)
		c.meet()
		c.run(func() bool { return c.arrived() == 5 })
	})
}

func TestANodeThatComesBackAtOnceDoesNotSendWhatWasHandedToItBefore(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		c := newCrew(t, in, 2)
		owner, other := c.owner()
		const emails = 10
		ids := sendMany(t, in, in.Key, "hello@acme.test", emails, users)
		for range 3 {
			other.step() // it hands over what it has claimed
		}
		c.leave(owner)
		c.start(owner.OwnID()) // the other takes its paths over until it has settled
		c.run(func() bool { states, _ := fates(in, ids); return states["delivered"] == emails })
		for _, id := range ids {
			if from := attempts(in, id)[0]["sending_node_id"]; from != other.OwnID() {
				t.Fatalf("sent by %v", from)
			}
		}
	})
}

func TestMailOfANodeThatLeavesInGoodOrderWaitsForNobody(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		c := newCrew(t, in, 2)
		owner, other := c.owner()
		const emails = 20
		sendMany(t, in, in.Key, "hello@acme.test", emails, users)
		for range 3 {
			other.step() // it hands over what it has claimed
		}
		if err := c.lists[owner].Leave(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := owner.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		c.leave(owner)
		in.Clock.Advance(6 * time.Second)
		c.meet()
		c.run(func() bool { return c.arrived() == emails })
	})
}

func TestMailOfANodeThatWasChosenStaysThereWhoeverOwnsThePath(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		c := newCrew(t, in, 2)
		owner, other := c.owner()
		if answer := in.Call(http.MethodPatch, "/domains/"+in.DomainID, map[string]any{"sending_node_id": other.OwnID()}); answer.Status != http.StatusOK {
			t.Fatalf("%d %s", answer.Status, answer.Raw)
		}
		ids := sendMany(t, in, in.Key, "hello@acme.test", 5, users)
		for range 5 {
			owner.step()
		}
		if arrived := c.arrived(); arrived != 0 {
			t.Fatalf("%d were sent by another node", arrived)
		}
		c.run(func() bool { states, _ := fates(in, ids); return states["delivered"] == 5 })
		for _, id := range ids {
			if from := attempts(in, id)[0]["sending_node_id"]; from != other.OwnID() {
				t.Errorf("sent by %v", from)
			}
		}
	})
}

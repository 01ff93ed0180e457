package node_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"postrider/app"
	"postrider/app/apptest"
	"postrider/mail/standing"
	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/product/email"
	"postrider/product/node"
	"postrider/world"
)

func comparing(s *app.Settings) { s.Checks.Clock = true }

// say lets the node say that it is there, and no more.
func say(t *testing.T, in *apptest.Installation) {
	t.Helper()
	again(t, in.App.Nodes)
}

// company has another node say that it is there.
func company(t *testing.T, in *apptest.Installation, clock world.Clock) *node.Service {
	t.Helper()
	w := in.App.World
	w.Clock = clock
	other := node.New(w, in.App.DB, node.Config{ID: "00000000-0000-7000-8000-00000000000d", Name: "other", Checks: node.Checks{Clock: true}}, func(node.ID) queue.Lane { return "" })
	again(t, other)
	return other
}

func again(t *testing.T, n *node.Service) {
	t.Helper()
	if _, err := n.Workers()[0].Step(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func clockOf(t *testing.T, in *apptest.Installation) (found standing.Finding) {
	t.Helper()
	if err := in.App.DB.Read(t.Context(), func(tx *db.Tx) error {
		all, err := in.App.Nodes.Findings(tx)
		for _, f := range all {
			if f.Check == "clock" {
				found = f
			}
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return found
}

func TestANodeWhoseClockIsWrongTakesUpNoMailUntilItIsRight(t *testing.T) {
	t.Parallel()
	for _, off := range []time.Duration{20 * time.Second, -20 * time.Second} {
		t.Run(off.String(), func(t *testing.T) {
			t.Parallel()
			in := apptest.New(t, "postgres", comparing)
			run(t, in)
			company(t, in, in.Clock)
			if got := clockOf(t, in); got.Status != standing.Good {
				t.Errorf("at first: %+v", got)
			}
			in.Clock.Advance(-2 * off.Abs()) // so that it is due by the wrong clock too
			in.Send("ann@example.net")
			in.Clock.Advance(2*off.Abs() + off)
			say(t, in)
			if got := clockOf(t, in); got.Status != standing.Fail || got.Mend == "" || (in.App.Nodes.Ahead() > 0) != (off > 0) {
				t.Errorf("off by %s, measured %s: %+v", off, in.App.Nodes.Ahead(), got)
			}
			in.Deliver()
			if got := in.Mailbox(""); len(got) != 0 {
				t.Error("mail was sent by a wrong clock")
			}
			in.Clock.Advance(-off)
			say(t, in)
			in.Deliver()
			if got := in.Mailbox(""); len(got) != 1 || clockOf(t, in).Status != standing.Good {
				t.Errorf("by a right clock %d messages were sent; %+v", len(got), clockOf(t, in))
			}
		})
	}
}

func TestAClockThatIsALittleOffIsToldAndGoesOn(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "postgres", comparing)
	run(t, in)
	in.Clock.Advance(4 * time.Second)
	say(t, in)
	if got, _ := json.Marshal(record(t, in, in.Key)["checks"]); !strings.Contains(string(got), "ahead of that of the database.") {
		t.Errorf("%s", got)
	}
	in.Send("ann@example.net")
	in.Deliver()
	if got := in.Mailbox(""); len(got) != 1 {
		t.Errorf("%d messages were sent", len(got))
	}
}

func TestANodeWhoseClockIsWrongFreesNothingOfOthers(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "postgres", comparing)
	run(t, in)
	company(t, in, in.Clock)
	in.Send("ann@example.net")
	renew := func() {
		t.Helper()
		if _, err := in.App.Delivery.RenewLeases(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	renew()
	free := func(tx *db.Tx) (items []queue.Item, err error) {
		return queue.Claim(tx, email.Lane, queue.Lease{Owner: "00000000-0000-7000-8000-00000000000b", For: 30 * time.Second, Token: 1}, 1)
	}
	var claimed, freed []queue.Item
	if err := in.App.DB.Write(t.Context(), func(tx *db.Tx) (err error) { claimed, err = free(tx); return err }); err != nil || len(claimed) != 1 {
		t.Fatalf("%d claimed, %v", len(claimed), err)
	}
	for range 3 { // until the lease is long over, by the wrong clock
		in.Clock.Advance(20 * time.Second)
		say(t, in)
		renew()
	}
	if err := in.App.DB.Write(t.Context(), func(tx *db.Tx) (err error) { freed, err = free(tx); return err }); err != nil || len(freed) != 0 {
		t.Errorf("%d freed, %v", len(freed), err)
	}
}

// A node alone judges nobody's leases but its own, whatever clock the database has.
func TestANodeAloneGoesOnByItsOwnClock(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "postgres", comparing)
	in.Clock.Advance(time.Hour)
	run(t, in)
	in.Send("ann@example.net")
	in.Deliver()
	if got := in.Mailbox(""); len(got) != 1 || clockOf(t, in).Status != standing.Warn {
		t.Errorf("%d messages were sent; %+v", len(got), clockOf(t, in))
	}
}

// shifted is a clock that is as far off as one wishes.
type shifted struct {
	world.Clock
	by time.Duration
}

func (c *shifted) Now() time.Time { return c.Clock.Now().Add(c.by) }

// The database may be moved to a machine whose clock is wrong. To the test it is all one: both nodes jump, the other way.
func TestNodesThatAgreeGoOnWhateverTheDatabaseSays(t *testing.T) {
	t.Parallel()
	for _, off := range []time.Duration{time.Minute, -time.Minute} {
		t.Run(off.String(), func(t *testing.T) {
			t.Parallel()
			in := apptest.New(t, "postgres", comparing)
			run(t, in)
			other := company(t, in, in.Clock)
			in.Clock.Advance(-2 * off.Abs())
			in.Send("ann@example.net")
			in.Clock.Advance(2*off.Abs() + off)
			say(t, in)
			again(t, other)
			say(t, in)
			for range 20 {
				if !in.App.Nodes.InTime() || !other.InTime() || in.App.Nodes.Behind() > time.Second {
					t.Fatalf("they do not go on: %t, %t, behind by %s", in.App.Nodes.InTime(), other.InTime(), in.App.Nodes.Behind())
				}
				in.Clock.Advance(5 * time.Second) // less than may lie between them: the database's clock does not move with theirs
				say(t, in)
				again(t, other)
			}
			in.Deliver()
			if got := in.Mailbox(""); len(got) != 1 || clockOf(t, in).Status != standing.Warn {
				t.Errorf("%d messages were sent; %+v", len(got), clockOf(t, in))
			}
		})
	}
}

func TestOfTwoNodesThatDisagreeTheOneNearerToTheDatabaseGoesOn(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "postgres", comparing)
	run(t, in)
	clock := &shifted{Clock: in.Clock}
	other := company(t, in, clock)
	in.Clock.Advance(-20 * time.Second)
	clock.by = 28 * time.Second // 8 s ahead of the database, where this node is 20 s behind
	for range 3 {
		say(t, in)
		again(t, other)
	}
	if in.App.Nodes.InTime() || !other.InTime() {
		t.Errorf("the farther goes on: %t, the nearer: %t", in.App.Nodes.InTime(), other.InTime())
	}
	if got := in.App.Nodes.Behind().Round(time.Second); got != 28*time.Second {
		t.Errorf("behind by %s", got)
	}
	in.Clock.Advance(15 * time.Second) // 5 s behind, and the other 23 s ahead
	for range 3 {
		say(t, in)
		again(t, other)
	}
	if !in.App.Nodes.InTime() || other.InTime() {
		t.Errorf("the nearer goes on: %t, the farther: %t", in.App.Nodes.InTime(), other.InTime())
	}
}

// One process on the embedded database has one clock, and tests that move it do not compare.
func TestAClockThatNobodyElseHasIsNotCompared(t *testing.T) {
	t.Parallel()
	for engine, option := range map[string]func(*app.Settings){"sqlite": comparing, "postgres": func(*app.Settings) {}} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			in := apptest.New(t, engine, option)
			in.Clock.Advance(time.Hour)
			run(t, in)
			if !in.App.Nodes.InTime() || clockOf(t, in).Check != "" {
				t.Errorf("compared: %+v", clockOf(t, in))
			}
		})
	}
}

// crossing is a clock during the first look at which something else happens.
type crossing struct {
	*apptest.Clock
	armed atomic.Bool
	cross func()
}

func (c *crossing) Now() time.Time {
	if c.armed.CompareAndSwap(true, false) {
		c.cross()
	}
	return c.Clock.Now()
}

func TestANodeThatLeavesIsNotSaidToBeThereAgain(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, in *apptest.Installation) {
		clock := &crossing{Clock: in.Clock}
		w := in.App.World
		w.Clock = clock
		n := node.New(w, in.App.DB, node.Config{ID: "00000000-0000-7000-8000-00000000000b", Name: "second", Checks: node.Checks{Clock: true}}, func(node.ID) queue.Lane { return "" })
		left := false
		clock.cross = func() {
			ctx, done := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer done()
			left = n.Leave(ctx) == nil
		}
		clock.armed.Store(true)
		if _, err := n.Workers()[0].Step(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !left {
			if err := n.Leave(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for _, one := range in.CallAs(in.Key, http.MethodGet, "/sending-nodes", nil, nil).Body["data"].([]any) {
			if one.(map[string]any)["status"] != "draining" {
				t.Errorf("%v is not leaving", one)
			}
		}
	}, func(*app.Settings) {})
}

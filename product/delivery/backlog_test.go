package delivery_test

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/product/delivery"
	"postrider/product/plan"
)

var backlog = flag.Int("backlog", 1000, "how many messages of another tenant hang at a tarpit")

func TestASingleMessagePassesABacklogAtATarpit(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	n := newNode(t, in, func(c *delivery.Config) { c.Inline = false })
	sendMany(t, in, in.Key, "hello@acme.test", *backlog, func(n int) string { return fmt.Sprintf("slow%d@tarpit.test", n) })
	other, key := in.NewWorkspace(plan.Unlimited)
	in.VerifiedDomain(other, "other.test")
	n.run(func() bool { return n.roads.dialled(liveAddr) > 0 })
	single := func(to string) time.Duration {
		sendMany(t, in, key, "hello@other.test", 1, func(int) string { return to })
		start := time.Now()
		n.run(func() bool { return len(in.Mailbox(to)) == 1 })
		return time.Since(start)
	}
	took := single("ann@example.net")
	t.Logf("the single message took %s past a backlog of %d", took.Round(time.Millisecond), *backlog)
	if took > 20*time.Second { // behind the backlog it waits for as long as the clock stands still
		t.Errorf("it took %s", took)
	}
	in.Clock.Advance(time.Hour) // the tarpit has had its time
	if err := n.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
}

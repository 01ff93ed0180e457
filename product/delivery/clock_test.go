package delivery_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/mail/smtp"
	"postrider/platform/queue"
	"postrider/product/delivery"
	nodes "postrider/product/node"
	"postrider/world"
)

// For the others the leases of a node whose clock is behind end earlier than it believes.
func TestANodeWhoseClockIsFoundBehindDoesNotEndTheMessage(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "postgres")
	w, behind := in.App.World, &apptest.Clock{}
	w.Clock = behind
	known := nodes.New(w, in.App.DB, nodes.Config{ID: "00000000-0000-7000-8000-00000000000c", Checks: nodes.Checks{Clock: true}}, func(nodes.ID) queue.Lane { return "" })
	if _, err := in.App.Nodes.Workers()[0].Step(t.Context()); err != nil { // the other
		t.Fatal(err)
	}
	var taken, asked atomic.Int64
	address := startServer(t, smtp.Config{Hostname: "mx.peer.test", Clock: world.SystemClock{},
		Handler: func(context.Context, *smtp.ConnInfo) (smtp.Session, *smtp.Reply) {
			return &slumber{taken: &taken, sleep: func() {
				if asked.Add(1) == 1 {
					behind.Advance(-40 * time.Second)
					if err := known.CheckClock(t.Context()); err != nil {
						t.Error(err)
					}
				}
			}}, nil
		}})
	p := &peering{roads: newRoads(in.App.World)}
	p.at.Store(&address)
	n := newNodeIn(t, in, p, p.roads, func(c *delivery.Config) { c.Inline, c.Nodes = false, known })
	id := in.Send("ann@peer.test")
	n.run(func() bool {
		all, _ := in.Call("GET", "/emails/"+id+"/attempts", nil).Body["data"].([]any)
		return len(all) == 1
	})
	if taken.Load() != 0 {
		t.Error("the server has the message though another node may have sent it")
	}
}

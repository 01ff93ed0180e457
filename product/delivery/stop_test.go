package delivery_test

import (
	"context"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/mail/smtp"
	"postrider/platform/db"
	"postrider/product/delivery"
	"postrider/world"
)

// ponderer is a server that has a message long before it says so.
type ponderer struct {
	slumber
	decided chan struct{}
}

func (p *ponderer) Data(ctx context.Context, r io.Reader) *smtp.Reply {
	reply := p.slumber.Data(ctx, r)
	<-p.decided
	return reply
}

func TestAServerThatIsSlowToAnswerANodeThatStopsGetsNoSecondCopy(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		var taken atomic.Int64
		decided := make(chan struct{})
		address := startServer(t, smtp.Config{Hostname: "mx.peer.test", Clock: world.SystemClock{},
			Handler: func(context.Context, *smtp.ConnInfo) (smtp.Session, *smtp.Reply) {
				return &ponderer{slumber{taken: &taken, sleep: func() {}}, decided}, nil
			}})
		stopping, _ := newPeering(t, in, address, func(c *delivery.Config) { c.Inline = false })
		other, _ := newPeering(t, in, address, func(c *delivery.Config) {
			c.Inline, c.Node = false, "00000000-0000-7000-8000-00000000000d"
		})
		for range 4 { // it has been there for long enough to free what others have left
			other.work("delivery leases")
			in.Clock.Advance(10 * time.Second)
		}
		id := in.Send("ann@peer.test")
		stopping.run(func() bool { return taken.Load() == 1 })
		in.Clock.Advance(14 * time.Second) // its lease is to be renewed at any moment

		drained := make(chan error, 1)
		go func() { drained <- stopping.Drain(context.Background()) }()
		for range 6 {
			other.run(func() bool {
				other.work("delivery leases")
				return taken.Load() > 1 || leasedUntil(t, in, stopping).Sub(in.Clock.Now()) > 20*time.Second
			})
			in.Clock.Advance(6 * time.Second)
		}
		close(decided)
		if err := <-drained; err != nil {
			t.Fatal(err)
		}

		if status := in.Email(id).Text("status"); status != "delivered" || taken.Load() != 1 || len(attempts(in, id)) != 1 {
			t.Errorf("%s, %d copies after %v", status, taken.Load(), attempts(in, id))
		}
	})
}

// leasedUntil returns until when a node has leased the message that it holds.
func leasedUntil(t *testing.T, in *apptest.Installation, n *node) (until time.Time) {
	t.Helper()
	if err := in.App.DB.Read(t.Context(), func(tx *db.Tx) (err error) {
		until, err = db.One(tx, db.Moment, `SELECT COALESCE(MAX(lease_until), 0) FROM queue_item WHERE lease_owner = $1`, n.OwnID())
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return until
}

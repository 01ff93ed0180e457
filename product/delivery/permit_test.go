package delivery_test

import (
	"context"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/mail/smtp"
	"postrider/product/delivery"
	"postrider/world"
)

// slumber is a server during whose answer to RCPT the node sleeps, the first time.
type slumber struct {
	sleep func()
	taken *atomic.Int64
}

func (s *slumber) Auth(context.Context, string, string, string) *smtp.Reply     { return nil }
func (s *slumber) Mail(context.Context, smtp.Path, smtp.MailParams) *smtp.Reply { return nil }
func (s *slumber) Rcpt(context.Context, smtp.Path, smtp.RcptParams) *smtp.Reply {
	s.sleep()
	return nil
}
func (s *slumber) Data(_ context.Context, r io.Reader) *smtp.Reply {
	if _, err := io.Copy(io.Discard, r); err == nil {
		s.taken.Add(1)
	}
	return nil
}
func (s *slumber) Reset()  {}
func (s *slumber) Logout() {}

func TestANodeThatSleptPastItsLeaseDoesNotEndTheMessage(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		var taken, slept atomic.Int64
		address := startServer(t, smtp.Config{Hostname: "mx.peer.test", Clock: world.SystemClock{},
			Handler: func(context.Context, *smtp.ConnInfo) (smtp.Session, *smtp.Reply) {
				return &slumber{taken: &taken, sleep: func() {
					if slept.Add(1) == 1 {
						in.Clock.Advance(31 * time.Second)
					}
				}}, nil
			}})
		p := &peering{roads: newRoads(in.App.World)}
		p.at.Store(&address)
		n := newNodeIn(t, in, p, p.roads, func(c *delivery.Config) { c.Inline = false })
		id := in.Send("ann@peer.test")

		attempts := func() int {
			all, _ := in.Call("GET", "/emails/"+id+"/attempts", nil).Body["data"].([]any)
			return len(all)
		}
		n.run(func() bool { return attempts() == 1 })
		if taken.Load() != 0 {
			t.Fatal("the server has the message though another node may have sent it")
		}
		in.Clock.Advance(2 * time.Minute)
		n.run(func() bool { return in.Email(id).Text("status") == "delivered" })
		if taken.Load() != 1 || attempts() != 2 {
			t.Errorf("%d copies after %d attempts", taken.Load(), attempts())
		}
	})
}

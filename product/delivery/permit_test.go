package delivery_test

import (
	"context"
	"io"
	"sync"
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
	sleep  func()
	taken  *atomic.Int64
	answer *smtp.Reply // to the message
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
	return s.answer
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

// interrupted is a node in the midst of a conversation about an email, whose lease has just run out and was freed by another node.
type interrupted struct {
	*node
	email string
	awake chan struct{} // the server answers when it is closed
	taken atomic.Int64
}

func interrupt(t *testing.T, in *apptest.Installation, answer *smtp.Reply) *interrupted {
	t.Helper()
	i := &interrupted{awake: make(chan struct{})}
	began := make(chan struct{})
	once := sync.OnceFunc(func() { close(began) })
	address := startServer(t, smtp.Config{Hostname: "mx.peer.test", Clock: world.SystemClock{},
		Handler: func(context.Context, *smtp.ConnInfo) (smtp.Session, *smtp.Reply) {
			return &slumber{taken: &i.taken, answer: answer, sleep: func() { once(); <-i.awake }}, nil
		}})
	outliveLeases(t, in)
	i.node, _ = newPeering(t, in, address, func(c *delivery.Config) { c.Inline = false })
	i.email = in.Send("ann@peer.test")
	i.run(func() bool {
		select {
		case <-began:
			return true
		default:
			return false
		}
	})
	outliveLeases(t, in)
	return i
}

func TestANodeThatLostALeaseToAnotherDoesNotEndTheMessageThoughItRenewsOthers(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	n := interrupt(t, in, nil)
	for _, step := range []func(context.Context) (bool, error){in.App.Delivery.Step, n.RenewLeases} { // the other one claims it
		if _, err := step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	close(n.awake)
	n.run(func() bool { return len(attempts(in, n.email)) == 1 })
	if n.taken.Load() != 0 {
		t.Error("the server has the message though another node has claimed it")
	}
}

func TestAConversationWhoseLeaseIsWonAgainEndsAsIfNothingHadHappened(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		n := interrupt(t, in, smtp.NewReply(451, "4.3.0", "Please try again in 20 minutes"))
		n.step() // it claims what it is speaking of
		close(n.awake)
		n.run(func() bool { return len(attempts(in, n.email)) == 1 })
		if made := attempts(in, n.email); made[0]["smtp_code"] != 451.0 || n.taken.Load() != 1 {
			t.Fatalf("%v", made)
		}
		outliveLeases(t, in)
		in.Deliver()
		if made := attempts(in, n.email); len(made) != 1 {
			t.Errorf("tried again before its time: %v", made)
		}
	})
}

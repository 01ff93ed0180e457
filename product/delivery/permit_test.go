package delivery_test

import (
	"context"
	"crypto/tls"
	"io"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/mail/dane/danetest"
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

// reserve is a network in which peer.test has a second server, for when the first one fails.
type reserve struct {
	*peering
	second netip.Addr
}

func (r *reserve) MX(ctx context.Context, name string) ([]world.MX, world.Answer, error) {
	servers, answer, err := r.peering.MX(ctx, name)
	if name == "peer.test" {
		servers = append(servers, world.MX{Host: "reserve.peer.test", Preference: 20})
	}
	return servers, answer, err
}

func (r *reserve) IP(ctx context.Context, name string) ([]netip.Addr, world.Answer, error) {
	if name == "reserve.peer.test" {
		return []netip.Addr{r.second}, world.Answer{}, nil
	}
	return r.peering.IP(ctx, name)
}

// newReserve returns a node whose mail to peer.test goes to a server, and then to the address of a second one.
func newReserve(t *testing.T, in *apptest.Installation, first string, second netip.Addr) *node {
	t.Helper()
	p := &peering{roads: newRoads(in.App.World)}
	p.at.Store(&first)
	return newNodeIn(t, in, &reserve{p, second}, p.roads, func(c *delivery.Config) { c.Inline = false })
}

// startRefusing runs a server that refuses the first connection for good; during the others it is as slumber.
func startRefusing(t *testing.T, sleep func(), taken *atomic.Int64) (address string) {
	t.Helper()
	var came atomic.Int64
	return startServer(t, smtp.Config{Hostname: "mx.peer.test", Clock: world.SystemClock{},
		Handler: func(context.Context, *smtp.ConnInfo) (smtp.Session, *smtp.Reply) {
			if came.Add(1) == 1 {
				return nil, smtp.NewReply(554, "5.3.2", "No mail here")
			}
			return &slumber{taken: taken, sleep: sleep}, nil
		}})
}

func TestAnAttemptThatAnEndedLeaseStopsTellsNothingOfTheServerBefore(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		var taken atomic.Int64
		once := sync.OnceFunc(func() { in.Clock.Advance(31 * time.Second) })
		n := newReserve(t, in, startRefusing(t, once, &taken), peerAddr)
		id := in.Send("ann@peer.test")

		n.run(func() bool { return len(attempts(in, id)) == 1 })
		made := attempts(in, id)[0]
		if made["mx_host"] != "reserve.peer.test" || made["smtp_code"] != nil || made["enhanced_code"] != "4.3.0" || made["classification"] != nil || taken.Load() != 0 {
			t.Errorf("%v, and %d messages", made, taken.Load())
		}
	})
}

func TestAServerThatIsNotReachedHasNothingOfTheOneBefore(t *testing.T) {
	t.Parallel()
	certificate := danetest.NewAuthority(t).Issue(t, "mx.peer.test", danetest.FarAhead)
	address := startServer(t, smtp.Config{Hostname: "mx.peer.test", Clock: world.SystemClock{}, TLS: &tls.Config{Certificates: []tls.Certificate{certificate}},
		Handler: func(context.Context, *smtp.ConnInfo) (smtp.Session, *smtp.Reply) { return leaving{&slumber{}}, nil }})
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		n := newReserve(t, in, address, deadAddr)
		id := in.Send("ann@peer.test")

		n.run(func() bool { return len(attempts(in, id)) == 1 })
		made := attempts(in, id)[0]
		encryption, _ := made["tls"].(map[string]any)
		if made["mx_host"] != "reserve.peer.test" || made["outcome"] != "connection_failed" || made["local_ip"] != nil || encryption["used"] != false {
			t.Errorf("%v", made)
		}
	})
}

// leaving is a server that has to go when it is told of a message.
type leaving struct{ *slumber }

func (leaving) Mail(context.Context, smtp.Path, smtp.MailParams) *smtp.Reply {
	return smtp.NewReply(421, "4.3.2", "Going down")
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

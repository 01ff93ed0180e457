package delivery_test

import (
	"context"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/mail/smtp"
	"postrider/world"
)

// parting is a server that hangs up: once it has taken a message for somebody lost, and with 421 before it takes one for somebody busy. It
// has had enough of that when it is healed.
type parting struct {
	mu          sync.Mutex
	healed      bool                // guarded by mu
	connections int                 // guarded by mu
	taken       map[string][]string // messages by recipient; guarded by mu
}

func startParting(t *testing.T) (*parting, string) {
	t.Helper()
	p := &parting{taken: map[string][]string{}}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			p.mu.Lock()
			p.connections++
			p.mu.Unlock()
			server, err := smtp.NewServer(smtp.Config{Hostname: "mx.peer.test", Clock: world.SystemClock{},
				Handler: func(context.Context, *smtp.ConnInfo) (smtp.Session, *smtp.Reply) {
					return &partingSession{parting: p, conn: conn}, nil
				}})
			if err != nil {
				panic(err)
			}
			go server.Serve(context.Background(), &single{conn: conn})
		}
	}()
	return p, listener.Addr().String()
}

// messages returns what was taken for a recipient.
func (p *parting) messages(to string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.taken[to]
}

func (p *parting) heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.healed = true
}

func (p *parting) connected() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.connections
}

type partingSession struct {
	*parting
	conn net.Conn
	to   string
}

func (s *partingSession) Auth(context.Context, string, string, string) *smtp.Reply     { return nil }
func (s *partingSession) Mail(context.Context, smtp.Path, smtp.MailParams) *smtp.Reply { return nil }
func (s *partingSession) Rcpt(_ context.Context, to smtp.Path, _ smtp.RcptParams) *smtp.Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.to = to.String()
	if to.Local == "busy" && s.connections == 1 {
		return smtp.NewReply(421, "4.3.2", "closing for the moment")
	}
	return nil
}

func (s *partingSession) Data(_ context.Context, r io.Reader) *smtp.Reply {
	raw, err := io.ReadAll(r)
	if err != nil {
		return smtp.NewReply(451, "4.3.0", "unreadable")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken[s.to] = append(s.taken[s.to], string(raw))
	if strings.HasPrefix(s.to, "lost") && !s.healed {
		s.conn.Close()
	}
	return nil
}
func (s *partingSession) Reset()  {}
func (s *partingSession) Logout() {}

// twoDoors is a network in which the server of peer.test has a second address.
type twoDoors struct{ *peering }

var secondDoor = netip.MustParseAddr("127.0.0.89")

func (d twoDoors) IP(ctx context.Context, name string) ([]netip.Addr, world.Answer, error) {
	if name == "mx.peer.test" {
		return []netip.Addr{peerAddr, secondDoor}, world.Answer{}, nil
	}
	return d.peering.IP(ctx, name)
}

func (d twoDoors) DialContext(ctx context.Context, network, to string) (net.Conn, error) {
	if at := netip.MustParseAddrPort(to); at.Addr() == secondDoor {
		to = netip.AddrPortFrom(peerAddr, at.Port()).String()
	}
	return d.peering.DialContext(ctx, network, to)
}

func newTwoDoors(t *testing.T, in *apptest.Installation, server string) *node {
	t.Helper()
	p := &peering{roads: newRoads(in.App.World)}
	p.at.Store(&server)
	return newNodeIn(t, in, twoDoors{p}, p.roads)
}

func TestAMessageWhoseAnswerWasLostIsSentAgainLaterAndAsTheSame(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		server, address := startParting(t)
		n := newTwoDoors(t, in, address)
		lost := map[string]string{}
		for _, to := range []string{"lost1@peer.test", "ann@peer.test", "lost2@peer.test"} { // the last on a conversation that has carried another
			lost[to] = in.Send(to)
			n.deliver()
		}
		delete(lost, "ann@peer.test")
		if server.connected() != 2 {
			t.Fatalf("%d connections, want one that was lost and one that carried two messages", server.connected())
		}
		for to, id := range lost {
			made := attempts(in, id)
			if len(server.messages(to)) != 1 || in.Email(id).Text("status") != "sending" || len(made) != 1 {
				t.Fatalf("%s: %d copies, %s after %v", to, len(server.messages(to)), in.Email(id).Text("status"), made)
			}
			if made[0]["outcome"] != "connection_failed" || made[0]["ambiguous"] != true {
				t.Errorf("%s: %v", to, made[0])
			}
		}
		server.heal()
		in.Clock.Advance(2 * time.Minute)
		n.deliver()
		for to, id := range lost {
			record, copies := in.Email(id), server.messages(to)
			if record.Text("status") != "delivered" || len(copies) != 2 || attempts(in, id)[1]["ambiguous"] != false {
				t.Fatalf("%s: %s, %d copies, %v", to, record.Text("status"), len(copies), attempts(in, id))
			}
			for _, raw := range copies {
				if !strings.Contains(raw, record.Text("message_id")) {
					t.Errorf("%s has a copy without %s", to, record.Text("message_id"))
				}
			}
		}
	})
}

func TestWhoIsSentAwayByOneServerAsksTheNextInTheSameAttempt(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	server, address := startParting(t)
	n := newTwoDoors(t, in, address)
	id := in.Send("busy@peer.test")
	n.deliver()
	if made := attempts(in, id); in.Email(id).Text("status") != "delivered" || len(made) != 1 || server.connected() != 2 {
		t.Errorf("%s by %d connections after %v", in.Email(id).Text("status"), server.connected(), made)
	}
}

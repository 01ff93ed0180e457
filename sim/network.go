package sim

import (
	"context"
	"errors"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"postrider/mail/message"
	"postrider/mail/smtp"
)

// network is the internet of the simulation: every domain has mail servers whose moods are drawn from the seed.
type network struct {
	clock *clock
	crm   *crm // nil unless there is one

	mu sync.Mutex
	// All below is guarded by mu.
	random   *rand.Rand
	healed   bool // no more faults: the backlog must drain
	crashes  crashPlan
	broken   map[netip.Addr]time.Time // servers that are away, until when
	accepted map[letterKey]int        // how often a server took a message for a recipient
	unsure   map[letterKey]int        // how often we could not know that it did
}

// letterKey is one message for one recipient.
type letterKey struct{ messageID, recipient string }

// crashPlan says at which point of a conversation the process is to die next.
type crashPlan struct {
	atConnect bool
	atReply   bool // when the server has taken the message and its answer is on the way
}

// crash is what a dying process panics with.
type crash struct{ at string }

func newNetwork(c *clock, seed uint64) *network {
	return &network{clock: c, random: rand.New(rand.NewPCG(seed, 2)), broken: map[netip.Addr]time.Time{}, accepted: map[letterKey]int{}, unsure: map[letterKey]int{}}
}

// chance is true with the given probability, unless the network has been healed.
func (n *network) chance(p float64) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return !n.healed && n.random.Float64() < p
}

func (n *network) flaky() bool { return n.chance(0.05) }

func (n *network) heal() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.healed, n.crashes = true, crashPlan{}
}

// breakServer takes a server away for a while.
func (n *network) breakServer(host string, until time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.broken[n.addressOf(host)] = until
}

func (n *network) isBroken(to netip.Addr) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return !n.healed && n.clock.Now().Before(n.broken[to])
}

func (n *network) planCrash(plan crashPlan) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.crashes = plan
}

// addressOf gives every host an address of its own.
func (n *network) addressOf(host string) netip.Addr {
	h := fnv.New32a()
	h.Write([]byte(host))
	sum := h.Sum32()
	return netip.AddrFrom4([4]byte{203, 0, 113, byte(sum)})
}

var errRefused = errors.New("connection refused")

// DialContext connects to a server of the simulation.
func (n *network) DialContext(_ context.Context, _, address string) (net.Conn, error) {
	n.mu.Lock()
	dies := n.crashes.atConnect
	n.crashes.atConnect = false
	n.mu.Unlock()
	if dies {
		panic(crash{"connect"})
	}
	if n.isCutOff() {
		return nil, errRefused
	}
	if n.chance(0.08) || n.isBroken(netip.MustParseAddrPort(address).Addr()) {
		return nil, errRefused
	}
	remote, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, err
	}
	client, server := pipe(&net.TCPAddr{IP: net.IPv4(198, 51, 100, 1), Port: 40000}, remote)
	if n.crm != nil && address == crmAddress {
		n.crm.serve(server)
		return client, nil
	}
	client.beforeRead = n.dieAtReply
	return client, n.serve(server)
}

// isCutOff tells whether the process is dead without knowing it.
func (n *network) isCutOff() bool { return n.crm != nil && n.crm.doom.isDead() }

// dieAtReply crashes the process when the server's yes has arrived but nobody has read it yet.
func (n *network) dieAtReply(arrived []byte) {
	n.mu.Lock()
	dies := n.crashes.atReply && strings.HasPrefix(string(arrived), "250 2.0.0 taken")
	if dies {
		n.crashes.atReply = false
	}
	n.mu.Unlock()
	if dies {
		panic(crash{"reply"})
	}
}

// serve lets a server of its own speak on the connection.
func (n *network) serve(conn net.Conn) error {
	server, err := smtp.NewServer(smtp.Config{Hostname: "mx.sim.test", Clock: n.clock, Log: silence(), MaxErrors: 1000,
		Handler: func(context.Context, *smtp.ConnInfo) (smtp.Session, *smtp.Reply) {
			if n.chance(0.03) {
				return nil, smtp.NewReply(421, "4.3.2", "busy")
			}
			if n.chance(0.02) {
				return nil, smtp.NewReply(421, "4.7.0", "too many connections from your address")
			}
			return &mailbox{network: n, conn: conn}, nil
		}})
	if err != nil {
		return err
	}
	go server.Serve(context.Background(), &oneConn{conn: conn, done: make(chan struct{})})
	return nil
}

// oneConn is a listener that has one connection to give.
type oneConn struct {
	conn  net.Conn
	given bool
	once  sync.Once
	done  chan struct{}
}

func (l *oneConn) Accept() (net.Conn, error) {
	if !l.given {
		l.given = true
		return l.conn, nil
	}
	<-l.done
	return nil, net.ErrClosed
}

func (l *oneConn) Close() error   { l.once.Do(func() { close(l.done) }); return nil }
func (l *oneConn) Addr() net.Addr { return l.conn.LocalAddr() }

// mailbox is a conversation with a moody server.
type mailbox struct {
	network    *network
	conn       net.Conn
	recipients []string
}

func (m *mailbox) Auth(context.Context, string, string, string) *smtp.Reply {
	return smtp.NewReply(502, "5.5.1", "no")
}

func (m *mailbox) Mail(context.Context, smtp.Path, smtp.MailParams) *smtp.Reply { return nil }

func (m *mailbox) Rcpt(_ context.Context, to smtp.Path, _ smtp.RcptParams) *smtp.Reply {
	switch {
	case strings.HasPrefix(to.Local, "bounce"):
		return smtp.NewReply(550, "5.1.1", "no such user")
	case strings.HasPrefix(to.Local, "full"):
		return smtp.NewReply(552, "5.2.2", "mailbox full")
	case m.network.chance(0.15):
		return smtp.NewReply(451, "4.3.0", "try again later")
	case m.network.chance(0.02):
		return smtp.NewReply(450, "4.7.1", "you are sending too fast, try again in 4 minutes")
	case m.network.chance(0.03):
		m.conn.Close()
		return smtp.NewReply(421, "4.4.2", "gone")
	}
	m.recipients = append(m.recipients, to.String())
	return nil
}

// Data takes the message, or the connection is lost before or after it was taken. After is the case nobody can tell apart.
func (m *mailbox) Data(_ context.Context, r io.Reader) *smtp.Reply {
	raw, err := io.ReadAll(r)
	if err != nil {
		return smtp.NewReply(451, "4.3.0", "unreadable")
	}
	if m.network.isCutOff() {
		m.conn.Close()
		return smtp.NewReply(451, "4.4.2", "lost")
	}
	if m.network.chance(0.05) {
		return smtp.NewReply(451, "4.3.0", "no space")
	}
	if m.network.chance(0.04) {
		m.conn.Close()
		return smtp.NewReply(451, "4.4.2", "lost")
	}
	id := messageID(raw)
	lost := m.network.chance(0.04)
	m.network.mu.Lock()
	for _, to := range m.recipients {
		key := letterKey{id, to}
		m.network.accepted[key]++
		if lost {
			m.network.unsure[key] = m.network.accepted[key]
		}
	}
	m.network.mu.Unlock()
	if lost {
		m.conn.Close()
	}
	return smtp.NewReply(250, "2.0.0", "taken")
}

func (m *mailbox) Reset()  { m.recipients = nil }
func (m *mailbox) Logout() {}

func messageID(raw []byte) string {
	fields, _, err := message.ReadHeader(raw)
	if err != nil {
		return ""
	}
	for _, f := range fields {
		if f.Is("Message-ID") {
			return strings.TrimSpace(f.Value)
		}
	}
	return ""
}

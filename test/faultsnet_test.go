package test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"postrider/mail/smtp"
)

// servers are the PostgreSQL servers of running rows, by the name of the test.
var servers sync.Map // string -> *postgres

func (s *shop) database() *postgres {
	found, _ := servers.Load(s.t.Name())
	return found.(*postgres)
}

func databaseFaults() []fault {
	return []fault{
		{"the database is killed, three times", "PostgreSQL", -1, func(s *shop, _ string) {
			enough := s.sell(faultCustomers)
			for range 3 {
				after(700 * time.Millisecond)
				s.database().kill()
				after(500 * time.Millisecond)
				s.database().start()
			}
			after(time.Second)
			enough()
			s.withClock()
			s.later()
		}},
		{"the database is frozen for 10 s", "PostgreSQL", -1, func(s *shop, _ string) {
			enough := s.sell(faultCustomers)
			after(time.Second)
			s.database().freeze(10 * time.Second)
			after(time.Second)
			enough()
		}},
		{"the answer to every 40th COMMIT is lost", "PostgreSQL", -1, func(s *shop, _ string) {
			server := s.database()
			var over atomic.Bool
			proxy := startProxy(s.t, net.JoinHostPort(server.host, server.port), loseCommits(40, &over))
			s.p.kill()
			for i, word := range s.storage {
				if strings.HasPrefix(word, "postgres://") {
					s.storage[i] = fmt.Sprintf("postgres://postgres@%s/postgres?sslmode=disable", proxy)
				}
			}
			s.serve()
			enough := s.sell(faultCustomers)
			after(5 * time.Second)
			enough()
			over.Store(true)
		}},
	}
}

// cutter looks at what one side says and tells when the connection is to be cut before it is passed on.
type cutter func(connection int, part []byte) (cut bool)

// startProxy passes connections on to a server. cut is asked about what the server says; for the client's words see startDoor.
func startProxy(t *testing.T, to string, cut cutter) string {
	return relayConnections(t, to, func(int, []byte) bool { return false }, cut)
}

// relayConnections listens on loopback and passes everything on, in both directions, until one of the cutters says no.
func relayConnections(t *testing.T, to string, fromClient, fromServer cutter) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for number := 1; ; number++ {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", to)
			if err != nil {
				client.Close()
				continue
			}
			end := sync.OnceFunc(func() { client.Close(); server.Close() })
			go pass(number, client, server, fromClient, end)
			go pass(number, server, client, fromServer, end)
		}
	}()
	return listener.Addr().String()
}

func pass(number int, from io.Reader, to io.Writer, cut cutter, end func()) {
	defer end()
	part := make([]byte, 64<<10)
	for {
		n, err := from.Read(part)
		if n > 0 && cut(number, part[:n]) {
			return
		}
		if _, bad := to.Write(part[:n]); bad != nil || err != nil {
			return
		}
	}
}

// loseCommits cuts the connection instead of passing on that a transaction was committed, once in so many times until it is over.
func loseCommits(every int64, over *atomic.Bool) cutter {
	var commits atomic.Int64
	return func(_ int, part []byte) bool {
		return bytes.Contains(part, []byte("COMMIT\x00")) && !over.Load() && commits.Add(1)%every == 0
	}
}

const (
	// laterJumps of laterBy are a day: mail is kept longer than that, and every retry in it is due by then.
	laterJumps = 36
	laterBy    = 40 * time.Minute
	// stuckFor is how long nothing may change, although the program says that it is at work, before the clock is moved all the same.
	stuckFor = 20 * time.Second
)

// later moves the clock of the shop on whenever nothing is left to do now, until nothing is left to retry. While the program is at work
// a jump would be wasted: on a busy machine all of them would be used up before the first retry is due, and what waits would look lost.
func (s *shop) later() {
	last, changed := -1, time.Now()
	for jumps := 0; jumps < laterJumps; {
		after(500 * time.Millisecond)
		missing, untold := s.open()
		if missing+untold == 0 {
			return
		}
		if missing+untold != last {
			last, changed = missing+untold, time.Now()
			continue
		}
		if still := time.Since(changed); still > stuckFor || still > 1500*time.Millisecond && s.p.idle() {
			jumps++
			changed = time.Now()
			s.setClock(fmt.Sprintf("+%dm", int(laterBy.Minutes())*jumps))
		}
	}
}

// withClock starts the shop anew with a clock that can be moved, so that retries need not be waited for.
func (s *shop) withClock() {
	s.p.kill()
	s.settings = append(s.settings, "--insecure-test-clock")
	s.serve("env", "POSTRIDER_CLOCK_FILE="+s.clockFile())
}

func networkFaults() []fault {
	manners := func(s *shop, how func(stage, to string) *smtp.Reply) { s.manners.Store(&how) }
	all := []fault{
		{"a tarpit: every answer takes 300 ms", "", 0, func(s *shop, _ string) {
			manners(s, func(string, string) *smtp.Reply { after(300 * time.Millisecond); return nil })
			enough := s.sell(2)
			after(3 * time.Second)
			enough()
			s.manners.Store(nil)
		}},
		{"a storm of 4xx for 5 s", "", 0, func(s *shop, _ string) {
			s.withClock()
			manners(s, func(stage, _ string) *smtp.Reply {
				if stage == "rcpt" {
					return smtp.NewReply(451, "4.3.0", "Not now")
				}
				return nil
			})
			enough := s.sell(faultCustomers)
			after(5 * time.Second)
			enough()
			s.manners.Store(nil)
			s.later()
		}},
		{"no name server answers for 5 s", "", 0, func(s *shop, _ string) {
			gate := startNameGate(s.t, s.internet.DNS)
			s.resolver = gate.address
			s.withClock()
			gate.shut.Store(true)
			enough := s.sell(faultCustomers)
			after(5 * time.Second)
			enough()
			gate.shut.Store(false)
			s.later()
		}},
		{"the webhook hangs for 5 s", "", 0, func(s *shop, _ string) {
			open := make(chan struct{})
			hang := func() { <-open }
			s.hang.Store(&hang)
			enough := s.sell(faultCustomers)
			after(5 * time.Second)
			enough()
			if missing, _ := s.open(); missing > 200 {
				s.t.Errorf("%d emails wait although only webhooks hang", missing)
			}
			s.hang.Store(nil)
			close(open)
		}},
		{"the process is frozen for 40 s", "", 0, func(s *shop, _ string) {
			enough := s.sell(faultCustomers)
			after(time.Second)
			_ = s.p.cmd.Process.Signal(syscall.SIGSTOP)
			after(40 * time.Second)
			_ = s.p.cmd.Process.Signal(syscall.SIGCONT)
			after(time.Second)
			enough()
		}},
	}
	for _, phase := range []string{"EHLO", "MAIL", "RCPT", "DATA", "\r\n.\r\n"} {
		all = append(all, dropAt(phase))
	}
	return append(all, fault{"the connection is lost before the answer to the dot", "SQLite", -1, func(s *shop, _ string) {
		s.dropping(func(n int, part []byte) bool { return false }, func(n int, part []byte) bool {
			return n%3 == 1 && bytes.Contains(part, []byte("Message accepted"))
		})
	}})
}

func dropAt(phase string) fault {
	name := strings.TrimSpace(strings.ReplaceAll(phase, ".", "the dot"))
	return fault{"the connection is lost at " + name, "SQLite", 0, func(s *shop, _ string) {
		s.dropping(func(n int, part []byte) bool { return n%3 == 1 && bytes.Contains(part, []byte(phase)) }, func(int, []byte) bool { return false })
	}}
}

// dropping puts a proxy before the recipients' server that cuts one connection of three.
func (s *shop) dropping(fromClient, fromServer cutter) {
	proxy := relayConnections(s.t, "127.0.0.1:"+s.port, fromClient, fromServer)
	_, s.port, _ = net.SplitHostPort(proxy)
	s.withClock()
	enough := s.sell(faultCustomers)
	after(3 * time.Second)
	enough()
	s.later()
}

// nameGate passes questions on to a name server, or swallows them.
type nameGate struct {
	address string
	shut    atomic.Bool
}

func startNameGate(t *testing.T, to string) *nameGate {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	g := &nameGate{address: conn.LocalAddr().String()}
	go g.serve(conn, to)
	return g
}

// serve passes each question on by itself, until the connection is closed.
func (g *nameGate) serve(conn net.PacketConn, to string) {
	question := make([]byte, 64<<10)
	for {
		n, asker, err := conn.ReadFrom(question)
		if err != nil {
			return
		}
		if g.shut.Load() {
			continue
		}
		text := bytes.Clone(question[:n])
		go func() {
			server, err := net.Dial("udp", to)
			if err != nil {
				return
			}
			defer server.Close()
			_ = server.SetDeadline(time.Now().Add(5 * time.Second))
			_, _ = server.Write(text)
			answer := make([]byte, 64<<10)
			if n, err := server.Read(answer); err == nil {
				_, _ = conn.WriteTo(answer[:n], asker)
			}
		}()
	}
}

package world_test

import (
	"net"
	"sync"
	"testing"

	"github.com/miekg/dns"
)

// nameServer is a DNS server on loopback that answers from a zone in master file form, over UDP and TCP on one port.
type nameServer struct {
	address string

	mu      sync.Mutex
	records []dns.RR             // guarded by mu
	moods   map[string]mood      // guarded by mu; what happens to questions for a name
	asked   map[string][]dns.Msg // guarded by mu; questions by network
}

// mood changes an answer before it is sent.
type mood func(network string, reply *dns.Msg)

func newNameServer(t *testing.T, zone ...string) *nameServer {
	t.Helper()
	s := &nameServer{moods: map[string]mood{}, asked: map[string][]dns.Msg{}}
	for _, line := range zone {
		rr, err := dns.NewRR(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		s.records = append(s.records, rr)
	}
	packets, listener := listenBoth(t)
	s.address = packets.LocalAddr().String()
	for _, server := range []*dns.Server{
		{PacketConn: packets, Handler: s.handler("udp")},
		{Listener: listener, Handler: s.handler("tcp")},
	} {
		started := make(chan struct{})
		server.NotifyStartedFunc = func() { close(started) }
		ended := make(chan error, 1)
		go func() { ended <- server.ActivateAndServe() }()
		<-started
		t.Cleanup(func() {
			server.Shutdown()
			if err := <-ended; err != nil {
				t.Errorf("name server: %v", err)
			}
		})
	}
	return s
}

// listenBoth finds a port that is free for UDP and TCP.
func listenBoth(t *testing.T) (net.PacketConn, net.Listener) {
	t.Helper()
	var last error
	for range 20 {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		packets, err := net.ListenPacket("udp", listener.Addr().String())
		if err == nil {
			return packets, listener
		}
		last = err
		listener.Close()
	}
	t.Fatal(last)
	return nil, nil
}

// addText publishes a text record whose strings are already escaped.
func (s *nameServer) addText(name string, escaped []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	header := dns.RR_Header{Name: name, Rrtype: dns.TypeTXT, Class: dns.ClassINET, Ttl: 60}
	s.records = append(s.records, &dns.TXT{Hdr: header, Txt: escaped})
}

// set gives a name a mood.
func (s *nameServer) set(name string, m mood) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.moods[name] = m
}

func (s *nameServer) questions(network string) []dns.Msg {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[network]
}

func (s *nameServer) handler(network string) dns.HandlerFunc {
	return func(w dns.ResponseWriter, query *dns.Msg) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.asked[network] = append(s.asked[network], *query)
		question := query.Question[0]
		reply := new(dns.Msg).SetReply(query)
		exists := s.collect(reply, question.Name, question.Qtype)
		if !exists {
			reply.Rcode = dns.RcodeNameError
		}
		if m := s.moods[question.Name]; m != nil {
			m(network, reply)
		}
		w.WriteMsg(reply)
	}
}

// collect puts the records of a name into the reply, follows aliases as a recursive server does, and reports whether the
// name at the end exists.
func (s *nameServer) collect(reply *dns.Msg, name string, kind uint16) (exists bool) {
	const enough = 20 // of a loop
	for range enough {
		next := ""
		exists = false
		for _, rr := range s.records {
			if dns.CanonicalName(rr.Header().Name) != dns.CanonicalName(name) {
				continue
			}
			exists = true
			alias, isAlias := rr.(*dns.CNAME)
			if rr.Header().Rrtype == kind || isAlias {
				reply.Answer = append(reply.Answer, rr)
			}
			if isAlias && kind != dns.TypeCNAME {
				next = alias.Target
			}
		}
		if next == "" {
			return exists
		}
		name = next
	}
	return true
}

package sandbox

import (
	"fmt"
	"net"
	"strings"

	"github.com/miekg/dns"
)

const (
	// portTries is how often a port that is free for TCP may turn out to be taken for UDP.
	portTries = 10
	// udpWithoutEDNS is the largest answer to a question that does not say more (RFC 1035 §4.2.1).
	udpWithoutEDNS = dns.MinMsgSize
	// udpPayload avoids fragmentation on common paths (DNS flag day 2020).
	udpPayload = 1232
)

// serveNames starts the name server on UDP and TCP.
func (s *Sandbox) serveNames(addr string) error {
	listener, packets, err := listenBoth(addr)
	if err != nil {
		return err
	}
	s.dnsAddr = listener.Addr().String()
	handler := dns.HandlerFunc(s.answerQuestion)
	for _, server := range []*dns.Server{{Listener: listener, Handler: handler}, {PacketConn: packets, Handler: handler}} {
		started := make(chan struct{})
		server.NotifyStartedFunc = func() { close(started) }
		s.running.Go(func() {
			if err := server.ActivateAndServe(); err != nil {
				s.world.Log.Error("sandbox name server stopped", "error", err)
			}
		})
		<-started // a server that has not started could not be stopped
		s.running.Go(func() {
			<-s.life.Done()
			if err := server.Shutdown(); err != nil {
				s.world.Log.Error("sandbox name server did not stop", "error", err)
			}
		})
	}
	return nil
}

// listenBoth finds one port for both protocols.
func listenBoth(addr string) (net.Listener, net.PacketConn, error) {
	var refusal error
	for range portTries {
		listener, err := net.Listen("tcp", addr)
		if err != nil {
			return nil, nil, err
		}
		packets, err := net.ListenPacket("udp", listener.Addr().String())
		if err == nil {
			return listener, packets, nil
		}
		listener.Close()
		refusal = err
		if !strings.HasSuffix(addr, ":0") {
			break
		}
	}
	return nil, nil, fmt.Errorf("no port for both UDP and TCP: %w", refusal)
}

func (s *Sandbox) answerQuestion(w dns.ResponseWriter, query *dns.Msg) {
	reply := new(dns.Msg)
	reply.SetReply(query)
	reply.Authoritative, reply.RecursionAvailable, reply.Compress = true, true, true
	if query.Opcode != dns.OpcodeQuery || len(query.Question) != 1 || query.Question[0].Qclass != dns.ClassINET {
		reply.Rcode = dns.RcodeNotImplemented
	} else {
		question := query.Question[0]
		found := s.zone.resolve(s.zone.moment(), canonicalName(question.Name), question.Qtype)
		reply.Rcode, reply.Answer = found.rcode, found.records
		if len(found.records) == 0 && found.rcode != dns.RcodeServerFailure {
			reply.Ns = []dns.RR{negative()}
		}
	}
	size := udpWithoutEDNS
	if options := query.IsEdns0(); options != nil {
		reply.SetEdns0(udpPayload, false)
		size = min(max(int(options.UDPSize()), udpWithoutEDNS), udpPayload)
	}
	if _, overTCP := w.RemoteAddr().(*net.TCPAddr); overTCP {
		size = dns.MaxMsgSize
	}
	reply.Truncate(size)
	if err := w.WriteMsg(reply); err != nil {
		s.world.Log.Debug("sandbox name server could not answer", "error", err)
	}
}

// negative is the record that says how long a missing name may be believed to be missing (RFC 2308 §3): not at all.
func negative() dns.RR {
	return &dns.SOA{Hdr: header(".", dns.TypeSOA), Ns: dns.Fqdn(hostname), Mbox: dns.Fqdn("hostmaster." + hostname), Serial: 1}
}

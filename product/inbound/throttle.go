package inbound

import (
	"net"
	"net/netip"
	"time"

	"postrider/mail/smtp"
	"postrider/platform/limit"
)

// maxPeers is how many addresses and networks are remembered; a bucket that is full again makes room.
const maxPeers = 100_000

// What one address, and the network around it, may do before it has to wait. Large providers send a few dozen messages a second
// from one address; who sends more, or asks for so many names that do not exist, is sent away for a while and may come back.
var (
	messagesPerAddress = limit.Rate{Count: 200, Per: time.Second, Burst: 2000}
	messagesPerNetwork = limit.Rate{Count: 600, Per: time.Second, Burst: 6000}
	refusalsPerAddress = limit.Rate{Count: 60, Per: time.Minute, Burst: 120}
	refusalsPerNetwork = limit.Rate{Count: 300, Per: time.Minute, Burst: 600}
)

// throttle counts what other servers do, by address and by network.
type throttle struct{ limiter *limit.Limiter }

// message tells whether one more message may be begun.
func (t throttle) message(from netip.Addr) bool {
	return t.take("message ", from, messagesPerAddress, messagesPerNetwork)
}

// refused counts a recipient that does not exist, and tells whether the peer may go on asking.
func (t throttle) refused(from netip.Addr) bool {
	return t.take("refused ", from, refusalsPerAddress, refusalsPerNetwork)
}

// take counts for the address and its network. The machine itself is trusted: it is where a front server, or a test, would be.
func (t throttle) take(what string, from netip.Addr, address, network limit.Rate) bool {
	if !from.IsValid() || from.IsLoopback() {
		return true
	}
	one, wide := 32, 24
	if from.Is6() {
		one, wide = 64, 48 // an IPv6 customer commands a whole /64
	}
	near, err := from.Prefix(one)
	if err != nil {
		return true
	}
	around, err := from.Prefix(wide)
	if err != nil {
		return true
	}
	return t.limiter.Take(what+near.String(), address).Allowed && t.limiter.Take(what+around.String(), network).Allowed
}

// addressOf returns the address of a peer, or the invalid one if it has none.
func addressOf(remote net.Addr) netip.Addr {
	peer, err := netip.ParseAddrPort(remote.String())
	if err != nil {
		return netip.Addr{}
	}
	return peer.Addr().Unmap().WithZone("")
}

var replySlowDown = smtp.NewReply(451, "4.7.1", "Too much from your network, try again later")

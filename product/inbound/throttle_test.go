package inbound

import (
	"net/netip"
	"testing"
	"time"

	"postrider/platform/limit"
)

// stillClock does not move.
type stillClock struct{ at time.Time }

func (c stillClock) Now() time.Time { return c.at }

func (c stillClock) After(time.Duration) (<-chan time.Time, func()) { return nil, func() {} }

func TestAFloodIsSlowedByAddressAndByNetwork(t *testing.T) {
	t.Parallel()
	limiter := throttle{limiter: limit.New(stillClock{time.Unix(1_800_000_000, 0)}, maxPeers)}
	allowed := func(from string, times int) (n int) {
		for range times {
			if limiter.message(netip.MustParseAddr(from)) {
				n++
			}
		}
		return n
	}
	if n := allowed("192.0.2.1", 3000); n != messagesPerAddress.Burst {
		t.Errorf("one address began %d messages", n)
	}
	total := messagesPerAddress.Burst
	for _, from := range []string{"192.0.2.2", "192.0.2.3", "192.0.2.4", "192.0.2.5"} {
		total += allowed(from, 3000)
	}
	if total > messagesPerNetwork.Burst {
		t.Errorf("one network began %d messages", total)
	}
	if n := allowed("198.51.100.1", 10); n != 10 {
		t.Error("another network waits for it")
	}
	if n := allowed("2001:db8::1", 3000); n != messagesPerAddress.Burst {
		t.Errorf("an IPv6 address began %d messages", n)
	}
	if n := allowed("2001:db8::2", 10); n != 0 {
		t.Errorf("a neighbour in the same /64 began %d messages", n)
	}
	if n := allowed("127.0.0.1", 10_000); n != 10_000 {
		t.Errorf("the machine itself began %d messages", n)
	}
	for range refusalsPerAddress.Burst {
		limiter.refused(netip.MustParseAddr("203.0.113.1"))
	}
	if limiter.refused(netip.MustParseAddr("203.0.113.1")) {
		t.Error("who asks for hundreds of names that do not exist is not slowed")
	}
}

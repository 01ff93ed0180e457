package limit_test

import (
	"net/netip"
	"testing"

	"postrider/platform/limit"
)

func TestASubscriberIsCountedOnceHoweverManyAddressesThereAre(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"192.0.2.7":          "192.0.2.7",
		"::ffff:192.0.2.7":   "192.0.2.7",
		"2001:db8:1:2::7":    "2001:db8:1:2::/64",
		"2001:db8:1:2:ff::9": "2001:db8:1:2::/64",
		"2001:db8:1:3::7":    "2001:db8:1:3::/64",
		"fe80::1%eth0":       "fe80::/64",
	} {
		if got := limit.Site(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s is counted as %s, want %s", text, got, want)
		}
	}
	if got := limit.Site(netip.Addr{}); got != (netip.Addr{}).String() {
		t.Errorf("no address is counted as %s", got)
	}
}

package apikey

import (
	"regexp"
	"strings"
	"testing"
)

// The form of a key is what secret scanners look for; a text of another form is no key.
func FuzzKeysHaveTheirForm(f *testing.F) {
	body := "pr_live_0123456789_" + strings.Repeat("a", secretLength)
	form := regexp.MustCompile(`^pr_(live|test)_[0-9A-Za-z]{10}_[0-9A-Za-z]{38}$`)
	for _, seed := range []string{"", "pr_live_", body + checksum(body), body + "AAAAAA", strings.Repeat("\xff", tokenLength), "pr_test" + body[7:] + checksum(body)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		id, _, ok := readToken(text)
		if ok && (!form.MatchString(text) || !strings.Contains(text, "_"+id+"_")) {
			t.Fatalf("%q was taken for a key", text)
		}
	})
}

// What is stored is read back when the key is checked, so it must mean the same.
func FuzzNetworksAreReadBack(f *testing.F) {
	for _, seed := range []string{"", "198.51.100.7", "198.51.100.7/24", "2001:db8::1", "::ffff:192.0.2.1/120", "::ffff:192.0.2.1/64", "fe80::1%eth0", "0.0.0.0/0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		network, ok := parseNetwork(text)
		if !ok {
			return
		}
		if again, ok := parseNetwork(networkText(network)); !ok || again != network {
			t.Fatalf("%q is the network %s, which is read as %s", text, network, again)
		}
	})
}

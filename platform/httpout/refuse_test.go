package httpout_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"postrider/platform/httpout"
)

// inside are addresses that must never be reached, however a customer names them.
var inside = []string{
	"127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3",
	"10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1",
	"100.64.0.1", "100.127.255.255", "100.100.100.200",
	"169.254.169.254", "169.254.0.1", "168.63.129.16",
	"192.0.0.192", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "192.88.99.1",
	"224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
	"::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::ffff:8.8.8.8",
	"64:ff9b::7f00:1", "64:ff9b:1::7f00:1", "2002:7f00:1::", "2001:0:7f00:1::", "2001:db8::1", "3fff::1",
	"fc00::1", "fd00:ec2::254", "fd20:ce::254", "fe80::1", "fec0::1", "ff02::1", "100::1",
}

func TestAddressesInsideAreRefusedAsLiterals(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	l := newLookout(t, func(c *httpout.Config) { c.ExtraPorts = []int{v.port} })
	for _, addr := range inside {
		host := addr
		if strings.Contains(addr, ":") {
			host = "[" + addr + "]"
		}
		target := fmt.Sprintf("http://%s:%d/", host, v.port)

		wantRefusal(t, target, httpout.CheckURL(target, httpout.Policy{ExtraPorts: []int{v.port}}))
		_, err := l.get(t, target)
		wantRefusal(t, target, err)
	}
	wantNoConnection(t, l, v)
}

func TestAddressesInsideAreRefusedBehindAName(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	l := newLookout(t, func(c *httpout.Config) { c.ExtraPorts = []int{v.port} })
	for i, addr := range inside {
		name := fmt.Sprintf("host-%d.example.com", i)
		l.names.answers[name] = [][]string{{addr}}
		l.names.answers["mixed-"+name] = [][]string{{public, addr}}
		for _, host := range []string{name, "mixed-" + name} {
			_, err := l.get(t, fmt.Sprintf("http://%s:%d/", host, v.port))
			wantRefusal(t, host+" at "+addr, err)
		}
	}
	wantNoConnection(t, l, v)
}

func TestDisguisedAddressesAreRefused(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	l := newLookout(t, func(c *httpout.Config) { c.ExtraPorts = []int{v.port} })
	for _, host := range []string{
		"2130706433", "0x7f000001", "0X7F000001", "017700000001", "0177.0.0.1", "0x7f.0.0.1", "127.1", "127.0.1",
		"127.0.0.1.", "127.0.0.0x1", "0x", "1.1.1.1.1", "localhost", "LOCALHOST", "localhost.", "a.localhost",
		"１２７.0.0.1", "127。0。0。1", "①②⑦.0.0.1", "ⓛocalhost", "[::1%25lo]", "[fe80::1%25eth0]", "%31%32%37.0.0.1", "postgres",
	} {
		target := fmt.Sprintf("http://%s:%d/", host, v.port)

		wantRefusal(t, target, httpout.CheckURL(target, httpout.Policy{ExtraPorts: []int{v.port}}))
		if request, err := http.NewRequest(http.MethodGet, target, nil); err == nil {
			_, err := l.Do(t.Context(), request)
			wantRefusal(t, target, err)
		}
	}
	wantNoConnection(t, l, v)
}

func TestANameThatTurnsInwardsIsRefusedTheSecondTime(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	port := fmt.Sprint(v.port)
	l := newLookout(t, func(c *httpout.Config) { c.ExtraPorts = []int{v.port} })
	l.names.answers["rebind.example.com"] = [][]string{{public}, {"127.0.0.1"}}
	l.serve(t, port, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Connection", "close") })
	target := "http://rebind.example.com:" + port + "/"

	first, err := l.get(t, target)
	if err != nil || first.Status != 200 || first.RemoteAddr.Addr() != netip.MustParseAddr("127.0.0.1") {
		t.Fatalf("first request: %+v, %v", first, err) // the test's dialer leads the public address to its own server
	}
	_, err = l.get(t, target)

	wantRefusal(t, target, err)
	if len(l.names.asked) != 2 {
		t.Errorf("asked %d times for two connections", len(l.names.asked))
	}
	if dialed := l.roads.dialed(); len(dialed) != 1 || dialed[0] != public+":"+port {
		t.Errorf("dialed %v, want the checked address only", dialed)
	}
	if v.hits.Load() != 0 {
		t.Errorf("%d hits inside", v.hits.Load())
	}
}

func TestPortsOfOtherServicesAreRefused(t *testing.T) {
	t.Parallel()
	l := newLookout(t, nil)
	for _, port := range []string{"22", "25", "5432", "6379", "0", "65536", "99999999999999999999", "81"} {
		target := "http://example.com:" + port + "/"

		wantRefusal(t, target, httpout.CheckURL(target, httpout.Policy{}))
		_, err := l.get(t, target)
		wantRefusal(t, target, err)
	}
	if dialed := l.roads.dialed(); len(dialed) != 0 {
		t.Errorf("dialed %v", dialed)
	}
}

func TestARefusedRequestIsClosed(t *testing.T) {
	t.Parallel()
	body := &closing{Reader: strings.NewReader("secret")}
	request, err := http.NewRequest(http.MethodPost, "http://127.0.0.1/", body)
	if err != nil {
		t.Fatal(err)
	}

	_, err = newLookout(t, nil).Do(t.Context(), request)

	wantRefusal(t, "http://127.0.0.1/", err)
	if !body.closed || body.Len() != 6 {
		t.Fatalf("closed %v, %d bytes left of 6", body.closed, body.Len())
	}
}

func FuzzAnAcceptedURLNamesNothingInside(f *testing.F) {
	for _, addr := range inside {
		f.Add("http://" + addr + "/")
		f.Add("https://[" + addr + "]:8443/a?b=c")
	}
	f.Add("https://user@example.com\\@127.0.0.1/#")
	f.Fuzz(func(t *testing.T, raw string) {
		if httpout.CheckURL(raw, httpout.Policy{}) != nil {
			return
		}
		u, err := url.Parse(raw)
		if err != nil || u.User != nil || u.Fragment != "" || len(raw) > 2048 {
			t.Fatalf("%q accepted", raw)
		}
		addr, err := netip.ParseAddr(u.Hostname())
		if err != nil {
			return
		}
		if addr = addr.Unmap(); addr.IsPrivate() || addr.IsLoopback() || !addr.IsGlobalUnicast() {
			t.Fatalf("%q accepted", raw)
		}
	})
}

type closing struct {
	*strings.Reader
	closed bool
}

func (c *closing) Close() error { c.closed = true; return nil }

func wantRefusal(t *testing.T, target string, err error) {
	t.Helper()
	var refusal *httpout.Refusal
	if !errors.As(err, &refusal) || !strings.HasSuffix(refusal.Sentence, ".") {
		t.Errorf("%s: err = %v, want a refusal", target, err)
	}
}

func wantNoConnection(t *testing.T, l lookout, v *victim) {
	t.Helper()
	if dialed := l.roads.dialed(); len(dialed) != 0 {
		t.Errorf("dialed %v", dialed)
	}
	if v.hits.Load() != 0 {
		t.Errorf("%d hits inside", v.hits.Load())
	}
}

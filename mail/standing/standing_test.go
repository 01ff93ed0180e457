package standing_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"postrider/mail/dane/danetest"
	"postrider/mail/standing"
	"postrider/world"
)

// zone is a small internet of names: "type name" gives values, and the value "silent" stands for a server that does not answer.
type zone map[string][]string

var errSilent = errors.New("no answer")

func (z zone) ask(kind, name string) ([]string, error) {
	values := z[kind+" "+strings.ToLower(strings.TrimSuffix(name, "."))]
	if len(values) == 0 {
		return nil, world.ErrNoName
	}
	if values[0] == "silent" {
		return nil, errSilent
	}
	return values, nil
}

func (z zone) MX(_ context.Context, name string) ([]world.MX, world.Answer, error) {
	hosts, err := z.ask("MX", name)
	var list []world.MX
	for _, host := range hosts {
		list = append(list, world.MX{Host: host})
	}
	return list, world.Answer{}, err
}

func (z zone) TXT(_ context.Context, name string) ([]string, world.Answer, error) {
	texts, err := z.ask("TXT", name)
	return texts, world.Answer{}, err
}

func (z zone) IP(_ context.Context, name string) ([]netip.Addr, world.Answer, error) {
	texts, err := z.ask("IP", name)
	var addrs []netip.Addr
	for _, text := range texts {
		addrs = append(addrs, netip.MustParseAddr(text))
	}
	return addrs, world.Answer{}, err
}

func (z zone) CNAME(context.Context, string) (string, world.Answer, error) {
	return "", world.Answer{}, world.ErrNoName
}

func (z zone) PTR(_ context.Context, addr netip.Addr) ([]string, world.Answer, error) {
	names, err := z.ask("PTR", addr.String())
	return names, world.Answer{}, err
}

const hello = "mx1.example.org"

var ours = netip.MustParseAddr("192.0.2.1")

// sentence checks that a finding can be shown to people, and that what is bad says what to do.
func sentence(t *testing.T, f standing.Finding) {
	t.Helper()
	if !strings.HasSuffix(f.Message, ".") || f.Status == standing.Fail && f.Mend == "" || f.Status == standing.Good && f.Mend != "" {
		t.Errorf("%+v", f)
	}
}

func TestTheNameGivenToOthersNeedsAnAddress(t *testing.T) {
	t.Parallel()
	addrs, f := standing.Name(t.Context(), zone{"IP " + hello: {"192.0.2.1", "2001:db8::1"}}, hello)
	if f.Status != standing.Good || len(addrs) != 2 {
		t.Errorf("%v %+v", addrs, f)
	}
	for _, z := range []zone{{}, {"IP " + hello: {"silent"}}} {
		addrs, f := standing.Name(t.Context(), z, hello)
		if f.Status != standing.Fail || len(addrs) != 0 {
			t.Errorf("%v %+v", addrs, f)
		}
		sentence(t, f)
	}
}

func TestAnAddressAndItsNameProveEachOther(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		zone  zone
		want  standing.Status
		found string
	}{
		{"agrees", zone{"PTR 192.0.2.1": {"MX1.example.org."}, "IP " + hello: {"192.0.2.1"}}, standing.Good, hello},
		{"one of several names", zone{"PTR 192.0.2.1": {"other.example.net.", "mx1.example.org."}, "IP " + hello: {"192.0.2.1"}}, standing.Good, hello},
		{"no reverse name", zone{"IP " + hello: {"192.0.2.1"}}, standing.Fail, ""},
		{"another name that is true", zone{"PTR 192.0.2.1": {"host.example.net."}, "IP host.example.net": {"192.0.2.1"}}, standing.Warn, "host.example.net"},
		{"another name that is not", zone{"PTR 192.0.2.1": {"host.example.net."}}, standing.Fail, "host.example.net"},
		{"our name, but it leads elsewhere", zone{"PTR 192.0.2.1": {hello}, "IP " + hello: {"192.0.2.9"}}, standing.Fail, hello},
		{"nobody answers for the address", zone{"PTR 192.0.2.1": {"silent"}}, standing.Warn, ""},
		{"nobody answers for the name", zone{"PTR 192.0.2.1": {hello}, "IP " + hello: {"silent"}}, standing.Warn, hello},
	} {
		f := standing.Reverse(t.Context(), c.zone, ours, hello)
		if f.Status != c.want || f.Found != c.found {
			t.Errorf("%s: %+v", c.name, f)
		}
		sentence(t, f)
	}
}

func TestTheRecordOfCustomersCoversOurAddresses(t *testing.T) {
	t.Parallel()
	addrs := []netip.Addr{ours, netip.MustParseAddr("2001:db8::1")}
	for record, want := range map[string]standing.Status{
		"":                       standing.Fail,
		"silent":                 standing.Warn,
		"some other text":        standing.Fail,
		"v=spf1 ip4:192.0.2.1":   standing.Fail,
		"v=spf1 -all":            standing.Fail,
		"v=spf1 include:nowhere": standing.Fail,
		"v=spf1 ip4:192.0.2.0/24 ip6:2001:db8::/32 -all": standing.Good,
		"v=spf1 include:list.example.org -all":           standing.Good,
	} {
		z := zone{"TXT list.example.org": {"v=spf1 ip4:192.0.2.1 ip6:2001:db8::1 -all"}}
		if record != "" {
			z["TXT spf.example.org"] = []string{record}
		}
		f := standing.SPF(t.Context(), z, "spf.example.org", addrs)
		if f.Status != want {
			t.Errorf("%q: %+v", record, f)
		}
		if f.Status == standing.Fail && !strings.Contains(f.Mend, `"v=spf1 ip4:192.0.2.1 ip6:2001:db8::1 -all"`) {
			t.Errorf("%q: publish %s", record, f.Mend)
		}
		sentence(t, f)
	}
}

func TestBlocklistsAreAskedBackwards(t *testing.T) {
	t.Parallel()
	six := "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2"
	for _, c := range []struct {
		addr string
		zone zone
		want standing.Status
	}{
		{"192.0.2.1", zone{}, standing.Good},
		{"192.0.2.1", zone{"IP 1.2.0.192.list.test": {"127.0.0.2"}}, standing.Fail},
		{"192.0.2.1", zone{"IP 1.2.0.192.list.test": {"127.255.255.254"}}, standing.Warn},
		{"192.0.2.1", zone{"IP 1.2.0.192.list.test": {"silent"}}, standing.Warn},
		{"192.0.2.1", zone{"IP 1.2.0.192.list.test": {"127.0.0.1"}}, standing.Warn},
		{"192.0.2.1", zone{"IP 1.2.0.192.list.test": {"198.51.100.7"}}, standing.Warn},
		{"2001:db8::1", zone{"IP " + six + ".list.test": {"127.0.0.2"}}, standing.Fail},
	} {
		f := standing.Blocklist(t.Context(), c.zone, "list.test", netip.MustParseAddr(c.addr))
		if f.Status != c.want || f.Found != "list.test" || f.Address != c.addr {
			t.Errorf("%v: %+v", c.zone, f)
		}
		sentence(t, f)
	}
	for addr, want := range map[string]bool{"8.8.8.8": true, "2600::1": true, "127.0.0.1": false, "10.0.0.1": false, "fd00::1": false, "::1": false} {
		if standing.Public(netip.MustParseAddr(addr)) != want {
			t.Errorf("%s is public: %v", addr, !want)
		}
	}
}

func TestAnotherServerIsCalled(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	greetings := make(chan string, 1)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			fmt.Fprint(conn, <-greetings)
			scanner := bufio.NewScanner(conn)
			for scanner.Scan() {
				fmt.Fprint(conn, "250 mx.probe.test\r\n")
			}
			conn.Close()
		}
	}()
	w := world.New(nil)
	w.Resolver = zone{"MX probe.test": {"mx.probe.test."}, "IP mx.probe.test": {"127.0.0.1"}, "MX silent.test": {"silent"}, "MX nowhere.test": {"gone.probe.test."}}
	probe := standing.Probe{Domain: "probe.test", Port: listener.Addr().(*net.TCPAddr).Port, Hello: hello}
	for greeting, want := range map[string]standing.Status{"220 mx.probe.test ESMTP\r\n": standing.Good, "554 go away\r\n": standing.Fail} {
		greetings <- greeting
		f := standing.Port(t.Context(), w, probe)
		if f.Status != want {
			t.Errorf("%q: %+v", greeting, f)
		}
		sentence(t, f)
	}
	for _, domain := range []string{"silent.test", "nowhere.test"} {
		if f := standing.Port(t.Context(), w, standing.Probe{Domain: domain, Port: 25, Hello: hello}); f.Status != standing.Warn {
			t.Errorf("%s: %+v", domain, f)
		}
	}
	listener.Close()
	if f := standing.Port(t.Context(), w, probe); f.Status != standing.Fail {
		t.Errorf("a closed port: %+v", f)
	}
}

func TestACertificateIsForTheHostAndGoodForAWhile(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC)
	dir := t.TempDir()
	write := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	certificate := newCertificate(t, hello, now.AddDate(0, 1, 0))
	good := write("good.pem", certificate)
	behindKey := write("both.pem", append(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("x")}), certificate...))
	for _, c := range []struct {
		path, host string
		now        time.Time
		want       standing.Status
	}{
		{"", hello, now, standing.Warn},
		{filepath.Join(dir, "missing.pem"), hello, now, standing.Fail},
		{write("text.pem", []byte("hello")), hello, now, standing.Fail},
		{write("empty.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("x")})), hello, now, standing.Fail},
		{good, hello, now, standing.Good},
		{good, "other.example.org", now, standing.Fail},
		{behindKey, hello, now, standing.Good},
		{good, hello, now.AddDate(-2, 0, 0), standing.Fail},
		{good, hello, now.AddDate(0, 0, 20), standing.Warn},
		{good, hello, now.AddDate(0, 2, 0), standing.Fail},
	} {
		f := standing.Certificate(c.path, c.host, c.now)
		if f.Status != c.want {
			t.Errorf("%s for %s: %+v", filepath.Base(c.path), c.host, f)
		}
		sentence(t, f)
	}
}

func TestACertificateInUseIsLateWhenASixthOfItsLifeIsLeft(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC)
	authority := danetest.NewAuthority(t)
	leaf := authority.Issue(t, hello, now.AddDate(0, 0, 30)).Leaf
	leaf.NotBefore = now.AddDate(0, 0, -60) // 90 days, as the authorities give
	own, _ := pem.Decode(newCertificate(t, hello, now.AddDate(0, 10, 0)))
	selfSigned, err := x509.ParseCertificate(own.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		leaf *x509.Certificate
		host string
		days int
		want standing.Status
	}{
		{"none yet", nil, hello, 0, standing.Fail},
		{"self-signed", selfSigned, hello, 0, standing.Warn},
		{"good", leaf, hello, 14, standing.Good},
		{"late", leaf, hello, 16, standing.Warn},
		{"over", leaf, hello, 31, standing.Fail},
		{"of another", leaf, "other.example.org", 0, standing.Fail},
	} {
		f := standing.CertificateInUse(c.leaf, c.host, now.AddDate(0, 0, c.days))
		if f.Status != c.want {
			t.Errorf("%s: %+v", c.name, f)
		}
		sentence(t, f)
	}
}

func newCertificate(t *testing.T, host string, until time.Time) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{host}, NotBefore: until.AddDate(-1, 0, 0), NotAfter: until}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

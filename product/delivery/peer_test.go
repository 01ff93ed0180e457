package delivery_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/bench/measure"
	"postrider/mail/dane/danetest"
	"postrider/product/delivery"
	"postrider/world"
)

// peerAddr is where the servers of other people are reached in the tests' network; peer.test has its mail there.
var peerAddr = netip.MustParseAddr("127.0.0.88")

// peering is a network with somebody else's server in it, which can be exchanged.
type peering struct {
	*roads
	at atomic.Pointer[string]
}

func (p *peering) MX(ctx context.Context, name string) ([]world.MX, world.Answer, error) {
	if name == "peer.test" {
		return []world.MX{{Host: "mx.peer.test", Preference: 10}}, world.Answer{}, nil
	}
	return p.roads.MX(ctx, name)
}

func (p *peering) IP(ctx context.Context, name string) ([]netip.Addr, world.Answer, error) {
	if name == "mx.peer.test" {
		return []netip.Addr{peerAddr}, world.Answer{}, nil
	}
	return p.roads.IP(ctx, name)
}

func (p *peering) DialContext(ctx context.Context, network, to string) (net.Conn, error) {
	if netip.MustParseAddrPort(to).Addr() == peerAddr {
		to = *p.at.Load()
	}
	return p.roads.DialContext(ctx, network, to)
}

// newPeering returns a node whose mail to peer.test goes to the given server.
func newPeering(t *testing.T, in *apptest.Installation, server string, options ...func(*delivery.Config)) (*node, *peering) {
	t.Helper()
	p := &peering{roads: newRoads(in.App.World)}
	p.at.Store(&server)
	return newNodeIn(t, in, p, p.roads, options...), p
}

// sink is Postfix's smtp-sink.
type sink struct {
	addr string
	dump string
}

// startSink runs smtp-sink with switches for its faults.
func startSink(t *testing.T, switches ...string) *sink {
	t.Helper()
	program := "/usr/sbin/smtp-sink"
	if _, err := os.Stat(program); err != nil {
		t.Skip("smtp-sink is not installed")
	}
	dir, err := os.MkdirTemp("", "sink-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := &sink{addr: freeAddr(t), dump: filepath.Join(dir, "mail")}
	args := append(switches, "-D", s.dump)
	if os.Getuid() == 0 {
		if err := os.Chmod(dir, 0o777); err != nil { // it gives up its rights
			t.Fatal(err)
		}
		args = append(args, "-u", "nobody")
	}
	run(t, exec.Command(program, append(args, s.addr, "100")...), s.addr)
	return s
}

// received returns how many messages came to an end.
func (s *sink) received(t *testing.T) int {
	t.Helper()
	raw, err := os.ReadFile(s.dump)
	if os.IsNotExist(err) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(raw, []byte("\nX-Mail-Args: ")) + bytes.Count(raw[:min(len(raw), 14)], []byte("X-Mail-Args: "))
}

func freeAddr(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// run starts a server and waits until it listens. It ends with the test.
func run(t *testing.T, command *exec.Cmd, addr string) {
	t.Helper()
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill() // it may have ended by itself
		_ = command.Wait()
	})
	await(t, addr+" to open", func() bool {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			return false
		}
		conn.Close()
		return true
	})
}

// await waits for something another process does. It says nothing when it has, so it is looked at again and again, within a bound.
func await(t *testing.T, what string, happened func() bool) {
	t.Helper()
	ctx, done := context.WithTimeout(t.Context(), 20*time.Second)
	defer done()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for !happened() {
		select {
		case <-ctx.Done():
			t.Fatal("waited in vain for " + what)
		case <-ticker.C:
		}
	}
}

// said returns what the attempts at an email were answered.
func said(in *apptest.Installation, id string) []string {
	var replies []string
	for _, attempt := range attempts(in, id) {
		replies = append(replies, fmt.Sprint(attempt["stage"], ": ", attempt["response"]))
	}
	return replies
}

func TestAServerMayFailAtEveryWord(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ fault, at, want string }{
		{"-r", "connect", "sending"}, {"-f", "connect", "sending"}, {"-q", "connect", "sending"},
		{"-r", "ehlo,helo", "sending"}, {"-f", "ehlo,helo", "sending"}, {"-q", "ehlo", "sending"},
		{"-r", "mail", "sending"}, {"-f", "mail", "bounced"}, {"-q", "mail", "sending"},
		{"-r", "rcpt", "sending"}, {"-f", "rcpt", "bounced"}, {"-q", "rcpt", "sending"},
		{"-r", "data", "sending"}, {"-f", "data", "bounced"}, {"-q", "data", "sending"},
		{"-r", ".", "sending"}, {"-f", ".", "bounced"}, {"-q", ".", "sending"},
		{"-r", "quit", "delivered"}, {"-q", "quit", "delivered"},
	} {
		t.Run(c.fault+" "+c.at, func(t *testing.T) {
			t.Parallel()
			broken, whole := startSink(t, c.fault, c.at, "-B", "550 5.1.1 Unknown"), startSink(t)
			in := apptest.New(t, "sqlite")
			n, network := newPeering(t, in, broken.addr)
			id := in.Send("ann@peer.test")
			n.deliver()
			if got := in.Email(id).Text("status"); got != c.want {
				t.Fatalf("%s after %v", got, said(in, id))
			}
			network.at.Store(&whole.addr)
			for range 5 {
				in.Clock.Advance(time.Hour)
				n.deliver()
			}
			healed := map[string]string{"sending": "delivered"}[c.want]
			if healed == "" {
				healed = c.want
			}
			if got, arrived := in.Email(id).Text("status"), whole.received(t); got != healed || arrived != map[bool]int{true: 1}[c.want == "sending"] {
				t.Errorf("afterwards it is %s and has arrived %d times, after %v", got, arrived, said(in, id))
			}
		})
	}
}

func TestAServerMayKnowNothingNew(t *testing.T) {
	t.Parallel()
	for name, switches := range map[string][]string{"no ESMTP": {"-e"}, "no pipelining": {"-p"}, "no 8BITMIME": {"-8"}, "slow": {"-w", "1"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old := startSink(t, switches...)
			in := apptest.New(t, "sqlite")
			n, _ := newPeering(t, in, old.addr)
			ids := sendMany(t, in, in.Key, "hello@acme.test", 3, func(n int) string { return fmt.Sprintf("user%d@peer.test", n) })
			n.deliver()
			if states, made := fates(in, ids); states["delivered"] != 3 || made != 3 || old.received(t) != 3 {
				t.Errorf("%v after %d attempts, %d received", states, made, old.received(t))
			}
		})
	}
}

func TestAnAddressThatAServerCannotReadIsRefusedOnce(t *testing.T) {
	t.Parallel()
	old := startSink(t)
	in := apptest.New(t, "sqlite")
	n, _ := newPeering(t, in, old.addr)
	ids := sendMany(t, in, in.Key, "hello@acme.test", 1, func(int) string { return "jürgen@peer.test" })
	n.deliver()
	in.Clock.Advance(24 * time.Hour)
	n.deliver()
	states, made := fates(in, ids)
	if code := recipient(in.Email(ids[0]), 0)["last_enhanced_code"]; states["bounced"] != 1 || made != 1 || code != "5.6.7" || old.received(t) != 0 {
		t.Errorf("%v with %v after %d attempts, %d received", states, code, made, old.received(t))
	}
}

func TestPostfixTakesOurMailEncrypted(t *testing.T) {
	t.Parallel()
	if !measure.HasPostfix() {
		t.Skip("Postfix is not installed, or this is not root")
	}
	dir := t.TempDir()
	certificate := danetest.NewAuthority(t).Issue(t, "mx.peer.test", danetest.FarAhead)
	writeCertificate(t, dir, certificate)
	postfix, err := measure.StartPostfix(t.Context(), measure.Hold+fmt.Sprintf(`
relay_domains = peer.test
relay_recipient_maps = inline:{ann@peer.test=ok, bob@peer.test=ok}
smtpd_recipient_restrictions = reject_unauth_destination, reject_unlisted_recipient
mynetworks = 192.0.2.0/24
smtpd_tls_security_level = may
smtpd_tls_cert_file = %[1]s/cert.pem
smtpd_tls_key_file = %[1]s/key.pem
smtpd_tls_received_header = yes
`, dir))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = postfix.Stop() })
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		n, _ := newPeering(t, in, postfix.Address)
		known, unknown := in.Send("ann@peer.test", "bob@peer.test"), in.Send("nobody@peer.test")
		n.deliver()
		if got := in.Email(known).Text("status"); got != "delivered" {
			t.Errorf("%s after %v", got, said(in, known))
		}
		if outcome, facts := lastAttempt(t, in, known); outcome != "accepted" || facts["used"] != true || facts["version"] != "TLS1.3" {
			t.Errorf("%s %v", outcome, facts)
		}
		record := in.Email(unknown)
		if record.Text("status") != "bounced" || !strings.Contains(string(record.Raw), "no_mailbox") {
			t.Errorf("unknown to Postfix: %s", record.Raw)
		}
	})
}

func writeCertificate(t *testing.T, dir string, certificate tls.Certificate) {
	t.Helper()
	key, err := x509.MarshalPKCS8PrivateKey(certificate.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: certificate.Certificate[0]}, "key.pem": {Type: "PRIVATE KEY", Bytes: key}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestNodesMailServerTakesOurMail(t *testing.T) {
	t.Parallel()
	clients, err := filepath.Abs("../../test/clients")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(clients, "node_modules/smtp-server")); err != nil {
		t.Skip("npm's smtp-server is not installed")
	}
	addr := freeAddr(t)
	_, port, _ := net.SplitHostPort(addr)
	server := exec.Command("node", filepath.Join(clients, "server.mjs"), port)
	printed := &lines{}
	server.Stdout = printed
	run(t, server, addr)

	in := apptest.New(t, "sqlite")
	n, _ := newPeering(t, in, addr)
	send := func(to, subject, text string) string {
		return in.Call(http.MethodPost, "/emails", map[string]any{"from": "hello@acme.test", "to": to, "subject": subject, "text": text}).Text("id")
	}
	ids := map[string]string{"delivered": send("ann@peer.test", "Grüße", "Hello"), "bounced": send("nobody@peer.test", "Hello", "Hello"),
		"bounced for what it holds": send("ann@peer.test", "Virus", "Hello"), "bounced for its size": send("bob@peer.test", "Large", strings.Repeat("All work and no play.\r\n", 60_000)),
		"delivered later": send("later@peer.test", "Hello", "Hello")}
	n.deliver()
	in.Clock.Advance(10 * time.Minute)
	n.deliver()
	for want, id := range ids {
		if status, _, _ := strings.Cut(want, " "); in.Email(id).Text("status") != status {
			t.Errorf("%s: %s after %v", want, in.Email(id).Text("status"), said(in, id))
		}
	}
	await(t, "two messages", func() bool { return strings.Count(printed.String(), "\n") >= 2 })
	if got := printed.String(); strings.Count(got, "\n") != 2 || strings.Count(got, `"secure":true`) != 2 || !strings.Contains(got, `"hello":"mx.test"`) {
		t.Errorf("it has taken %s", got)
	}
}

// lines is what a program prints.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

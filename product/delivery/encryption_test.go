package delivery_test

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/mail/address"
	"postrider/mail/dane/danetest"
	"postrider/mail/smtp"
	"postrider/product/delivery"
	"postrider/world"
)

var (
	guardedAddr = netip.MustParseAddr("127.0.0.77")
	policyAddr  = netip.MustParseAddr("127.0.0.78")
)

// guarded is a network with one domain, guarded.test, whose encryption a test arranges. Its server is a real one with a certificate.
type guarded struct {
	*roads
	authority *danetest.Authority
	mx, web   string // where they listen

	mu       sync.Mutex
	cert     tls.Certificate // of the server; without one it does not encrypt; guarded by mu
	messages int             // guarded by mu

	policy  string // what the policy host says; empty means that it is down
	kind    string // the media type it says it in; empty means plain text
	record  string // of _mta-sts
	reports string // of _smtp._tls
	signed  bool   // the zone is
	tlsa    []world.TLSA
	reached chan []byte // reports
}

func newGuarded(t *testing.T, w world.World) *guarded {
	t.Helper()
	g := &guarded{roads: newRoads(w), authority: danetest.NewAuthority(t), reached: make(chan []byte, 4)}
	g.cert = g.authority.Issue(t, "mx.guarded.test", danetest.FarAhead)
	web := httptest.NewUnstartedServer(http.HandlerFunc(g.answer))
	web.TLS = &tls.Config{Certificates: []tls.Certificate{g.authority.Issue(t, "mta-sts.guarded.test", danetest.FarAhead)}}
	web.StartTLS()
	t.Cleanup(web.Close)
	g.web = web.Listener.Addr().String()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g.mx = listener.Addr().String()
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	servers := map[bool]*smtp.Server{}
	for _, encrypts := range []bool{true, false} {
		config := smtp.Config{Hostname: "mx.guarded.test", Clock: world.SystemClock{},
			Handler: func(context.Context, *smtp.ConnInfo) (smtp.Session, *smtp.Reply) { return host{g}, nil }}
		if encrypts {
			config.TLS = &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
				g.mu.Lock()
				defer g.mu.Unlock()
				return &g.cert, nil
			}}
		}
		if servers[encrypts], err = smtp.NewServer(config); err != nil {
			t.Fatal(err)
		}
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			g.mu.Lock()
			encrypts := g.cert.Certificate != nil
			g.mu.Unlock()
			go servers[encrypts].Serve(ctx, &single{conn: conn})
		}
	}()
	t.Cleanup(func() { listener.Close() })
	return g
}

// single is a listener of one connection.
type single struct {
	once sync.Once
	conn net.Conn
}

func (s *single) Accept() (conn net.Conn, err error) {
	err = net.ErrClosed
	s.once.Do(func() { conn, err = s.conn, nil })
	return conn, err
}
func (s *single) Close() error   { return nil }
func (s *single) Addr() net.Addr { return s.conn.LocalAddr() }

type host struct{ g *guarded }

func (host) Auth(context.Context, string, string, string) *smtp.Reply     { return nil }
func (host) Mail(context.Context, smtp.Path, smtp.MailParams) *smtp.Reply { return nil }
func (host) Rcpt(context.Context, smtp.Path, smtp.RcptParams) *smtp.Reply { return nil }
func (h host) Data(_ context.Context, r io.Reader) *smtp.Reply {
	if _, err := io.Copy(io.Discard, r); err != nil {
		return smtp.NewReply(451, "4.3.0", "Unreadable")
	}
	h.g.mu.Lock()
	defer h.g.mu.Unlock()
	h.g.messages++
	return nil
}
func (host) Reset()  {}
func (host) Logout() {}

func (g *guarded) received() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.messages
}

// show changes the server's certificate.
func (g *guarded) show(cert tls.Certificate) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.cert = cert
}

func (g *guarded) answer(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodPost:
		body, _ := io.ReadAll(r.Body)
		g.reached <- body
	case r.URL.Path == "/.well-known/mta-sts.txt" && g.policy != "":
		w.Header().Set("Content-Type", cmp.Or(g.kind, "text/plain; charset=utf-8"))
		fmt.Fprint(w, g.policy)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func (g *guarded) MX(ctx context.Context, name string) ([]world.MX, world.Answer, error) {
	if name == "guarded.test" {
		return []world.MX{{Host: "mx.guarded.test", Preference: 10}}, world.Answer{Authentic: g.signed, Canonical: name}, nil
	}
	return g.roads.MX(ctx, name)
}

func (g *guarded) IP(ctx context.Context, name string) ([]netip.Addr, world.Answer, error) {
	switch name {
	case "mx.guarded.test":
		return []netip.Addr{guardedAddr}, world.Answer{Authentic: g.signed, Canonical: name}, nil
	case "mta-sts.guarded.test":
		return []netip.Addr{policyAddr}, world.Answer{}, nil
	}
	return g.roads.IP(ctx, name)
}

func (g *guarded) TXT(ctx context.Context, name string) ([]string, world.Answer, error) {
	switch {
	case name == "_mta-sts.guarded.test" && g.record != "":
		return []string{g.record}, world.Answer{}, nil
	case name == "_smtp._tls.guarded.test" && g.reports != "":
		return []string{g.reports}, world.Answer{}, nil
	case strings.HasSuffix(name, "guarded.test"):
		return nil, world.Answer{}, world.ErrNoName
	}
	return g.roads.TXT(ctx, name)
}

func (g *guarded) TLSA(context.Context, string) ([]world.TLSA, world.Answer, error) {
	if len(g.tlsa) == 0 {
		return nil, world.Answer{Authentic: g.signed}, world.ErrNoData
	}
	return g.tlsa, world.Answer{Authentic: g.signed}, nil
}

func (g *guarded) DialContext(ctx context.Context, network, to string) (net.Conn, error) {
	switch netip.MustParseAddrPort(to).Addr() {
	case guardedAddr:
		to = g.mx
	case policyAddr:
		to = g.web
	}
	return g.roads.DialContext(ctx, network, to)
}

// guardedNode is a node in that network.
func guardedNode(t *testing.T, in *apptest.Installation, options ...func(*delivery.Config)) (*node, *guarded) {
	t.Helper()
	var g *guarded
	w := in.App.World
	g = newGuarded(t, w)
	n := newNodeIn(t, in, g, g.roads, append(options, func(c *delivery.Config) { c.Roots = g.authority.Pool() })...)
	return n, g
}

// lastTLS returns what the last attempt says of encryption.
func lastAttempt(t *testing.T, in *apptest.Installation, id string) (outcome string, facts map[string]any) {
	t.Helper()
	made := attempts(in, id)
	if len(made) == 0 {
		t.Fatal("no attempt was made")
	}
	last := made[len(made)-1]
	facts, _ = last["tls"].(map[string]any)
	return fmt.Sprint(last["outcome"]), facts
}

const enforcing = "version: STSv1\r\nmode: enforce\r\nmx: mx.guarded.test\r\nmax_age: 604800\r\n"

func TestADomainThatEnforcesEncryptionGetsMailOnlyByProvenServers(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		n, g := guardedNode(t, in)
		g.record, g.policy = "v=STSv1; id=1;", enforcing
		id := in.Send("ann@guarded.test")
		n.deliver()
		if outcome, facts := lastAttempt(t, in, id); outcome != "accepted" || facts["policy"] != "mta_sts" || facts["verified"] != true {
			t.Errorf("%s %v", outcome, facts)
		}

		g.show(danetest.NewAuthority(t).Issue(t, "mx.guarded.test", danetest.FarAhead)) // an impostor
		g.record, g.policy = "", ""                                                     // who also hides the policy
		in.Clock.Advance(2 * time.Minute)
		id = in.Send("ann@guarded.test")
		n.deliver()
		if outcome, _ := lastAttempt(t, in, id); outcome != "tls_failed" || in.Email(id).Text("status") != "sending" || g.received() != 1 {
			t.Errorf("to an impostor: %s, %s, %d received", outcome, in.Email(id).Text("status"), g.received())
		}

		g.show(g.authority.Issue(t, "mx.guarded.test", danetest.FarAhead))
		in.Clock.Advance(2 * time.Minute)
		n.deliver()
		if got := in.Email(id).Text("status"); got != "delivered" {
			t.Errorf("after the impostor has gone: %s", got)
		}
	})
}

func TestMailForADomainThatEnforcesEncryptionWaitsForAValidCertificateAndThenEnds(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	n, g := guardedNode(t, in)
	g.record, g.policy = "v=STSv1; id=1;", enforcing
	g.show(g.authority.Issue(t, "mx.guarded.test", danetest.Expired))
	id := in.Send("ann@guarded.test")
	n.deliver()
	if outcome, _ := lastAttempt(t, in, id); outcome != "tls_failed" || in.Email(id).Text("status") != "sending" {
		t.Fatalf("at first: %s, %s", outcome, in.Email(id).Text("status"))
	}
	for range 40 {
		in.Clock.Advance(2 * time.Hour)
		n.deliver()
	}
	if record := in.Email(id); record.Text("status") != "failed" || record.Text("failure", "reason") != "delivery_expired" || g.received() != 0 {
		t.Errorf("in the end: %s %s, %d received", record.Text("status"), record.Text("failure", "reason"), g.received())
	}
}

func TestAPolicyThatIsNotPlainTextIsNone(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	n, g := guardedNode(t, in)
	g.record, g.policy, g.kind = "v=STSv1; id=1;", enforcing, "text/html"
	id := in.Send("ann@guarded.test")
	n.deliver()
	if outcome, facts := lastAttempt(t, in, id); outcome != "accepted" || facts["policy"] != "opportunistic" {
		t.Errorf("%s %v", outcome, facts)
	}
}

func TestAServerThatThePolicyDoesNotListIsLeftAlone(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	n, g := guardedNode(t, in)
	g.record, g.policy = "v=STSv1; id=1;", strings.Replace(enforcing, "mx.guarded", "other.guarded", 1)
	id := in.Send("ann@guarded.test")
	n.deliver()
	if outcome, _ := lastAttempt(t, in, id); outcome != "tls_failed" || g.dialled(guardedAddr) != 0 {
		t.Errorf("%s after %d connections", outcome, g.dialled(guardedAddr))
	}
	if words := n.sentence("mx.guarded.test"); strings.Contains(words, "unreachable") {
		t.Errorf("the server was blamed: %s", words)
	}
}

func TestAServerMustKeepThePromiseOfItsZone(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	n, g := guardedNode(t, in)
	own := danetest.NewAuthority(t).Issue(t, "any.test", danetest.FarAhead) // of nobody that browsers know
	g.show(own)
	g.signed, g.tlsa = true, []world.TLSA{danetest.Record(3, 1, 1, own.Leaf)}
	id := in.Send("ann@guarded.test")
	n.deliver()
	if outcome, facts := lastAttempt(t, in, id); outcome != "accepted" || facts["policy"] != "dane" || facts["verified"] != true {
		t.Errorf("%s %v", outcome, facts)
	}
	g.show(g.authority.Issue(t, "mx.guarded.test", danetest.FarAhead))
	in.Clock.Advance(2 * time.Minute)
	id = in.Send("ann@guarded.test")
	n.deliver()
	if outcome, _ := lastAttempt(t, in, id); outcome != "tls_failed" || g.received() != 1 {
		t.Errorf("another certificate: %s, %d received", outcome, g.received())
	}
}

func TestEncryptionThatWorkedIsNotGivenUpAtOnceNorForgottenByARestart(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		n, g := guardedNode(t, in)
		first := in.Send("ann@guarded.test")
		n.deliver()
		if outcome, facts := lastAttempt(t, in, first); outcome != "accepted" || facts["policy"] != "opportunistic" || facts["used"] != true {
			t.Fatalf("%s %v", outcome, facts)
		}
		n.work("delivery encryption")
		n.work("delivery encryption of old")
		g.show(tls.Certificate{}) // somebody on the way takes the offer out
		in.Clock.Advance(2 * time.Minute)
		second := newNodeIn(t, in, g, g.roads)
		id := in.Send("ann@guarded.test")
		second.deliver()
		if outcome, facts := lastAttempt(t, in, id); outcome != "tls_failed" || facts["used"] == true {
			t.Fatalf("in clear text: %s %v", outcome, facts)
		}
		in.Clock.Advance(50 * time.Hour)
		second.deliver()
		if outcome, _ := lastAttempt(t, in, id); outcome != "accepted" || in.Email(id).Text("status") != "delivered" {
			t.Errorf("two days later: %s", outcome)
		}
	})
}

func TestMailThatMustArriveAnyhowDoes(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	n, g := guardedNode(t, in)
	g.record, g.policy = "v=STSv1; id=1;", enforcing
	g.show(tls.Certificate{})
	id := in.Call(http.MethodPost, "/emails", map[string]any{"from": "hello@acme.test", "to": "ann@guarded.test", "subject": "Hello", "text": "Hello",
		"headers": map[string]string{"TLS-Required": "No"}}).Text("id")
	n.deliver()
	if outcome, facts := lastAttempt(t, in, id); outcome != "accepted" || facts["used"] == true || g.received() != 1 {
		t.Errorf("%s %v", outcome, facts)
	}
}

// clerk collects reports that are to be mailed.
type clerk struct {
	mu   sync.Mutex
	sent map[string]string // message by key; guarded by mu
}

func (c *clerk) PostMessage(_ context.Context, _ address.Address, key string, message []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent[key] = string(message)
	return nil
}

func TestADomainThatAsksIsToldHowItsEncryptionWorked(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		postman := &clerk{sent: map[string]string{}}
		from, err := address.Parse("postmaster@acme.test")
		if err != nil {
			t.Fatal(err)
		}
		n, g := guardedNode(t, in, func(c *delivery.Config) { c.Reports = delivery.Reports{From: from, Postman: postman} })
		g.reports = "v=TLSRPTv1; rua=mailto:tls@guarded.test,https://mta-sts.guarded.test/reports"
		g.record, g.policy = "v=STSv1; id=1;", enforcing
		in.Send("ann@guarded.test")
		n.deliver()
		n.work("delivery encryption")
		n.work("delivery encryption reports")
		if len(postman.sent) != 0 {
			t.Fatal("a day was reported before it was over")
		}
		in.Clock.Advance(30 * time.Hour)
		n.work("delivery encryption reports")
		n.work("delivery encryption reports")
		if len(postman.sent) != 1 {
			t.Fatalf("%d reports mailed", len(postman.sent))
		}
		for _, message := range postman.sent {
			if !strings.Contains(message, "TLS-Required: No") || !strings.Contains(message, "Submitter: acme.test") {
				t.Error(message)
			}
		}
		unpacked, err := gzip.NewReader(strings.NewReader(string(<-g.reached)))
		if err != nil {
			t.Fatal(err)
		}
		var report struct {
			Policies []struct {
				Policy struct {
					Type   string `json:"policy-type"`
					Domain string `json:"policy-domain"`
				} `json:"policy"`
				Summary struct {
					Successes int `json:"total-successful-session-count"`
				} `json:"summary"`
			} `json:"policies"`
		}
		if err := json.NewDecoder(unpacked).Decode(&report); err != nil {
			t.Fatal(err)
		}
		if len(report.Policies) != 1 || report.Policies[0].Policy.Type != "sts" || report.Policies[0].Policy.Domain != "guarded.test" || report.Policies[0].Summary.Successes != 1 {
			t.Errorf("%+v", report)
		}
	})
}

// lax is that network with another domain, lax.test, which has the same server and wishes nothing.
type lax struct{ *guarded }

func (l lax) MX(ctx context.Context, name string) ([]world.MX, world.Answer, error) {
	if name == "lax.test" {
		name = "guarded.test"
	}
	return l.guarded.MX(ctx, name)
}

func TestAnOpenConversationInTheClearIsNotUsedForADomainThatEnforcesEncryption(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	g := newGuarded(t, in.App.World)
	n := newNodeIn(t, in, lax{g}, g.roads, func(c *delivery.Config) { c.Roots = g.authority.Pool() })
	g.show(tls.Certificate{})
	g.record, g.policy = "v=STSv1; id=1;", enforcing
	open := in.Send("ann@lax.test")
	n.deliver()
	if status := in.Email(open).Text("status"); status != "delivered" || g.open != 1 {
		t.Fatalf("%s, %d conversations are open", status, g.open)
	}
	for range 5 {
		refused := in.Send("ann@guarded.test")
		n.deliver()
		if outcome, _ := lastAttempt(t, in, refused); outcome != "tls_failed" || g.received() != 1 {
			t.Fatalf("%s, %d received", outcome, g.received())
		}
	}
	other := in.Send("ann@lax.test")
	n.deliver()
	if status := in.Email(other).Text("status"); status != "delivered" {
		t.Errorf("what one domain wishes holds up the mail of another: %s", status)
	}
}

func TestAProviderThatTakesNoMailInTheClearIsSentNone(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	path := filepath.Join(t.TempDir(), "providers.toml")
	if err := os.WriteFile(path, []byte("[[provider]]\nname = \"guarded\"\nmx = [\"guarded.test\"]\ntls = \"required\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	providers, err := delivery.ReadProviders(path)
	if err != nil {
		t.Fatal(err)
	}
	n, g := guardedNode(t, in, func(c *delivery.Config) { c.Providers = providers })
	g.show(tls.Certificate{})
	id := in.Send("ann@guarded.test")
	n.deliver()
	if outcome, _ := lastAttempt(t, in, id); outcome != "tls_failed" || g.received() != 0 {
		t.Errorf("%s, %d received", outcome, g.received())
	}
}

// startDecliner runs a server that offers encryption and then answers so that there is none, as somebody in between would. It counts what
// it takes.
func startDecliner(t *testing.T, toStartTLS string) (address string, taken *atomic.Int64) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	taken = &atomic.Int64{}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go decline(conn, toStartTLS, taken)
		}
	}()
	return listener.Addr().String(), taken
}

func decline(conn net.Conn, toStartTLS string, taken *atomic.Int64) {
	defer conn.Close()
	fmt.Fprint(conn, "220 mx.peer.test\r\n")
	lines, inside := bufio.NewScanner(conn), false
	for lines.Scan() {
		word, _, _ := strings.Cut(strings.ToUpper(lines.Text()), " ")
		answer := "250 2.0.0 ok"
		switch {
		case inside && word == ".":
			inside = false
			taken.Add(1)
		case inside:
			continue
		case word == "EHLO":
			answer = "250-mx.peer.test\r\n250 STARTTLS"
		case word == "STARTTLS":
			answer = toStartTLS
		case word == "DATA":
			answer, inside = "354 go on", true
		}
		if _, err := fmt.Fprint(conn, answer+"\r\n"); err != nil {
			return
		}
	}
}

func TestEncryptionThatIsDeclinedIsDoneWithoutUnlessTheSenderForbids(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{"454 4.7.0 TLS not available", "502 5.5.1 What?"} {
		in := apptest.New(t, "sqlite")
		lenient, strict, taken := sendToDecliner(t, in, answer)
		if status, facts := lastAttempt(t, in, lenient); status != "accepted" || facts["used"] != false {
			t.Errorf("lenient after %s: %s %v", answer, status, facts)
		}
		if outcome, _ := lastAttempt(t, in, strict); in.Email(strict).Text("status") != "sending" || outcome != "tls_failed" || taken != 1 {
			t.Errorf("strict after %s: %s, the server has %d messages", answer, outcome, taken)
		}
	}
}

func TestWhoSpeaksBeforeEncryptionIsUpGetsNothingInTheClear(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	lenient, strict, taken := sendToDecliner(t, in, "220 go\r\n250 injected")
	for _, id := range []string{lenient, strict} {
		if outcome, _ := lastAttempt(t, in, id); in.Email(id).Text("status") != "sending" || outcome != "tls_failed" || taken != 0 {
			t.Errorf("%s, the server has %d messages", outcome, taken)
		}
	}
}

// sendToDecliner sends a message that may go in the clear, and one that may not.
func sendToDecliner(t *testing.T, in *apptest.Installation, toStartTLS string) (lenient, strict string, taken int64) {
	t.Helper()
	registered := in.Must(201, http.MethodPost, "/domains", map[string]any{"domain": "strict.test", "tls": "enforced"})
	if err := in.Sandbox.Publish(t.Context(), "strict.test"); err != nil {
		t.Fatal(err)
	}
	in.Must(200, http.MethodPost, "/domains/"+registered.Text("id")+"/verify", nil)
	address, messages := startDecliner(t, toStartTLS)
	n, _ := newPeering(t, in, address)
	lenient = in.Send("ann@peer.test")
	strict = in.Must(202, http.MethodPost, "/emails", map[string]any{"from": "hello@strict.test", "to": "ann@peer.test", "subject": "Hello", "text": "Hello"}).Text("id")
	n.deliver()
	return lenient, strict, messages.Load()
}

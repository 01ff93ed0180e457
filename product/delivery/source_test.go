package delivery_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/mail/smtp"
	"postrider/product/delivery"
	sending "postrider/product/node"
	"postrider/world"
)

// withSources gives a node what a file says.
func withSources(t *testing.T, text string) func(*delivery.Config) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sources.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	sources, err := sending.ReadSources(path)
	if err != nil {
		t.Fatal(err)
	}
	return func(c *delivery.Config) { c.Sources = sources }
}

// attempts returns those of an email.
func attempts(in *apptest.Installation, id string) []map[string]any {
	list, _ := in.Call(http.MethodGet, "/emails/"+id+"/attempts", nil).Body["data"].([]any)
	var made []map[string]any
	for _, item := range list {
		attempt, _ := item.(map[string]any)
		made = append(made, attempt)
	}
	return made
}

// cameFrom counts the emails that were taken, by the name that was given to the server.
func cameFrom(in *apptest.Installation, ids []string) map[string]int {
	found := map[string]int{}
	for _, id := range ids {
		for _, attempt := range attempts(in, id) {
			if attempt["outcome"] == "accepted" {
				found[fmt.Sprint(attempt["helo"])]++
			}
		}
	}
	return found
}

func users(n int) string { return fmt.Sprintf("user%d@example.net", n) }

const twoSources = `
[[source]]
name = "one"
hello = "one.test"
weight = 30

[[source]]
name = "two"
hello = "two.test"
weight = 10
`

func TestSourcesOfAPoolShareTheMailByWeight(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	n := newNode(t, in, withSources(t, twoSources))
	ids := sendMany(t, in, in.Key, "hello@acme.test", 200, users)
	n.deliver()
	if from := cameFrom(in, ids); from["one.test"]+from["two.test"] != 200 || from["one.test"] < 120 || from["one.test"] > 180 {
		t.Fatalf("%v", from)
	}
}

func TestMailThatIsTriedAgainComesFromTheSameSource(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	n := newNode(t, in, withSources(t, twoSources))
	ids := sendMany(t, in, in.Key, "hello@acme.test", 20, func(n int) string { return fmt.Sprintf("greylist+%d@example.net", n) })
	n.deliver()
	in.Clock.Advance(10 * time.Minute)
	n.deliver()
	for _, id := range ids {
		names := map[any]bool{}
		made := attempts(in, id)
		for _, attempt := range made {
			names[attempt["helo"]] = true
		}
		if len(made) < 2 || len(names) != 1 {
			t.Fatalf("%d attempts from %v", len(made), names)
		}
	}
}

// choosy is a server that has something to say about the mail for some people.
type choosy map[string]*smtp.Reply

func (choosy) Auth(context.Context, string, string, string) *smtp.Reply     { return nil }
func (choosy) Mail(context.Context, smtp.Path, smtp.MailParams) *smtp.Reply { return nil }
func (c choosy) Rcpt(_ context.Context, to smtp.Path, _ smtp.RcptParams) *smtp.Reply {
	return c[to.Local]
}
func (choosy) Data(_ context.Context, r io.Reader) *smtp.Reply {
	_, _ = io.Copy(io.Discard, r)
	return nil
}
func (choosy) Reset()  {}
func (choosy) Logout() {}

func startChoosy(t *testing.T, says choosy) (addr string) {
	t.Helper()
	return startServer(t, smtp.Config{Hostname: "mx.peer.test", Clock: world.SystemClock{},
		Handler: func(context.Context, *smtp.ConnInfo) (smtp.Session, *smtp.Reply) { return says, nil }})
}

// banned returns the sources that are not used at some site.
func banned(n *node) (names []string) {
	_, answer := n.ask(http.MethodGet, "/delivery/sources", nil)
	list, _ := answer["data"].([]any)
	for _, item := range list {
		source, _ := item.(map[string]any)
		if bans, _ := source["banned"].([]any); len(bans) > 0 {
			names = append(names, fmt.Sprint(source["name"]))
		}
	}
	return names
}

func TestASourceThatASiteBlocksIsReplacedThereByAnother(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		server := startChoosy(t, choosy{"listed": smtp.NewReply(554, "5.7.1", "Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org")})
		n, _ := newPeering(t, in, server, withSources(t, twoSources))
		id := in.Send("listed@peer.test")
		n.deliver()
		names := banned(n)
		if len(names) != 1 || in.Email(id).Text("status") != "sending" {
			t.Fatalf("%v are banned, the email is %s", names, in.Email(id).Text("status"))
		}
		n.work("delivery sources")
		n.work("delivery state")
		ids := sendMany(t, in, in.Key, "hello@acme.test", 30, func(n int) string { return fmt.Sprintf("user%d@peer.test", n) })
		again, _ := newPeering(t, in, server, withSources(t, twoSources)) // a restart has not forgotten
		again.deliver()
		if from := cameFrom(in, ids); from[names[0]+".test"] != 0 || len(from) != 1 {
			t.Errorf("banned is %s, mail came from %v", names[0], from)
		}
		in.Clock.Advance(time.Minute)
		again.deliver()
		if got := in.Email(id).Text("status"); got != "bounced" {
			t.Errorf("refused from both: %s", got)
		}
		if still := banned(again); !slices.Equal(still, names) {
			t.Errorf("there is no other source, and %v are banned", still)
		}
		if status, _ := again.ask(http.MethodPost, "/delivery/sources/resume", map[string]any{"source": names[0], "site": "mx.peer.test"}); status != http.StatusOK {
			t.Errorf("ban not lifted: %d", status)
		}
		// So many that some fall to the source even if it has the smaller weight.
		more := sendMany(t, in, in.Key, "hello@acme.test", 100, func(n int) string { return fmt.Sprintf("other%d@peer.test", n) })
		again.deliver()
		if from := cameFrom(in, more); from[names[0]+".test"] == 0 {
			t.Errorf("after the ban of %s was lifted mail came from %v", names[0], from)
		}
	})
}

func TestTheSpamOfOneTenantKeepsNoSourceFromASite(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		n, _ := newPeering(t, in, startChoosy(t, choosy{
			"content": smtp.NewReply(550, "5.7.1", "[192.0.2.1 12] Our system has detected that this message is likely unsolicited mail. To reduce the amount of spam sent to Gmail, this message has been blocked."),
			"domain":  smtp.NewReply(550, "5.7.1", "[192.0.2.1 19] Our system has detected that this message is likely suspicious due to the very low reputation of the sending domain."),
			"policy":  smtp.NewReply(554, "5.7.1", "[CS01] Message rejected due to local policy."),
		}), withSources(t, twoSources))
		var ids []string
		for _, to := range []string{"content", "domain", "policy"} {
			ids = append(ids, in.Send(to+"@peer.test"))
		}
		n.deliver()
		if states, attempts := fates(in, ids); states["bounced"] != 3 || attempts != 3 || len(banned(n)) != 0 {
			t.Fatalf("%v after %d attempts, %v are banned", states, attempts, banned(n))
		}
		id := in.Send("ann@peer.test")
		n.deliver()
		if got := in.Email(id).Text("status"); got != "delivered" {
			t.Errorf("other mail is %s", got)
		}
	})
}

// greeting are roads to servers that say one thing and listen no more.
type greeting struct {
	*roads
	says string
}

func (g greeting) DialContext(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	go func() {
		defer there.Close()
		_, _ = io.WriteString(there, g.says)
		_, _ = io.Copy(io.Discard, there)
	}()
	return here, nil
}

func TestASourceThatIsRefusedAtTheDoorIsReplacedByAnother(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	r := newRoads(in.App.World)
	n := newNodeIn(t, in, greeting{r, "554 5.7.1 Blocked using a list of bad senders; see https://ipcheck.test\r\n"}, r, withSources(t, twoSources))
	id := in.Send("ann@example.net")
	n.deliver()
	first := attempts(in, id)
	if len(first) != 1 || first[0]["outcome"] != "deferred" || in.Email(id).Text("status") != "sending" {
		t.Fatalf("%v", first)
	}
	in.Clock.Advance(time.Minute)
	n.deliver()
	both := attempts(in, id)
	if len(both) != 2 || both[1]["outcome"] != "bounced" || both[1]["helo"] == both[0]["helo"] || in.Email(id).Text("status") != "bounced" {
		t.Fatalf("%v", both)
	}
}

func TestAnAddressThatIsWarmedUpSendsNoMoreThanItMayADay(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		today := in.Clock.Now().UTC()
		n := newNode(t, in, withSources(t, fmt.Sprintf(`
[[source]]
name = "new"
hello = "new.test"
warmup = { started = %s, caps = [5, 20] }
`, today.Format(time.DateOnly))))
		ids := sendMany(t, in, in.Key, "hello@acme.test", 20, users)
		n.deliver()
		if from := cameFrom(in, ids); from["new.test"] != 5 {
			t.Fatalf("on the first day: %v", from)
		}
		if states, attempts := fates(in, ids); states["queued"] != 15 || attempts != 5 {
			t.Fatalf("what waits: %v after %d attempts", states, attempts)
		}
		more := sendMany(t, in, in.Key, "hello@acme.test", 3, users)
		n.deliver()
		if from := cameFrom(in, more); len(from) != 0 && in.Clock.Now().UTC().Day() == today.Day() {
			t.Fatalf("later on the first day: %v", from)
		}
		ids = append(ids, more...)
		for range 30 {
			in.Clock.Advance(time.Hour)
			n.deliver()
		}
		if from := cameFrom(in, ids); from["new.test"] != len(ids) {
			t.Errorf("on the second day: %v", from)
		}
	})
}

func TestMailOfAKindLeavesFromItsPool(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	pools := withSources(t, `
[[use]]
tenant = "`+string(in.Workspace)+`"
pool = "own"

[[source]]
name = "shared"
hello = "shared.test"

[[source]]
name = "own"
pool = "own"
hello = "own.test"
`)
	n := newNode(t, in, pools)
	ids := sendMany(t, in, in.Key, "hello@acme.test", 10, users)
	n.deliver()
	if from := cameFrom(in, ids); from["own.test"] != 10 {
		t.Fatalf("%v", from)
	}
	if status, _ := n.ask(http.MethodPost, "/delivery/sources/pause", map[string]any{"source": "own"}); status != http.StatusOK {
		t.Fatalf("%d", status)
	}
	n = newNode(t, in, pools) // a restart has not forgotten
	id := in.Send("ann@example.net")
	n.deliver()
	if got := in.Email(id).Text("status"); got != "queued" {
		t.Fatalf("from a source that is paused: %s", got)
	}
	if status, _ := n.ask(http.MethodPost, "/delivery/sources/resume", map[string]any{"source": "own"}); status != http.StatusOK {
		t.Fatalf("%d", status)
	}
	in.Clock.Advance(2 * time.Hour)
	n.deliver()
	if got := in.Email(id).Text("status"); got != "delivered" {
		t.Fatalf("after it goes on: %s", got)
	}
}

func TestMailComesFromTheAddressThatWasBound(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	bound := func(addr string) []func(*delivery.Config) {
		return []func(*delivery.Config){withSources(t, fmt.Sprintf("[[source]]\nname = \"bound\"\nipv4 = %q\n", addr))}
	}
	n := newNodeIn(t, in, binding{newRoads(in.App.World), in.App.World.Dialer.(fromDialer)}, newRoads(in.App.World), bound("127.0.0.9")...)
	id := in.Send("ann@example.net")
	n.deliver()
	made := attempts(in, id)
	last := made[len(made)-1]
	if last["local_ip"] != "127.0.0.9" || last["outcome"] != "accepted" {
		t.Errorf("%v", last)
	}

	n = newNodeIn(t, in, binding{newRoads(in.App.World), in.App.World.Dialer.(fromDialer)}, newRoads(in.App.World), bound("203.0.113.9")...)
	id = in.Send("ann@example.net")
	n.deliver()
	_, answer := n.ask(http.MethodGet, "/delivery/sources", nil)
	if raw := fmt.Sprint(answer); !strings.Contains(raw, "rests") || in.Email(id).Text("status") != "sending" {
		t.Errorf("an address that is not ours: %s, %s", raw, in.Email(id).Text("status"))
	}
}

type fromDialer interface {
	DialFrom(ctx context.Context, local netip.Addr, network, address string) (net.Conn, error)
}

// binding is a network in which the own address can be chosen.
type binding struct {
	*roads
	fromDialer
}

func TestMailGoesThroughAProxy(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	proxy := startProxy(t)
	n := newNode(t, in, withSources(t, fmt.Sprintf(`
[[source]]
name = "far"
hello = "far.test"
ipv4 = "203.0.113.5"
socks5 = "socks5://acme:s3cret@%s"
`, proxy.addr)))
	id := in.Send("ann@example.net")
	n.deliver()
	made := attempts(in, id)
	last := made[len(made)-1]
	if last["outcome"] != "accepted" || last["local_ip"] != "203.0.113.5" || last["helo"] != "far.test" {
		t.Errorf("%v", last)
	}
	if got := proxy.asked(); len(got) != 1 || !strings.HasPrefix(got[0], "acme:s3cret 127.") {
		t.Errorf("the proxy was asked for %v", got)
	}
}

// proxyServer is a SOCKS5 server (RFC 1928) that wants a name and a password (RFC 1929).
type proxyServer struct {
	addr string
	mu   sync.Mutex
	list []string // guarded by mu
}

func (p *proxyServer) asked() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.list)
}

func startProxy(t *testing.T) *proxyServer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	p := &proxyServer{addr: listener.Addr().String()}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go p.serve(conn)
		}
	}()
	return p
}

func (p *proxyServer) serve(conn net.Conn) {
	defer conn.Close()
	read := func(n int) []byte {
		b := make([]byte, n)
		if _, err := io.ReadFull(conn, b); err != nil {
			return make([]byte, n)
		}
		return b
	}
	read(int(read(2)[1]))
	conn.Write([]byte{5, 2})
	name := string(read(int(read(2)[1])))
	password := string(read(int(read(1)[0])))
	conn.Write([]byte{1, 0})
	request := read(4)
	if request[3] != 1 {
		return
	}
	to := net.IP(read(4)).String() + ":" + strconv.Itoa(int(binary.BigEndian.Uint16(read(2))))
	p.mu.Lock()
	p.list = append(p.list, name+":"+password+" "+to)
	p.mu.Unlock()
	far, err := net.Dial("tcp", to)
	if err != nil {
		conn.Write([]byte{5, 5, 0, 1, 0, 0, 0, 0, 0, 0})
		return
	}
	defer far.Close()
	conn.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
	go func() {
		io.Copy(far, conn)
		far.Close()
	}()
	io.Copy(conn, far)
}

package test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"postrider/mail/smtp"
)

// cluster lets three nodes be killed, frozen and restarted for minutes: make cluster-test.
var cluster = flag.Bool("cluster", false, "run three nodes against one PostgreSQL")

const (
	clusterNodes = 3
	// pastTheLease is longer than a node may be silent before others take its mail over.
	pastTheLease = 45 * time.Second
)

// crew is three nodes, each on a machine of its own, that serve one shop.
type crew struct {
	*shop
	machines [clusterNodes]machine
	nodes    [clusterNodes]*process
	dirs     [clusterNodes]string
	database string
	// up are the addresses that a load balancer sends requests to, guarded by doors.
	doors sync.Mutex
	up    [clusterNodes]string
	// woken is when a node was woken whose sleep has not been judged yet.
	woken time.Time
	// turn is whose turn it is.
	turn atomic.Int64
}

func openCrew(t *testing.T) *crew {
	t.Helper()
	host := "127.0.0.1"
	if inNamespaces() {
		host = hubAddress
	}
	c := &crew{shop: &shop{t: t, internet: start(t, "dev", "--data", t.TempDir(), "--http", "127.0.0.1:0")}}
	var hook string
	c.ledger, c.port, hook = newLedger(t)
	_, c.port, _ = net.SplitHostPort(relayConnections(t, "127.0.0.1:"+c.port, func(int, []byte) bool { return false }, hideChunking))
	c.resolver, c.database = c.internet.DNS, startPostgres(t, host).url()
	ports := []string{c.port, portOf(t, "http://"+c.resolver), portOf(t, hook)}
	bridge(t, ports)
	for n := range c.nodes {
		c.machines[n], c.dirs[n] = newMachine(t, n+1, ports), t.TempDir()
		c.begin(n)
	}
	c.storage = []string{"--data", t.TempDir(), "--database-url", c.database, "--secret", shopSecret}
	c.key = c.nodes[0].shop(t, c.internet, hook, c.storage)
	return c
}

// hideChunking makes every message wait for the answer to DATA, so that a node can be frozen between the two.
func hideChunking(_ int, part []byte) bool {
	if at := bytes.Index(part, []byte("CHUNKING")); at >= 0 {
		part[at] = 'X'
	}
	return false
}

func portOf(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Port()
}

func hello(n int) string { return fmt.Sprintf("node%d.mail.postrider.test", n+1) }

// begin starts a node and tells the load balancer.
func (c *crew) begin(n int) {
	c.t.Helper()
	c.nodes[n] = startWith(c.t, c.machines[n].wrapper(), "serve", "--domain", "mail.postrider.test", "--node", fmt.Sprint("node", n+1), "--hello", hello(n), "--data", c.dirs[n],
		"--database-url", c.database, "--secret", shopSecret, "--http", net.JoinHostPort(c.machines[n].address, "0"), "--insecure-test-network",
		"--resolver", c.resolver, "--smtp-port", c.port)
	c.setUp(n, c.nodes[n].HTTP)
}

func (c *crew) setUp(n int, address string) {
	c.doors.Lock()
	defer c.doors.Unlock()
	c.up[n] = address
}

// balance returns the next node that is up.
func (c *crew) balance() string {
	c.doors.Lock()
	defer c.doors.Unlock()
	for range clusterNodes {
		if address := c.up[int(c.turn.Add(1))%clusterNodes]; address != "" {
			return address
		}
	}
	return c.nodes[0].HTTP
}

// signal reaches the node itself: a machine's wrapper becomes the program.
func (c *crew) signal(n int, what syscall.Signal) { _ = c.nodes[n].cmd.Process.Signal(what) }

// since is what was counted after an earlier count.
func (c counts) since(before counts) counts {
	return counts{c.accepted - before.accepted, c.arrived - before.arrived, c.lost - before.lost, c.doubled - before.doubled, c.refused - before.refused}
}

// Three nodes share a PostgreSQL and a load balancer. One after the other they are killed, frozen, and restarted under load.
func TestThreeNodesLoseNothing(t *testing.T) {
	if !*cluster {
		t.Skip("takes minutes: make cluster-test")
	}
	where := "three nodes on loopback"
	if inNamespaces() {
		where = "three nodes in network namespaces"
	}
	var results table
	defer func() { results.print("make cluster-test: " + where) }()
	c := openCrew(t)
	var before counts
	for _, step := range []struct {
		name, invariant string
		do              func()
	}{
		{"three nodes, one key at all of them at once", "one key is one email", c.sendEverywhere},
		{"nodes killed in turn, nine times, and started again", "what was answered arrives", c.killInTurn},
		{"a node killed and not started for 45 s", "the others take its mail over", c.killForLong},
		{"a node frozen for 45 s, past its leases", "when it wakes it sends nothing that another has taken", c.freezeOne},
		{"rolling restart, twice around", "no error answer, nothing sent twice", c.roll},
		{"a key is revoked on one node", "every node refuses it within a second", c.revoke},
		{"a machine cut off from the network for 45 s", "what it holds is taken over", c.cutOff},
	} {
		enough := c.sellVia(faultCustomers, c.balance)
		step.do()
		enough()
		now := c.tally(settleFor)
		c.checkWoken()
		results.add(t, step.name, "PostgreSQL", step.invariant, now.since(before))
		before = now
	}
}

func (c *crew) sendEverywhere() {
	for n := range 50 {
		to := fmt.Sprintf("everywhere-%d@d%d.test", n, n%killSites)
		var all sync.WaitGroup
		for _, p := range c.nodes {
			all.Go(func() { c.promise(c.t.Context(), c.t, p.HTTP, c.key, to) })
		}
		all.Wait()
	}
}

func (c *crew) killInTurn() {
	for round := range 9 {
		after(400 * time.Millisecond)
		n := round % clusterNodes
		c.setUp(n, "")
		c.nodes[n].kill()
		c.begin(n)
	}
}

func (c *crew) killForLong() {
	c.setUp(0, "")
	c.nodes[0].kill()
	after(pastTheLease)
	c.begin(0)
}

// freezeOne stops a node while its conversations are in all stages: the recipients' server is slow for them.
func (c *crew) freezeOne() {
	slow := func(stage, _ string) *smtp.Reply {
		if stage == "rcpt" {
			after(time.Second)
		}
		return nil
	}
	c.manners.Store(&slow)
	after(2 * time.Second)
	c.signal(1, syscall.SIGSTOP)
	c.setUp(1, "")
	after(pastTheLease)
	c.woken = time.Now()
	c.signal(1, syscall.SIGCONT)
	after(5 * time.Second)
	c.setUp(1, c.nodes[1].HTTP)
	c.manners.Store(nil)
}

// checkWoken looks for what the node sent after its sleep although another has sent it too.
func (c *crew) checkWoken() {
	if c.woken.IsZero() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	again := 0
	for _, copies := range c.from {
		late := func(a arrival) bool { return a.hello == hello(1) && a.at.After(c.woken) }
		if len(copies) > 1 && slices.ContainsFunc(copies, late) {
			again++
		}
	}
	c.t.Logf("after its sleep the node sent %d messages that another had taken", again)
	if again > 0 {
		c.t.Errorf("it must not send them")
	}
	c.woken = time.Time{}
}

func (c *crew) roll() {
	c.mu.Lock()
	refused, broken, copies := c.refused, c.broken, 0
	for _, n := range c.arrived {
		copies += n - 1
	}
	c.mu.Unlock()
	for round := range 2 * clusterNodes {
		n := round % clusterNodes
		after(500 * time.Millisecond)
		c.setUp(n, "")
		if err := c.nodes[n].stop(); err != nil {
			c.t.Errorf("node %d did not stop in order: %v %s", n+1, err, c.nodes[n].stderr.String())
		}
		c.begin(n)
	}
	after(time.Second)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.arrived {
		copies -= n - 1
	}
	if c.refused > refused || c.broken > broken || copies != 0 {
		c.t.Errorf("a rolling restart cost %d error answers, %d broken requests and %d copies", c.refused-refused, c.broken-broken, -copies)
	}
}

// revoke signs in, makes a key, lets every node believe in it, and takes it back on one of them.
func (c *crew) revoke() {
	session, csrf := c.signIn()
	ask := func(method, path string, body any) map[string]any {
		raw, _ := json.Marshal(body)
		request, err := http.NewRequest(method, c.nodes[0].HTTP+path, bytes.NewReader(raw))
		if err != nil {
			c.t.Fatal(err)
		}
		request.Header.Set("Cookie", session)
		request.Header.Set("X-CSRF-Token", csrf)
		request.Header.Set("Content-Type", "application/json")
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			c.t.Fatal(err)
		}
		defer answer.Body.Close()
		var decoded map[string]any
		_ = json.NewDecoder(answer.Body).Decode(&decoded)
		if answer.StatusCode/100 != 2 {
			c.t.Fatalf("%s %s: %d %v", method, path, answer.StatusCode, decoded)
		}
		return decoded
	}
	made := ask(http.MethodPost, "/v1/api-keys", map[string]any{"name": "Short-lived", "preset": "read_only"})
	key, _ := made["api_key"].(string)
	if key == "" {
		key, _ = made["key"].(string)
	}
	look := func(p *process) int {
		status, _, _ := call(key, http.MethodGet, p.HTTP+"/v1/domains", nil)
		return status
	}
	asked := time.Now()
	for _, p := range c.nodes {
		if status := look(p); status != http.StatusOK {
			c.t.Fatalf("the new key: %d, made as %v", status, made)
		}
	}
	bound := time.Second + 10*time.Since(asked) // a machine that is slow to ask is slow to see
	ask(http.MethodDelete, "/v1/api-keys/"+made["id"].(string), nil)
	begun := time.Now()
	for _, p := range c.nodes {
		until(c.t, 5*time.Second, "the end of the key", func() bool { return look(p) == http.StatusUnauthorized })
	}
	took := time.Since(begun)
	c.t.Logf("the key was refused by every node %s after it was revoked", took.Round(time.Millisecond))
	if took > bound {
		c.t.Errorf("that is more than a second (%s on this machine)", bound.Round(time.Millisecond))
	}
}

func (c *crew) signIn() (cookie, csrf string) {
	raw := strings.NewReader(`{"email":"olga@shop.test","password":"correct horse battery"}`)
	answer, err := http.Post(c.nodes[0].HTTP+"/auth/login", "application/json", raw)
	if err != nil {
		c.t.Fatal(err)
	}
	defer answer.Body.Close()
	var session map[string]any
	_ = json.NewDecoder(answer.Body).Decode(&session)
	csrf, _ = session["csrf_token"].(string)
	if answer.StatusCode != http.StatusOK || len(answer.Cookies()) == 0 || csrf == "" {
		c.t.Fatalf("sign in: %d %v", answer.StatusCode, session)
	}
	return answer.Cookies()[0].Name + "=" + answer.Cookies()[0].Value, csrf
}

// cutOff takes the cable out of a machine; on loopback there is none, and the row says nothing.
func (c *crew) cutOff() {
	if !inNamespaces() {
		after(time.Second)
		return
	}
	c.setUp(2, "")
	c.machines[2].link(c.t, "down")
	after(pastTheLease)
	c.machines[2].link(c.t, "up")
	after(2 * time.Second)
	c.setUp(2, c.nodes[2].HTTP)
}

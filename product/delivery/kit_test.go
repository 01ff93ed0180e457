package delivery_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/mail/smtp"
	"postrider/product/delivery"
	"postrider/world"
)

// roads is a network in which servers can be down, and which counts connections.
type roads struct {
	world.Resolver
	world.Dialer

	mu         sync.Mutex
	down       map[netip.Addr]bool // guarded by mu
	dials      map[netip.Addr]int  // guarded by mu
	open, peak int                 // guarded by mu
}

var errDown = errors.New("connection refused")

// Hosts whose names begin with dead have an address of their own; two.test has one of them and one that works.
var (
	deadAddr = netip.MustParseAddr("127.0.0.66")
	liveAddr = netip.MustParseAddr("127.0.0.1")
)

func newRoads(w world.World) *roads {
	return &roads{Resolver: w.Resolver, Dialer: w.Dialer, down: map[netip.Addr]bool{deadAddr: true}, dials: map[netip.Addr]int{}}
}

func (r *roads) MX(ctx context.Context, name string) ([]world.MX, world.Answer, error) {
	switch name {
	case "two.test":
		return []world.MX{{Host: "dead.two.test", Preference: 10}, {Host: "mx.two.test", Preference: 20}}, world.Answer{}, nil
	case "one.test":
		return []world.MX{{Host: "dead.two.test", Preference: 10}}, world.Answer{}, nil
	case "dead.test":
		return []world.MX{{Host: "dead.mx.test", Preference: 10}}, world.Answer{}, nil
	case "loop.test":
		return []world.MX{{Host: "mx.test", Preference: 10}, {Host: "behind.test", Preference: 20}}, world.Answer{}, nil
	}
	return r.Resolver.MX(ctx, name)
}

func (r *roads) IP(ctx context.Context, name string) ([]netip.Addr, world.Answer, error) {
	if strings.HasPrefix(name, "dead.") {
		return []netip.Addr{deadAddr}, world.Answer{}, nil
	}
	return r.Resolver.IP(ctx, name)
}

func (r *roads) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	to := netip.MustParseAddrPort(address)
	r.mu.Lock()
	r.dials[to.Addr()]++
	down := r.down[to.Addr()]
	r.mu.Unlock()
	if down {
		return nil, errDown
	}
	if to.Addr() == deadAddr { // it has come up
		address = netip.AddrPortFrom(liveAddr, to.Port()).String()
	}
	conn, err := r.Dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open++
	r.peak = max(r.peak, r.open)
	return &counted{Conn: conn, roads: r}, nil
}

func (r *roads) dialled(to netip.Addr) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.dials[to]
}

func (r *roads) heal() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.down)
}

type counted struct {
	net.Conn
	once  sync.Once
	roads *roads
}

func (c *counted) Close() error {
	c.once.Do(func() {
		c.roads.mu.Lock()
		defer c.roads.mu.Unlock()
		c.roads.open--
	})
	return c.Conn.Close()
}

// node is a delivery of its own on an installation, with its own network.
type node struct {
	*delivery.Service
	t     *testing.T
	in    *apptest.Installation
	roads *roads
}

func newNode(t *testing.T, in *apptest.Installation, options ...func(*delivery.Config)) *node {
	t.Helper()
	r := newRoads(in.App.World)
	return newNodeIn(t, in, r, r, options...)
}

// network is what a node sees of the world.
type network interface {
	world.Resolver
	world.Dialer
}

// newNodeIn puts a node into a network that is built on roads.
func newNodeIn(t *testing.T, in *apptest.Installation, around network, r *roads, options ...func(*delivery.Config)) *node {
	t.Helper()
	w := in.App.World
	n := &node{t: t, in: in, roads: r}
	w.Resolver, w.Dialer = around, around
	_, port, err := net.SplitHostPort(in.Sandbox.SMTPAddr())
	if err != nil {
		t.Fatal(err)
	}
	config := delivery.Config{Node: "00000000-0000-7000-8000-00000000000c", Hello: "mx.test", AllowPrivate: true, Inline: true}
	if config.Port, err = strconv.Atoi(port); err != nil {
		t.Fatal(err)
	}
	for _, option := range options {
		option(&config)
	}
	n.Service = delivery.New(w, in.App.DB, in.App.Emails, in.App.Domains, in.App.Relays, in.Keys, config)
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return n
}

// step does one step and tells whether there may be more at once.
func (n *node) step() bool {
	n.t.Helper()
	busy, err := n.Step(n.t.Context())
	if err != nil {
		n.t.Fatal(err)
	}
	return busy
}

// work does a step of one of the node's workers.
func (n *node) work(name string) {
	n.t.Helper()
	for _, worker := range n.Workers() {
		if worker.Name == name {
			if _, err := worker.Step(n.t.Context()); err != nil {
				n.t.Fatal(err)
			}
			return
		}
	}
	n.t.Fatalf("there is no worker %q", name)
}

// deliver lets everything be delivered that need not wait for longer than a second.
func (n *node) deliver() {
	n.t.Helper()
	for range 10_000 {
		if n.step() {
			continue
		}
		next, ok, err := n.Next(n.t.Context())
		if err != nil {
			n.t.Fatal(err)
		}
		wait := next.Sub(n.in.Clock.Now())
		if !ok || wait > time.Second {
			return
		}
		n.in.Clock.Advance(max(wait, time.Millisecond))
	}
	n.t.Fatal("delivery never rests")
}

// run steps while conversations go on by themselves, until done. The clock goes on by itself, and faster when nothing happens.
func (n *node) run(done func() bool) {
	n.t.Helper()
	wake := n.Workers()[0].Wake
	for range 100_000 {
		if done() {
			return
		}
		if n.step() {
			continue
		}
		select {
		case <-wake:
		case <-time.After(20 * time.Millisecond): // a conversation takes real time
			n.in.Clock.Advance(50 * time.Millisecond)
		}
	}
	n.t.Fatal("it never came to an end")
}

// startServer runs a server of mail until the test ends, and returns its address.
func startServer(t *testing.T, config smtp.Config) (address string) {
	t.Helper()
	server, err := smtp.NewServer(config)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	go server.Serve(ctx, listener)
	return listener.Addr().String()
}

// ask makes a request of the operator's.
func (n *node) ask(method, path string, body any) (int, map[string]any) {
	n.t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		n.t.Fatal(err)
	}
	recorder := httptest.NewRecorder()
	n.OperatorHandler().ServeHTTP(recorder, httptest.NewRequest(method, path, strings.NewReader(string(raw))))
	var answer map[string]any
	_ = json.Unmarshal(recorder.Body.Bytes(), &answer)
	return recorder.Code, answer
}

// sentence returns what operators read about a site.
func (n *node) sentence(site string) string {
	n.t.Helper()
	_, answer := n.ask(http.MethodGet, "/delivery/paths", nil)
	list, _ := answer["data"].([]any)
	for _, item := range list {
		state, _ := item.(map[string]any)
		path, _ := state["path"].(map[string]any)
		if path["site"] == site {
			return fmt.Sprint(state["sentence"])
		}
	}
	return ""
}

// sendMany sends count emails to addresses that start with the mood, and returns their ids.
func sendMany(t *testing.T, in *apptest.Installation, key, from string, count int, to func(n int) string) []string {
	t.Helper()
	var ids []string
	for len(ids) < count {
		var batch []map[string]any
		for n := len(ids); n < min(len(ids)+100, count); n++ {
			batch = append(batch, map[string]any{"from": from, "to": []string{to(n)}, "subject": "Hello", "text": "Hello"})
		}
		answer := in.CallAs(key, http.MethodPost, "/emails/batch", batch, nil)
		list, _ := answer.Body["data"].([]any)
		if len(list) != len(batch) {
			t.Fatalf("batch: %d %s", answer.Status, answer.Raw)
		}
		for _, item := range list {
			record, _ := item.(map[string]any)
			ids = append(ids, fmt.Sprint(record["id"]))
		}
	}
	return ids
}

// fates counts the emails by status and sums up the attempts of their recipients.
func fates(in *apptest.Installation, ids []string) (states map[string]int, attempts int) {
	states = map[string]int{}
	for _, id := range ids {
		record := in.Email(id)
		states[record.Text("status")]++
		made, _ := recipient(record, 0)["attempts"].(float64)
		attempts += int(made)
	}
	return states, attempts
}

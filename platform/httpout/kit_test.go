package httpout_test

import (
	"context"
	"crypto/x509"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"postrider/platform/httpout"
	"postrider/world"
)

// public is an address of the public internet; the tests' dialer leads it to a server of the test.
const public = "93.184.216.34"

// names is a resolver of fixed answers. A name with several answers gives them one after the other and repeats the last.
type names struct {
	world.Resolver
	mu      sync.Mutex
	answers map[string][][]string
	asked   []string
}

func (n *names) IP(_ context.Context, name string) ([]netip.Addr, world.Answer, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked = append(n.asked, name)
	answers := n.answers[name]
	if len(answers) == 0 {
		return nil, world.Answer{}, world.ErrNoName
	}
	if len(answers) > 1 {
		n.answers[name] = answers[1:]
	}
	var addrs []netip.Addr
	for _, text := range answers[0] {
		addrs = append(addrs, netip.MustParseAddr(text))
	}
	return addrs, world.Answer{}, nil
}

// roads is a dialer that leads some addresses elsewhere, all others where they say, and remembers what it was asked for.
type roads struct {
	mu    sync.Mutex
	lead  map[string]string
	asked []string
}

func (r *roads) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	r.mu.Lock()
	r.asked = append(r.asked, address)
	if to, ok := r.lead[address]; ok {
		address = to
	}
	r.mu.Unlock()
	return (&net.Dialer{}).DialContext(ctx, network, address)
}

func (r *roads) dialed() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked
}

// victim is a server inside our network that counts who reaches it.
type victim struct {
	port int
	hits atomic.Int64
}

func newVictim(t *testing.T) *victim {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	v := &victim{port: listener.Addr().(*net.TCPAddr).Port}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			v.hits.Add(1)
			conn.Close()
		}
	}()
	return v
}

// lookout is a client with the senses that the test gave it.
type lookout struct {
	*httpout.Client
	names *names
	roads *roads
}

func newLookout(t *testing.T, change func(*httpout.Config)) lookout {
	t.Helper()
	l := lookout{
		names: &names{answers: map[string][][]string{"example.com": {{public}}}},
		roads: &roads{lead: map[string]string{}},
	}
	config := httpout.Config{Resolver: l.names, Dialer: l.roads, Clock: world.SystemClock{}}
	if change != nil {
		change(&config)
	}
	l.Client = httpout.New(config)
	t.Cleanup(l.Close)
	return l
}

// serve makes public:port lead to a server with the given handler.
func (l lookout) serve(t *testing.T, port string, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	if port == "443" {
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	_, address, _ := strings.Cut(server.URL, "://")
	l.roads.lead[net.JoinHostPort(public, port)] = address
	return server
}

func (l lookout) get(t *testing.T, url string) (*httpout.Response, error) {
	t.Helper()
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return l.Do(t.Context(), request)
}

func rootsOf(server *httptest.Server) *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	return pool
}

// lateClock is far behind the life of every certificate.
type lateClock struct{ world.SystemClock }

func (lateClock) Now() time.Time { return time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC) }

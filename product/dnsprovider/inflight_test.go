package dnsprovider

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"postrider/platform/httpout"
	"postrider/product/dnsprovider/internal/cloudflare"
	"postrider/product/domain"
	"postrider/world"
)

// wire is a network in memory: what is dialled on one side is accepted on the other.
type wire chan net.Conn

// DialContext connects to whoever accepts.
func (w wire) DialContext(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	w <- there
	return here, nil
}

// Accept returns the next connection.
func (w wire) Accept() (net.Conn, error) {
	conn, open := <-w
	if !open {
		return nil, net.ErrClosed
	}
	return conn, nil
}

// Close does nothing: the test closes the channel once nobody dials any more.
func (w wire) Close() error { return nil }

// Addr names the network.
func (w wire) Addr() net.Addr { return &net.UnixAddr{Name: "wire", Net: "unix"} }

func TestFiveCallsAreInFlightAndNotMore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		// Given an API that answers nobody until it is told to, first the questions and then the writes.
		gates := map[string]chan struct{}{http.MethodGet: make(chan struct{}), http.MethodPost: make(chan struct{})}
		var waiting atomic.Int64
		network := make(wire)
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			waiting.Add(1)
			<-gates[r.Method]
			waiting.Add(-1)
			if r.Method == http.MethodGet {
				io.WriteString(w, `{"success":true,"result":[],"result_info":{"page":1,"total_pages":1}}`)
				return
			}
			io.WriteString(w, `{"success":true,"result":{}}`)
		})}
		go func() { _ = server.Serve(network) }()
		client := httpout.New(httpout.Config{Policy: httpout.Policy{AnyLoopbackPort: true}, Dialer: network, Clock: world.SystemClock{}})
		p := publisher{client: cloudflare.New(client, "http://127.0.0.1:80", "token"), zone: cloudflare.Zone{ID: "z", Name: "acme.test"}}
		var sets [][]domain.DNSRecord
		for i := range 8 {
			sets = append(sets, []domain.DNSRecord{{Record: "Tracking", Purpose: "tracking", Type: "CNAME", Name: fmt.Sprintf("t%d.acme.test", i), Value: "t.test"}})
		}

		// When eight records are published.
		var results []Result
		var err error
		finished := make(chan struct{})
		go func() {
			results, err = p.publish(t.Context(), "acme.test", sets)
			close(finished)
		}()

		// Then five calls wait at each gate, and all of them get through in the end.
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			synctest.Wait()
			if n := waiting.Load(); n != 5 {
				t.Errorf("%d calls of %s at once, want 5", n, method)
			}
			close(gates[method])
		}
		<-finished
		if err != nil || len(results) != 8 || results[7].Action != Created {
			t.Errorf("%v, %v", results, err)
		}
		client.Close()
		close(network)
		_ = server.Close()
	})
}

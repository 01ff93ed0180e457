package sim

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
)

// crmAddress is where the customer's own server listens. HTTP steps ask it.
const crmAddress = "127.0.0.1:8080"

// crm is a server of the customer's. It keeps what it is asked.
type crm struct {
	doom *doom
	mu   sync.Mutex
	// asked are the requests by their idempotency keys, guarded by mu.
	asked map[string][]string
}

// serve lets the server speak on a connection.
func (c *crm) serve(conn net.Conn) {
	server := &http.Server{Handler: http.HandlerFunc(c.answer)}
	listener := &oneConn{conn: conn, done: make(chan struct{})}
	server.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			listener.Close()
		}
	}
	server.BaseContext = func(net.Listener) context.Context { return context.Background() }
	go server.Serve(listener)
}

func (c *crm) answer(w http.ResponseWriter, r *http.Request) {
	if c.doom.isDead() {
		panic(http.ErrAbortHandler) // a dead process asks nobody
	}
	body, err := io.ReadAll(r.Body)
	var lead struct{ Email string }
	if err != nil || json.Unmarshal(body, &lead) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	key := r.Header.Get("Idempotency-Key")
	c.asked[key] = append(c.asked[key], fmt.Sprintf("%s %s %s %s", r.Method, r.URL, r.Header.Get("Authorization"), body))
	c.mu.Unlock()
	fmt.Fprintf(w, `{"id":"lead of %s"}`, lead.Email)
}

package measure

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
)

// Home is an installation whose internet is a sink: the servers of all recipients are it.
type Home struct {
	// Key is that of a workspace with the verified domain acme.test.
	Key string

	ctx         context.Context
	dir         string
	program     string
	sink        *Sink
	connections int
	names       *Process
}

// NewHome builds the program, with build tags if any are given, and lets dev mode make a workspace. Connections is how many the sink may
// be spoken to on at once.
func NewHome(ctx context.Context, dir string, sink *Sink, connections int, tags ...string) (*Home, error) {
	program, err := Build(ctx, dir, tags...)
	if err != nil {
		return nil, fmt.Errorf("build: %w", err)
	}
	h := &Home{ctx: ctx, dir: dir, program: program, sink: sink, connections: connections}
	seed, err := Start(ctx, dir, program, "dev", "--data", h.data(), "--http", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	h.Key = seed.Text("api_key")
	if err := seed.Stop(); err != nil {
		return nil, err
	}
	h.names, err = Start(ctx, dir, program, "dev", "--data", filepath.Join(dir, "names"), "--http", "127.0.0.1:0")
	return h, err
}

func (h *Home) data() string { return filepath.Join(h.dir, "data") }

// Leave ends what answers for names.
func (h *Home) Leave() error { return h.names.Stop() }

// Serve runs the installation, and lifts the limits that strangers' servers enjoy.
func (h *Home) Serve(roles string) (*Process, error) {
	ours, err := Start(h.ctx, h.dir, h.program, "serve", "--data", h.data(), "--domain", "mail.postrider.test", "--http", "127.0.0.1:0", "--admin", "127.0.0.1:0",
		"--submission", "127.0.0.1:0", "--roles", roles, "--insecure-test-network", "--resolver", h.names.Text("dns"), "--smtp-port", strconv.Itoa(h.sink.Port))
	if err != nil {
		return nil, err
	}
	order, err := json.Marshal(map[string]any{"site": "mx.example.net", "for": "24h", "reason": "a benchmark", "limits": map[string]any{
		"max_connections": h.connections, "messages_per_connection": 1000, "connects_per_minute": 100_000, "messages_per_second": 100_000}})
	if err != nil {
		return nil, err
	}
	answer, err := http.Post("http://"+ours.Text("admin")+"/delivery/paths/adjust", "application/json", bytes.NewReader(order))
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("limits were not adjusted: %s", answer.Status)
	}
	return ours, err
}

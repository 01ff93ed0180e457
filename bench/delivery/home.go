package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"

	"postrider/bench/measure"
)

// home is an installation whose internet is the sink.
type home struct {
	ctx     context.Context
	options options
	dir     string
	program string
	sink    int
	key     string
	names   *measure.Process
}

func newHome(ctx context.Context, dir string, sinkPort int, o options) (*home, error) {
	program, err := measure.Build(ctx, dir, o.tags)
	if err != nil {
		return nil, fmt.Errorf("build: %w", err)
	}
	h := &home{ctx: ctx, options: o, dir: dir, program: program, sink: sinkPort}
	seed, err := measure.Start(ctx, dir, program, "dev", "--data", h.data(), "--http", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	h.key = seed.Text("api_key")
	if err := seed.Stop(); err != nil {
		return nil, err
	}
	h.names, err = measure.Start(ctx, dir, program, "dev", "--data", filepath.Join(dir, "names"), "--http", "127.0.0.1:0")
	return h, err
}

func (h *home) data() string { return filepath.Join(h.dir, "data") }

func (h *home) leave() error { return h.names.Stop() }

// serve runs the installation, and lifts the limits that strangers' servers enjoy.
func (h *home) serve(roles string) (*measure.Process, error) {
	ours, err := measure.Start(h.ctx, h.dir, h.program, "serve", "--data", h.data(), "--domain", "mail.postrider.test", "--http", "127.0.0.1:0", "--admin", "127.0.0.1:0",
		"--submission", "127.0.0.1:0", "--roles", roles, "--insecure-test-network", "--resolver", h.names.Text("dns"), "--smtp-port", strconv.Itoa(h.sink))
	if err != nil {
		return nil, err
	}
	order, err := json.Marshal(map[string]any{"site": "mx.example.net", "for": "24h", "reason": "a benchmark", "limits": map[string]any{
		"max_connections": h.options.concurrency, "messages_per_connection": 1000, "connects_per_minute": 100_000, "messages_per_second": 100_000}})
	if err != nil {
		return nil, err
	}
	answer, err := http.Post("http://"+ours.Text("admin")+"/delivery/paths/adjust", "application/json", bytes.NewReader(order))
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("limits were not adjusted: %s", answer.Status)
	}
	return ours, err
}

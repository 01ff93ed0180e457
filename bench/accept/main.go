// Command accept measures how many emails a second are accepted: POST /emails with a 2 KB body on 64 connections, and batches of
// 100 such emails, embedded database, an fsync before every answer. In the same run, on the same machine, it measures a bare handler that only decodes the
// same JSON, as the bound of what HTTP in Go can do here.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"postrider/bench/measure"
)

const (
	connections = 64
	bodyBytes   = 2 << 10
	batchSize   = 100
	// batchConnections is fewer: a request of 100 emails keeps a connection busy.
	batchConnections = 8
)

func main() {
	during := flag.Duration("for", 10*time.Second, "how long each load lasts")
	bare := flag.String("ready-file", "", "serve the bare handler and write its address to this file; the benchmark starts itself so")
	profile := flag.String("profile", "", "file for a profile of the processor while single emails are posted")
	measure.Main("accept", func(ctx context.Context) error {
		if *bare != "" {
			return serveBare(ctx, *bare)
		}
		return run(ctx, *during, *profile)
	})
}

// serveBare answers 202 after decoding the body, and does nothing else.
func serveBare(ctx context.Context, readyFile string) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var email struct {
			From    string   `json:"from"`
			To      []string `json:"to"`
			Subject string   `json:"subject"`
			HTML    string   `json:"html"`
			Text    string   `json:"text"`
		}
		if err := json.NewDecoder(r.Body).Decode(&email); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, `{"object":"email"}`)
	})}
	go func() { <-ctx.Done(); server.Close() }()
	raw := fmt.Sprintf(`{"http":"http://%s"}`, listener.Addr())
	if err := os.WriteFile(readyFile+".new", []byte(raw), 0o600); err != nil {
		return err
	}
	if err := os.Rename(readyFile+".new", readyFile); err != nil {
		return err
	}
	if err := server.Serve(listener); err != http.ErrServerClosed {
		return err
	}
	return nil
}

type row struct {
	name   string
	result measure.Result
	cpu    time.Duration
	memory int64
	// emails is how many were accepted, commits how many times the disk was waited for meanwhile.
	emails  int
	commits float64
}

func run(ctx context.Context, during time.Duration, profile string) error {
	dir, err := os.MkdirTemp(".", "bench-accept-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program, err := measure.Build(ctx, dir)
	if err != nil {
		return fmt.Errorf("build: %w", err)
	}
	key, err := seed(ctx, dir, program)
	if err != nil {
		return fmt.Errorf("prepare a workspace: %w", err)
	}
	bound, err := measureBare(ctx, dir, during)
	if err != nil {
		return fmt.Errorf("bare handler: %w", err)
	}
	ours, err := measureAccept(ctx, dir, program, key, during, profile)
	if err != nil {
		return fmt.Errorf("accept: %w", err)
	}
	print(bound, ours)
	return nil
}

// seed lets dev mode make a workspace with a verified domain, and returns its key.
func seed(ctx context.Context, dir, program string) (string, error) {
	p, err := measure.Start(ctx, dir, program, "dev", "--data", filepath.Join(dir, "data"), "--http", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return p.Text("api_key"), p.Stop()
}

func measureBare(ctx context.Context, dir string, during time.Duration) (row, error) {
	self, err := os.Executable()
	if err != nil {
		return row{}, err
	}
	p, err := measure.Start(ctx, dir, self)
	if err != nil {
		return row{}, err
	}
	defer p.Stop()
	return load(ctx, "bare handler, decodes only", p, "", 1, connections, during)
}

// accepted is what our own program was measured at: on many connections, where single posts share transactions, and on one, where
// each waits for the disk alone.
type accepted struct{ one, batch, oneAlone, batchAlone row }

func measureAccept(ctx context.Context, dir, program, key string, during time.Duration, profile string) (rows accepted, err error) {
	// Only the API: deliveries in the same seconds would be another measurement.
	p, err := measure.Start(ctx, dir, program, "serve", "--data", filepath.Join(dir, "data"), "--domain", "mail.postrider.test", "--roles", "api",
		"--http", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	if err != nil {
		return rows, err
	}
	defer p.Stop()
	profiled := make(chan error, 1)
	go func() { profiled <- p.SaveProfile(fmt.Sprintf("profile?seconds=%.0f", during.Seconds()), profile) }()
	for _, l := range []struct {
		into                  *row
		name                  string
		together, connections int
	}{
		{&rows.one, "POST /emails, fsync before the answer", 1, connections},
		{&rows.batch, fmt.Sprintf("POST /emails/batch of %d, a transaction each", batchSize), batchSize, batchConnections},
		{&rows.oneAlone, "POST /emails on one connection", 1, 1},
		{&rows.batchAlone, "POST /emails/batch on one connection", batchSize, 1},
	} {
		if *l.into, err = load(ctx, l.name, p, key, l.together, l.connections, during); err != nil {
			return rows, err
		}
	}
	return rows, <-profiled
}

// load posts emails, each alone or many in a request.
func load(ctx context.Context, name string, p *measure.Process, key string, together, workers int, during time.Duration) (row, error) {
	address := strings.TrimPrefix(p.Text("http"), "http://")
	path, filler := "/v1/emails", strings.Repeat("x", bodyBytes-150)
	if together > 1 {
		path += "/batch"
	}
	request := func(worker, n int) []byte {
		emails := make([]string, together)
		for i := range emails {
			emails[i] = fmt.Sprintf(`{"from":"Acme <hello@acme.test>","to":["user-%d-%d-%d@example.net"],"subject":"Your order %d","html":"<p>%s</p>","text":"Thank you."}`,
				worker, n, i, n, filler)
		}
		body := emails[0]
		if together > 1 {
			body = "[" + strings.Join(emails, ",") + "]"
		}
		return measure.Post(path, address, map[string]string{"Authorization": "Bearer " + key}, []byte(body))
	}
	if _, err := measure.Load(ctx, address, workers, during/5, request); err != nil { // warm up
		return row{}, err
	}
	before, commits := p.CPU(), commitsOf(p)
	result, err := measure.Load(ctx, address, workers, during, request)
	if err == nil && result.Failed > 0 {
		err = fmt.Errorf("%d requests failed, the first with %s", result.Failed, result.FirstFailure)
	}
	return row{name: name, result: result, cpu: p.CPU() - before, memory: p.PeakMemory(), emails: result.Count * together, commits: commitsOf(p) - commits}, err
}

// commitsOf reads from the metrics how often the database has committed; zero if there are none.
func commitsOf(p *measure.Process) float64 {
	answer, err := http.Get("http://" + p.Text("admin") + "/metrics")
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		if name, value, _ := strings.Cut(lines.Text(), " "); name == "postrider_db_commits_total" {
			commits, _ := strconv.ParseFloat(value, 64)
			return commits
		}
	}
	return 0
}

func print(bound row, ours accepted) {
	fmt.Printf("accept: %d-byte bodies, %s each, %d cores shared with the load generator\n\n", bodyBytes, bound.result.Took.Round(time.Second), runtime.NumCPU())
	fmt.Printf("%-46s %9s %9s %9s %10s %9s %9s\n", "", "emails/s", "p50", "p99", "CPU/email", "per fsync", "peak MB")
	for _, r := range []row{bound, ours.one, ours.batch, ours.oneAlone, ours.batchAlone} {
		perFsync := "-"
		if r.commits > 0 {
			perFsync = fmt.Sprintf("%.1f", float64(r.emails)/r.commits)
		}
		fmt.Printf("%-46s %9.0f %9s %9s %10s %9s %9.0f\n", r.name, r.rate(), r.result.P50.Round(10*time.Microsecond), r.result.P99.Round(10*time.Microsecond),
			(r.cpu / time.Duration(max(r.emails, 1))).Round(time.Microsecond), perFsync, float64(r.memory)/1e6)
	}
	fmt.Printf("\nratio to the bare handler: %.2f; a batch is %.1f times as fast as single posts, on one connection %.1f times\n",
		ours.one.rate()/bound.rate(), ours.batch.rate()/ours.one.rate(), ours.batchAlone.rate()/ours.oneAlone.rate())
}

func (r row) rate() float64 { return float64(r.emails) / r.result.Took.Seconds() }

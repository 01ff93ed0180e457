// Command retention measures what it costs customers that old rows are removed: a million entries of the log whose time is over, with
// their words, are swept while emails are accepted. It says how long that takes, what it does to the time until an email is accepted,
// and how much of the disk comes back.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"postrider/bench/measure"
)

// bound is what the 99th percentile of accepting may be while rows are removed.
const bound = 100 * time.Millisecond

func main() {
	rows := flag.Int("rows", 1_000_000, "entries to remove")
	connections := flag.Int("connections", 16, "connections on which emails are posted")
	engine := flag.String("engine", "", "sqlite or postgres; both if empty")
	measure.Main("retention", func(ctx context.Context) error {
		return measure.OnEngines(*engine, func(engine string) error { return run(ctx, engine, *rows, *connections) })
	})
}

func run(ctx context.Context, engine string, rows, connections int) error {
	in, err := measure.InstallOn(ctx, engine)
	if err != nil {
		return err
	}
	defer in.Close()
	log, err := openLog(ctx, in)
	if err != nil {
		return err
	}
	defer log.close()
	empty := log.size(ctx)
	begun := time.Now()
	if err := log.fill(ctx, rows); err != nil {
		return fmt.Errorf("fill: %w", err)
	}
	full := log.size(ctx)
	fmt.Printf("%s: %d entries with their words written in %.0f s, %s; %d cores shared with the load\n", engine, rows, time.Since(begun).Seconds(), megabytes(full-empty), runtime.NumCPU())
	plans := filepath.Join(in.Dir, "plans.toml")
	if err := os.WriteFile(plans, []byte("[unlimited.limits]\nlog_retention_days = 1\n"), 0o600); err != nil {
		return err
	}
	server, err := in.Serve(ctx, "--roles", "api,worker", "--plans", plans)
	if err != nil {
		return err
	}
	defer server.Stop()
	return compare(ctx, server, in.Key, log, connections, empty, full)
}

// compare posts emails while the sweep goes on, and then as long without it.
func compare(ctx context.Context, server *measure.Process, key string, log *oldLog, connections int, empty, full int64) error {
	post := poster(server, key)
	sweeping, swept := context.WithCancel(ctx)
	defer swept()
	begun := time.Now()
	watched := make(chan error, 1)
	go func() { watched <- log.await(ctx); swept() }()
	during, err := measure.Load(sweeping, post.address, connections, time.Hour, post.request)
	if err := errors.Join(err, <-watched); err != nil {
		return err
	}
	took := time.Since(begun)
	after, err := measure.Load(ctx, post.address, connections, min(max(took/4, 5*time.Second), 30*time.Second), post.request)
	if err != nil {
		return err
	}
	if during.Failed+after.Failed > 0 {
		return fmt.Errorf("%d requests failed, the first with %s", during.Failed+after.Failed, during.FirstFailure+after.FirstFailure)
	}
	fmt.Printf("%-34s %10s %10s %10s\n", "", "emails/s", "p50", "p99")
	for _, row := range []struct {
		name   string
		result measure.Result
	}{{"while old rows are removed", during}, {"without that", after}} {
		fmt.Printf("%-34s %10.0f %10s %10s\n", row.name, row.result.Rate(), row.result.P50.Round(10*time.Microsecond), row.result.P99.Round(10*time.Microsecond))
	}
	fmt.Printf("removed in %.0f s (%.0f rows a second); the log took %s before, %s full, and keeps %s for new rows\n\n", took.Seconds(), float64(log.rows)/took.Seconds(),
		megabytes(empty), megabytes(full), megabytes(log.size(ctx)))
	if during.P99 > bound {
		return fmt.Errorf("p99 of accepting was %s while rows were removed, the bound is %s", during.P99, bound)
	}
	return nil
}

// poster makes requests that are accepted and wait: what is delivered meanwhile would be another measurement.
type requests struct {
	address string
	request func(worker, n int) []byte
}

func poster(server *measure.Process, key string) requests {
	address := strings.TrimPrefix(server.Text("http"), "http://")
	tomorrow, filler := time.Now().Add(24*time.Hour).UTC().Format(time.RFC3339), strings.Repeat("x", 1850)
	return requests{address, func(worker, n int) []byte {
		body := fmt.Sprintf(`{"from":"Acme <hello@acme.test>","to":["user-%d-%d@example.net"],"subject":"Your order %d","html":"<p>%s</p>","text":"Thank you.","scheduled_at":%q}`,
			worker, n, n, filler, tomorrow)
		return measure.Post("/v1/emails", address, map[string]string{"Authorization": "Bearer " + key}, []byte(body))
	}}
}

func megabytes(bytes int64) string { return fmt.Sprintf("%.0f MB", float64(bytes)/1e6) }

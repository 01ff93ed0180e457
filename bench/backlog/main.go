// Command backlog measures a start with a great deal of mail in the queue: a million messages to a hundred thousand domains. It says
// how long the start takes, when the first message arrives, how fast the rest follows, and how much memory that needs.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"postrider/bench/measure"
)

// What the figures are held against.
const (
	startBound  = 5 * time.Second
	firstBound  = 2 * time.Second
	memoryBound = 500e6
)

func main() {
	messages := flag.Int("messages", 1_000_000, "messages in the queue")
	domains := flag.Int("domains", 100_000, "domains they go to")
	during := flag.Duration("for", 30*time.Second, "how long the delivery is watched")
	database := flag.String("database-url", "", "PostgreSQL to use instead of the embedded database; it must be empty")
	profile := flag.String("profile", "", "file for a profile of the memory")
	measure.Main("backlog", func(ctx context.Context) error { return run(ctx, *messages, *domains, *during, *database, *profile) })
}

func run(ctx context.Context, messages, domains int, during time.Duration, database, profile string) error {
	dir, err := os.MkdirTemp("", "bench-backlog-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program, err := measure.Build(ctx, dir)
	if err != nil {
		return fmt.Errorf("build: %w", err)
	}
	sink, err := measure.StartSink()
	if err != nil {
		return err
	}
	defer sink.Close()
	in, err := measure.Install(ctx, dir, program, database) // dev mode itself has no PostgreSQL
	if err != nil {
		return err
	}
	storage, key := in.Storage, in.Key
	names, err := measure.Start(ctx, dir, program, "dev", "--data", filepath.Join(dir, "names"), "--http", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer names.Stop()
	serve := func(roles string) (*measure.Process, error) {
		return measure.Start(ctx, dir, program, append([]string{"serve", "--domain", "mail.postrider.test", "--http", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--roles", roles,
			"--insecure-test-network", "--resolver", names.Text("dns"), "--smtp-port", strconv.Itoa(sink.Port)}, storage...)...)
	}
	door, err := serve("api")
	if err != nil {
		return err
	}
	if err := fill(ctx, door.Text("http"), key, messages, domains); err != nil {
		return err
	}
	if err := door.Stop(); err != nil {
		return err
	}
	return watch(ctx, sink, func() (*measure.Process, error) { return serve("api,worker") }, messages, domains, during, profile)
}

// fill hands the messages in, a hundred at a time.
func fill(ctx context.Context, url, key string, messages, domains int) error {
	const batch, clients = 100, 8
	var next atomic.Int64
	var failed atomic.Pointer[error]
	var all sync.WaitGroup
	start := time.Now()
	for range clients {
		all.Go(func() {
			for failed.Load() == nil {
				from := int(next.Add(batch)) - batch
				if from >= messages {
					return
				}
				if err := post(ctx, url, key, from, min(from+batch, messages), domains); err != nil {
					failed.Store(&err)
				}
			}
		})
	}
	all.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	fmt.Printf("%d messages to %d domains accepted in %.0f s (%.0f a second)\n", messages, domains, time.Since(start).Seconds(), float64(messages)/time.Since(start).Seconds())
	return nil
}

func post(ctx context.Context, url, key string, from, to, domains int) error {
	var list []map[string]any
	for n := from; n < to; n++ {
		list = append(list, map[string]any{"from": "hello@acme.test", "to": fmt.Sprintf("user%d@d%d.test", n, n%domains), "subject": "Your order", "text": "Thank you."})
	}
	return measure.SendBatch(ctx, url, key, list)
}

// watch starts the delivery and says how it goes.
func watch(ctx context.Context, sink *measure.Sink, serve func() (*measure.Process, error), messages, domains int, during time.Duration, profile string) error {
	sink.Reset()
	begun := time.Now()
	ours, err := serve()
	if err != nil {
		return err
	}
	defer ours.Stop()
	ready := time.Since(begun)
	within, done := context.WithTimeout(ctx, time.Minute)
	defer done()
	if _, err := sink.Await(within, 1); err != nil {
		return err
	}
	first := time.Since(begun) - ready
	before, cpu := sink.Taken(), ours.CPU()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(during):
	}
	delivered := sink.Taken() - before
	if err := ours.SaveProfile("heap", profile); err != nil {
		return err
	}
	fmt.Printf("\nbacklog: %d messages to %d domains, %d cores shared with the servers of the recipients\n", messages, domains, runtime.NumCPU())
	row := func(what, figure, bound string, kept bool) {
		verdict := map[bool]string{true: "kept", false: "missed"}[kept]
		if bound == "" {
			verdict = ""
		}
		fmt.Printf("%-34s %12s %12s  %s\n", what, figure, bound, verdict)
	}
	fmt.Printf("%-34s %12s %12s\n", "", "measured", "bound")
	row("start until ready", fmt.Sprintf("%.2f s", ready.Seconds()), fmt.Sprintf("%.0f s", startBound.Seconds()), ready < startBound)
	row("first delivery after that", fmt.Sprintf("%.2f s", max(first, 0).Seconds()), fmt.Sprintf("%.0f s", firstBound.Seconds()), first < firstBound)
	row("peak memory", fmt.Sprintf("%.0f MB", float64(ours.PeakMemory())/1e6), fmt.Sprintf("%.0f MB", memoryBound/1e6), float64(ours.PeakMemory()) < memoryBound)
	row("delivered a second", fmt.Sprintf("%.0f", float64(delivered)/during.Seconds()), "", true)
	row("CPU seconds for 1,000", fmt.Sprintf("%.2f", (ours.CPU()-cpu).Seconds()*1000/float64(max(delivered, 1))), "", true)
	return nil
}

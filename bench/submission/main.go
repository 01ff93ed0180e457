// Command submission measures how many messages a second are taken over SMTP, each on disk before its 250, and beside it, in the
// same run with the same load, how many Postfix takes. Postfix is asked in clear text and without a password; our door wants both
// TLS and a key, and pays for them.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"postrider/bench/measure"
)

func main() {
	during := flag.Duration("for", 5*time.Second, "how long each load lasts")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *during); err != nil {
		fmt.Fprintln(os.Stderr, "submission:", err)
		os.Exit(1)
	}
}

// loads are the shapes that are measured.
var loads = []struct{ sessions, kilobytes int }{{1, 10}, {20, 1}, {20, 10}, {20, 100}, {100, 10}}

// server is one of the two that are measured.
type server struct {
	name   string
	door   measure.SMTP
	cpu    func() time.Duration
	memory func() int64
}

func run(ctx context.Context, during time.Duration) error {
	dir, err := os.MkdirTemp("", "bench-submission-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program, err := measure.Build(ctx, dir)
	if err != nil {
		return fmt.Errorf("build: %w", err)
	}
	data := filepath.Join(dir, "data")
	seed, err := measure.Start(ctx, dir, program, "dev", "--data", data, "--http", "127.0.0.1:0")
	if err != nil {
		return err
	}
	key := seed.Text("api_key")
	if err := seed.Stop(); err != nil {
		return err
	}
	// Only the door: deliveries in the same seconds would be another measurement.
	ours, err := measure.Start(ctx, dir, program, "serve", "--data", data, "--domain", "mail.postrider.test", "--roles", "smtp", "--submission", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer ours.Stop()
	servers := []server{{"Postrider", measure.SMTP{Address: ours.Text("submission"), Key: key, From: "hello@acme.test"}, ours.CPU, ours.PeakMemory}}
	if measure.HasPostfix() {
		postfix, err := measure.StartPostfix(ctx, measure.Hold)
		if err != nil {
			return err
		}
		defer postfix.Stop()
		servers = append(servers, server{"Postfix", measure.SMTP{Address: postfix.Address, From: "hello@acme.test"}, postfix.CPU, nil})
	} else {
		fmt.Println("Postfix is not installed (or this is not root): measured without it")
	}
	return compare(ctx, servers, during)
}

func compare(ctx context.Context, servers []server, during time.Duration) error {
	fmt.Printf("submission: %s each, %d cores shared with the load generator\n\n", during, runtime.NumCPU())
	fmt.Printf("%-24s %-10s %11s %9s %9s %14s %9s\n", "", "", "messages/s", "p50", "p99", "CPU s/1,000", "ratio")
	for _, load := range loads {
		var rates []float64
		for _, s := range servers {
			body := message(load.kilobytes << 10)
			if _, err := measure.LoadSMTP(ctx, s.door, load.sessions, during/5, body); err != nil { // warm up
				return fmt.Errorf("%s: %w", s.name, err)
			}
			before := s.cpu()
			result, err := measure.LoadSMTP(ctx, s.door, load.sessions, during, body)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			rates = append(rates, result.Rate())
			fmt.Printf("%-24s %-10s %11.0f %9s %9s %14.2f", fmt.Sprintf("%d KB, %d sessions", load.kilobytes, load.sessions), s.name, result.Rate(),
				result.P50.Round(10*time.Microsecond), result.P99.Round(10*time.Microsecond), (s.cpu()-before).Seconds()*1000/float64(max(result.Count, 1)))
			if len(rates) == 2 {
				fmt.Printf(" %8.1fx", rates[0]/rates[1])
			}
			fmt.Println()
		}
	}
	fmt.Printf("\npeak memory of Postrider: %.0f MB\n", float64(servers[0].memory())/1e6)
	return nil
}

// message returns a message of about so many bytes, with its final dot.
func message(size int) func(worker, n int) []byte {
	line := strings.Repeat("x", 70) + "\r\n"
	text := []byte(strings.Repeat(line, size/len(line)+1) + ".\r\n")
	return func(worker, n int) []byte {
		var b bytes.Buffer
		fmt.Fprintf(&b, "From: Acme <hello@acme.test>\r\nTo: user-%d-%d@example.net\r\nSubject: Your order %d\r\nMessage-ID: <%d.%d.%d@acme.test>\r\n\r\n",
			worker, n, n, time.Now().UnixNano(), worker, n)
		b.Write(text)
		return b.Bytes()
	}
}

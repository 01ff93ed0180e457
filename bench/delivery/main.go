// Command delivery measures how many messages a second go all the way: handed in over SMTP, on disk before their 250, signed, and
// handed to a server that takes everything. Beside it, in the same run with the same messages and the same server, Postfix with
// OpenDKIM does the same. We sign with two keys (RSA-2048 and Ed25519), record every event, and want TLS and a key at the door;
// OpenDKIM signs with one, and Postfix is asked in clear text.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"postrider/bench/measure"
)

func main() {
	during := flag.Duration("for", 8*time.Second, "how long messages are handed in")
	concurrency := flag.Int("connections", 100, "connections to the receiving server")
	sessions := flag.Int("sessions", 20, "sessions that hand messages in")
	alone := flag.Bool("alone", false, "leave Postfix out")
	tags := flag.String("tags", "", "build tags of Postrider; give openssl here and to go run for the accelerated signer")
	profile := flag.String("profile", "", "file for a profile of the processor while a full queue is delivered; another, .end, is of all the way")
	sizes := flag.String("kb", "1,10,100", "sizes of the messages in kilobytes")
	bare := flag.Int("bare", 0, "only sign and send, to this port on loopback: what this program starts itself, to compare with")
	bareOurs := flag.Bool("bare-ours", false, "those who only sign and send use our signer, not crypto/rsa")
	drainOnly := flag.Bool("drain", false, "deliver from a full queue only")
	measure.Main("delivery", func(ctx context.Context) error {
		o := options{*during, *sessions, *concurrency, *alone, *drainOnly, *bareOurs, strings.Split(*sizes, ","), *tags, *profile}
		if *bare != 0 {
			return runBare(ctx, *bare, o)
		}
		return run(ctx, o)
	})
}

// options say what is measured.
type options struct {
	during      time.Duration
	sessions    int
	concurrency int
	alone       bool
	drainOnly   bool
	bareOurs    bool
	kilobytes   []string
	tags        string
	profile     string
}

// server is one of the two that are measured.
type server struct {
	name string
	door measure.SMTP
	cpu  func() time.Duration
	// profile watches where its time goes.
	profile func() error
}

func run(ctx context.Context, o options) error {
	dir, err := os.MkdirTemp("", "bench-delivery-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	sink, err := measure.StartSink()
	if err != nil {
		return err
	}
	defer sink.Close()
	home, err := measure.NewHome(ctx, dir, sink, o.concurrency, o.tags)
	if err != nil {
		return err
	}
	defer home.Leave()
	if err := drain(ctx, home, sink, o); err != nil || o.drainOnly {
		return err
	}
	ours, err := home.Serve("api,smtp,worker")
	if err != nil {
		return err
	}
	defer ours.Stop()
	key := home.Key
	servers := []server{{"Postrider", measure.SMTP{Address: ours.Text("submission"), Key: key, From: "hello@acme.test"}, ours.CPU, func() error { return saveProfile(ours, o, ".end") }}}
	if !o.alone && measure.HasPostfix() && measure.HasOpenDKIM() {
		beside, stop, err := startPostfix(ctx, sink.Port, o.concurrency)
		if err != nil {
			return err
		}
		defer stop()
		servers = append(servers, beside)
	} else if !o.alone {
		fmt.Println("Postfix or OpenDKIM is not installed (or this is not root): measured without them")
	}
	if err := compare(ctx, servers, sink, o); err != nil {
		return err
	}
	fmt.Printf("\npeak memory of Postrider: %.0f MB\n", float64(ours.PeakMemory())/1e6)
	return nil
}

func startPostfix(ctx context.Context, sinkPort, concurrency int) (server, func(), error) {
	signer, err := measure.StartOpenDKIM(ctx, "acme.test")
	if err != nil {
		return server{}, nil, err
	}
	settings := fmt.Sprintf("smtpd_milters = unix:%s\nrelayhost = [127.0.0.1]:%d\ndisable_dns_lookups = yes\n"+
		"default_destination_concurrency_limit = %d\ninitial_destination_concurrency = %d\nsmtp_destination_concurrency_limit = %d\n",
		signer.Socket, sinkPort, concurrency, concurrency, concurrency)
	postfix, err := measure.StartPostfix(ctx, settings)
	if err != nil {
		signer.Stop()
		return server{}, nil, err
	}
	return server{"Postfix", measure.SMTP{Address: postfix.Address, From: "hello@acme.test"}, func() time.Duration { return postfix.CPU() + signer.CPU() }, func() error { return nil }},
		func() { postfix.Stop(); signer.Stop() }, nil
}

// drainWithin is how long the last message may take after it was handed in.
const drainWithin = 5 * time.Minute

func compare(ctx context.Context, servers []server, sink *measure.Sink, o options) error {
	fmt.Printf("delivery: %s each, %d sessions in, %d cores shared with the load generator and the sink\n\n", o.during, o.sessions, runtime.NumCPU())
	fmt.Printf("%-10s %-10s %12s %12s %14s %9s\n", "", "", "taken/s", "delivered/s", "CPU s/1,000", "ratio")
	for _, size := range o.kilobytes {
		kilobytes, err := strconv.Atoi(size)
		if err != nil {
			return err
		}
		var rates []float64
		for _, s := range servers {
			rate, err := measureOne(ctx, s, sink, o, kilobytes)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			rates = append(rates, rate)
			if len(rates) == 2 {
				fmt.Printf(" %8.1fx", rates[0]/rates[1])
			}
			fmt.Println()
		}
	}
	return nil
}

func measureOne(ctx context.Context, s server, sink *measure.Sink, o options, kilobytes int) (float64, error) {
	body := message(kilobytes)
	within, done := context.WithTimeout(ctx, o.during+drainWithin)
	defer done()
	sink.Reset()
	warm, err := measure.LoadSMTP(ctx, s.door, o.sessions, o.during/8, body)
	if err != nil {
		return 0, err
	}
	if _, err := sink.Await(within, warm.Count); err != nil {
		return 0, err
	}
	sink.Reset()
	before, start := s.cpu(), time.Now()
	profiled := make(chan error, 1)
	go func() { profiled <- s.profile() }()
	taken, err := measure.LoadSMTP(ctx, s.door, o.sessions, o.during, body)
	if err != nil {
		return 0, err
	}
	last, err := sink.Await(within, taken.Count)
	if err := errors.Join(err, <-profiled); err != nil {
		return 0, err
	}
	rate := float64(taken.Count) / last.Sub(start).Seconds()
	fmt.Printf("%-10s %-10s %12.0f %12.0f %14.2f", fmt.Sprintf("%d KB", kilobytes), s.name, taken.Rate(), rate,
		(s.cpu()-before).Seconds()*1000/float64(max(taken.Count, 1)))
	return rate, nil
}

// message returns messages of about so many kilobytes.
func message(kilobytes int) func(worker, n int) []byte {
	return measure.Message(kilobytes<<10, "hello@acme.test", "example.net")
}

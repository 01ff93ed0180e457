// Command delivery measures how many messages a second go all the way: handed in over SMTP, on disk before their 250, signed, and
// handed to a server that takes everything. Beside it, in the same run with the same messages and the same server, Postfix with
// OpenDKIM does the same. We sign with two keys (RSA-2048 and Ed25519), record every event, and want a key at the door; OpenDKIM signs
// with one key. Both are asked over encrypted sessions.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"postrider/bench/measure"
)

func main() {
	during := flag.Duration("for", 8*time.Second, "how long messages are handed in at each turn")
	turns := flag.Int("turns", 3, "how many turns each server has, one after the other")
	concurrency := flag.Int("connections", 100, "connections to the receiving server")
	sessions := measure.Numbers{20, 100}
	flag.Var(&sessions, "sessions", "numbers of sessions that hand messages in")
	alone := flag.Bool("alone", false, "leave Postfix out")
	tags := flag.String("tags", "", "build tags of Postrider; give openssl here and to go run for the accelerated signer")
	profile := flag.String("profile", "", "file for a profile of the processor while a full queue is delivered; another, .end, is of all the way")
	sizes := measure.Numbers{1, 10, 100}
	flag.Var(&sizes, "kb", "sizes of the messages in kilobytes")
	bare := flag.Int("bare", 0, "only sign and send, to this port on loopback: what this program starts itself, to compare with")
	bareOurs := flag.Bool("bare-ours", false, "those who only sign and send use our signer, not crypto/rsa")
	drainOnly := flag.Bool("drain", false, "deliver from a full queue only")
	endOnly := flag.Bool("end", false, "measure all the way only, not from a full queue")
	measure.Main("delivery", func(ctx context.Context) error {
		o := options{*during, *turns, sessions, *concurrency, *alone, *drainOnly, *endOnly, *bareOurs, sizes, *tags, *profile}
		if *bare != 0 {
			return runBare(ctx, *bare, o)
		}
		return run(ctx, o)
	})
}

// options say what is measured.
type options struct {
	during      time.Duration
	turns       int
	sessions    measure.Numbers
	concurrency int
	alone       bool
	drainOnly   bool
	endOnly     bool
	bareOurs    bool
	kilobytes   measure.Numbers
	tags        string
	profile     string
}

// server is one of the two that are measured.
type server struct {
	name   string
	door   measure.SMTP
	cpu    func() time.Duration
	memory func() int64
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
	if !o.endOnly {
		if err := drain(ctx, home, sink, o); err != nil || o.drainOnly {
			return err
		}
	}
	ours, err := home.Serve("api,smtp,worker")
	if err != nil {
		return err
	}
	defer ours.Stop()
	servers := []server{{"Postrider", measure.SMTP{Address: ours.Text("submission"), Encrypted: true, Key: home.Key, From: "hello@acme.test"}, ours.CPU, ours.PeakMemory,
		func() error { return saveProfile(ours, o, ".end") }}}
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
	return compare(ctx, servers, sink, o)
}

func startPostfix(ctx context.Context, sinkPort, concurrency int) (server, func(), error) {
	signer, err := measure.StartOpenDKIM(ctx, "acme.test")
	if err != nil {
		return server{}, nil, err
	}
	settings := fmt.Sprintf("smtpd_milters = unix:%s\nrelayhost = [127.0.0.1]:%d\ndisable_dns_lookups = yes\n"+
		"default_destination_concurrency_limit = %d\ninitial_destination_concurrency = %d\nsmtp_destination_concurrency_limit = %d\n",
		signer.Socket, sinkPort, concurrency, concurrency, concurrency)
	postfix, err := measure.StartPostfix(ctx, settings+measure.OfferTLS)
	if err != nil {
		signer.Stop()
		return server{}, nil, err
	}
	return server{"Postfix", measure.SMTP{Address: postfix.Address, Encrypted: true, From: "hello@acme.test"},
			func() time.Duration { return postfix.CPU() + signer.CPU() },
			func() int64 { return postfix.Memory() + signer.Memory() },
			func() error { return nil }},
		func() { postfix.Stop(); signer.Stop() }, nil
}

// message returns messages of about so many kilobytes.
func message(kilobytes int) func(worker, n int) []byte {
	return measure.Message(kilobytes<<10, "hello@acme.test", "example.net")
}

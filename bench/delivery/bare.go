package main

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"net"
	"os"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"postrider/bench/measure"
	"postrider/mail/dkim"
	"postrider/mail/smtp"
	"postrider/world"
)

// startBare runs this program again as what is left without a database and a door: clients that only sign and send. They are a process of
// their own, as Postrider is, so that each can be paused while it is the other's turn.
func startBare(ctx context.Context, sink *measure.Sink, kilobytes int, o options) (*measure.Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return measure.Spawn(ctx, self, "-bare", strconv.Itoa(sink.Port), "-kb", strconv.Itoa(kilobytes), "-connections", strconv.Itoa(o.concurrency),
		"-bare-ours="+strconv.FormatBool(o.bareOurs))
}

// plainKey hides what kind of key it is, so that crypto/rsa signs with it, as in any program in Go, and nothing faster.
type plainKey struct{ *rsa.PrivateKey }

// runBare signs and sends until somebody ends it.
func runBare(ctx context.Context, port int, o options) error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	_, small, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	large := crypto.Signer(plainKey{key})
	if o.bareOurs {
		large = key
	}
	signers := []*dkim.Signer{dkim.NewSigner("acme.test", "r", large), dkim.NewSigner("acme.test", "e", small)}
	clients, ctx := errgroup.WithContext(ctx)
	for worker := range o.concurrency {
		clients.Go(func() error { return bareLoop(ctx, port, worker, message(o.kilobytes[0]), signers) })
	}
	return clients.Wait()
}

// bareLoop signs and sends for as long as it may.
func bareLoop(ctx context.Context, port, worker int, body func(worker, n int) []byte, signers []*dkim.Signer) error {
	conn, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return err
	}
	client := smtp.NewClient(conn, smtp.ClientConfig{Hello: "bench.test", Clock: world.SystemClock{}})
	defer client.Close()
	if err := client.Greet(ctx); err != nil {
		return err
	}
	for n := 0; ctx.Err() == nil; n++ {
		raw := bytes.TrimSuffix(body(worker, n), []byte(".\r\n"))
		var signed []byte
		for _, signer := range signers {
			signature, err := signer.Sign(raw, time.Now())
			if err != nil {
				return err
			}
			signed = append(signed, signature...)
		}
		signed = append(signed, raw...)
		envelope := smtp.Envelope{From: "b@acme.test", To: []string{"user@example.net"}, Size: int64(len(signed))}
		if _, err := client.Send(ctx, envelope, bytes.NewReader(signed)); err != nil {
			return err
		}
	}
	return ctx.Err()
}

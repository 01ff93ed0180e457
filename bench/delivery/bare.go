package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"postrider/bench/measure"
	"postrider/mail/dkim"
	"postrider/mail/smtp"
	"postrider/world"
)

// bare is what is left if there is no database and no door: clients that only sign and send. It is what the rest can be compared with.
type bare struct {
	sink    *measure.Sink
	signers []*dkim.Signer
	options options
}

func newBare(sink *measure.Sink, o options) (*bare, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	_, small, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	return &bare{sink, []*dkim.Signer{dkim.NewSigner("acme.test", "r", key), dkim.NewSigner("acme.test", "e", small)}, o}, nil
}

// rate is how many messages a second they send.
func (b *bare) rate(ctx context.Context, kilobytes int) float64 {
	within, done := context.WithTimeout(ctx, b.options.during/2)
	defer done()
	var sent atomic.Int64
	var all sync.WaitGroup
	start := time.Now()
	for worker := range b.options.concurrency {
		all.Go(func() { bareLoop(within, b.sink.Port, worker, message(kilobytes), b.signers, &sent) })
	}
	all.Wait()
	return float64(sent.Load()) / time.Since(start).Seconds()
}

// bareLoop signs and sends until the time is over.
func bareLoop(ctx context.Context, port, worker int, body func(worker, n int) []byte, signers []*dkim.Signer, sent *atomic.Int64) {
	conn, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return
	}
	client := smtp.NewClient(conn, smtp.ClientConfig{Hello: "bench.test", Clock: world.SystemClock{}})
	defer client.Close()
	if client.Greet(ctx) != nil {
		return
	}
	for n := 0; ctx.Err() == nil; n++ {
		raw := bytes.TrimSuffix(body(worker, n), []byte(".\r\n"))
		var signed []byte
		for _, signer := range signers {
			signature, err := signer.Sign(raw, time.Now())
			if err != nil {
				return
			}
			signed = append(signed, signature...)
		}
		signed = append(signed, raw...)
		envelope := smtp.Envelope{From: "b@acme.test", To: []string{"user@example.net"}, Size: int64(len(signed))}
		if result, err := client.Send(ctx, envelope, bytes.NewReader(signed)); err != nil || !result.Recipients[0].Accepted {
			return
		}
		sent.Add(1)
	}
}

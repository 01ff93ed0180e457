package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"fmt"
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

// bareLoops measures what is left if there is no database and no door: clients that only sign and send. It is what the rest can
// be compared with. It returns the rate of each size.
func bareLoops(ctx context.Context, sink *measure.Sink, o options) (rates map[string]float64, err error) {
	rates = map[string]float64{}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	_, small, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	signers := []*dkim.Signer{dkim.NewSigner("acme.test", "r", key), dkim.NewSigner("acme.test", "e", small)}
	fmt.Printf("clients that only sign and send, %d at once, without a database\n\n", o.concurrency)
	for _, size := range o.kilobytes {
		kilobytes, err := strconv.Atoi(size)
		if err != nil {
			return nil, err
		}
		within, done := context.WithTimeout(ctx, o.during)
		var sent atomic.Int64
		var all sync.WaitGroup
		start := time.Now()
		for worker := range o.concurrency {
			all.Go(func() { bareLoop(within, sink.Port, worker, message(kilobytes), signers, &sent) })
		}
		all.Wait()
		done()
		rates[size] = float64(sent.Load()) / time.Since(start).Seconds()
		fmt.Printf("%-10s %-10s %12s %12.0f\n", size+" KB", "bare", "", rates[size])
	}
	fmt.Println()
	return rates, nil
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

package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"postrider/bench/measure"
)

// drain measures delivery alone: a queue that was filled before, until it is empty, against clients that only sign and send.
func drain(ctx context.Context, h *measure.Home, sink *measure.Sink, bare map[string]float64, o options) error {
	fmt.Printf("from a full queue, %d connections\n\n%-10s %-10s %12s %12s %14s %9s\n", o.concurrency, "", "", "queued", "delivered/s", "CPU s/1,000", "of bare")
	for _, size := range o.kilobytes {
		kilobytes, err := strconv.Atoi(size)
		if err != nil {
			return err
		}
		queued, err := fill(ctx, h, kilobytes, o)
		if err != nil {
			return err
		}
		sink.Reset()
		worker, err := h.Serve("api,worker")
		if err != nil {
			return err
		}
		within, done := context.WithTimeout(ctx, drainWithin)
		start, before := time.Now(), sink.Taken()
		cpu := worker.CPU()
		profiled := make(chan error, 1)
		go func() { profiled <- saveProfile(worker, o, "") }()
		last, err := sink.Await(within, queued)
		done()
		if err := errors.Join(err, <-profiled); err != nil {
			return err
		}
		delivered := int64(queued) - before
		rate := float64(delivered) / last.Sub(start).Seconds()
		fmt.Printf("%-10s %-10s %12d %12.0f %14.2f %8.0f%%\n", size+" KB", "Postrider", queued, rate, (worker.CPU()-cpu).Seconds()*1000/float64(delivered), 100*rate/bare[size])
		if err := worker.Stop(); err != nil {
			return err
		}
	}
	fmt.Println()
	return nil
}

// saveProfile watches the program for as long as messages are handed in, if it is wanted.
func saveProfile(p *measure.Process, o options, suffix string) error {
	if o.profile == "" {
		return nil
	}
	return p.SaveProfile(fmt.Sprintf("profile?seconds=%.0f", o.during.Seconds()), o.profile+suffix)
}

// fill puts messages into the queue while nobody delivers.
func fill(ctx context.Context, h *measure.Home, kilobytes int, o options) (int, error) {
	door, err := h.Serve("api,smtp")
	if err != nil {
		return 0, err
	}
	taken, err := measure.LoadSMTP(ctx, measure.SMTP{Address: door.Text("submission"), Key: h.Key, From: "hello@acme.test"}, o.sessions, o.during/2, message(kilobytes))
	if err != nil {
		return 0, err
	}
	return taken.Count, door.Stop()
}

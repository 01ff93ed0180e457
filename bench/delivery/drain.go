package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"postrider/bench/measure"
)

// drain measures delivery alone: a queue that was filled before, until it is empty, against clients that only sign and send. Those are
// measured right before and right after it: what a shared machine has to give changes within seconds.
func drain(ctx context.Context, h *measure.Home, sink *measure.Sink, o options) error {
	loop, err := newBare(sink, o)
	if err != nil {
		return err
	}
	fmt.Printf("from a full queue, %d connections, and clients that only sign and send, before and after\n\n%-10s %12s %12s %14s %18s %9s\n", o.concurrency, "",
		"queued", "delivered/s", "CPU s/1,000", "bare/s", "of bare")
	for _, size := range o.kilobytes {
		kilobytes, err := strconv.Atoi(size)
		if err != nil {
			return err
		}
		queued, err := fill(ctx, h, kilobytes, o)
		if err != nil {
			return err
		}
		before := loop.rate(ctx, kilobytes)
		emptied, err := empty(ctx, h, sink, queued, o)
		if err != nil {
			return err
		}
		after := loop.rate(ctx, kilobytes)
		fmt.Printf("%-10s %12d %12.0f %14.2f %8.0f, %8.0f %8.0f%%\n", size+" KB", queued, emptied.rate, emptied.cpu, before, after, 100*emptied.rate/((before+after)/2))
	}
	fmt.Println()
	return nil
}

// emptied is how a full queue was delivered: messages a second, and seconds of the processor for a thousand.
type emptied struct{ rate, cpu float64 }

func empty(ctx context.Context, h *measure.Home, sink *measure.Sink, queued int, o options) (emptied, error) {
	sink.Reset()
	worker, err := h.Serve("api,worker")
	if err != nil {
		return emptied{}, err
	}
	within, done := context.WithTimeout(ctx, drainWithin)
	defer done()
	start, before, cpu := time.Now(), sink.Taken(), worker.CPU()
	profiled := make(chan error, 1)
	go func() { profiled <- saveProfile(worker, o, "") }()
	last, err := sink.Await(within, queued)
	if err := errors.Join(err, <-profiled); err != nil {
		return emptied{}, err
	}
	delivered := float64(int64(queued) - before)
	return emptied{delivered / last.Sub(start).Seconds(), (worker.CPU() - cpu).Seconds() * 1000 / delivered}, worker.Stop()
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

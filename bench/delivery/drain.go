package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"postrider/bench/measure"
)

// drain measures delivery alone: a queue that was filled before, against clients that only sign and send. The two take turns of two seconds,
// because what a shared machine has to give changes within seconds.
func drain(ctx context.Context, h *measure.Home, sink *measure.Sink, o options) error {
	fmt.Printf("from a full queue, %d connections, by turns with clients that only sign and send\n\n%-10s %9s %12s %8s %9s   %s\n", o.concurrency, "",
		"queued", "delivered/s", "bare/s", "of bare", "CPU s/1,000: both, of bare")
	for _, kilobytes := range o.kilobytes {
		queued, err := fill(ctx, h, kilobytes, o)
		if err != nil {
			return err
		}
		ours, bare, err := byTurns(ctx, h, sink, kilobytes, queued, o)
		if err != nil {
			return err
		}
		fmt.Printf("%-10s %9d %12.0f %8.0f %8.0f%%   %.2f, %.2f, %.0f%%\n", fmt.Sprintf("%d KB", kilobytes), queued, ours.rate(), bare.rate(), 100*ours.rate()/bare.rate(),
			ours.cpu(), bare.cpu(), 100*bare.cpu()/ours.cpu())
	}
	fmt.Println()
	return nil
}

const (
	// enough messages last for several turns of a machine that delivers fast.
	enough = 16_000
	// mostRounds bounds how often one tries to have enough.
	mostRounds = 8
	// fillingSessions hand in what fills the queue.
	fillingSessions = 100
)

// fill puts messages into the queue while nobody delivers, for as long as it was asked to, and again until there are enough.
func fill(ctx context.Context, h *measure.Home, kilobytes int, o options) (queued int, err error) {
	door, err := h.Serve("api,smtp")
	if err != nil {
		return 0, err
	}
	server := measure.SMTP{Address: door.Text("submission"), Encrypted: true, Key: h.Key, From: "hello@acme.test"}
	for round := 0; round < mostRounds && queued < enough; round++ {
		taken, err := measure.LoadSMTP(ctx, server, fillingSessions, o.during/2, message(kilobytes))
		if err != nil {
			return 0, err
		}
		queued += taken.Count
	}
	return queued, door.Stop()
}

// saveProfile watches the program for as long as messages are handed in, if it is wanted.
func saveProfile(p *measure.Process, o options, suffix string) error {
	if o.profile == "" {
		return nil
	}
	return p.SaveProfile(fmt.Sprintf("profile?seconds=%.0f", o.during.Seconds()), o.profile+suffix)
}

// byTurns lets Postrider and the bare clients work in turns until the queue is all but empty.
func byTurns(ctx context.Context, h *measure.Home, sink *measure.Sink, kilobytes, queued int, o options) (ours, bare turns, err error) {
	ctx, done := context.WithTimeout(ctx, drainWithin)
	defer done()
	loop, err := startBare(ctx, sink, kilobytes, o)
	if err != nil {
		return ours, bare, err
	}
	defer loop.Kill()
	if err := loop.Pause(); err != nil {
		return ours, bare, err
	}
	worker, err := h.Serve("api,worker")
	if err != nil {
		return ours, bare, err
	}
	defer worker.Kill() // unless it has ended: a paused program cannot be asked to
	sink.Reset()
	if err := awaitFollowers(ctx, worker); err != nil {
		return ours, bare, err
	}
	profiled := make(chan error, 1)
	go func() { profiled <- saveProfile(worker, o, "") }()
	if err := worker.Pause(); err != nil {
		return ours, bare, err
	}
	left, most := int64(queued)-sink.Taken(), int64(0)
	for warm := false; left > 2*most && ctx.Err() == nil; warm = true {
		other, err := takeTurn(loop, sink)
		if err != nil {
			return ours, bare, err
		}
		own, err := takeTurn(worker, sink)
		if err != nil {
			return ours, bare, err
		}
		left, most = left-own.messages, max(most, own.messages)
		if warm {
			ours.add(own)
			bare.add(other)
		}
	}
	if ours.messages == 0 {
		return ours, bare, fmt.Errorf("%d messages are too few to take turns: give a longer -for", queued)
	}
	if err := worker.Resume(); err != nil {
		return ours, bare, err
	}
	if err := errors.Join(<-profiled, sink.AwaitQuiet(ctx, oneTurn)); err != nil {
		return ours, bare, err
	}
	return ours, bare, worker.Stop()
}

// awaitFollowers waits until the program has told the log and the statistics of the messages that were handed in: that is work of the
// door, of which delivery is to bear nothing.
func awaitFollowers(ctx context.Context, p *measure.Process) error {
	for ctx.Err() == nil {
		behind, err := p.Metric(ctx, "postrider_follower_behind")
		if err != nil {
			return err
		}
		if behind < caughtUp {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return ctx.Err()
}

// caughtUp is how far behind the followers together are while mail goes out at full speed.
const caughtUp = 3000

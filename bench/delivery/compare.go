package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"postrider/bench/measure"
)

// drainWithin is how long the last message may take after it was handed in.
const drainWithin = 5 * time.Minute

// compare measures the servers by turns: on a machine that is faster at one minute than at the next, both have of either.
func compare(ctx context.Context, servers []server, sink *measure.Sink, o options) error {
	fmt.Printf("delivery: %d turns of %s each, %d cores shared with the load generator and the sink\n\n", o.turns, o.during, runtime.NumCPU())
	fmt.Printf("%-8s %-8s %-10s %12s %12s %14s %10s   %s\n", "sessions", "", "", "taken/s", "delivered/s", "CPU s/1,000", "memory", "ratio, of the turns")
	for _, sessions := range o.sessions {
		for _, kilobytes := range o.kilobytes {
			results := make([]result, len(servers))
			for range o.turns {
				for i, s := range servers {
					if err := results[i].turn(ctx, s, sink, sessions, kilobytes, o.during); err != nil {
						return fmt.Errorf("%s: %w", s.name, err)
					}
				}
			}
			for i, s := range servers {
				fmt.Printf("%-8d %-8s %-10s %s", sessions, fmt.Sprintf("%d KB", kilobytes), s.name, results[i])
				if i > 0 {
					fmt.Printf("   %s", results[0].comparedWith(results[i]))
				}
				fmt.Println()
			}
		}
	}
	return nil
}

// result is what the turns of a server came to.
type result struct {
	count                     int
	handingIn, delivered, cpu time.Duration
	// memory is the most that was held.
	memory int64
	// rates are those of the turns, delivered.
	rates []float64
}

func (r *result) turn(ctx context.Context, s server, sink *measure.Sink, sessions, kilobytes int, during time.Duration) error {
	body := message(kilobytes)
	within, done := context.WithTimeout(ctx, during+drainWithin)
	defer done()
	sink.Reset()
	warm, err := measure.LoadSMTP(ctx, s.door, sessions, during/8, body)
	if err != nil {
		return err
	}
	if _, err := sink.Await(within, warm.Count); err != nil {
		return err
	}
	sink.Reset()
	before, start := s.cpu(), time.Now()
	profiled := make(chan error, 1)
	go func() { profiled <- s.profile() }()
	taken, err := measure.LoadSMTP(ctx, s.door, sessions, during, body)
	if err != nil {
		return err
	}
	last, err := sink.Await(within, taken.Count)
	if err := errors.Join(err, <-profiled); err != nil {
		return err
	}
	r.memory = max(r.memory, s.memory())
	r.count += taken.Count
	r.handingIn += taken.Took
	r.delivered += last.Sub(start)
	r.cpu += s.cpu() - before
	r.rates = append(r.rates, float64(taken.Count)/last.Sub(start).Seconds())
	return nil
}

func (r result) rate() float64 { return float64(r.count) / r.delivered.Seconds() }

func (r result) String() string {
	return fmt.Sprintf("%12.0f %12.0f %14.2f %7.0f MB", float64(r.count)/r.handingIn.Seconds(), r.rate(), r.cpu.Seconds()*1000/float64(max(r.count, 1)), float64(r.memory)/1e6)
}

func (r result) comparedWith(other result) string {
	return measure.Ratio(r.rate()/other.rate(), r.rates, other.rates)
}

package main

import (
	"time"

	"postrider/bench/measure"
)

// turns are what one of two programs did while it was its turn.
type turns struct {
	messages     int64
	took, worked time.Duration
}

// rate is how many messages a second it sent.
func (t turns) rate() float64 { return float64(t.messages) / t.took.Seconds() }

// cpu is how many seconds of the processor a thousand messages cost it.
func (t turns) cpu() float64 { return t.worked.Seconds() * 1000 / float64(max(t.messages, 1)) }

func (t *turns) add(turn turns) {
	t.messages += turn.messages
	t.took += turn.took
	t.worked += turn.worked
}

const (
	oneTurn = 2 * time.Second
	// settled is when the sink has taken what a paused program had sent already.
	settled = 10 * time.Millisecond
)

// takeTurn lets a paused program work for its turn.
func takeTurn(p *measure.Process, sink *measure.Sink) (turns, error) {
	sink.Reset()
	start, cpu := time.Now(), p.CPU()
	if err := p.Resume(); err != nil {
		return turns{}, err
	}
	time.Sleep(oneTurn)
	if err := p.Pause(); err != nil {
		return turns{}, err
	}
	took := time.Since(start)
	time.Sleep(settled)
	return turns{sink.Taken(), took, p.CPU() - cpu}, nil
}

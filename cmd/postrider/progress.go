package main

import (
	"fmt"
	"os"
	"time"
)

// progressLine shows how far a long command has come: to a person in one line, to a program in one line for each thing that is done.
type progressLine struct {
	screen  terminal
	last    string
	shownAt time.Time
}

func newProgressLine() *progressLine { return &progressLine{screen: newTerminal(os.Stderr)} }

// showEvery keeps a terminal readable.
const showEvery = 100 * time.Millisecond

func (p *progressLine) tell(what string, done, total int64) {
	if p.screen.person {
		if now := time.Now(); what != p.last || done == total || now.Sub(p.shownAt) > showEvery {
			p.shownAt = now
			p.screen.progress("%s: %d of %d", what, done, total)
		}
	} else if what != p.last {
		fmt.Fprintf(p.screen.file, "%s: %d\n", what, total)
	}
	p.last = what
}

func (p *progressLine) end() { p.screen.done() }

package queue

import (
	"context"
	"time"
)

// Worker is something that has to be done again and again. A step does one bounded piece of it; the program's loop, or the
// simulator, calls the steps.
type Worker struct {
	Name string
	// Step does a piece of work and tells whether there may be more right away.
	Step func(ctx context.Context) (busy bool, err error)
	// Topics are the news of the database that wake an idle worker early; Wake is news of its own. Either may be nil.
	Topics []string
	Wake   <-chan struct{}
	// Every is the longest an idle worker rests between two looks.
	Every time.Duration
	// Gather is how long a worker that has done all there was leaves news alone: what comes meanwhile is done together.
	Gather time.Duration
	// Gentle workers do what can wait, such as removing what is old: after a step that found something they rest for as long as it
	// took, so that what customers wait for comes between.
	Gentle bool
	// Next tells when work is due, for workers whose work waits for a time. Nil means they only go by Topics and Every.
	Next func(ctx context.Context) (due time.Time, ok bool, err error)
}

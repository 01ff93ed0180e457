package main

import (
	"context"
	"errors"
	"time"

	"postrider/app"
	"postrider/world"
)

// stopWithin is more than an orderly stop takes and less than supervisors wait before they kill: deploy/ gives 45 seconds.
const stopWithin = 40 * time.Second

var errStuck = errors.New("could not stop in order, as when the database does not answer; what was under way is done again after the next start")

// runServer serves until ctx ends, and then waits for the stop no longer than it may take.
func runServer(ctx context.Context, w world.World, config app.Config) error {
	ended := make(chan error, 1)
	go func() { ended <- app.Run(ctx, w, config) }()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
		select {
		case err = <-ended:
		case <-time.After(stopWithin):
			return errStuck
		}
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil // it was told to stop before it had begun
	}
	return err
}

package app

import (
	"context"
	"errors"
	"time"

	"postrider/platform/db"
	"postrider/platform/queue"
)

const (
	firstPause  = 100 * time.Millisecond
	longestRest = 10 * time.Second
	// longestLull bounds the rest of a gentle worker, because clocks jump.
	longestLull = 2 * time.Second
)

// work runs a worker until the context ends: step after step while there is work, then a rest until there is news, something
// falls due, or enough time has passed. A step that fails is tried again after a pause that grows.
func (a *App) work(ctx context.Context, w queue.Worker) {
	news := a.subscribe(ctx, w.Topics)
	pause := firstPause
	for ctx.Err() == nil {
		begun := a.World.Clock.Now()
		busy, err := a.step(ctx, w)
		if err != nil {
			if ctx.Err() != nil {
				return
			}
			a.World.Log.Error("worker step failed", "worker", w.Name, "error", err)
			a.rest(ctx, w, nil, pause)
			pause = min(2*pause, longestRest)
			continue
		}
		pause = firstPause
		switch {
		case !busy:
			if w.Gather > 0 {
				a.rest(ctx, w, nil, w.Gather)
			}
			select {
			case <-news: // which makes it needless to look ahead
			default:
				a.rest(ctx, w, news, a.untilNext(ctx, w))
			}
		case w.Gentle:
			a.rest(ctx, w, nil, min(a.World.Clock.Now().Sub(begun), longestLull))
		}
	}
}

// subscribe joins the news of several topics into one channel.
func (a *App) subscribe(ctx context.Context, topics []string) <-chan struct{} {
	joined := make(chan struct{}, 1)
	for _, topic := range topics {
		news, stop := a.DB.Subscribe(topic)
		go func() {
			defer stop()
			for {
				select {
				case <-ctx.Done():
					return
				case <-news:
				}
				select {
				case joined <- struct{}{}:
				default:
				}
			}
		}()
	}
	return joined
}

func (a *App) untilNext(ctx context.Context, w queue.Worker) time.Duration {
	if w.Next == nil {
		return w.Every
	}
	due, ok, err := w.Next(ctx)
	if err != nil && ctx.Err() == nil && !errors.Is(err, db.ErrUnavailable) {
		a.World.Log.Error("worker could not look ahead", "worker", w.Name, "error", err)
	}
	if err != nil || !ok {
		return w.Every
	}
	// What is due already could not be taken; a short rest keeps that from becoming a busy loop.
	return min(w.Every, max(due.Sub(a.World.Clock.Now()), 10*time.Millisecond))
}

func (a *App) rest(ctx context.Context, w queue.Worker, news <-chan struct{}, most time.Duration) {
	over, stop := a.World.Clock.After(most)
	defer stop()
	select {
	case <-ctx.Done():
	case <-news:
	case <-w.Wake:
	case <-over:
	}
}

package api

import (
	"context"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Streamed is an answer that never ends by itself: server-sent events. It is written bit by bit until the caller goes or the
// server stops.
type Streamed interface {
	// Stream writes events until ctx ends or out fails; every write is sent at once.
	Stream(ctx context.Context, out io.Writer) error
}

// streamPatience is how long a reader may take to accept what is written.
const streamPatience = 30 * time.Second

func (x *exchange) stream(answer Streamed) {
	header := x.w.Header()
	header.Set("Content-Type", "text/event-stream; charset=utf-8")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Accel-Buffering", "no") // what a proxy in between must not do
	x.status = http.StatusOK
	x.w.WriteHeader(x.status)
	if x.r.Method == http.MethodHead {
		return // nothing that is written would be seen, and the connection would be held for it
	}
	out := &flushed{w: x.w, control: http.NewResponseController(x.w), now: x.server.config.World.Clock.Now}
	if out.flush() != nil {
		return
	}
	ctx, done := context.WithCancel(x.r.Context())
	var watching sync.WaitGroup
	defer watching.Wait() // it asks the database, which is closed after the last answer
	defer done()
	defer context.AfterFunc(x.server.stopping, done)()
	watching.Go(func() { x.watch(ctx, done) })
	_ = answer.Stream(ctx, out) // the reader has gone, or we are about to
}

// recheckEvery is how soon a caller who may no longer listen is cut off.
const recheckEvery = time.Second

// watch ends a stream when its key is revoked, its session ends or a right is lost.
func (x *exchange) watch(ctx context.Context, end func()) {
	for {
		due, stop := x.server.config.World.Clock.After(recheckEvery)
		select {
		case <-ctx.Done():
			stop()
			return
		case <-due:
		}
		again := &exchange{server: x.server, w: x.w, r: x.r.WithContext(ctx), endpoint: x.endpoint, caller: Caller{IP: x.caller.IP}}
		// What is told follows from the rights it began with, so a change of them ends it, too; the reader comes back with the new ones.
		if again.authenticate() != nil || again.authorise() != nil || !slices.Equal(again.caller.Scopes, x.caller.Scopes) {
			end()
			return
		}
	}
}

// flushed sends every write at once and gives up on a reader that does not read.
type flushed struct {
	w       io.Writer
	control *http.ResponseController
	now     func() time.Time
}

func (f *flushed) Write(p []byte) (int, error) {
	_ = f.control.SetWriteDeadline(f.now().Add(streamPatience)) // a writer without deadlines has a reader that reads
	n, err := f.w.Write(p)
	if err == nil {
		err = f.flush()
	}
	return n, err
}

func (f *flushed) flush() error { return f.control.Flush() }

// EndStreams ends all answers that would not end by themselves, for a server that stops.
func (s *Server) EndStreams() { s.stop() }

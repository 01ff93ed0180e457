package app

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// addHealth answers monitors: whether the process lives, and whether it can take mail.
func (s *server) addHealth(mux *http.ServeMux) {
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if err := s.readiness.check(r.Context(), s.app); err != nil {
			http.Error(w, "not ready", http.StatusServiceUnavailable)
			return
		}
		w.WriteHeader(http.StatusOK)
	})
}

const (
	// readyWithin is how long the database may take to take a write before we call ourselves unready.
	readyWithin = 5 * time.Second
	// readyFor is how long an answer is good for others who ask: the public may, and each look is a write.
	readyFor = time.Second
)

// readiness is whether mail can be accepted, as it was found last.
type readiness struct {
	mu    sync.Mutex
	err   error     // guarded by mu
	until time.Time // guarded by mu
}

// check tells whether the database takes a write. Those who ask together are told together.
func (r *readiness) check(ctx context.Context, a *App) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := a.World.Clock.Now(); now.Before(r.until) && now.After(r.until.Add(-readyFor)) {
		return r.err
	}
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), readyWithin)
	defer done()
	err := a.DB.CheckWritable(ctx)
	switch {
	case err != nil && r.err == nil: // told once, however often it is asked
		a.World.Log.Error("not ready: the database does not take writes", "error", err)
	case err == nil && r.err != nil:
		a.World.Log.Info("ready again: the database takes writes")
	}
	r.err, r.until = err, a.World.Clock.Now().Add(readyFor)
	return r.err
}

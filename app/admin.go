package app

import (
	"context"
	"net/http"
	"net/http/pprof"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"postrider/product/email"
)

// publicHandler answers on the main address: health, the sandbox in dev mode, and the API with the dashboard for
// everything else.
func (s *server) publicHandler() http.Handler {
	mux := http.NewServeMux()
	s.addHealth(mux)
	if s.config.Dev != nil {
		mux.Handle("/sandbox", s.config.Dev.sandbox.Handler())
		mux.Handle("/sandbox/", s.config.Dev.sandbox.Handler())
	}
	mux.HandleFunc("GET "+email.FilesPath, s.app.ServeFile)
	mux.HandleFunc("GET "+email.SharedPath, s.app.Emails.ServeShared)
	// The API does its own routing and its own answers for what it does not know; the mux must not clean its paths by redirect.
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := mux.Handler(r); pattern == "" {
			s.app.API.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// adminHandler answers operators and monitors; its address is not for the public.
func (s *server) adminHandler() http.Handler {
	mux := http.NewServeMux()
	s.addHealth(mux)
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.app.Metrics(), promhttp.HandlerOpts{}))
	mux.Handle("/delivery/", s.app.Delivery.OperatorHandler())
	mux.Handle("GET /operator/mail", s.app.Inbound.OperatorHandler())
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}

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
	err   error
	until time.Time
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

package app

import (
	"context"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/product/email"
)

// publicHandler answers on the main address: health, the sandbox in dev mode, and the API for everything else.
func (s *server) publicHandler() http.Handler {
	mux := http.NewServeMux()
	s.addHealth(mux)
	if s.config.Dev != nil {
		mux.Handle("/sandbox", s.config.Dev.sandbox.Handler())
		mux.Handle("/sandbox/", s.config.Dev.sandbox.Handler())
	}
	mux.HandleFunc("GET "+email.FilesPath, s.app.ServeFile)
	mux.HandleFunc("GET "+email.SharedPath, s.app.Emails.ServeShared)
	mux.Handle("/{$}", landing(s.config.Dev != nil))
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
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.metrics(), promhttp.HandlerOpts{}))
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
		if err := s.app.Ready(r.Context()); err != nil {
			http.Error(w, "not ready", http.StatusServiceUnavailable)
			return
		}
		w.WriteHeader(http.StatusOK)
	})
}

// readyWithin is how long the database may take to take a write before we call ourselves unready.
const readyWithin = 5 * time.Second

// Ready tells whether mail can be accepted: whether the database takes a write.
func (a *App) Ready(ctx context.Context) error {
	ctx, done := context.WithTimeout(ctx, readyWithin)
	defer done()
	return a.DB.CheckWritable(ctx)
}

func (s *server) metrics() *prometheus.Registry {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "postrider_db_writes_total", Help: "Write transactions that were committed."},
			func() float64 { return float64(s.app.DB.Stats().Writes) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "postrider_db_commits_total", Help: "Commits of the embedded database, each with one fsync."},
			func() float64 { return float64(s.app.DB.Stats().Commits) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "postrider_mail_queue", Help: "Recipients that wait to be mailed or are being mailed."}, s.app.mailQueue),
	)
	return registry
}

func (a *App) mailQueue() float64 {
	depth := int64(-1)
	_ = a.DB.Read(context.Background(), func(tx *db.Tx) (err error) { // a monitor sees -1 if the database is away
		depth, err = queue.Depth(tx, email.Lane)
		return err
	})
	return float64(depth)
}

package app

import (
	"net/http"
	"net/http/pprof"

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

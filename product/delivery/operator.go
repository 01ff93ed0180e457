package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"postrider/product/delivery/internal/shape"
)

// maxOrderBytes bounds what an operator may send.
const maxOrderBytes = 64 << 10

// OperatorHandler shows operators the ways of mail and lets them stop, resume and adjust them. It belongs on an address that is
// not for the public. Times are in UTC.
//
//	GET  /delivery/paths
//	POST /delivery/paths/suspend   {"site": "google", "for": "2h", "reason": "…"}
//	POST /delivery/paths/resume    {"site": "google"}
//	POST /delivery/paths/adjust    {"site": "google", "for": "24h", "limits": {"max_connections": 2}}
//	GET  /delivery/sources
//	POST /delivery/sources/pause   {"source": "mx1"}
//	POST /delivery/sources/resume  {"source": "mx1"}, or with "site" to lift a ban there
func (s *Service) OperatorHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /delivery/paths", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, s.explain()) })
	for name, act := range map[string]func(time.Time, operatorOrder) error{"suspend": s.suspend, "resume": s.resume, "adjust": s.adjust} {
		mux.HandleFunc("POST /delivery/paths/"+name, func(w http.ResponseWriter, r *http.Request) { s.obey(w, r, act) })
	}
	mux.HandleFunc("GET /delivery/sources", func(w http.ResponseWriter, _ *http.Request) { s.writeSources(w) })
	mux.HandleFunc("POST /delivery/sources/pause", func(w http.ResponseWriter, r *http.Request) {
		s.changeSource(w, r, func(o operatorOrder) error { return s.pauseSource(o.Source, true) })
	})
	mux.HandleFunc("POST /delivery/sources/resume", func(w http.ResponseWriter, r *http.Request) {
		s.changeSource(w, r, func(o operatorOrder) error {
			if o.Site != "" {
				return s.liftBan(o.path())
			}
			return s.pauseSource(o.Source, false)
		})
	})
	return mux
}

// operatorOrder is what an operator wants.
type operatorOrder struct {
	// Source and Site name the path, as GET shows them; without a source it is that of this node.
	Source string     `json:"source"`
	Site   shape.Site `json:"site"`
	// Tenant limits the order to the mail of one workspace or managed customer.
	Tenant string `json:"tenant"`
	// For or Until says how long it holds.
	For    string    `json:"for"`
	Until  time.Time `json:"until"`
	Reason string    `json:"reason"`
	// Limits are for adjust. None take the adjusted ones back.
	Limits shape.Limits `json:"limits"`
}

func (o operatorOrder) path() shape.Path { return shape.Path{Source: o.Source, Site: o.Site} }

var (
	errNothing = errors.New("nothing holds this path back; see GET /delivery/paths for those that are held")
	errNoSite  = errors.New("site is required; see GET /delivery/paths for the names")
	errNoTime  = errors.New(`say how long it holds: "for" like "2h", or "until" as an RFC 3339 time`)
)

type pathList struct {
	Node string            `json:"node"`
	Now  time.Time         `json:"now"`
	Held int               `json:"held"`
	Data []shape.PathState `json:"data"`
}

func (s *Service) explain() pathList {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now().UTC()
	return pathList{Node: s.config.Node, Now: now, Held: len(s.held), Data: s.shaper.Explain(now)}
}

const notStored = "It is done, but could not be stored: a restart would forget it. Try again."

// obey does what an operator wants, and answers once it is sure to survive a crash.
func (s *Service) obey(w http.ResponseWriter, r *http.Request, act func(time.Time, operatorOrder) error) {
	order, err := s.readOrder(r)
	if err == nil && order.Site == "" {
		err = errNoSite
	}
	if err == nil {
		s.mu.Lock()
		err = act(s.now(), order)
		s.mu.Unlock()
	}
	if err != nil {
		writeJSON(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
		return
	}
	s.world.Log.Warn("operator changed a path", "do", r.URL.Path, "source", order.Source, "site", order.Site, "tenant", order.Tenant, "reason", order.Reason)
	s.news()
	if _, err := s.saveState(context.WithoutCancel(r.Context())); err != nil {
		s.world.Log.Error("state of delivery not saved", "error", err)
		writeJSON(w, http.StatusServiceUnavailable, map[string]string{"error": notStored})
		return
	}
	writeJSON(w, http.StatusOK, s.explain())
}

func (s *Service) readOrder(r *http.Request) (operatorOrder, error) {
	var o operatorOrder
	decoder := json.NewDecoder(io.LimitReader(r.Body, maxOrderBytes))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&o); err != nil {
		return o, fmt.Errorf("the body is not as expected: %w", err)
	}
	if o.Source == "" {
		o.Source = s.config.Source
	}
	if o.For != "" {
		d, err := time.ParseDuration(o.For)
		if err != nil {
			return o, errNoTime
		}
		o.Until = s.now().Add(d)
	}
	return o, nil
}

// suspend stops a path. The caller holds mu, here and below.
func (s *Service) suspend(now time.Time, o operatorOrder) error {
	if o.Until.IsZero() {
		return errNoTime
	}
	return s.shaper.Suspend(now, o.path(), o.Tenant, o.Reason, o.Until)
}

func (s *Service) resume(now time.Time, o operatorOrder) error {
	if !s.shaper.Resume(now, o.path(), o.Tenant) {
		return errNothing
	}
	return nil
}

func (s *Service) adjust(now time.Time, o operatorOrder) error {
	if o.Limits == (shape.Limits{}) {
		if !s.shaper.Readjust(now, o.path()) {
			return errNothing
		}
		return nil
	}
	if o.Until.IsZero() {
		return errNoTime
	}
	return s.shaper.Adjust(now, o.path(), o.Limits, o.Reason, o.Until)
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // whoever asked has gone
}

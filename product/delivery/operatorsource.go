package delivery

import (
	"context"
	"net/http"
)

func (s *Service) writeSources(w http.ResponseWriter) {
	writeJSON(w, http.StatusOK, map[string]any{"node": s.config.Node, "data": s.explainSources()})
}

// changeSource does what an operator wants of a source, and answers once it is sure to survive a crash.
func (s *Service) changeSource(w http.ResponseWriter, r *http.Request, act func(operatorOrder) error) {
	order, err := s.readOrder(r)
	if err == nil {
		err = act(order)
	}
	if err != nil {
		writeJSON(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
		return
	}
	s.world.Log.Warn("operator changed a source", "do", r.URL.Path, "source", order.Source, "site", order.Site)
	s.news()
	for _, save := range []func(context.Context) (bool, error){s.saveSources, s.saveState} {
		if _, err := save(context.WithoutCancel(r.Context())); err != nil {
			s.world.Log.Error("state of the sources not saved", "error", err)
			writeJSON(w, http.StatusServiceUnavailable, map[string]string{"error": notStored})
			return
		}
	}
	s.writeSources(w)
}

package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"postrider/mail/address"
)

const (
	// maxRequestBytes fits the largest set of records.
	maxRequestBytes = 1 << 20
	// usualLimit and maxLimit are how many messages one answer holds.
	usualLimit = 100
	maxLimit   = 1000
)

// Handler returns the doors to the sandbox, all under /sandbox. They have no lock, so they belong on loopback; what a foreign
// web page makes a browser send is refused, and what comes for a name that a stranger could own.
func (s *Sandbox) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /sandbox", s.servePage)
	mux.HandleFunc("GET /sandbox/dns", s.listRecords)
	mux.HandleFunc("PUT /sandbox/dns", s.putRecords)
	mux.HandleFunc("DELETE /sandbox/dns", s.deleteRecords)
	mux.HandleFunc("POST /sandbox/domains/{domain}/publish", s.publishDomain)
	mux.HandleFunc("GET /sandbox/messages", s.listMessages)
	mux.HandleFunc("GET /sandbox/messages/{id}", s.getMessage)
	mux.HandleFunc("DELETE /sandbox/messages", s.deleteMessages)
	return s.onlyAtHome(http.NewCrossOriginProtection().Handler(mux))
}

func (s *Sandbox) listRecords(w http.ResponseWriter, _ *http.Request) {
	s.answer(w, http.StatusOK, map[string]any{"data": s.zone.list()})
}

func (s *Sandbox) putRecords(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Name   string    `json:"name"`
		Type   string    `json:"type"`
		Values *[]string `json:"values"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequestBytes)).Decode(&in); err != nil {
		s.refuse(w, http.StatusBadRequest, `The body must be JSON like {"name":"acme.test","type":"TXT","values":["v=spf1 -all"]}.`)
		return
	}
	if in.Values == nil {
		s.refuse(w, http.StatusBadRequest, "The field values is missing; an empty list says that there is no such record.")
		return
	}
	set, err := newRecordSet(in.Name, in.Type, *in.Values)
	if err == nil {
		err = s.zone.publish(set)
	}
	if err != nil {
		s.refuseFor(w, err)
		return
	}
	s.answer(w, http.StatusOK, set)
}

func (s *Sandbox) deleteRecords(w http.ResponseWriter, r *http.Request) {
	name, err := parseName(r.URL.Query().Get("name"))
	var kind uint16
	if given := r.URL.Query().Get("type"); err == nil && given != "" {
		kind, err = parseType(given)
	}
	if err != nil {
		s.refuseFor(w, err)
		return
	}
	count, err := s.zone.withdraw(name, kind)
	if err != nil {
		s.refuseFor(w, err)
		return
	}
	s.answer(w, http.StatusOK, map[string]any{"deleted": count})
}

func (s *Sandbox) publishDomain(w http.ResponseWriter, r *http.Request) {
	domain, err := address.ParseDomain(r.PathValue("domain"))
	if err != nil {
		s.refuse(w, http.StatusBadRequest, fmt.Sprintf("%q is not a domain: %v.", r.PathValue("domain"), err))
		return
	}
	sets, err := s.publish(r.Context(), domain)
	if err != nil {
		s.refuseFor(w, err)
		return
	}
	s.answer(w, http.StatusOK, map[string]any{"data": sets})
}

func (s *Sandbox) deleteMessages(w http.ResponseWriter, _ *http.Request) {
	count, err := s.mailbox.clear()
	if err != nil {
		s.refuseFor(w, err)
		return
	}
	s.answer(w, http.StatusOK, map[string]any{"deleted": count})
}

// limitOf reads how many messages are wanted.
func limitOf(text string) (int, bool) {
	if text == "" {
		return usualLimit, true
	}
	limit, err := strconv.Atoi(text)
	return limit, err == nil && limit >= 1 && limit <= maxLimit
}

// refuseFor answers for an error: the caller's own in words, others without.
func (s *Sandbox) refuseFor(w http.ResponseWriter, err error) {
	var invalid *invalidRecordError
	switch {
	case errors.As(err, &invalid):
		s.refuse(w, http.StatusBadRequest, invalid.Problem)
	case errors.Is(err, ErrUnknownDomain):
		s.refuse(w, http.StatusNotFound, "The product does not know this domain; add it there first.")
	case errors.Is(err, errNotAttached):
		s.refuse(w, http.StatusServiceUnavailable, "The product is not running yet.")
	case errors.Is(err, errZoneFull):
		s.refuse(w, http.StatusInsufficientStorage, "The zone is full.")
	default:
		s.world.Log.Error("sandbox door failed", "error", err)
		s.refuse(w, http.StatusInternalServerError, "The sandbox failed; its log says why.")
	}
}

func (s *Sandbox) refuse(w http.ResponseWriter, status int, message string) {
	code := map[int]string{http.StatusBadRequest: "validation_error", http.StatusNotFound: "not_found"}[status]
	if code == "" {
		code = "sandbox_error"
	}
	s.answer(w, status, map[string]any{"error": map[string]string{"code": code, "message": message}})
}

func (s *Sandbox) answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		s.world.Log.Debug("sandbox answer was not taken", "error", err)
	}
}

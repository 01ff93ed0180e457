package delivery

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"postrider/platform/db"
	"postrider/product/delivery/internal/shape"
)

// savedSources is what a restart must not forget about sources.
type savedSources struct {
	Sources map[string]savedSource `json:"sources"`
	Banned  []savedBan             `json:"banned"`
}

type savedSource struct {
	Paused bool   `json:"paused"`
	Date   string `json:"date"`
	Sent   int    `json:"sent"`
}

type savedBan struct {
	Path shape.Path `json:"path"`
	ban
}

// sourcesOf names the row that holds the sources of a node.
func sourcesOf(node string) string { return node + "/sources" }

// saveSources writes down what has become of the sources, if it is news.
func (s *Service) saveSources(ctx context.Context) (bool, error) {
	s.mu.Lock()
	now := s.world.Clock.Now()
	s.sources.forget(now)
	saved := savedSources{Sources: map[string]savedSource{}, Banned: []savedBan{}}
	for name, state := range s.sources.state {
		if _, _, capped := state.Cap(now); capped || state.paused {
			saved.Sources[name] = savedSource{Paused: state.paused, Date: state.date, Sent: state.sent}
		}
	}
	for path, b := range s.sources.banned {
		saved.Banned = append(saved.Banned, savedBan{path, b})
	}
	before := s.savedSources
	s.mu.Unlock()
	slices.SortFunc(saved.Banned, func(a, b savedBan) int {
		return cmp.Or(cmp.Compare(a.Path.Source, b.Path.Source), cmp.Compare(a.Path.Site, b.Path.Site))
	})
	raw, err := json.Marshal(saved)
	if err != nil || string(raw) == before {
		return false, err
	}
	if err := s.db.Write(ctx, func(tx *db.Tx) error { return upsertState(tx, sourcesOf(s.config.Node), string(raw)) }); err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.savedSources = string(raw)
	return false, nil
}

// restoreSources takes over what an earlier run has left.
func (s *Service) restoreSources(ctx context.Context) error {
	var text string
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		text, err = selectState(tx, sourcesOf(s.config.Node))
		return err
	})
	if errors.Is(err, db.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	var saved savedSources
	if err := json.Unmarshal([]byte(text), &saved); err != nil {
		return fmt.Errorf("stored state of the sources: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, was := range saved.Sources {
		if state := s.sources.state[name]; state != nil {
			state.paused, state.date, state.sent = was.Paused, was.Date, was.Sent
		}
	}
	for _, b := range saved.Banned {
		if b.Until.After(s.world.Clock.Now()) {
			s.sources.banned[b.Path] = b.ban
		}
	}
	s.savedSources = text
	return nil
}

// sourceRecord is what an operator reads about a source.
type sourceRecord struct {
	Name     string     `json:"name"`
	Pool     string     `json:"pool"`
	IPv4     string     `json:"ipv4,omitempty"`
	IPv6     string     `json:"ipv6,omitempty"`
	Hello    string     `json:"hello"`
	Proxy    bool       `json:"through_proxy"`
	Weight   int        `json:"weight"`
	Paused   bool       `json:"paused"`
	Today    int        `json:"sent_today"`
	Day      *int       `json:"warmup_day"`
	DailyCap *int       `json:"daily_cap"`
	Rests    *ban       `json:"rests,omitempty"`
	Banned   []savedBan `json:"banned"`
}

// explainSources tells operators about the sources of this node.
func (s *Service) explainSources() []sourceRecord {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.world.Clock.Now()
	s.sources.forget(now)
	var records []sourceRecord
	for _, source := range s.sources.Sources.Sources {
		state := s.sources.state[source.Name]
		r := sourceRecord{Name: source.Name, Pool: source.Pool, Hello: state.Hello, Proxy: source.SOCKS5 != "", Weight: source.Weight, Paused: state.paused,
			Today: state.sentOn(now), Banned: []savedBan{}}
		if source.IPv4.IsValid() {
			r.IPv4 = source.IPv4.String()
		}
		if source.IPv6.IsValid() {
			r.IPv6 = source.IPv6.String()
		}
		if day, most, capped := source.Cap(now); capped {
			r.Day, r.DailyCap = &day, &most
		}
		if state.rests.Until.After(now) {
			r.Rests = &state.rests
		}
		for path, b := range s.sources.banned {
			if path.Source == source.Name {
				r.Banned = append(r.Banned, savedBan{path, b})
			}
		}
		slices.SortFunc(r.Banned, func(a, b savedBan) int { return cmp.Compare(a.Path.Site, b.Path.Site) })
		records = append(records, r)
	}
	return records
}

var errNoSource = errors.New("there is no such source on this node; see GET /delivery/sources")

// pauseSource stops a source, or lets it go on. Mail that waits for it moves to others of its pool.
func (s *Service) pauseSource(name string, paused bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.sources.state[name]
	if state == nil {
		return errNoSource
	}
	state.paused = paused
	if !paused {
		state.rests = ban{}
	}
	return nil
}

// liftBan lets a source be used at a site again.
func (s *Service) liftBan(path shape.Path) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, held := s.sources.banned[path]; !held {
		return errNothing
	}
	delete(s.sources.banned, path)
	s.shaper.Resume(s.world.Clock.Now(), path, "")
	return nil
}

package shape

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Snapshot is what must survive a restart, in the order of its names. What waits is not in it: the store has that.
type Snapshot struct {
	Holds    []Hold         `json:"holds,omitempty"`
	Windows  []Window       `json:"windows,omitempty"`
	Circuits []Circuit      `json:"circuits,omitempty"`
	Shared   []SharedChange `json:"shared,omitempty"`
}

// Window is what a path has earned, and lost.
type Window struct {
	Path                  Path      `json:"path"`
	Ceiling               int       `json:"ceiling"`
	MessagesPerConnection int       `json:"messages_per_connection"`
	Width                 float64   `json:"width"`
	Strikes               int       `json:"strikes,omitempty"`
	CleanSince            time.Time `json:"clean_since,omitzero"`
	HalvedAt              time.Time `json:"halved_at,omitzero"`
	// ConnectsUntil and MessagesUntil are the state of its rates.
	ConnectsUntil time.Time `json:"connects_until,omitzero"`
	MessagesUntil time.Time `json:"messages_until,omitzero"`
}

// Circuit is a provider, or a site, that cannot be reached or blocks our mail.
type Circuit struct {
	Key          string    `json:"key"`
	Failures     int       `json:"failures,omitempty"`
	OpenFrom     time.Time `json:"open_from,omitzero"`
	OpenUntil    time.Time `json:"open_until,omitzero"`
	Cause        Cause     `json:"cause,omitzero"`
	PausedFrom   time.Time `json:"paused_from,omitzero"`
	PausedUntil  time.Time `json:"paused_until,omitzero"`
	PauseCause   Cause     `json:"pause_cause,omitzero"`
	PausesInARow int       `json:"pauses_in_a_row,omitempty"`
}

// SharedChange is a shared limit that was set by SetShared.
type SharedChange struct {
	Name   SharedName   `json:"name"`
	Limits SharedLimits `json:"limits"`
}

// Snapshot returns what must survive a restart.
func (s *Shaper) Snapshot(now time.Time) Snapshot {
	at := s.tick(now)
	var snap Snapshot
	for _, h := range s.holds {
		if h.until > at {
			snap.Holds = append(snap.Holds, h.Hold)
		}
	}
	slices.SortFunc(snap.Holds, func(a, b Hold) int {
		return cmp.Or(comparePaths(a.Path, b.Path), cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.Kind, b.Kind))
	})
	for _, p := range s.sortedPaths() {
		if !p.window.untouched(p.row) {
			snap.Windows = append(snap.Windows, p.save())
		}
	}
	for _, c := range s.circuits {
		if !c.closed() || c.paused.until > at {
			snap.Circuits = append(snap.Circuits, c.save())
		}
	}
	slices.SortFunc(snap.Circuits, func(a, b Circuit) int { return cmp.Compare(a.Key, b.Key) })
	for name, limits := range s.custom {
		snap.Shared = append(snap.Shared, SharedChange{name, limits})
	}
	slices.SortFunc(snap.Shared, func(a, b SharedChange) int {
		return cmp.Or(cmp.Compare(a.Name.Kind, b.Name.Kind), cmp.Compare(a.Name.Key, b.Name.Key))
	})
	return snap
}

// Restore takes over a snapshot. Call it on a new Shaper, before anything is added.
func (s *Shaper) Restore(now time.Time, snap Snapshot) {
	at := s.tick(now)
	for _, change := range snap.Shared {
		s.SetShared(change.Name, change.Limits)
	}
	for _, saved := range snap.Circuits {
		s.restoreCircuit(saved, at)
	}
	for _, h := range snap.Holds {
		if over := (span{instantOf(h.From), instantOf(h.Until)}); over.until > at {
			s.place(h, over, at)
		}
	}
	for _, w := range snap.Windows {
		p := s.know(w.Path)
		p.window = window{ceiling: min(max(w.Ceiling, 1), p.row.Connections), messages: min(max(w.MessagesPerConnection, 1), p.row.MessagesPerConnection),
			strikes: w.Strikes, clean: restored(w.CleanSince), halved: restored(w.HalvedAt)}
		p.window.width = min(max(w.Width, 1), float64(p.window.ceiling))
		p.connects, p.messages = restored(w.ConnectsUntil), restored(w.MessagesUntil)
		s.shelve(p, at)
	}
}

func (s *Shaper) restoreCircuit(saved Circuit, at instant) {
	c := s.circuitNamed(saved.Key)
	c.failures, c.cause, c.blocked, c.pauses = saved.Failures, saved.Cause, saved.PauseCause, saved.PausesInARow
	c.open = span{restored(saved.OpenFrom), restored(saved.OpenUntil)}
	c.paused = span{restored(saved.PausedFrom), restored(saved.PausedUntil)}
	s.timers.set(&c.timer, max(c.open.until, c.paused.until, at+1))
}

func (p *path) save() Window {
	w := p.window
	return Window{Path: p.key, Ceiling: w.ceiling, MessagesPerConnection: w.messages, Width: w.width, Strikes: w.strikes, CleanSince: saved(w.clean),
		HalvedAt: saved(w.halved), ConnectsUntil: saved(p.connects), MessagesUntil: saved(p.messages)}
}

func (c *circuit) save() Circuit {
	return Circuit{Key: c.key, Failures: c.failures, OpenFrom: saved(c.open.from), OpenUntil: saved(c.open.until), Cause: c.cause,
		PausedFrom: saved(c.paused.from), PausedUntil: saved(c.paused.until), PauseCause: c.blocked, PausesInARow: c.pauses}
}

// saved and restored keep "never" what it is.
func saved(i instant) time.Time {
	if i == 0 {
		return time.Time{}
	}
	return i.time()
}

func restored(t time.Time) instant {
	if t.IsZero() {
		return 0
	}
	return instantOf(t)
}

func (s *Shaper) sortedPaths() []*path {
	all := make([]*path, 0, len(s.paths))
	for _, p := range s.paths {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *path) int { return comparePaths(a.key, b.key) })
	return all
}

func comparePaths(a, b Path) int {
	return cmp.Or(strings.Compare(string(a.Site), string(b.Site)), strings.Compare(a.Source, b.Source))
}

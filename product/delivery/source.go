package delivery

import (
	"math"
	"time"

	"postrider/product/delivery/internal/shape"
	"postrider/product/node"
)

const (
	// quarantineFor is how long a source is not used at a site that has it on a blocklist. Most lists let go within a day.
	quarantineFor = 6 * time.Hour
	// unusableFor is how long a source rests whose address is not on this machine or whose proxy is down.
	unusableFor = 5 * time.Minute
	// lookAgain is how soon mail without a source is looked at again: an operator may have changed something.
	lookAgain = time.Hour
	// tomorrow names what mail waits for if every source of its pool has sent what it may today.
	tomorrow = "tomorrow"
)

// sources chooses where mail leaves from. The choice is made anew for every attempt, and is the same as long as nothing happens to
// the source: a server that knows a message by where it comes from, as greylisting does, sees it come again. The service's mu
// guards all of it.
type sources struct {
	node.Sources
	state map[string]*sourceState // by name
	// banned are those that are not used at a site, and until when.
	banned map[shape.Path]ban
}

type sourceState struct {
	node.Source
	paused bool
	// rests is until when it cannot be used at all, and why.
	rests ban
	// date and sent count what has left today; assigned is what is held to leave.
	date     string
	sent     int
	assigned int
	// rank and of tell which part of what the source may send is this node's: others may send from it too.
	rank, of int
}

type ban struct {
	Until  time.Time `json:"until"`
	Reason string    `json:"reason"`
}

func newSources(config Config) sources {
	s := sources{Sources: config.Sources, state: map[string]*sourceState{}, banned: map[shape.Path]ban{}}
	if len(s.Sources.Sources) == 0 {
		s.Sources.Sources = []node.Source{{Name: config.Source, Pool: node.MainPool, Weight: 1}}
	}
	for _, source := range s.Sources.Sources {
		if source.Hello == "" {
			source.Hello = config.Hello
		}
		s.state[source.Name] = &sourceState{Source: source}
	}
	return s
}

// choose returns the source for a recipient. If none can be used it says when one can, which is no earlier than until.
func (s *sources) choose(h *held, site shape.Site, now time.Time) (name string, until time.Time, ok bool) {
	best := -1.0
	pool := s.PoolOf(h.due.Flow, classOf(h.due.Item.Rank).String())
	for _, source := range s.Sources.Sources {
		if source.Pool != pool {
			continue
		}
		state := s.state[source.Name]
		free := state.freeAt(now, h.assigned && h.path.Source == source.Name)
		if b := s.banned[shape.Path{Source: source.Name, Site: site}]; b.Until.After(free) {
			free = b.Until
		}
		if free.After(now) {
			if until.IsZero() || free.Before(until) {
				until = free
			}
			continue
		}
		if score := affinity(h.due.Item.ID, source); score > best {
			name, best = source.Name, score
		}
	}
	return name, until, best >= 0
}

// affinity is how much a recipient belongs to a source. The highest one wins; if a source goes, only its own recipients move, and
// each source has recipients by its weight (weighted rendezvous hashing).
func affinity(recipient string, source node.Source) float64 {
	chance := (float64(mixed(source.Name+"\t"+recipient)>>11) + 0.5) / (1 << 53)
	return float64(source.Weight) / -math.Log(chance)
}

// never is when a source that was paused can be used: the operator says.
var never = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// freeAt returns from when on the source can be used, by one who may be among those it is to send already.
func (s *sourceState) freeAt(now time.Time, among bool) time.Time {
	expected := s.sentOn(now) + s.assigned
	if among {
		expected--
	}
	switch _, most, capped := s.Cap(now); {
	case s.paused:
		return never
	case s.rests.Until.After(now):
		return s.rests.Until
	case capped && expected >= shape.Share(most, s.rank, s.of):
		return now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
	}
	return now
}

func (s *sourceState) sentOn(now time.Time) int {
	if s.date != now.UTC().Format(time.DateOnly) {
		return 0
	}
	return s.sent
}

// assign notes that a recipient is held for a source, or no longer.
func (s *sources) assign(h *held, source string) {
	if before := s.state[h.path.Source]; before != nil && h.assigned {
		before.assigned--
	}
	now := s.state[source]
	if h.assigned = now != nil; h.assigned {
		now.assigned++
	}
}

// count notes that something has left from a source.
func (s *sources) count(source string, now time.Time) {
	if state := s.state[source]; state != nil {
		state.sent, state.date = state.sentOn(now)+1, now.UTC().Format(time.DateOnly)
	}
}

// forget drops bans that have passed.
func (s *sources) forget(now time.Time) {
	for path, b := range s.banned {
		if !b.Until.After(now) {
			delete(s.banned, path)
		}
	}
}

// place chooses the source of a recipient and hands it to the shaper, or has it put back until there is one. The caller holds mu.
func (s *Service) place(h *held, site shape.Site, now time.Time) {
	source, until, ok := s.sources.choose(h, site, now)
	if !ok {
		s.sources.assign(h, "")
		h.path = shape.Path{Source: tomorrow, Site: site}
		if soon := now.Add(s.world.Jitter(lookAgain, retryJitter)); until.IsZero() || until.After(soon) {
			until = soon
		}
		s.giveBack(h, shape.Back{At: until, Reason: shape.Reason(tomorrow)})
		return
	}
	s.sources.assign(h, source)
	s.enter(h, shape.Path{Source: source, Site: site}, now)
}

// letGo forgets a recipient that this node no longer holds. The caller holds mu.
func (s *Service) letGo(recipient string) {
	if h := s.held[recipient]; h != nil {
		s.sources.assign(h, "")
		delete(s.held, recipient)
	}
}

// elsewhere keeps a source from a site that refuses it, and tells whether the recipient can be mailed from another.
func (s *Service) elsewhere(h *held, reason string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.world.Clock.Now()
	if len(s.sources.Sources.Sources) < 2 || !h.assigned { // what a relay thinks of a message says nothing about our sources
		return false
	}
	until := now.Add(quarantineFor)
	before, had := s.sources.banned[h.path]
	s.sources.banned[h.path] = ban{Until: until, Reason: reason}
	if _, _, ok := s.sources.choose(h, h.path.Site, now); !ok {
		if !had { // there is no other, so this one goes on
			delete(s.sources.banned, h.path)
		} else {
			s.sources.banned[h.path] = before
		}
		return false
	}
	if err := s.shaper.Suspend(now, h.path, "", reason, until); err != nil {
		s.world.Log.Error("path of a banned source not suspended", "source", h.path.Source, "site", h.path.Site, "error", err)
	}
	s.world.Log.Warn("source not used at a site", "source", h.path.Source, "site", h.path.Site, "until", until, "reason", reason)
	return true
}

// rest keeps a source from being used anywhere for a little while.
func (s *Service) rest(source, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state := s.sources.state[source]; state != nil {
		state.rests = ban{Until: s.world.Clock.Now().Add(unusableFor), Reason: reason}
		s.world.Log.Error("source cannot be used", "source", source, "reason", reason)
	}
}

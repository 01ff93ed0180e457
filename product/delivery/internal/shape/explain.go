package shape

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// State is what a path does.
type State string

// What paths do, besides the kinds of holds (State(Suspended) and so on).
const (
	// Sending means that mail leaves, as fast as the path bears.
	Sending State = "sending"
	// Idle means that there is no mail.
	Idle State = "idle"
	// Probing means that one connection tries whether the provider can be reached again.
	Probing State = "probing"
	// StateUnreachable means that the provider is left alone because it could not be reached.
	StateUnreachable State = State(Unreachable)
	// StateBlocked means that the provider is left alone because it blocks too much.
	StateBlocked State = State(Blocked)
)

// PathState is a path in numbers, and in a sentence for people.
type PathState struct {
	Path     Path   `json:"path"`
	Provider string `json:"provider,omitempty"`
	State    State  `json:"state"`
	Waiting  int    `json:"waiting"`
	// Connections are those open now, Sending those of them that carry mail, Allowed how many the path may have at present, and
	// Max how many it may ever have.
	Connections int       `json:"connections"`
	Sending     int       `json:"sending"`
	Allowed     int       `json:"allowed"`
	Max         int       `json:"max"`
	Limits      Limits    `json:"limits"`
	Until       time.Time `json:"until,omitzero"`
	Cause       Cause     `json:"cause,omitzero"`
	Holds       []Hold    `json:"holds,omitempty"`
	Sentence    string    `json:"sentence"`
}

// Explain tells about every path that has mail or connections or is held, and about those that had mail lately. Times in
// sentences are in the zone of now.
func (s *Shaper) Explain(now time.Time) []PathState {
	at := s.tick(now)
	held := map[Path][]Hold{}
	for key, h := range s.holds {
		if h.covers(at) {
			held[key.path] = append(held[key.path], h.Hold)
			s.shelve(s.know(key.path), at)
		}
	}
	states := make([]PathState, 0, len(s.paths))
	for _, p := range s.sortedPaths() {
		holds := held[p.key]
		slices.SortFunc(holds, func(a, b Hold) int { return strings.Compare(a.Tenant+" "+string(a.Kind), b.Tenant+" "+string(b.Kind)) })
		states = append(states, p.explain(holds, at, now.Location()))
	}
	return states
}

func (p *path) explain(holds []Hold, at instant, zone *time.Location) PathState {
	limits := p.limits(at)
	st := PathState{Path: p.key, Provider: p.row.Name, State: Sending, Waiting: p.waiting, Connections: p.connections, Sending: p.connections - len(p.unused),
		Allowed: limits.Connections, Max: max(p.row.Connections, limits.Connections), Limits: limits, Holds: holds}
	if p.waiting == 0 && st.Sending == 0 {
		st.State = Idle
	}
	when := func(t time.Time) string { return moment(t.In(zone), at.time().In(zone)) }
	what := p.explainCircuit(&st, at, when)
	if what == "" {
		what = p.explainHold(&st, at, when)
	}
	name := p.row.Title
	if p.row.Name == "" || !p.row.OneSite {
		name = string(p.key.Site)
	}
	if p.key.Source != "" {
		name += " from " + p.key.Source
	}
	st.Sentence = fmt.Sprintf("%s: %d of %s", name, st.Connections, counted(st.Allowed, "connection"))
	if what != "" {
		st.Sentence += ", " + what
	} else if st.State == Idle {
		st.Sentence += ", no mail"
	} else {
		st.Sentence += ", " + strconv.Itoa(st.Waiting) + " waiting"
	}
	for _, h := range holds {
		if h.Tenant != "" {
			st.Sentence += fmt.Sprintf("; tenant %s is held until %s%s", h.Tenant, when(h.Until), because(h.Cause))
		}
	}
	return st
}

// explainCircuit says what is wrong with the provider, if anything is.
func (p *path) explainCircuit(st *PathState, at instant, when func(time.Time) string) string {
	c := p.circuit
	switch {
	case c.paused.covers(at):
		st.State, st.Until, st.Cause = StateBlocked, c.paused.until.time(), c.blocked
		return fmt.Sprintf("paused until %s because more than %d %% of the mail was blocked, last with %s", when(st.Until), maxBlockPercent, c.blocked)
	case c.open.covers(at):
		st.State, st.Until, st.Cause = StateUnreachable, c.open.until.time(), c.cause
		return fmt.Sprintf("left alone until %s after %s in a row: %s", when(st.Until), counted(c.failures, "failed connection"), c.cause)
	case !c.closed():
		st.State, st.Cause = Probing, c.cause
		return "trying with one connection whether it can be reached again"
	}
	return ""
}

// explainHold says what holds the path back, if anything does.
func (p *path) explainHold(st *PathState, at instant, when func(time.Time) string) string {
	h := p.stop(at)
	if h == nil {
		for _, other := range p.holds {
			if other.covers(at) && (h == nil || other.Kind == Slowed) {
				h = other
			}
		}
	}
	if h == nil {
		return ""
	}
	st.State, st.Until, st.Cause = State(h.Kind), h.Until, h.Cause
	until, reason := when(h.Until), because(h.Cause)
	switch h.Kind {
	case Stopped:
		return "stopped by an operator until " + until + reason
	case Quarantined:
		return "this source is not used here until " + until + reason
	case Slowed:
		return "slowed to " + pace(h.Limits) + " until " + until + reason
	case Adjusted:
		return "with limits of an operator until " + until + reason
	}
	return "backing off until " + until + reason
}

func because(c Cause) string {
	if c == (Cause{}) {
		return ""
	}
	return " because " + c.String()
}

// pace tells limits in words.
func pace(l Limits) string {
	var parts []string
	switch {
	case l.MessagesPerSecond >= 1:
		parts = append(parts, counted(int(l.MessagesPerSecond), "message")+" a second")
	case l.MessagesPerSecond > 0:
		parts = append(parts, "a message every "+counted(int(math.Round(1/l.MessagesPerSecond)), "second"))
	}
	if l.Connections > 0 {
		parts = append(parts, counted(l.Connections, "connection"))
	}
	if l.ConnectsPerMinute > 0 {
		parts = append(parts, counted(int(math.Ceil(l.ConnectsPerMinute)), "new connection")+" a minute")
	}
	if len(parts) == 0 {
		return "smaller limits"
	}
	return strings.Join(parts, " and ")
}

func counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// moment names a time by the clock, with its date if that is not today's.
func moment(t, now time.Time) string {
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04")
	}
	return t.Format("2006-01-02 15:04")
}

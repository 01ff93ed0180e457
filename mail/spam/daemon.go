package spam

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"slices"
	"strings"
	"time"

	"postrider/world"
)

// ErrDaemon means a daemon could not be reached or gave no usable answer. The message may be fine; another engine can tell.
var ErrDaemon = errors.New("spam daemon gave no usable answer")

const (
	// DefaultTimeout bounds a check by a daemon. Rspamd gives itself 8 seconds by default, SpamAssassin as much with its DNS tests.
	DefaultTimeout = 15 * time.Second
	// maxAnswer bounds what is read of an answer; real ones are a few kilobytes.
	maxAnswer = 1 << 20
	// maxRules bounds how many rules of a daemon are told.
	maxRules = 200
	// maxDescription bounds the text of one rule.
	maxDescription = 300
	// maxRuleScore keeps test rules (GTUBE: 1000 points) printable.
	maxRuleScore = 1000
)

// line is the way to a daemon.
type line struct {
	dialer  world.Dialer
	address string
	timeout time.Duration
}

// talk dials, calls speak, and hangs up: at the latest when the timeout has passed or ctx ends.
func (l line) talk(ctx context.Context, speak func(net.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(l.timeout, DefaultTimeout))
	defer cancel()
	network := "tcp"
	if strings.HasPrefix(l.address, "/") {
		network = "unix"
	}
	conn, err := l.dialer.DialContext(ctx, network, l.address)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDaemon, err)
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	if err := speak(conn); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err() // rather than "use of closed connection"
		}
		return fmt.Errorf("%w: %w", ErrDaemon, err)
	}
	return nil
}

// finding is what a daemon says about a message, in its own scale.
type finding struct {
	engine, version string
	score           float64
	// spamFrom is the score from which on the daemon calls a message spam.
	spamFrom float64
	// isSpam means the daemon calls it spam, whatever the score.
	isSpam bool
	rules  []Hit
}

// translate returns a finding as a result. Scores are scaled so that the daemon's threshold becomes ours, hence all results read
// alike. The built-in rules go with it as advice: they add nothing to the score.
func (d finding) translate(m Message) (Result, error) {
	if !(d.spamFrom > 0) || math.IsInf(d.spamFrom, 0) || math.IsNaN(d.score) {
		return Result{}, fmt.Errorf("%w: score %v of %v", ErrDaemon, d.score, d.spamFrom)
	}
	scale := Threshold / d.spamFrom
	rules := make([]Hit, 0, len(d.rules))
	for _, h := range d.rules {
		h.Category = CategoryEngine
		h.Score = round(min(max(h.Score*scale, -maxRuleScore), maxRuleScore), 2)
		h.Severity = severityOf(h.Score)
		h.Description = sentence(h.Description)
		if h.Score != 0 {
			rules = append(rules, h)
		}
	}
	slices.SortFunc(rules, func(a, b Hit) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID)) })
	rules = rules[:min(len(rules), maxRules)]

	own, advices := judge(gather(m))
	recommendations := merge(own, advices)
	for i := range own {
		own[i].Score = 0
	}
	score := d.score * scale
	if d.isSpam {
		score = max(score, Threshold)
	}
	return conclude(Result{
		Score:           score,
		Rules:           append(rules, own...),
		Recommendations: recommendations,
		Authentication:  m.Authentication,
		Engine:          d.engine,
		EngineVersion:   d.version,
	}), nil
}

func severityOf(score float64) Severity {
	switch {
	case score >= 2:
		return Critical
	case score >= 0.5:
		return Warning
	}
	return Info
}

// sentence makes the words of a daemon fit among our own.
func sentence(description string) string {
	description = strings.Join(strings.Fields(strings.ToValidUTF8(cut(description, maxDescription), "")), " ")
	if description == "" {
		return "The rule has no description."
	}
	if strings.HasSuffix(description, ".") || strings.HasSuffix(description, "!") || strings.HasSuffix(description, "?") {
		return description
	}
	return description + "."
}

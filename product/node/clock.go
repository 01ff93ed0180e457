package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"postrider/mail/standing"
	"postrider/platform/db"
)

// Leases are written and judged by the clocks of the nodes. Each node compares its own with the one that all can see, that of the database,
// and so with those of the others.

const (
	// fewApart is far more than NTP leaves between two machines.
	fewApart = 2 * time.Second
	// maxApart is how far the clocks of two nodes may be apart before leases mean different times to them. One of 30 s that is renewed every
	// 10 s, unless it is younger than 5 s, has 15 s left at the least.
	maxApart = 7 * time.Second

	clockCheck = "clock"
	mendClock  = "Run NTP on this machine and on that of the database (timedatectl set-ntp true)."
)

// reading is how this node's clock was found to stand.
type reading struct {
	// ahead is how far it is ahead of the database's, at the least; below zero it is behind.
	ahead time.Duration
	// astray is how far it is from that of another node which stands nearer to the database's. Whoever stands nearest goes on, however far
	// that is: the database's clock may be the wrong one.
	astray time.Duration
	// behind is how far another node's clock is ahead of it.
	behind time.Duration
}

func (r reading) wrong() bool { return r.astray > maxApart }

func (s *Service) reading() reading {
	if r := s.clock.Load(); r != nil {
		return *r
	}
	return reading{}
}

// InTime tells whether this node's clock is close enough to those of the others for judging leases. If it is not, the node must claim
// nothing, and free nothing that others have claimed.
func (s *Service) InTime() bool { return !s.reading().wrong() }

// Ahead is how far this node's clock was ahead of the database's when it was last compared, at the least. Below zero it was behind.
func (s *Service) Ahead() time.Duration { return s.reading().ahead }

// Behind is by how much leases of this node end earlier for others.
func (s *Service) Behind() time.Duration { return s.reading().behind }

// CheckClock compares the clock of this node with that of the database and with those of other nodes, and tells people if they are apart.
func (s *Service) CheckClock(ctx context.Context) error {
	ahead, err := s.compareClocks(ctx)
	if err != nil {
		return fmt.Errorf("compare clocks: %w", err)
	}
	found := reading{ahead: ahead}
	if ahead.Abs() > fewApart {
		if found, err = s.compareNodes(ctx, ahead); err != nil {
			return fmt.Errorf("compare clocks of nodes: %w", err)
		}
	}
	before, now := s.reading().finding(), found.finding()
	s.clock.Store(&found)
	if now.Status == before.Status {
		return nil
	}
	if now.Status == standing.Good {
		s.world.Log.Warn("the clock is right again")
	} else {
		s.world.Log.Warn("the clock is wrong", "finding", now.Message, "mend", now.Mend)
	}
	return s.db.Write(ctx, func(tx *db.Tx) error { return replaceFinding(tx, s.config.ID, now) })
}

// compareNodes tells the others how far ahead this node's clock is, and looks where theirs stand. A node that takes up no mail tells it too:
// if the database's clock has jumped and not theirs, each of them sees so that it is not alone.
func (s *Service) compareNodes(ctx context.Context, ahead time.Duration) (reading, error) {
	var known []Node
	err := s.db.Write(ctx, func(tx *db.Tx) (err error) {
		if err = updateAhead(tx, s.config.ID, ahead); err == nil {
			known, err = selectNodes(tx, maxKnown, 0)
		}
		return err
	})
	found := reading{ahead: ahead}
	byDatabase := s.world.Clock.Now().Add(-ahead)
	for _, n := range known {
		if n.ID == s.config.ID || !n.DrainingAt.IsZero() || n.Gone(byDatabase.Add(n.Ahead)) {
			continue
		}
		apart := ahead - n.Ahead
		found.behind = max(found.behind, -apart)
		if c := cmp.Compare(n.Ahead.Abs(), ahead.Abs()); c < 0 || c == 0 && n.ID < s.config.ID {
			found.astray = max(found.astray, apart.Abs())
		}
	}
	return found, err
}

// compareClocks returns how far ours is ahead. The database told its time between two looks at ours, and what lies between them is in
// doubt.
func (s *Service) compareClocks(ctx context.Context) (time.Duration, error) {
	if !s.config.Checks.Clock {
		return 0, nil
	}
	before := s.world.Clock.Now()
	theirs, ok, err := s.db.Clock(ctx)
	after := s.world.Clock.Now()
	switch {
	case err != nil || !ok:
		return 0, err
	case theirs.Before(before):
		return before.Sub(theirs), nil
	case theirs.After(after):
		return after.Sub(theirs), nil
	}
	return 0, nil
}

func (r reading) finding() standing.Finding {
	off, direction := r.ahead.Abs().Round(100*time.Millisecond), "ahead of"
	if r.ahead < 0 {
		direction = "behind"
	}
	f := standing.Finding{Check: clockCheck, Status: standing.Good, Message: "The clock stands together with that of the database."}
	if r.ahead.Abs() > fewApart {
		f = standing.Finding{Check: clockCheck, Status: standing.Warn, Message: fmt.Sprintf("The clock is %s %s that of the database.", off, direction), Mend: mendClock}
	}
	if r.wrong() {
		f.Status = standing.Fail
		f.Message = fmt.Sprintf("The clock is %s %s that of the database, and %s from that of another node; this node takes up no mail until they are less than %s apart.",
			off, direction, r.astray.Round(100*time.Millisecond), maxApart)
	}
	return f
}

// replaceFinding puts what was found about the clock into the standing of a node at once: the next look at all of it may be far.
func replaceFinding(tx *db.Tx, id ID, f standing.Finding) error {
	n, err := selectNode(tx, id)
	if errors.Is(err, db.ErrNotFound) {
		return nil // it has not said yet that it is there
	}
	if err != nil {
		return err
	}
	others := slices.DeleteFunc(n.Standing.Findings, func(old standing.Finding) bool { return old.Check == f.Check })
	n.Standing.Findings = worstFirst(append(others, f))
	return updateStanding(tx, id, n.Standing)
}

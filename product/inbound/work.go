package inbound

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"postrider/platform/db"
	"postrider/platform/queue"
)

const (
	// batch is how much one step claims, and atOnce how much of it is worked on at a time.
	batch  = 64
	atOnce = 16
	// leaseFor outlasts a batch: four rounds of checks that all wait as long as they may.
	leaseFor = 2 * time.Minute
	// retryAfter is when something that could not be read, or stored, is tried again.
	retryAfter = time.Minute
	// maxTries is how often something is tried: an hour of trouble passes, more does not pass by trying.
	maxTries = 60
	// idleLook is how often a queue is looked at even if nobody announces work.
	idleLook = 5 * time.Second
)

// errNeverEnded is said of something whose work was begun as often as it may be, and never ended. Whatever stops the process each time
// must not do so for ever.
var errNeverEnded = errors.New("begun too often, and never ended")

// turns remembers where the next claim of each lane begins, so that no workspace waits behind another's flood.
type turns struct {
	mu   sync.Mutex
	next map[queue.Lane]queue.Turn // guarded by mu
}

// Workers returns what follows from received mail.
func (s *Service) Workers() []queue.Worker {
	return []queue.Worker{
		{Name: "received mail", Step: s.CheckStep, Topics: []string{checkLane.Topic()}, Every: idleLook, Next: s.holder.NextIn(checkLane)},
		{Name: "forwards", Step: s.ForwardStep, Topics: []string{forwardLane.Topic()}, Every: idleLook, Next: s.holder.NextIn(forwardLane)},
		{Name: "operator's mail", Step: s.OperatorStep, Topics: []string{operatorLane.Topic()}, Every: idleLook, Next: s.holder.NextIn(operatorLane)},
		{Name: "inbound leases", Step: s.releaseExpired, Every: leaseFor / 4},
		{Name: "old received mail", Step: s.RemoveOld, Every: removeEvery, Gentle: true},
		{Name: "old operator's mail", Step: s.sweep, Every: time.Hour},
	}
}

// releaseExpired frees what a process that vanished had leased. An idle installation writes nothing for it.
func (s *Service) releaseExpired(ctx context.Context) (bool, error) {
	var waiting int64
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		for _, lane := range []queue.Lane{checkLane, forwardLane, operatorLane} {
			depth, err := queue.Depth(tx, lane)
			if err != nil {
				return err
			}
			waiting += depth
		}
		return nil
	})
	if err != nil || waiting == 0 {
		return false, err
	}
	return false, s.db.Write(ctx, func(tx *db.Tx) error {
		for _, lane := range []queue.Lane{checkLane, forwardLane, operatorLane} {
			if _, err := queue.ReleaseExpiredOf(tx, lane); err != nil {
				return err
			}
		}
		return nil
	})
}

// claim leases what is due in a lane and loads what it needs in the same transaction.
func (s *Service) claim(ctx context.Context, lane queue.Lane, load func(*db.Tx, []queue.Item) error) ([]queue.Item, error) {
	if err := s.holder.Resume(ctx); err != nil {
		return nil, err
	}
	if due, err := s.holder.IsDue(ctx, lane); err != nil || !due {
		return nil, err
	}
	s.turns.mu.Lock()
	turn := s.turns.next[lane]
	s.turns.mu.Unlock()
	fair := queue.Fair{Lease: s.holder.Lease(leaseFor), Limit: batch, Turn: turn}
	var items []queue.Item
	err := s.db.Write(ctx, func(tx *db.Tx) (err error) {
		if items, turn, err = queue.ClaimFairly(tx, lane, fair); err != nil {
			return err
		}
		return load(tx, items)
	})
	if err != nil {
		return nil, fmt.Errorf("claim %s: %w", lane, err)
	}
	s.turns.mu.Lock()
	defer s.turns.mu.Unlock()
	if s.turns.next == nil {
		s.turns.next = map[queue.Lane]queue.Turn{}
	}
	s.turns.next[lane] = turn
	return items, nil
}

// each works on things a few at a time.
func each(count int, work func(i int)) {
	var all sync.WaitGroup
	room := make(chan struct{}, atOnce)
	for i := range count {
		room <- struct{}{}
		all.Go(func() {
			work(i)
			<-room
		})
	}
	all.Wait()
}

// checked is a message whose checks are over, or could not be made.
type checked struct {
	item    queue.Item
	message Message
	finding finding
	err     error
}

// CheckStep checks some of the messages that came, tells of them, and has them passed on.
func (s *Service) CheckStep(ctx context.Context) (bool, error) {
	var messages []Message
	var contents map[ID]stored
	items, err := s.claim(ctx, checkLane, func(tx *db.Tx, items []queue.Item) (err error) {
		ids := idsOf(items)
		if messages, err = selectByIDs(tx, ids); err != nil {
			return err
		}
		contents, err = selectContents(tx, ids)
		return err
	})
	if err != nil || len(items) == 0 {
		return false, err
	}
	byID := map[string]Message{}
	for _, m := range messages {
		byID[string(m.ID)] = m
	}
	done := make([]checked, len(items))
	each(len(items), func(i int) {
		m, ok := byID[items[i].ID]
		done[i] = checked{item: items[i], message: m}
		switch {
		case ok && items[i].Claims > maxTries:
			done[i].err = errNeverEnded
		case ok:
			done[i].finding, done[i].err = s.check(ctx, m, contents[m.ID].content)
		}
	})
	if ctx.Err() != nil {
		return false, ctx.Err() // the lease runs out, or is taken back at the next start
	}
	err = s.db.Write(ctx, func(tx *db.Tx) error { return s.settleChecked(tx, done) })
	if err != nil {
		return false, fmt.Errorf("settle checks: %w", err)
	}
	return true, nil
}

func (s *Service) settleChecked(tx *db.Tx, done []checked) error {
	items := make([]queue.Item, len(done))
	for i, d := range done {
		items[i] = d.item
	}
	held, err := queue.Hold(tx, s.holder.Name, items)
	if err != nil {
		return err
	}
	ours := map[string]bool{}
	for _, item := range held {
		ours[item.ID] = true
	}
	var over []string
	for _, d := range done {
		if !ours[d.item.ID] {
			continue // another node has taken over, and settles it
		}
		if d.err != nil {
			s.world.Log.Error("message could not be checked", "message", d.item.ID, "tries", d.item.Claims, "error", d.err)
		}
		if d.err != nil && d.item.Claims < maxTries {
			if _, err := queue.Postpone(tx, d.item, tx.Now().Add(retryAfter)); err != nil {
				return err
			}
			continue
		}
		over = append(over, d.item.ID)
		if d.err != nil {
			d.finding = unknowable
		}
		if d.message.ID == "" {
			continue // removed meanwhile
		}
		if _, err := s.settle(tx, d.message, d.finding, true); err != nil {
			return err
		}
	}
	return queue.Finish(tx, over...)
}

// settle writes what was found out about a message, and what follows from it. It returns the message as it is then.
func (s *Service) settle(tx *db.Tx, m Message, f finding, tell bool) (Message, error) {
	m.Authentication, m.Spam = &f.authentication, &f.spam
	if err := s.findThread(tx, &m); err != nil {
		return m, err
	}
	var forwards []queue.Item
	if tell {
		var err error
		if forwards, err = s.planForwards(tx, &m); err != nil {
			return m, err
		}
	}
	if err := updateChecked(tx, m, len(forwards)); err != nil {
		return m, err
	}
	if err := updateResults(tx, m.Workspace, m.ID, f.results); err != nil {
		return m, err
	}
	if !m.Kept {
		if err := addTotal(tx, m.Workspace, -1); err != nil {
			return m, err
		}
	}
	if tell && m.Kept {
		if err := s.tell(tx, m, f); err != nil {
			return m, err
		}
	}
	return m, queue.Add(tx, forwards...)
}

func idsOf(items []queue.Item) []string {
	ids := make([]string, len(items))
	for i, item := range items {
		ids[i] = item.ID
	}
	return ids
}

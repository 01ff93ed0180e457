package event

import (
	"context"
	"fmt"
	"slices"
	"time"

	"postrider/platform/db"
)

// Follower is told of every event, in order and in batches. Handle must do all its work in tx, and leave the events as they are.
// Prepare, if there is one, comes in place of Handle: it makes of the events what is to be written, and the write may be run twice.
// It is for those who think longer than they write, because those who write wait for one another.
type Follower struct {
	Name string
	// Types are the types of events it is told of; none means all. Those who want few need not write for the rest.
	Types []string
	// Choose says which of some events it is to be told of, by what they say or by what the database holds at a moment after them; nil means
	// all. What it leaves out may be shown to it again, by another process or after a restart, and it must leave it out again.
	Choose func(tx *db.Tx, events []Event) ([]Event, error)
	// Gather is how long events may be let gather before the follower is told of them: those who are in no hurry write less often.
	Gather  time.Duration
	Handle  func(tx *db.Tx, events []Event) error
	Prepare func(events []Event) (write func(tx *db.Tx) error)
	// Window is what the followers of a process have read lately. Nil reads for this follower alone.
	Window *Window
}

// How long followers let events gather: those for whom programs wait, and those whose results people look at.
const (
	Promptly  = 5 * time.Millisecond
	Leisurely = 200 * time.Millisecond
)

// maxBatch bounds how many events one transaction of a follower handles.
const maxBatch = 500

// look is what a follower finds after its place.
type look struct {
	at     place
	end    position
	events []Event // that it wants, between the two
	// others is how many it does not want there.
	others int
	// more tells that there may be others after these, be it that they may not be seen yet.
	more bool
}

// worth tells whether a step has something to write. To move past what is not wanted is worth a write only now and then.
func (l *look) worth() bool { return len(l.events) > 0 || l.others >= maxBatch }

func (l *look) add(events, wanted []Event, more bool) {
	l.events, l.more = wanted, more
	l.others += len(events) - len(wanted)
	if len(events) > 0 {
		l.end = events[len(events)-1].position
	}
}

// Waiting tells whether there are events the follower has not handled, those included that it may not see yet because an older
// transaction is still open. Nobody announces the end of such a transaction, so a follower that waits has to look again soon.
func (f Follower) Waiting(ctx context.Context, d *db.DB) (bool, error) {
	found, err := f.look(ctx, d)
	return found.worth() || found.more, err
}

// Step lets the follower handle its next batch. It tells whether there was one. Nodes may step the same follower at once; one at
// a time does the work.
func (f Follower) Step(ctx context.Context, d *db.DB) (bool, error) {
	moved, _, err := f.Advance(ctx, d)
	return moved, err
}

// Advance is Step, and tells too whether more waits right away.
func (f Follower) Advance(ctx context.Context, d *db.DB) (moved, more bool, err error) {
	found, err := f.look(ctx, d)
	if err != nil || !found.worth() {
		return false, false, err
	}
	prepared, overtaken := f.prepared(found.events), false
	err = d.Write(ctx, func(tx *db.Tx) error {
		moved, overtaken = false, false
		at, free, err := lockPlace(tx, f.Name, found.at)
		if err != nil || !free {
			return err
		}
		if overtaken = at.position != found.at.position; overtaken {
			return nil
		}
		handle := prepared
		if at.redactions != found.at.redactions {
			if handle, err = f.preparedAnew(tx, found); err != nil {
				return err
			}
		}
		if err := handle(tx); err != nil {
			return fmt.Errorf("follower %s after event %d: %w", f.Name, at.seq, err)
		}
		moved = true
		return movePosition(tx, f.Name, found.end)
	})
	return moved, moved && found.more || overtaken, err
}

// prepared returns what is to be written for the events.
func (f Follower) prepared(events []Event) func(tx *db.Tx) error {
	switch {
	case len(events) == 0:
		return func(*db.Tx) error { return nil }
	case f.Prepare != nil:
		return f.Prepare(events)
	}
	return func(tx *db.Tx) error { return f.Handle(tx, events) }
}

// preparedAnew is prepared for what was found before facts were taken out of events, be it of others. It is read again where nobody can
// take any out before the follower has ended, and not looked for again: while much is forgotten, the follower would never come to it.
func (f Follower) preparedAnew(tx *db.Tx, found look) (write func(tx *db.Tx) error, err error) {
	events, err := selectAfter(tx, found.at.position, found.end.txID+1, found.others+len(found.events))
	if err != nil {
		return nil, err
	}
	if events = f.ofTypes(events); f.Choose != nil && len(events) > 0 {
		if events, err = f.Choose(tx, events); err != nil {
			return nil, err
		}
	}
	return f.prepared(events), nil
}

// look reads what comes next. It is done outside the transaction that handles it: those who write wait for one another on the
// embedded engine, those who read do not.
func (f Follower) look(ctx context.Context, d *db.DB) (found look, err error) {
	window := f.Window
	if window == nil {
		window = NewWindow()
	}
	horizon, err := d.Horizon(ctx)
	if err != nil {
		return found, err
	}
	var at place
	if err = d.Glance(ctx, func(tx *db.Tx) (err error) { at, err = readPlace(tx, f.Name); return err }); err != nil {
		return found, err
	}
	window.refresh(at)
	before := window.passage(f.Name, at.position)
	found = look{at: at, end: before.to, others: before.events}
	for looking := true; looking; {
		events, more, err := window.after(ctx, d, found.end, horizon)
		if err != nil {
			return found, err
		}
		wanted, err := f.wanted(ctx, d, events)
		if err != nil {
			return found, err
		}
		found.add(events, wanted, more)
		looking = len(events) > 0 && !found.worth()
	}
	if !found.worth() {
		window.pass(f.Name, passage{from: at.position, to: found.end, events: found.others})
	}
	return found, nil
}

// wanted leaves out what the follower has not asked for. Choose begins to read only now: others may have read these events after this
// follower began to look, and what was there before them must be seen.
func (f Follower) wanted(ctx context.Context, d *db.DB, events []Event) (wanted []Event, err error) {
	wanted = f.ofTypes(events)
	if f.Choose == nil || len(wanted) == 0 {
		return wanted, nil
	}
	err = d.Glance(ctx, func(tx *db.Tx) error {
		wanted, err = f.Choose(tx, wanted)
		return err
	})
	return wanted, err
}

func (f Follower) ofTypes(events []Event) (wanted []Event) {
	if len(f.Types) == 0 {
		return events
	}
	for _, e := range events {
		if slices.Contains(f.Types, e.Type) {
			wanted = append(wanted, e)
		}
	}
	return wanted
}

package sandbox

import (
	"context"
	"time"

	"postrider/mail/smtp"
)

const (
	// reactAfter is how long a recipient takes to look at a mail; the sender has settled it by
	// then, and does not take a reader for a program that looks at everything at once.
	reactAfter = 3 * time.Second
	// maxPending bounds the reactions that wait; those of a load test beyond it are not carried out.
	maxPending = 10_000
	// maxActing bounds the reactions that run at one time, below what a mail server takes from one address.
	maxActing = 16
)

// react lets the recipients of a message do what their moods demand.
func (s *Sandbox) react(id string, to []smtp.Path) {
	for _, path := range to {
		var act func(ctx context.Context, m *entry, recipient string, raw []byte) error
		switch moodOf(path.Local) {
		case moodDSN:
			act = s.bounceLate
		case moodComplain:
			act = s.complain
		case moodOpen:
			act = s.loadImages
		case moodClick:
			act = s.followLink
		default:
			continue
		}
		s.later(func(ctx context.Context) error {
			m := s.mailbox.get(id)
			if m == nil {
				return nil
			}
			raw, found := s.mailbox.raw(m)
			if !found {
				return nil
			}
			return act(ctx, m, path.String(), raw)
		})
	}
}

// later carries out an act after the time that a recipient takes, unless the sandbox closes before.
func (s *Sandbox) later(act func(ctx context.Context) error) {
	select {
	case s.pending <- struct{}{}:
	default:
		s.world.Log.Warn("sandbox has too many reactions waiting and leaves one out")
		return
	}
	// The wait begins now and not when the goroutine runs, so that whoever moves the clock next moves it for this one too.
	over, giveUp := s.world.Clock.After(reactAfter)
	s.running.Go(func() {
		defer func() { <-s.pending }()
		select {
		case <-over:
		case <-s.life.Done():
			giveUp()
			return
		}
		s.acting <- struct{}{}
		defer func() { <-s.acting }()
		if err := act(s.life); err != nil && s.life.Err() == nil {
			s.world.Log.Warn("sandbox could not react to a mail", "error", err)
		}
	})
}

// wait lets time pass and reports whether it did, rather than ctx ended.
func (s *Sandbox) wait(ctx context.Context, d time.Duration) bool {
	over, giveUp := s.world.Clock.After(d)
	defer giveUp()
	select {
	case <-over:
		return true
	case <-ctx.Done():
		return false
	}
}

package event_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"postrider/platform/db"
	"postrider/platform/db/dbtest"
	"postrider/platform/event"
	"postrider/platform/space"
)

const (
	stranger = space.ID("00000000-0000-7000-8000-000000000002")
	letter   = "00000000-0000-7000-8000-0000000000aa"
)

// story writes what happened to one letter: 1 to nobody in particular, 2 and 3 to Ann, 4 to Bob, 5 to Ann in another workspace, 6 to Ann an
// hour later.
func story(t *testing.T, d *db.DB) {
	t.Helper()
	var events []event.Event
	for n, who := range []string{"", "ann", "ann", "bob", "ann", "ann"} {
		e := newEvent(n + 1)
		e.Subject, e.Recipient, e.Data = letter, who, []byte(`{"to":"`+who+`"}`)
		events = append(events, e)
	}
	events[2].Type = "test.rare"
	events[4].Workspace, events[4].Type = stranger, "test.strange"
	events[5].OccurredAt = events[5].OccurredAt.Add(time.Hour)
	write(t, d, func(tx *db.Tx) error { return event.Append(tx, events...) })
}

func write(t *testing.T, d *db.DB, fn func(tx *db.Tx) error) {
	t.Helper()
	if err := d.Write(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

// facts are the events of a letter with what is known of each.
func facts(tx *db.Tx, ws space.ID, recipient string) (string, error) {
	events, err := event.OfSubject(tx, ws, letter, recipient, 10, 0)
	var all []string
	for _, e := range events {
		all = append(all, fmt.Sprint(e.ID[len(e.ID)-1:], e.Recipient, len(e.Data)))
	}
	return strings.Join(all, " "), err
}

func TestAStoryIsToldToItsWorkspaceAndByRecipient(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, testWorld(), func(t *testing.T, d *db.DB) {
		story(t, d)
		write(t, d, func(tx *db.Tx) error {
			for _, c := range []struct {
				ws              space.ID
				recipient, want string
			}{
				{workspace, "", "19 2ann12 3ann12 4bob12 6ann12"},
				{workspace, "bob", "4bob12"},
				{stranger, "", "5ann12"},
			} {
				if got, err := facts(tx, c.ws, c.recipient); err != nil || got != c.want {
					return fmt.Errorf("%s to %q: %q, want %q: %w", c.ws, c.recipient, got, c.want, err)
				}
			}
			if _, err := event.KeysOf(tx, stranger, letter, newEvent(1).ID); !errors.Is(err, db.ErrNotFound) {
				return fmt.Errorf("the place of a foreign event: %w", err)
			}
			return nil
		})
	})
}

func TestWhatIsKnownOfARecipientIsNotKnownOfAnother(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, testWorld(), func(t *testing.T, d *db.DB) {
		story(t, d)
		write(t, d, func(tx *db.Tx) error {
			for _, c := range []struct {
				recipient, kind string
				want            bool
			}{{"ann", "test.rare", true}, {"bob", "test.rare", false}, {"ann", "test.unheard", false}, {"ann", "test.strange", false}} {
				if told, err := event.Told(tx, workspace, letter, c.recipient, c.kind); err != nil || told != c.want {
					return fmt.Errorf("%s of %s: %v, want %v: %w", c.kind, c.recipient, told, c.want, err)
				}
			}
			return nil
		})
	})
}

func TestRedactForgetsOneRecipientUpToAMoment(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, testWorld(), func(t *testing.T, d *db.DB) {
		story(t, d)
		bare := newEvent(7)
		bare.Subject, bare.Recipient = letter, "ann" // an event without facts names its recipient all the same
		write(t, d, func(tx *db.Tx) error { return event.Append(tx, bare) })
		write(t, d, func(tx *db.Tx) error {
			for _, want := range []int{4, 0} { // what was forgotten before is not told again
				if told, err := event.Redact(tx, workspace, letter, "ann", newEvent(1).OccurredAt.Add(time.Minute)); err != nil || len(told) != want {
					return fmt.Errorf("forgot %v, want %d: %w", told, want, err)
				}
			}
			for ws, want := range map[space.ID]string{workspace: "12 22 32 4bob12 6ann12 72", stranger: "5ann12"} {
				if got, err := facts(tx, ws, ""); err != nil || got != want {
					return fmt.Errorf("%s: %q, want %q: %w", ws, got, want, err)
				}
			}
			return nil
		})
	})
}

func TestFollowersAreWokenByEvents(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, testWorld(), func(t *testing.T, d *db.DB) {
		news, end := d.Subscribe(event.Topic)
		defer end()
		add(t, d, 1)
		select {
		case <-news:
		default:
			t.Error("not woken")
		}
	})
}

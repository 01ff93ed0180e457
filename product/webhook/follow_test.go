package webhook_test

import (
	"context"
	"testing"
	"time"

	"postrider/platform/event"
)

// advance lets a follower go on once and returns how often it wrote.
func (h house) advance(f event.Follower) int64 {
	h.t.Helper()
	before := h.App.DB.Stats().Writes
	if _, _, err := f.Advance(context.Background(), h.App.DB); err != nil {
		h.t.Fatal(err)
	}
	return h.App.DB.Stats().Writes - before
}

func TestNothingIsWrittenForWorkspacesWithoutEndpoints(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		h.follow() // what the installation itself has done
		h.happen("email.delivered", 3)
		follower := h.App.Webhooks.Followers()[0]
		if wrote := h.advance(follower); wrote != 0 {
			t.Errorf("it wrote %d times", wrote)
		}
		h.webhook("https://app.example.com/", []string{"*"})
		h.happen("email.delivered", 2)
		if wrote := h.advance(follower); wrote != 1 {
			t.Errorf("it wrote %d times for an endpoint", wrote)
		}
		if told := len(h.deliveries("?event=email.delivered")); told != 2 {
			t.Errorf("the endpoint is told of %d, want the 2 after it was made", told)
		}
	})
}

func TestAnEndpointHearsOfWhatANodeWithALateClockRecords(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		h.happen("email.delivered", 1)
		h.webhook("https://app.example.com/", []string{"email.delivered"})
		h.Clock.Advance(-300 * time.Millisecond)
		h.happen("email.delivered", 3)
		h.follow()
		if told := len(h.deliveries("?event=email.delivered")); told != 3 {
			t.Errorf("it is told of %d, want the 3 after it was made", told)
		}
	})
}

func TestAnEndpointDoesNotHearOfWhatItMissedAfterARestart(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		id, _ := h.webhook("https://app.example.com/", []string{"*"})
		h.must(200, "PATCH", "/webhooks/"+id, fields{"enabled": false})
		h.happen("email.delivered", 3)
		h.follow()
		h.must(200, "PATCH", "/webhooks/"+id, fields{"enabled": true})

		h.CatchUp(h.restart(otherNode).Followers())
		h.happen("email.delivered", 1)
		h.CatchUp(h.restart(otherNode).Followers())

		if told := len(h.deliveries("?event=email.delivered")); told != 1 {
			t.Errorf("it is told of %d, want the one since it is enabled", told)
		}
	})
}

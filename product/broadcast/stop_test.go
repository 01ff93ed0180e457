package broadcast_test

import (
	"strings"
	"testing"
	"time"

	"postrider/app"
	"postrider/platform/blob"
)

func TestCancelInFlightStopsTheRestAndCallsBackWhatWaits(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.sent(h.list(crowd(6)...), fields{"throttle_per_hour": 720})
		h.finish() // two have it
		h.Clock.Advance(10 * time.Second)
		h.hand() // two wait in the mail queue
		used := h.used()
		b := h.must(200, "POST", "/broadcasts/"+id+"/cancel", nil)
		if b.Text("status") != "cancelled" || b.Text("cancelled_at") == "" || h.stats(id, "queued", "cancelled") != "queued 2, cancelled 2" {
			t.Errorf("%s", b.Raw)
		}
		h.Clock.Advance(time.Minute)
		h.finish()

		if got := h.stats(id, "recipients", "queued", "delivered", "cancelled"); got != "recipients 6, queued 0, delivered 2, cancelled 4" {
			t.Error(got)
		}
		if got := strings.Count(h.roster(id, "&status=cancelled"), "(broadcast_cancelled)"); got != 4 {
			t.Errorf("%d are told why", got)
		}
		arrived := 0
		for _, address := range crowd(6) {
			arrived += len(h.Mailbox(address))
		}
		if arrived != 2 || h.used() != used-2 {
			t.Errorf("%d mails arrived, %d emails counted after %d", arrived, h.used(), used)
		}
		if h.get(id).Text("status") != "cancelled" || h.told(id) != "broadcast.cancelled" {
			t.Errorf("told %s", h.told(id))
		}
		h.must(409, "POST", "/broadcasts/"+id+"/cancel", nil)
		h.must(200, "DELETE", "/broadcasts/"+id, nil)
	})
}

func TestABroadcastThatIsPausedGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.sent(h.list(crowd(4)...), fields{"throttle_per_hour": 720})
		h.hand()
		h.must(409, "POST", "/broadcasts/"+id+"/resume", nil)
		b := h.must(200, "POST", "/broadcasts/"+id+"/pause", nil)
		if b.Text("paused_at") == "" || b.Text("status") != "sending" {
			t.Errorf("%s", b.Raw)
		}
		h.Clock.Advance(time.Hour)
		if again := h.must(200, "POST", "/broadcasts/"+id+"/pause", nil); again.Text("paused_at") != b.Text("paused_at") {
			t.Errorf("paused twice: since %s, and then since %s", b.Text("paused_at"), again.Text("paused_at"))
		}
		h.finish()
		if got := h.stats(id, "queued", "delivered"); got != "queued 2, delivered 2" {
			t.Errorf("while paused: %s", got)
		}
		trial := h.Browse("POST", "/v1/api-keys", fields{"name": "trial", "preset": "full_access", "mode": "test"}).Text("key")
		h.mustAs(trial, 409, "POST", "/broadcasts/"+id+"/resume", nil) // it would send for real
		h.must(200, "POST", "/broadcasts/"+id+"/resume", nil)
		h.finish()
		if got := h.stats(id, "queued", "delivered"); got != "queued 0, delivered 4" || h.get(id).Text("status") != "sent" {
			t.Errorf("after: %s", got)
		}
		h.must(409, "POST", "/broadcasts/"+id+"/pause", nil)
	})
}

func TestABroadcastThatIsCancelledWhilePausedIsPausedNoMore(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.sent(h.list("ann@example.net"), nil)
		h.must(200, "POST", "/broadcasts/"+id+"/pause", nil)
		if b := h.must(200, "POST", "/broadcasts/"+id+"/cancel", nil); b.Text("status") != "cancelled" || b.Text("paused_at") != "" {
			t.Errorf("%s", b.Raw)
		}
		h.must(409, "POST", "/broadcasts/"+id+"/resume", nil)
		h.finish()
		if n := len(h.Mailbox("ann@example.net")); n != 0 {
			t.Errorf("%d mails", n)
		}
	})
}

func TestAnotherProcessTakesOverWithoutDoublingAnybody(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.sent(h.list(crowd(3)...), nil)
		other := h.on(h.App.DB, "another-node")
		for busy := true; busy; {
			var err error
			if busy, err = other.Step(t.Context()); err != nil {
				t.Fatal(err)
			}
			h.step()
		}
		h.finish()
		for _, address := range crowd(3) {
			if n := len(h.Mailbox(address)); n != 1 {
				t.Errorf("%s has %d mails", address, n)
			}
		}
		if got := h.get(id).Text("status"); got != "sent" {
			t.Error(got)
		}
	})
}

func TestACancelStopsMailThatWaitsInTheQueueAtOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.sent(h.list(crowd(6)...), nil)
		h.hand()
		used := h.used()
		h.must(200, "POST", "/broadcasts/"+id+"/cancel", nil)
		h.Deliver() // before anybody has called a single mail back
		h.follow()

		if got := h.stats(id, "recipients", "queued", "delivered", "cancelled"); got != "recipients 6, queued 0, delivered 0, cancelled 6" {
			t.Error(got)
		}
		if got := strings.Count(h.roster(id, "&status=cancelled"), "(broadcast_cancelled)"); got != 6 || h.used() != used-6 {
			t.Errorf("%d are told why, %d emails counted after %d", got, h.used(), used)
		}
		for _, address := range crowd(6) {
			if n := len(h.Mailbox(address)); n != 0 {
				t.Errorf("%s has %d mails", address, n)
			}
		}
		h.finish()
		if got := h.stats(id, "queued", "cancelled"); got != "queued 0, cancelled 6" {
			t.Errorf("counted twice: %s", got)
		}
	})
}

func TestACancelReachesMailThatWaitsForAnotherAttempt(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.sent(h.list("ann@example.net", "defer@example.net"), nil)
		h.finish()
		if got := h.roster(id, ""); got != "ann delivered, defer sending" {
			t.Fatal(got)
		}
		h.must(200, "POST", "/broadcasts/"+id+"/cancel", nil)
		h.hand()
		if got := h.roster(id, ""); got != "ann delivered, defer cancelled (broadcast_cancelled)" || h.stats(id, "queued", "delivered", "cancelled") != "queued 0, delivered 1, cancelled 1" {
			t.Errorf("%s; %s", got, h.stats(id, "queued", "delivered", "cancelled"))
		}
		h.Clock.Advance(24 * time.Hour)
		h.finish()
		if n := len(h.Mailbox("defer@example.net")); n != 0 {
			t.Errorf("%d mails after the cancel", n)
		}
	})
}

// Another node has answered the cancel, so this process knows of it from the database alone.
func TestMailThatAnotherNodeCalledBackIsNotSent(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id, other := h.sent(h.list(crowd(3)...), nil), h.sent(h.list("ann@example.net"), nil)
		h.hand()
		blobs, err := blob.NewFiles(t.TempDir(), h.App.World.Clock, h.App.World.Random)
		if err != nil {
			t.Fatal(err)
		}
		node := app.Assemble(h.App.World, h.App.DB, blobs, h.Keys, app.Settings{ServiceDomain: "mail.postrider.test", BaseURL: "https://postrider.test"})
		if answer := h.askOf(node.API, "POST", "/broadcasts/"+id+"/cancel", nil); answer.Status != 200 {
			t.Fatalf("%s", answer.Raw)
		}
		h.Deliver()
		h.follow()
		if got := h.stats(id, "queued", "delivered", "cancelled"); got != "queued 0, delivered 0, cancelled 3" {
			t.Error(got)
		}
		if got := h.stats(other, "queued", "delivered", "cancelled"); got != "queued 0, delivered 1, cancelled 0" {
			t.Errorf("another broadcast: %s", got)
		}
	})
}

package webhook_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/platform/httpout"
	"postrider/product/webhook"
)

// restart returns the webhooks of a new process of the same node, or of another one, on the same database.
func (h house) restart(node string) *webhook.Service {
	h.t.Helper()
	return webhook.New(h.App.World, h.App.DB, webhook.Parts{Keys: h.Keys, Plans: h.App.Plans, Accounts: h.App.Accounts, DomainsExist: h.App.Domains.Exist,
		ExternalID: h.App.Tenants.ExternalID}, webhook.Config{Node: node, Inline: true, Policy: httpout.Policy{AnyLoopbackPort: true}})
}

const otherNode = "00000000-0000-7000-8000-00000000000b"

func TestAProcessThatDiesAfterThePostTellsTheSameAgain(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		server := newReceiver(t, nil)
		h.webhook(server.URL, []string{"*"})
		h.happen("email.delivered", 1)
		h.follow()
		for range 3 { // claims, loads and posts, but is never asked to settle
			if len(server.requests()) > 0 {
				break
			}
			if _, err := h.App.Webhooks.Step(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		if len(server.requests()) != 1 || h.statuses() != "[pending:1]" {
			t.Fatalf("%d requests, deliveries %s", len(server.requests()), h.statuses())
		}

		h.Finish(h.restart(apptest.NodeID).Step)

		sent := server.requests()
		if len(sent) != 2 || sent[0].Get("Webhook-Id") != sent[1].Get("Webhook-Id") || sent[0].body != sent[1].body ||
			sent[0].Get("X-Service-Delivery") != sent[1].Get("X-Service-Delivery") {
			t.Fatalf("%v", sent)
		}
		if d := h.deliveries("")[0]; d["status"] != "delivered" || d["attempt_count"] != 1.0 {
			t.Errorf("delivery %v", d)
		}
	})
}

func TestAnEndpointOfADeadNodeIsTakenOverWhenItsLeaseEnds(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		server := newReceiver(t, nil)
		h.webhook(server.URL, []string{"*"})
		h.happen("email.delivered", 1)
		h.follow()
		if busy, err := h.App.Webhooks.Step(context.Background()); err != nil || !busy { // claims, and dies
			t.Fatal(busy, err)
		}
		other := h.restart(otherNode)
		h.Finish(other.Step)
		if got := len(server.requests()); got != 0 {
			t.Fatalf("%d requests by a node that does not hold the endpoint", got)
		}
		h.Clock.Advance(31 * time.Second)
		for _, w := range other.Workers() {
			if w.Name == "webhook leases" {
				h.Finish(w.Step)
			}
		}
		h.Finish(other.Step)
		if got := len(server.requests()); got != 1 {
			t.Errorf("%d requests after the lease has ended", got)
		}
	})
}

func TestANodeWhoseEndpointWasTakenOverSendsItNothingMore(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		server := newReceiver(t, nil)
		h.webhook(server.URL, []string{"*"})
		h.happen("email.delivered", 3)
		h.follow()
		for len(server.requests()) == 0 { // the first is on its way when the node is held up; another one waits behind it
			if _, err := h.App.Webhooks.Step(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		other := h.restart(otherNode)
		h.Clock.Advance(31 * time.Second)
		for _, w := range other.Workers() {
			if w.Name == "webhook leases" {
				h.Finish(w.Step)
			}
		}
		h.Finish(other.Step)
		if got := len(server.requests()); got != 4 {
			t.Fatalf("%d requests: the other node did not take the endpoint over", got)
		}

		h.Finish(h.App.Webhooks.Step) // it goes on

		if got := len(server.requests()); got != 4 {
			t.Errorf("%d requests for 3 events, of which one was on its way", got)
		}
		if got := h.statuses(); got != "[delivered:3]" {
			t.Errorf("deliveries %s", got)
		}
	})
}

func TestAnEndpointThatTakesItsTimeStaysWithItsNode(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		began, release := make(chan struct{}, 1), make(chan struct{})
		server := newReceiver(t, holdUntil(began, release))
		t.Cleanup(func() { close(release) })
		h.webhook(server.URL, []string{"*"})
		h.happen("email.delivered", 3)
		h.follow()
		h.Finish(h.App.Webhooks.Step)
		<-began
		other := h.restart(otherNode)
		for range 5 { // longer than a lease
			h.Clock.Advance(10 * time.Second)
			h.do("webhook leases")
			for _, w := range other.Workers() {
				if w.Name == "webhook leases" {
					h.Finish(w.Step)
				}
			}
			if busy, err := other.Step(t.Context()); busy || err != nil {
				t.Fatalf("another node took it over, %v", err)
			}
		}
	}, inTheBackground)
}

func TestADrainedProcessLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		began, release := make(chan struct{}, 1), make(chan struct{})
		server := newReceiver(t, holdUntil(began, release))
		h.webhook(server.URL, []string{"*"})
		h.happen("email.delivered", 3)
		h.follow()
		h.Finish(h.App.Webhooks.Step)
		<-began
		close(release)

		if err := h.App.Webhooks.Drain(context.Background()); err != nil {
			t.Fatal(err)
		}

		if got := h.statuses(); got != "[delivered:1 pending:2]" {
			t.Errorf("after the drain: %s", got)
		}
		h.Finish(h.restart(otherNode).Step)
		if got := h.statuses(); got != "[delivered:3]" {
			t.Errorf("another node: %s", got)
		}
	}, inTheBackground)
}

func TestAPostWhoseOutcomeCouldNotBeWrittenIsNeitherForgottenNorMadeAgain(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		server := newReceiver(t, nil)
		h.webhook(server.URL, []string{"*"})
		h.happen("email.delivered", 1)
		h.follow()
		for len(server.requests()) == 0 {
			if busy, err := h.App.Webhooks.Step(t.Context()); err != nil || !busy {
				t.Fatal(busy, err)
			}
		}
		gone, stop := context.WithCancel(t.Context())
		stop()
		if _, err := h.App.Webhooks.Step(gone); err == nil {
			t.Fatal("the database answered")
		}

		h.Finish(h.App.Webhooks.Step)

		if got := h.statuses(); got != "[delivered:1]" || len(server.requests()) != 1 {
			t.Errorf("deliveries %s after %d requests", got, len(server.requests()))
		}
	})
}

// moody is a postman who does nothing for the first of those who ask.
type moody struct {
	refuses int
	posted  []string
}

func (m *moody) Post(_ context.Context, to, subject, _ string) error {
	if m.refuses--; m.refuses >= 0 {
		return errors.New("not now")
	}
	m.posted = append(m.posted, to+": "+subject)
	return nil
}

func TestALetterToAnOwnerIsTriedAgainForAWhile(t *testing.T) {
	t.Parallel()
	for refuses, want := range map[int]int{2: 1, 10: 0} {
		each(t, func(t *testing.T, h house) {
			h.webhook(newReceiver(t, status(410)).URL, []string{"*"})
			h.happen("email.delivered", 1)
			h.work()
			postman := &moody{refuses: refuses}
			service := webhook.New(h.App.World, h.App.DB, webhook.Parts{Keys: h.Keys, Plans: h.App.Plans, Accounts: h.App.Accounts}, webhook.Config{Node: otherNode, Postman: postman})
			for range 12 {
				for _, w := range service.Workers() {
					if w.Name == "webhook notices" {
						h.Finish(w.Step)
					}
				}
				h.Clock.Advance(11 * time.Minute)
			}
			if len(postman.posted) != want || want > 0 && postman.posted[0] != h.Owner()+": A webhook has been disabled" {
				t.Errorf("after %d refusals: %v", refuses, postman.posted)
			}
		})
	}
}

func TestWhatANodeLearntBeforeItLostAnEndpointDoesNotTurnBackTheCount(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		server := newReceiver(t, status(500))
		h.webhook(server.URL, []string{"*"})
		h.happen("email.delivered", 1)
		h.follow()
		for len(server.requests()) == 0 { // the node is held up before it can write the outcome down
			if _, err := h.App.Webhooks.Step(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		other := h.restart(otherNode)
		h.Clock.Advance(31 * time.Second)
		for _, w := range other.Workers() {
			if w.Name == "webhook leases" {
				h.Finish(w.Step)
			}
		}
		h.Finish(other.Step)
		h.Clock.Advance(10 * time.Second)
		h.Finish(other.Step)
		before := h.deliveries("")[0]
		if before["attempt_count"] != 2.0 {
			t.Fatalf("the other node has tried: %v", before)
		}

		h.Finish(h.App.Webhooks.Step) // it goes on

		if after := h.deliveries("")[0]; after["attempt_count"] != 2.0 || after["next_attempt_at"] != before["next_attempt_at"] {
			t.Errorf("%v, was %v", after, before)
		}
	})
}

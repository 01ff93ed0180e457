package webhook

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/plan"
)

// liveTimeout is how long a person waits for the answer of a live test.
const liveTimeout = 10 * time.Second

var (
	errDisabled = api.ErrInvalidState.With("current", Disabled).With("allowed", []Status{Enabled}).
			Saying("The webhook is disabled. Enable it first.")
	errDeleted = api.ErrInvalidState.With("current", "deleted").With("allowed", []Status{Enabled}).
			Saying("The webhook of this delivery was deleted.")
)

// Trial is a test that somebody asks for.
type Trial struct {
	Event string `json:"event" doc:"Type of the event whose sample is sent; webhook.test if absent." example:"email.delivered"`
}

// trial makes a test delivery: the sample of the catalogue, as if it happened now.
func (s *Service) trial(e *Endpoint, t Trial, now time.Time) (Delivery, string, error) {
	name := t.Event
	if name == "" {
		name = TestType
	}
	k, ok := s.catalogue.byType[name]
	if !ok {
		return Delivery{}, "", api.Invalid("event", fmt.Sprintf("%q is not an event. GET /webhook-events lists all of them.", shorten(name)))
	}
	sample := k.sample()
	sample.ID, sample.Workspace = s.world.NewID(), e.Workspace
	sample.CreatedAt, sample.Timestamp = api.Time(now), api.Time(now)
	if name == TestType {
		sample.Data = mustMarshal(map[string]any{"webhook_id": e.ID, "message": "This is a test."})
	}
	d := s.newDelivery(e, sample.ID, name, now)
	d.Test = true
	return d, string(sample.write()), nil
}

// Test queues a test event for an enabled endpoint.
func (s *Service) Test(ctx context.Context, caller api.Caller, id string, t Trial) (d Delivery, body string, err error) {
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		e, err := s.lock(tx, caller.Workspace, id)
		if err != nil {
			return err
		}
		if err := mayManage(caller, e); err != nil {
			return err
		}
		if d, body, err = s.trial(&e, t, tx.Now()); err != nil {
			return err
		}
		if e.Status == Disabled {
			return errDisabled
		}
		return s.add(tx, plan.Name(caller.Plan), d, body)
	})
	return d, body, err
}

// add writes a delivery and its payload, and makes its endpoint, which the transaction has locked, due.
func (s *Service) add(tx *db.Tx, name plan.Name, d Delivery, body string) error {
	if err := insertPayloads(tx, []payload{{d.EventID, d.Workspace, body, tx.Now().Add(s.retention(name))}}); err != nil {
		return err
	}
	if err := insertDeliveries(tx, []Delivery{d}); err != nil {
		return err
	}
	return awaken(tx, []ID{d.Webhook})
}

// TestLive posts a test event now and returns what became of it. A disabled endpoint can be tested too, and the outcome does not
// count for its health: it tells what would happen.
func (s *Service) TestLive(ctx context.Context, caller api.Caller, id string, t Trial) (Delivery, string, []Attempt, error) {
	var e Endpoint
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		e, err = s.find(tx, caller.Workspace, id)
		return err
	})
	if err != nil {
		return Delivery{}, "", nil, err
	}
	d, body, err := s.trial(&e, t, s.world.Clock.Now())
	if err != nil {
		return Delivery{}, "", nil, err
	}
	d.MaxAttempts = 1
	waiting, done := context.WithTimeout(ctx, liveTimeout)
	defer done()
	o := s.post(waiting, job{delivery: d, body: body, endpoint: &e})
	d = ended(d, o)
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		if err := insertPayloads(tx, []payload{{d.EventID, d.Workspace, body, tx.Now().Add(s.retention(plan.Name(caller.Plan)))}}); err != nil {
			return err
		}
		if err := insertDeliveries(tx, []Delivery{d}); err != nil {
			return err
		}
		return insertAttempts(tx, []outcome{o})
	})
	return d, body, []Attempt{o.attempt}, err
}

// ended returns a delivery after its only attempt.
func ended(d Delivery, o outcome) Delivery {
	at := o.attempt.StartedAt.Add(o.attempt.Took)
	d.Attempts, d.DueAt = o.attempt.Number, time.Time{}
	if o.attempt.Error == "" {
		d.Status, d.DeliveredAt = Delivered, at
		return d
	}
	d.Status, d.FailedAt = Failed, at
	return d
}

var replayable = []DeliveryStatus{Failed, Delivered, Cancelled}

// Replay sends an event that was on its way to an endpoint once more, with the same id and body.
func (s *Service) Replay(ctx context.Context, caller api.Caller, id string) (d Delivery, body string, err error) {
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		before, err := findDelivery(tx, caller.Workspace, id)
		if err != nil {
			return err
		}
		if !slices.Contains(replayable, before.Status) {
			return api.ErrInvalidState.With("current", before.Status).With("allowed", replayable).
				Saying("The delivery is still on its way; it can be replayed when it has ended.")
		}
		e, err := s.lock(tx, caller.Workspace, string(before.Webhook))
		if errors.Is(err, ErrNotFound) {
			return errDeleted
		}
		if err != nil {
			return err
		}
		if e.Status == Disabled {
			return errDisabled
		}
		d = s.newDelivery(&e, before.EventID, before.EventType, tx.Now())
		d.Test, d.ReplayOf = before.Test, before.ID
		if err := keepPayload(tx, d.Workspace, d.EventID, tx.Now().Add(s.retention(plan.Name(caller.Plan)))); err != nil {
			return err
		}
		if body, err = s.sentBody(tx, d); err != nil {
			return err
		}
		if body == "" { // it was swept in this moment
			return ErrDeliveryNotFound
		}
		if err := insertDeliveries(tx, []Delivery{d}); err != nil {
			return err
		}
		return awaken(tx, []ID{d.Webhook})
	})
	return d, body, err
}

func findDelivery(tx *db.Tx, ws space.ID, id string) (Delivery, error) {
	if !api.IsID(id) {
		return Delivery{}, ErrDeliveryNotFound
	}
	d, err := selectDelivery(tx, ws, DeliveryID(id))
	return d, db.OrMissing(err, ErrDeliveryNotFound)
}

// findDeliveryFor is findDelivery for what a caller may see: for a key that is restricted to some domains, what went to a webhook that it
// may not manage, or to one that is gone, is not there, as in the list.
func (s *Service) findDeliveryFor(tx *db.Tx, caller api.Caller, id string) (Delivery, error) {
	d, err := findDelivery(tx, caller.Workspace, id)
	if err != nil || len(caller.DomainIDs) == 0 {
		return d, err
	}
	e, err := s.find(tx, caller.Workspace, string(d.Webhook))
	if errors.Is(err, ErrNotFound) || err == nil && mayManage(caller, e) != nil {
		return Delivery{}, ErrDeliveryNotFound
	}
	return d, err
}

// sentBody returns the body of a delivery as its endpoint gets it. One that is deleted is taken for one that asked for no texts.
func (s *Service) sentBody(tx *db.Tx, d Delivery) (string, error) {
	e, err := s.find(tx, d.Workspace, string(d.Webhook))
	if err != nil && !errors.Is(err, ErrNotFound) {
		return "", err
	}
	bodies, err := selectPayloads(tx, []string{d.EventID})
	return shownTo(&e, d.EventType, bodies[d.EventID]), err
}

package webhook

import (
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/event"
)

// settle writes down what became of jobs, in one transaction for all of them. endpoints are those that are still there, locked;
// how they are doing is written too, and one that has been gone or failing for too long is disabled.
func (s *Service) settle(tx *db.Tx, outcomes []outcome, endpoints map[ID]*Endpoint) error {
	if len(outcomes) == 0 {
		return nil
	}
	if err := insertAttempts(tx, outcomes); err != nil {
		return err
	}
	var delivered []DeliveryID
	before := map[ID]Status{}
	for _, o := range outcomes {
		if to := o.attempt.Details.URL; to != o.delivery.URL {
			if err := markMoved(tx, o.delivery.ID, to); err != nil {
				return err
			}
		}
		if e := endpoints[o.delivery.Webhook]; e != nil {
			if _, known := before[e.ID]; !known {
				before[e.ID] = e.Status
			}
			e.learn(o)
		}
		if o.attempt.Error == "" {
			delivered = append(delivered, o.delivery.ID)
			continue
		}
		status := Retrying
		if o.next.IsZero() {
			status = Failed
		}
		if err := markFailed(tx, o.delivery.ID, o.attempt.Number, status, o.next); err != nil {
			return err
		}
	}
	if len(delivered) > 0 {
		if err := markDelivered(tx, delivered); err != nil {
			return err
		}
	}
	for id, status := range before {
		if status == Enabled {
			if err := s.judgeHealth(tx, endpoints[id]); err != nil {
				return err
			}
		}
		if err := updateHealth(tx, *endpoints[id]); err != nil {
			return err
		}
	}
	return nil
}

// learn adds an attempt to what is known of an endpoint's health.
func (e *Endpoint) learn(o outcome) {
	finished := o.attempt.StartedAt.Add(o.attempt.Took)
	if !finished.Before(e.lastAttemptAt) {
		e.lastAttemptAt, e.lastStatus = finished, o.attempt.Status
	}
	if o.attempt.Error == "" {
		e.failures, e.firstFailureAt, e.warnedAt = 0, time.Time{}, time.Time{}
		return
	}
	e.failures++
	if e.firstFailureAt.IsZero() {
		e.firstFailureAt = finished
	}
	// The owner may have changed the address while the request was under way; only the present one can be gone.
	if o.gone() && o.attempt.Details.URL == e.URL && e.Status == Enabled {
		e.Status, e.DisabledReason = Disabled, Gone
	}
}

// judgeHealth looks at an endpoint that was enabled until now. It warns the owners of one that has taken nothing for a day, and
// gives up one that is gone or has taken nothing for five.
func (s *Service) judgeHealth(tx *db.Tx, e *Endpoint) error {
	failing := time.Duration(0)
	if !e.firstFailureAt.IsZero() {
		failing = tx.Now().Sub(e.firstFailureAt)
	}
	if e.Status == Enabled && failing >= disableAfter {
		e.Status, e.DisabledReason = Disabled, Failing
	}
	if e.Status == Disabled {
		return s.giveUp(tx, e)
	}
	if failing >= warnAfter && e.warnedAt.IsZero() {
		e.warnedAt = tx.Now()
		return s.notify(tx, e, warning)
	}
	return nil
}

// giveUp tells the world that an endpoint has been disabled, and cancels what waits for it.
func (s *Service) giveUp(tx *db.Tx, e *Endpoint) error {
	if err := s.cancelWaiting(tx, leftover{e.Workspace, e.ID}); err != nil {
		return err
	}
	if err := s.notify(tx, e, farewell); err != nil {
		return err
	}
	return event.Append(tx, event.Event{ID: s.world.NewID(), Workspace: e.Workspace, Type: "webhook.disabled", Subject: string(e.ID),
		OccurredAt: tx.Now(), Data: mustMarshal(map[string]any{"webhook_id": e.ID, "url": e.URL, "disabled_reason": e.DisabledReason,
			"first_failure_at": api.Time(e.firstFailureAt)})})
}

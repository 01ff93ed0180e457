package automation

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/platform/queue"
	"postrider/product/automation/internal/flow"
	"postrider/product/inbound"
)

const (
	// deletedLease outlives the messages of a transaction, and deletedTries is a week of trouble.
	deletedLease = 2 * time.Minute
	deletedRetry = time.Minute
	deletedTries = 10_000
)

// messageDeleted stands where a run would say why it failed.
const messageDeleted = "The message was deleted."

// stepDeleted lets runs forget messages that were deleted.
func (s *Service) stepDeleted(ctx context.Context) (bool, error) {
	return s.holder.Run(ctx, queue.Errand{Lane: inbound.DeletedLane, Lease: deletedLease, Batch: 1, Retry: deletedRetry, Tries: deletedTries,
		Failing: "runs have not forgotten what was deleted",
		Do: func(ctx context.Context, item queue.Item) error {
			var gone inbound.Deleted
			if err := json.Unmarshal([]byte(item.Payload), &gone); err != nil {
				return fmt.Errorf("payload: %w", err)
			}
			return s.db.Write(ctx, func(tx *db.Tx) error { return s.forgetMail(tx, gone) })
		}})
}

// forgetMail takes out of runs what they know of messages that were deleted. A run that goes on does so as if the messages had said nothing: rules
// are compared with nothing, and mail that needs a value is not sent. What it has sent, as mail or as events, is no longer its own.
func (s *Service) forgetMail(tx *db.Tx, gone inbound.Deleted) error {
	ids, err := selectHeard(tx, gone.Events)
	if err != nil || len(ids) == 0 {
		return err
	}
	if err := event.HoldFollowers(tx); err != nil { // the one of automations locks runs too
		return err
	}
	runs, err := lockRuns(tx, ids)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if r := runs[RunID(id)]; r != nil {
			if err := s.forgetMessages(tx, r, gone); err != nil {
				return err
			}
		}
	}
	return deleteEvents(tx, gone.Events)
}

func (s *Service) forgetMessages(tx *db.Tx, r *Run, gone inbound.Deleted) error {
	begun := r.answersMail() && slices.Contains(gone.Events, string(r.Cause.EventID))
	if begun {
		r.Payload = r.withoutMail()
		if err := updatePayload(tx, r); err != nil {
			return err
		}
	}
	said, err := selectReceived(tx, r.ID)
	if err != nil {
		return err
	}
	if tellsOf(said, gone.Messages) {
		if err := updateReceived(tx, r.ID); err != nil {
			return err
		}
	}
	steps, err := selectTaken(tx, r.ID)
	if err != nil {
		return err
	}
	heard := stepsWithoutMail(steps, begun, gone.Messages)
	if len(heard) == 0 {
		return nil
	}
	if err := insertTaken(tx, heard); err != nil || r.Failure == nil {
		return err
	}
	return s.forgetRun(tx, r, messageDeleted)
}

// withoutMail is what a run may still know of the message that began it: who must not be answered is not answered.
func (r *Run) withoutMail() map[string]any {
	if r.answersBulk() {
		return map[string]any{"bulk": true}
	}
	return map[string]any{}
}

// forgotSince tells whether the message that the run was told of has been deleted since an earlier look at it.
func (r *Run) forgotSince(before *Run) bool { return len(r.Payload) < len(before.Payload) }

// stepsWithoutMail returns the steps that were done knowing the messages, from the beginning or since one was waited for, without what they gave:
// what other servers answered may repeat what they were asked with, and why a step failed may quote it.
func stepsWithoutMail(steps []taken, begun bool, messages []inbound.ID) (heard []taken) {
	for _, t := range steps {
		var output struct {
			Event json.RawMessage `json:"event"`
		}
		told := flow.Type(t.Type) == flow.WaitForEvent && json.Unmarshal(t.Output, &output) == nil && tellsOf(output.Event, messages)
		if begun = begun || told; !begun {
			continue
		}
		switch {
		case told:
			t.Output = shown(map[string]any{"event": map[string]any{}})
		case flow.Type(t.Type) == flow.HTTPRequest:
			t.Output = nil
		}
		t.Failure = ""
		heard = append(heard, t)
	}
	return heard
}

// tellsOf tells whether what an event said is of one of the messages.
func tellsOf(said json.RawMessage, messages []inbound.ID) bool {
	var about struct {
		Message inbound.ID `json:"email_id"`
	}
	return json.Unmarshal(said, &about) == nil && slices.Contains(messages, about.Message)
}

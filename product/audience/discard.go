package audience

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/platform/space"
)

// What belonged to a list, a topic, a segment or a property that is deleted may be a million rows, so it is removed in steps. The request that
// deletes the thing does it. Should it be cut off, a queue item that was written with the deletion sees to the rest: who waited for
// a list that is gone would wait for ever.

const (
	// DiscardLane is the queue of what is deleted, and of which something may be left.
	DiscardLane queue.Lane = "audience_discard"
	// discardAfter is when somebody else looks whether a request has come to its end.
	discardAfter = time.Minute
	discardLease = 5 * time.Minute
	discardRetry = time.Minute
	// discardTries is a week of trouble.
	discardTries = 10_000
	// discardStep keeps the transactions short.
	discardStep = 1000
)

// discarded is something that is deleted.
type discarded struct {
	Workspace space.ID `json:"workspace_id"`
	Kind      kind     `json:"kind"`
	Number    int64    `json:"number"`
}

// kind is what a thing is that contacts have to do with.
type kind string

const (
	aList     kind = "list"
	aTopic    kind = "topic"
	aSegment  kind = "segment"
	aProperty kind = "property"
)

// discard deletes a thing, which take takes out of its own table, and then what belonged to it.
func (s *Service) discard(ctx context.Context, ws space.ID, of kind, take func(tx *db.Tx) (number int64, err error)) error {
	gone := discarded{Workspace: ws, Kind: of}
	item := queue.Item{ID: s.world.NewID(), Lane: DiscardLane, Rank: queue.Bulk}
	err := s.db.Write(ctx, func(tx *db.Tx) (err error) {
		if gone.Number, err = take(tx); err != nil {
			return err
		}
		item.Due, item.Payload = tx.Now().Add(discardAfter), db.JSON(gone)
		return queue.Add(tx, item)
	})
	if err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx) // it is deleted, whether or not somebody still waits for the answer
	if err = s.discardRest(ctx, gone); err == nil {
		err = s.db.Write(ctx, func(tx *db.Tx) error { return queue.Finish(tx, item.ID) })
	}
	if err != nil {
		s.world.Log.Warn("the rest of what was deleted is removed later", "kind", of, "queue_item", item.ID, "error", err)
	}
	return nil
}

// stepDiscards removes what requests have left behind.
func (s *Service) stepDiscards(ctx context.Context) (bool, error) {
	return s.holder.Run(ctx, queue.Errand{Lane: DiscardLane, Lease: discardLease, Batch: 1, Retry: discardRetry, Tries: discardTries,
		Failing: "the rest of what was deleted is not removed",
		Do: func(ctx context.Context, item queue.Item) error {
			var gone discarded
			if err := json.Unmarshal([]byte(item.Payload), &gone); err != nil {
				return fmt.Errorf("payload: %w", err)
			}
			return s.discardRest(ctx, gone)
		}})
}

func (s *Service) discardRest(ctx context.Context, gone discarded) error {
	for more := true; more; {
		err := s.db.Write(ctx, func(tx *db.Tx) (err error) {
			more, err = s.discardSome(tx, gone)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// discardSome removes some rows, and tells whether there may be more. Who was on a list is counted anew.
func (s *Service) discardSome(tx *db.Tx, gone discarded) (more bool, err error) {
	var n int64
	switch gone.Kind {
	case aList:
		left, err := deleteMembers(tx, gone.Number, discardStep)
		if err != nil {
			return false, err
		}
		return len(left) == discardStep, s.recount(tx, gone.Workspace, left)
	case aTopic:
		n, err = deleteSome(tx, "contact_topic", "topic", gone.Number, discardStep)
	case aSegment:
		n, err = deleteSome(tx, "segment_contact", "segment", gone.Number, discardStep)
	case aProperty:
		n, err = deleteSome(tx, "contact_value", "property", gone.Number, discardStep)
	default:
		return false, fmt.Errorf("nothing is known of a %q", gone.Kind)
	}
	return n == discardStep, err
}

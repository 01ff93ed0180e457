package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/platform/space"
)

// CancelLane holds endpoints that ended while more waited for them than one transaction cancels.
const CancelLane queue.Lane = "webhook_cancel"

const (
	// cancelBatch bounds what one transaction cancels: after an outage a million may wait, and on the embedded engine everybody who
	// writes waits for whoever does.
	cancelBatch = 1000
	// maxCancelTries and cancelRetry give a database a day to recover.
	maxCancelTries = 1440
	cancelRetry    = time.Minute
)

// leftover is an endpoint for which something may wait still.
type leftover struct {
	Workspace space.ID `json:"workspace"`
	Webhook   ID       `json:"webhook"`
}

// cancelWaiting cancels what waits for an endpoint that is disabled or deleted by the transaction; of much, the most part a moment later.
func (s *Service) cancelWaiting(tx *db.Tx, of leftover) error {
	cancelled, err := cancelDeliveries(tx, of, cancelBatch)
	if err != nil || cancelled < cancelBatch {
		return err
	}
	return queue.Add(tx, queue.Item{ID: s.world.NewID(), Lane: CancelLane, Rank: queue.Normal, Due: tx.Now(), Payload: string(mustMarshal(of))})
}

// cancelRest cancels the most part. An endpoint that is enabled again has none: see Update.
func (s *Service) cancelRest(ctx context.Context, of leftover) error {
	for {
		var cancelled int64
		err := s.db.Write(ctx, func(tx *db.Tx) error {
			cancelled = 0
			e, err := lockEndpoint(tx, of.Workspace, of.Webhook)
			if err != nil && !errors.Is(err, db.ErrNotFound) || e.Status == Enabled {
				return err
			}
			cancelled, err = cancelDeliveries(tx, of, cancelBatch)
			return err
		})
		if err != nil || cancelled == 0 {
			return err
		}
	}
}

// cancelNext does the next item of the lane.
func (s *Service) cancelNext(ctx context.Context) (bool, error) {
	return s.holder.Run(ctx, queue.Errand{Lane: CancelLane, Lease: leaseFor, Batch: 1, Retry: cancelRetry, Tries: maxCancelTries, Do: s.cancelItem,
		Failing: "what waits for a webhook not cancelled"})
}

func (s *Service) cancelItem(ctx context.Context, item queue.Item) error {
	var of leftover
	if err := json.Unmarshal([]byte(item.Payload), &of); err != nil {
		return fmt.Errorf("payload: %w", err)
	}
	return s.cancelRest(ctx, of)
}

package automation

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/product/audience"
)

// schedulePage is how many runs a schedule begins in one transaction.
const schedulePage = 200

// stepSchedules lets one schedule whose time has come begin some runs.
func (s *Service) stepSchedules(ctx context.Context) (bool, error) {
	if due, err := s.holder.IsDue(ctx, ScheduleLane); err != nil || !due {
		return false, err
	}
	worked, lease := false, s.holder.Lease(leaseFor)
	err := s.db.Write(ctx, func(tx *db.Tx) error {
		items, err := queue.Claim(tx, ScheduleLane, lease, 1)
		if worked = len(items) > 0; err != nil || !worked {
			return err
		}
		err = s.follows(tx, items[0])
		if isAnswer(err) { // it would be the same the next time, and no other schedule would have its turn
			s.world.Log.Warn("schedule given up", "queue_item", items[0].ID, "error", err)
			err = nil
		}
		if err != nil {
			return fmt.Errorf("schedule: %w", err)
		}
		return queue.Finish(tx, items[0].ID) // the next page, or the next time, is an item of its own
	})
	return worked, err
}

// follows does a page of a round, and plans what comes next. An item whose trigger is gone or was changed is not followed.
func (s *Service) follows(tx *db.Tx, item queue.Item) error {
	var p planned
	if err := json.Unmarshal([]byte(item.Payload), &p); err != nil {
		return err
	}
	listeners, err := listenersOf(tx, p.Automation)
	if err != nil {
		return err
	}
	for _, l := range listeners {
		if l.step != p.Step || l.version != p.Version || l.since.UnixMicro() != p.Since {
			continue
		}
		return s.round(tx, p, l, item.Due)
	}
	return nil
}

func (s *Service) round(tx *db.Tx, p planned, l listener, due time.Time) error {
	graph, err := s.graph(tx, l.automation, l.version)
	if err != nil {
		return err
	}
	node := graph.Step(l.step)
	if p.Round == "" {
		p.Round = s.world.NewID()
	}
	h := happening{workspace: l.workspace, name: l.event, id: p.Round, kind: "schedule", payload: map[string]any{"scheduled_at": due.UTC().Format(time.RFC3339)}}
	if node.Config.SegmentID == "" {
		if _, err := s.begin(tx, h, []listener{l}); err != nil {
			return err
		}
		return s.planNext(tx, l, node)
	}
	page, err := s.parts.Audience.Recipients(tx, l.workspace, audience.Target{Segment: node.Config.SegmentID}, p.After, schedulePage)
	if err != nil && !isAnswer(err) {
		return err
	}
	for _, contact := range page { // nobody, if the segment is gone
		h.contact, h.email, p.After = contact.ID, contact.Address, contact.Number
		if _, err := s.begin(tx, h, []listener{l}); err != nil {
			return err
		}
	}
	if len(page) < schedulePage {
		return s.planNext(tx, l, node)
	}
	return s.plan(tx, p, queue.Item{Due: tx.Now()})
}

package queue_test

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/world"
)

func TestAnErrandIsTriedAgainAndThenGivenUp(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *db.DB, clock *hand) {
		var diary strings.Builder
		h := queue.NewHolder(world.World{Clock: clock, Random: rand.Reader, Log: slog.New(slog.NewTextHandler(&diary, nil))}, d, "service/node")
		done := map[string]int{}
		errand := queue.Errand{Lane: lane, Lease: time.Minute, Batch: 10, Retry: time.Hour, Tries: 3, Failing: "letter not sent",
			Do: func(_ context.Context, item queue.Item) error {
				if done[item.ID]++; item.Payload == "bad" {
					return errors.New("no ink")
				}
				return nil
			}}
		add(t, d, queue.Item{ID: id(1), Lane: lane, Due: clock.now, Payload: "good"}, queue.Item{ID: id(2), Lane: lane, Due: clock.now, Payload: "bad"})
		for tried := 1; tried <= 3; tried++ {
			for _, want := range []bool{true, false} { // what failed is not tried again at once
				if worked, err := h.Run(t.Context(), errand); err != nil || worked != want {
					t.Fatalf("run %d: %v, %v; want %v", tried, worked, err, want)
				}
			}
			clock.now = clock.now.Add(time.Hour)
		}
		if worked, err := h.Run(t.Context(), errand); err != nil || worked || done[id(1)] != 1 || done[id(2)] != 3 {
			t.Errorf("%v, %v, done %v", worked, err, done)
		}
		if said := diary.String(); strings.Count(said, "level=WARN") != 2 || strings.Count(said, "level=ERROR") != 1 || strings.Count(said, `"no ink"`) != 3 {
			t.Errorf("diary:\n%s", said)
		}
	})
}

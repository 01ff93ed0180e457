package queue_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"time"

	"postrider/platform/db"
	"postrider/platform/db/dbtest"
	"postrider/platform/queue"
	"postrider/world"
)

// BenchmarkFairClaim claims out of a flow with 200,000 due items and a thousand flows with one each, and puts them back.
func BenchmarkFairClaim(b *testing.B) {
	for _, engine := range []string{"sqlite", "postgres"} {
		b.Run(engine, func(b *testing.B) {
			clock := &hand{now: time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC)}
			d := dbtest.Open(b, world.World{Clock: clock, Log: slog.New(slog.NewTextHandler(io.Discard, nil))}, engine)
			fill(b, d, clock)
			fair, claimed := queue.Fair{Limit: 500}, 0
			for n := 0; b.Loop(); n++ {
				fair.Lease = queue.Lease{Owner: "node", For: time.Minute, Token: int64(n)}
				err := d.Write(context.Background(), func(tx *db.Tx) error {
					items, turn, err := queue.ClaimFairly(tx, lane, fair)
					if err != nil {
						return err
					}
					fair.Turn, claimed = turn, claimed+len(items)
					_, err = queue.ReleaseOwner(tx, "node")
					return err
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(claimed)/float64(b.N), "items/op")
		})
	}
}

func fill(b *testing.B, d *db.DB, clock *hand) {
	b.Helper()
	for first := 0; first < 200_000; first += 2000 {
		var items []queue.Item
		for n := range 2000 {
			items = append(items, queue.Item{ID: id(first + n), Lane: lane, Flow: "flow", Due: clock.now})
		}
		if first < 20_000 {
			for n := range 100 {
				items = append(items, queue.Item{ID: id(1_000_000 + first + n), Lane: lane, Flow: fmt.Sprint("flow", first+n), Due: clock.now})
			}
		}
		if err := d.Write(context.Background(), func(tx *db.Tx) error { return queue.Add(tx, items...) }); err != nil {
			b.Fatal(err)
		}
	}
}

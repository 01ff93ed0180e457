package event_test

import (
	"sync"
	"testing"

	"postrider/platform/db"
	"postrider/platform/db/dbtest"
	"postrider/platform/event"
)

// Each node reads ahead by itself, and finds when it writes that another one has been there.
func TestNodesThatStepOneFollowerAtOnceHandleAnEventOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, testWorld(), func(t *testing.T, d *db.DB) {
		nodes := make([]*listener, 4)
		for i := range nodes {
			nodes[i] = newListener("shared", event.NewWindow())
		}
		const rounds = 20
		for round := range rounds {
			add(t, d, round)
			var all sync.WaitGroup
			for _, node := range nodes {
				all.Go(func() {
					node.batch = nil
					moved, err := node.Step(t.Context(), d)
					if err != nil {
						t.Error(err)
					}
					if moved {
						node.told = append(node.told, node.batch...)
					}
				})
			}
			all.Wait()
		}
		for nodes[0].step(t, d) {
		}
		told := map[string]int{}
		for _, node := range nodes {
			for _, id := range node.told {
				told[id]++
			}
		}
		for id, times := range told {
			if times != 1 {
				t.Errorf("%s was handled %d times", id, times)
			}
		}
		if len(told) != rounds {
			t.Errorf("%d events were handled, want %d", len(told), rounds)
		}
	})
}

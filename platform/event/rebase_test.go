package event_test

import (
	"slices"
	"testing"

	"postrider/platform/db"
	"postrider/platform/db/dbtest"
	"postrider/platform/event"
)

// A dump is loaded into a server that has given out few transaction ids so far.
func TestAfterADumpIsLoadedIntoANewServerFollowersGoOnWhereTheyWere(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t, testWorld(), "postgres")
	var seen []string
	follower := event.Follower{Name: "test", Handle: func(_ *db.Tx, events []event.Event) error {
		for _, e := range events {
			if !slices.Contains(seen, e.ID) { // a rehearsed write runs twice
				seen = append(seen, e.ID)
			}
		}
		return nil
	}}
	add(t, d, 1, 2)
	drain(t, d, follower)
	add(t, d, 3, 4)
	const ahead = 1_000_000_000
	if err := d.Write(t.Context(), func(tx *db.Tx) error {
		if _, err := tx.Exec(`UPDATE event SET tx_id = tx_id + $1`, int64(ahead)); err != nil {
			return err
		}
		_, err := tx.Exec(`UPDATE event_follower SET tx_id = tx_id + $1`, int64(ahead))
		return err
	}); err != nil {
		t.Fatal(err)
	}

	moved, err := event.Rebase(t.Context(), d)
	if err != nil || !moved {
		t.Fatalf("moved = %v, %v", moved, err)
	}
	add(t, d, 5)
	drain(t, d, follower)
	drain(t, d, event.Follower{Name: "newcomer", Handle: follower.Handle})

	var want []string
	for n := range 5 {
		want = append(want, newEvent(n+1).ID)
	}
	if !slices.Equal(seen, want) {
		t.Errorf("seen %v, want %v", seen, want)
	}
	if again, err := event.Rebase(t.Context(), d); again || err != nil {
		t.Errorf("moved again: %v, %v", again, err)
	}
}

func TestNothingIsRebasedWhereTheCountGoesOn(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, testWorld(), func(t *testing.T, d *db.DB) {
		add(t, d, 1, 2, 3)
		if moved, err := event.Rebase(t.Context(), d); moved || err != nil {
			t.Errorf("moved = %v, %v", moved, err)
		}
	})
}

package queue_test

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"

	"postrider/platform/db"
	"postrider/platform/db/dbtest"
	"postrider/platform/queue"
	"postrider/platform/space"
	"postrider/world"
)

func TestARoundVisitsAllAndBeginsAgain(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t, world.New(slog.New(slog.DiscardHandler)), "sqlite")
	all := []space.ID{"10000000-0000-7000-8000-000000000000", "20000000-0000-7000-8000-000000000000"}
	next := func(_ *db.Tx, after space.ID) (space.ID, error) {
		if i := slices.IndexFunc(all, func(ws space.ID) bool { return ws > after }); i >= 0 {
			return all[i], nil
		}
		return "", db.ErrNotFound
	}
	var round queue.Round
	for i, c := range []struct {
		more bool
		err  error
		want string
	}{
		{true, nil, "1 true <nil>"}, {false, errors.New("broken"), "1 false broken"}, {false, nil, "1 true <nil>"}, {false, db.ErrNotFound, "2 false row not found"},
		{false, nil, "2 true <nil>"}, {false, nil, " false <nil>"}, {false, nil, "1 true <nil>"},
	} {
		at := ""
		busy, err := round.Step(t.Context(), d, next, func(_ *db.Tx, ws space.ID) (bool, error) {
			at = string(ws[:1])
			return c.more, c.err
		})
		if got := fmt.Sprint(at, " ", busy, " ", err); got != c.want {
			t.Errorf("step %d: %q, want %q", i, got, c.want)
		}
	}
}

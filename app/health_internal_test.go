package app

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"postrider/platform/db/dbtest"
	"postrider/world"
)

func TestTheLogTellsOnceThatItIsNotReadyAndOnceThatItIs(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	clock := &steppingClock{now: time.Unix(1_800_000_000, 0)}
	w := world.New(slog.New(slog.NewTextHandler(&log, nil)))
	a := &App{World: w, DB: dbtest.Open(t, w, "sqlite")}
	a.World.Clock = clock
	ready := &readiness{}
	ask := func(times int) {
		for range times {
			clock.now = clock.now.Add(2 * readyFor)
			ready.check(t.Context(), a)
		}
	}

	ask(2)
	if log.Len() != 0 {
		t.Errorf("said of a good one: %s", log.String())
	}
	other := a.DB
	a.DB = dbtest.Open(t, w, "sqlite")
	a.DB.Close()
	ask(3)
	if got := strings.Count(log.String(), "level=ERROR"); got != 1 || ready.err == nil {
		t.Errorf("%d lines: %s", got, log.String())
	}
	a.DB = other
	ask(3)
	if got := strings.Count(log.String(), "ready again"); got != 1 || ready.err != nil {
		t.Errorf("%d lines: %s", got, log.String())
	}
}

package world_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"postrider/world"
)

// Time inside a synctest bubble stands still until everybody waits, so these tests wait for nothing.

func TestTheSystemClockFiresAfterItsTimeInUTC(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := world.SystemClock{}.Now()
		fired, _ := world.SystemClock{}.After(time.Hour)

		<-fired

		now := world.SystemClock{}.Now()
		if now.Sub(start) != time.Hour || now.Location() != time.UTC {
			t.Fatalf("fired at %s, started at %s", now, start)
		}
	})
}

func TestAWaitThatIsGivenUpNeverFires(t *testing.T) {
	t.Parallel()
	for name, clock := range map[string]world.Clock{
		"system": world.SystemClock{},
		"offset": world.NewOffsetClock("/nonexistent"),
	} {
		synctest.Test(t, func(t *testing.T) {
			fired, giveUp := clock.After(time.Minute)

			giveUp()
			giveUp() // twice is as good as once
			time.Sleep(time.Hour)

			select {
			case <-fired:
				t.Errorf("%s clock fired after it was given up", name)
			default:
			}
		})
	}
}

func TestAnOffsetClockFollowsItsFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "offset")
	synctest.Test(t, func(t *testing.T) {
		clock := world.NewOffsetClock(path)
		for _, step := range []struct {
			text string
			want time.Duration
		}{
			{"", 0}, // no file
			{"+26h\n", 26 * time.Hour},
			{"90m", 90 * time.Minute},
			{"+", 90 * time.Minute}, // half-written: the last whole one holds
			{"-1h30m", -90 * time.Minute},
		} {
			if step.text != "" {
				if err := os.WriteFile(path, []byte(step.text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(100 * time.Millisecond)
			if got := time.Until(clock.Now()); got != step.want {
				t.Errorf("file %q: offset %s, want %s", step.text, got, step.want)
			}
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
		if got := time.Until(clock.Now()); got != 0 {
			t.Errorf("file removed: offset %s", got)
		}
	})
}

func TestAJumpOfTheOffsetWakesWhomItMakesDue(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "offset")
	synctest.Test(t, func(t *testing.T) {
		clock := world.NewOffsetClock(path)
		start := time.Now()
		due, _ := clock.After(24 * time.Hour)
		notDue, giveUp := clock.After(48 * time.Hour)
		defer giveUp()

		if err := os.WriteFile(path, []byte("+26h"), 0o600); err != nil {
			t.Fatal(err)
		}
		at := <-due

		if waited := time.Since(start); waited > 200*time.Millisecond {
			t.Errorf("woken after %s", waited)
		}
		if at.Sub(start) < 26*time.Hour {
			t.Errorf("told %s, started at %s", at, start)
		}
		select {
		case <-notDue:
			t.Error("woke one that is not due")
		default:
		}
	})
}

func TestAnOffsetClockWithoutJumpsFiresOnTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clock := world.NewOffsetClock("/nonexistent")
		start := time.Now()
		fired, _ := clock.After(250 * time.Millisecond)

		<-fired

		if waited := time.Since(start); waited != 250*time.Millisecond {
			t.Fatalf("fired after %s", waited)
		}
	})
}

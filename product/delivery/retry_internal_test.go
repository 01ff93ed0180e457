package delivery

import (
	"testing"
	"time"
)

func TestTheScheduleGoesOnWithTheAttemptsOfAMessageThatAges(t *testing.T) {
	t.Parallel()
	for _, jitter := range []float64{1 - retryJitter, 1, 1 + retryJitter} {
		age := time.Duration(0)
		for attempt := 1; attempt <= 12; attempt++ {
			want := min(attempt, len(retryAfter)) - 1
			if got := step(attempt, age); got != want {
				t.Fatalf("attempt %d at the age of %s: step %d", attempt, age, got)
			}
			age += time.Duration(float64(retryAfter[want]) * jitter)
		}
	}
}

func TestAttemptsThatWereLostAtOnceDoNotMakeTheWaitLonger(t *testing.T) {
	t.Parallel()
	if got := step(9, 30*time.Second); got != 0 {
		t.Errorf("nine attempts in half a minute: step %d", got)
	}
	if got := step(1, 50*time.Hour); got != 0 {
		t.Errorf("the first attempt at a message that had to wait: step %d", got)
	}
}

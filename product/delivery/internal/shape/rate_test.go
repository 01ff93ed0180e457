package shape_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"postrider/product/delivery/internal/shape"
)

func TestARateHoldsInEveryWindowAndIsUsed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.Float64Range(0.01, 300).Draw(t, "count")
		window := rapid.SampledFrom([]time.Duration{time.Second, time.Minute}).Draw(t, "window")
		most, length := int(count), window
		if count < 1 {
			most, length = 1, time.Duration(float64(window)/count)
		}
		opens, pass := shape.RateOpens(count, window)
		now := noon
		var passed []time.Time
		for range 200 {
			if at := opens(now); at.After(now) {
				now = at
			}
			pass(now)
			passed = append(passed, now)
			if rapid.SampledFrom([]bool{true, false, false, false, false, false, false}).Draw(t, "pause") {
				now = now.Add(time.Duration(rapid.Int64Range(0, int64(2*length)).Draw(t, "length")))
			}
		}
		for i, at := range passed {
			if i >= most && at.Sub(passed[i-most]) < length {
				t.Fatalf("%d passed within %v, at most %d of %v may", most+1, at.Sub(passed[i-most]), most, length)
			}
		}
	})
}

func TestASteadyRateIsNearlyAllowedInFull(t *testing.T) {
	t.Parallel()
	opens, pass := shape.RateOpens(100, time.Second)
	now, passed := noon, 0
	for ; now.Before(noon.Add(10 * time.Second)); passed++ {
		pass(now)
		now = opens(now)
		if now.Before(noon) {
			now = noon
		}
	}
	if passed < 900 || passed > 1000 {
		t.Errorf("%d in ten seconds", passed)
	}
}

func TestAClockThatWasSetBackDoesNotCloseARate(t *testing.T) {
	t.Parallel()
	opens, pass := shape.RateOpens(1, time.Second)
	pass(noon)
	earlier := noon.Add(-time.Hour)
	if at := opens(earlier); at.After(earlier.Add(time.Second)) {
		t.Errorf("it opens only at %v", at)
	}
}

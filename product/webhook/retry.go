package webhook

import (
	"net/http"
	"strconv"
	"time"

	"postrider/world"
)

// delays are how long after an attempt the next one comes: ten attempts in three days (Standard Webhooks).
var delays = []time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour,
	24 * time.Hour,
}

const (
	maxAttempts = 10
	// longestWish is how long an endpoint may ask us to stay away; what asks for more gets the schedule.
	longestWish = 24 * time.Hour
	// warnAfter and disableAfter are how long an endpoint may take nothing before its owners hear of it, and before it is left alone.
	warnAfter    = 24 * time.Hour
	disableAfter = 5 * 24 * time.Hour
)

// delayAfter returns how long to wait after an attempt, up to a tenth longer than planned and never shorter, so that the retries
// of many do not march in step. ok is false if it was the last one.
func delayAfter(w world.World, attempt, most int) (delay time.Duration, ok bool) {
	if attempt >= min(most, maxAttempts) {
		return 0, false
	}
	planned := delays[attempt-1]
	return planned + time.Duration(w.Uint64()%uint64(planned/10+1)), true
}

// wishOf returns how long the answer asks us to stay away; zero means that it says nothing we would follow (RFC 9110 §10.2.3).
func wishOf(status int, header http.Header, now time.Time) time.Duration {
	if status != http.StatusTooManyRequests && status != http.StatusServiceUnavailable {
		return 0
	}
	text := header.Get("Retry-After")
	wish := time.Duration(0)
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		wish = time.Duration(seconds) * time.Second
	} else if until, err := http.ParseTime(text); err == nil {
		wish = until.Sub(now)
	}
	if wish < 0 || wish > longestWish {
		return 0
	}
	return wish
}

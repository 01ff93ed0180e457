package flow

import (
	"strconv"
	"strings"
	"time"
)

// Bounds of waits. A cycle needs a delay of at least an hour, so that nothing turns fast.
const (
	minDelay      = time.Minute
	maxDelay      = 365 * 24 * time.Hour
	minCycleDelay = time.Hour
	maxWait       = 90 * 24 * time.Hour
)

var units = map[string]time.Duration{"second": time.Second, "minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour, "week": 7 * 24 * time.Hour}

// ParseDuration reads a number and a unit, such as "3 days" or "1 hour".
func ParseDuration(text string) (time.Duration, bool) {
	number, unit, found := strings.Cut(strings.TrimSpace(text), " ")
	count, err := strconv.Atoi(number)
	size, known := units[strings.TrimSuffix(strings.TrimSpace(unit), "s")]
	const most = 40_000_000 // seconds of a year and more; what is larger cannot be meant
	if !found || err != nil || !known || count < 0 || count > most {
		return 0, false
	}
	if count > int(2*maxDelay/size) {
		return 2 * maxDelay, true
	}
	return time.Duration(count) * size, true
}

package email

import (
	"regexp"
	"strconv"
	"time"

	"postrider/platform/api"
)

// relativeTime has no room for numbers that would overflow a time.Duration and come out as a time soon.
var relativeTime = regexp.MustCompile(`^in (\d{1,5}) (minute|hour|day)s?$`)

var relativeUnits = map[string]time.Duration{"minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour}

// checkSchedule reads a time to send at. The zero time means now.
func checkSchedule(wrong *api.Fields, text string, now time.Time) time.Time {
	if text == "" {
		return time.Time{}
	}
	at, ok := readSchedule(text, now)
	switch {
	case !ok:
		wrong.Add("scheduled_at", `Must be an RFC 3339 time, or like "in 10 minutes".`)
	case at.Before(now.Add(-lateSchedule)):
		wrong.Add("scheduled_at", "Must not be in the past.")
	case at.After(now.Add(maxScheduleAhead)):
		wrong.Add("scheduled_at", "Must be at most 30 days ahead.")
	case !at.After(now):
		return time.Time{}
	}
	return at.UTC()
}

func readSchedule(text string, now time.Time) (time.Time, bool) {
	if match := relativeTime.FindStringSubmatch(text); match != nil {
		count, err := strconv.Atoi(match[1])
		return now.Add(time.Duration(count) * relativeUnits[match[2]]), err == nil
	}
	at, err := time.Parse(time.RFC3339, text)
	return at, err == nil
}

package flow

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// Cron is a repeated time: minute, hour, day of the month, month and day of the week, as crontab(5) writes them.
type Cron struct {
	minutes, hours, days, months, weekdays uint64
	anyDay, anyWeekday                     bool
	place                                  *time.Location
}

var errCron = errors.New("not five fields as in crontab")

// ParseCron reads five fields in a time zone.
func ParseCron(text, zone string) (*Cron, error) {
	place, err := time.LoadLocation(zone)
	if err != nil || zone == "Local" {
		return nil, errors.New("unknown time zone")
	}
	fields := strings.Fields(text)
	if len(fields) != 5 {
		return nil, errCron
	}
	c := &Cron{place: place, anyDay: fields[2] == "*", anyWeekday: fields[4] == "*"}
	for i, into := range []struct {
		bits     *uint64
		low, top int
	}{{&c.minutes, 0, 59}, {&c.hours, 0, 23}, {&c.days, 1, 31}, {&c.months, 1, 12}, {&c.weekdays, 0, 7}} {
		bits, ok := cronField(fields[i], into.low, into.top)
		if !ok {
			return nil, errCron
		}
		*into.bits = bits
	}
	if c.weekdays&(1<<7) != 0 { // Sunday is 0 and 7
		c.weekdays |= 1
	}
	if c.Next(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return nil, errors.New("never comes")
	}
	return c, nil
}

func cronField(text string, low, top int) (bits uint64, ok bool) {
	for _, part := range strings.Split(text, ",") {
		span, stepText, stepped := strings.Cut(part, "/")
		step := 1
		if stepped {
			n, err := strconv.Atoi(stepText)
			if err != nil || n < 1 || n > top {
				return 0, false
			}
			step = n
		}
		from, to := low, top
		if span != "*" {
			first, last, ranged := strings.Cut(span, "-")
			n, err := strconv.Atoi(first)
			if err != nil {
				return 0, false
			}
			from, to = n, n
			if ranged {
				if to, err = strconv.Atoi(last); err != nil {
					return 0, false
				}
			} else if stepped {
				to = top
			}
		}
		if from < low || to > top || from > to {
			return 0, false
		}
		for n := from; n <= to; n += step {
			bits |= 1 << n
		}
	}
	return bits, true
}

// Next returns the first moment after the given one; zero if there is none within nine years, in which every date has come. A time that
// clocks show twice because they are set back comes once, unless every hour is meant.
func (c *Cron) Next(after time.Time) time.Time {
	at := after.In(c.place).Truncate(time.Minute).Add(time.Minute)
	for last := at.AddDate(9, 0, 0); at.Before(last); {
		switch {
		case c.months&(1<<int(at.Month())) == 0:
			at = forward(at, time.Date(at.Year(), at.Month()+1, 1, 0, 0, 0, 0, c.place))
		case !c.onDay(at):
			at = forward(at, time.Date(at.Year(), at.Month(), at.Day()+1, 0, 0, 0, 0, c.place))
		case c.hours&(1<<at.Hour()) == 0:
			at = at.Add(time.Duration(60-at.Minute()) * time.Minute)
		case c.minutes&(1<<at.Minute()) == 0:
			at = at.Add(time.Minute)
		case c.hours != everyHour && again(at):
			at = at.Add(time.Minute)
		default:
			return at.UTC()
		}
	}
	return time.Time{}
}

// forward keeps time going on where a day has no midnight.
func forward(at, next time.Time) time.Time {
	if next.After(at) {
		return next
	}
	return at.Add(time.Hour)
}

// everyHour is the hour field of a schedule that asks for no hour in particular.
const everyHour = 1<<24 - 1

// again tells whether clocks have shown this time before, because they were set back.
func again(at time.Time) bool {
	since, _ := at.ZoneBounds()
	if since.IsZero() {
		return false
	}
	_, now := at.Zone()
	_, before := since.Add(-time.Second).Zone()
	return at.Sub(since) < time.Duration(before-now)*time.Second
}

// onDay follows crontab(5): if both days are restricted, either is enough.
func (c *Cron) onDay(at time.Time) bool {
	day, weekday := c.days&(1<<at.Day()) != 0, c.weekdays&(1<<int(at.Weekday())) != 0
	if !c.anyDay && !c.anyWeekday {
		return day || weekday
	}
	return day && weekday
}

package stats

import "time"

// interval is how long the points of a series are.
type interval string

const (
	hourly  interval = "hour"
	daily   interval = "day"
	weekly  interval = "week"
	monthly interval = "month"
)

const (
	// longDay is by how much days can be longer than they are many: among them may be the one on which clocks are put back.
	longDay = time.Hour
	// maxHourly is the longest time that is told by hours: more points than that nobody can see.
	maxHourly = 14*day + longDay
	// usualHourly is the longest time that is told by hours if nobody asks for another interval.
	usualHourly = 2*day + longDay
)

// floor returns the first day of the point that a day is in. Weeks begin on Monday.
func (i interval) floor(date time.Time) time.Time {
	switch i {
	case weekly:
		return date.AddDate(0, 0, -(int(date.Weekday())+6)%7)
	case monthly:
		return date.AddDate(0, 0, 1-date.Day())
	}
	return date
}

// next returns the first day of the point after the one that begins on a day.
func (i interval) next(date time.Time) time.Time {
	switch i {
	case weekly:
		return date.AddDate(0, 0, 7)
	case monthly:
		return date.AddDate(0, 1, 0)
	}
	return date.AddDate(0, 0, 1)
}

// starts returns when the points of a period begin, on the clocks of the zone.
func (i interval) starts(p period, zone *time.Location) []time.Time {
	var all []time.Time
	if i == hourly {
		from := p.from.In(zone)
		for t := from.Add(-time.Duration(from.Minute()) * time.Minute); t.Before(p.until); t = t.Add(time.Hour) {
			all = append(all, t)
		}
		return all
	}
	for date := i.floor(dateOf(p.from, zone)); ; date = i.next(date) {
		start := beginning(date, zone)
		if !start.Before(p.until) {
			return all
		}
		all = append(all, start)
	}
}

// dateOf returns the day of a time in a zone, as midnight in UTC: counting days there, no clock is in the way.
func dateOf(t time.Time, zone *time.Location) time.Time {
	t = t.In(zone)
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
}

// beginning returns the first moment of a day in a zone. Where clocks are put forward at midnight, that is one o'clock.
func beginning(date time.Time, zone *time.Location) time.Time {
	start := time.Date(date.Year(), date.Month(), date.Day(), 0, 0, 0, 0, zone)
	if start.Day() != date.Day() {
		_, start = start.ZoneBounds()
	}
	return start
}

// pieces cuts a period where the clocks of the zone change.
func pieces(p period, zone *time.Location) []period {
	var all []period
	for p.from.Before(p.until) {
		_, change := p.from.In(zone).ZoneBounds()
		end := p.until
		if !change.IsZero() && change.Before(end) {
			end = change.UTC()
		}
		all = append(all, period{p.from, end})
		p.from = end
	}
	return all
}

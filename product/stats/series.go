package stats

import (
	"context"
	"slices"
	"strings"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
)

// series is the counts of consecutive points, none left out.
type series struct {
	starts []time.Time
	counts []Counts
}

// selectSeries counts by points on the clocks of a zone. The store adds up hours or days; a zone whose clocks change is asked for in
// pieces between the changes.
func selectSeries(tx *db.Tx, asked span, which []Counter, by interval, zone *time.Location) (series, error) {
	out := series{starts: by.starts(asked.period(), zone)}
	out.counts = make([]Counts, len(out.starts))
	width := day
	if by == hourly {
		width = time.Hour
	}
	for _, piece := range pieces(asked.period(), zone) {
		_, seconds := piece.from.In(zone).Zone()
		offset := time.Duration(seconds) * time.Second
		slots, err := selectSlots(tx, asked.in(piece), which, width, offset)
		if err != nil {
			return out, err
		}
		for _, slot := range slots {
			start := later(slot.start.Add(-offset), piece.from)
			i, found := slices.BinarySearchFunc(out.starts, start, time.Time.Compare)
			if !found {
				i-- // it begins inside the point before
			}
			for _, c := range which {
				out.counts[i][c] += slot.counts[c]
			}
		}
	}
	for i, counts := range out.counts {
		out.counts[i] = counts.told()
	}
	return out, nil
}

// dailyAnswer is the answer to what happened day by day.
type dailyAnswer struct {
	Object   string      `json:"object" example:"stats_daily"`
	Days     int         `json:"days" example:"30"`
	Timezone string      `json:"timezone" example:"UTC"`
	Data     []dayRecord `json:"data"`
}

type dayRecord struct {
	Date string `json:"date" example:"2026-11-15"`
	Totals
}

func (s *Service) handleDaily(ctx context.Context, caller api.Caller, q struct {
	query
	Timezone string `query:"timezone" doc:"Name of the time zone whose days are meant." example:"Europe/Berlin"`
}) (answer dailyAnswer, err error) {
	zone, err := zoneOf(q.Timezone)
	if err != nil {
		return answer, err
	}
	asked, err := q.span(caller, s.world.Clock.Now(), zone)
	if err != nil {
		return answer, err
	}
	var found series
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		found, err = selectSeries(tx, asked, allCounters(), daily, zone)
		return err
	})
	answer = dailyAnswer{Object: "stats_daily", Days: len(found.starts), Timezone: zone.String(), Data: make([]dayRecord, len(found.starts))}
	for i, start := range found.starts {
		answer.Data[i] = dayRecord{start.Format(time.DateOnly), newTotals(found.counts[i])}
	}
	return answer, err
}

// seriesQuery asks for a series of some counters.
type seriesQuery struct {
	query
	Interval string   `query:"interval" doc:"hour, day, week or month; hours of at most 14 days." example:"day"`
	Metrics  []string `query:"metrics" doc:"Names of totals." example:"delivered"`
	Timezone string   `query:"timezone" doc:"Name of the time zone whose hours, days, weeks and months are meant." example:"Europe/Berlin"`
}

// usual are the counters that are told when nobody asks for others.
var usual = []Counter{Sent, Delivered, Bounced, Complained, Opened, Clicked}

func (q seriesQuery) metrics() ([]Counter, error) {
	if len(q.Metrics) == 0 {
		return usual, nil
	}
	var which []Counter
	for _, name := range q.Metrics {
		i := slices.Index(names[:], name)
		if i < 0 {
			return nil, api.Invalid("metrics", "Must be names of totals: "+strings.Join(names[:], ", ")+".")
		}
		if !slices.Contains(which, Counter(i)) {
			which = append(which, Counter(i))
		}
	}
	return which, nil
}

// by returns the interval; without one, hours are told of two days and days of more.
func (q seriesQuery) by(p period) (interval, error) {
	switch by := interval(q.Interval); by {
	case "":
		if p.length() <= usualHourly {
			return hourly, nil
		}
		return daily, nil
	case hourly:
		if p.length() > maxHourly {
			return by, api.Invalid("interval", "Hours are told of at most 14 days. Ask for a shorter time, or for days.")
		}
		return by, nil
	case daily, weekly, monthly:
		return by, nil
	}
	return "", api.Invalid("interval", "Must be hour, day, week or month.")
}

// timeseries is the answer to how counters went.
type timeseries struct {
	Object   string     `json:"object" example:"stats_timeseries"`
	Interval interval   `json:"interval" example:"day"`
	Timezone string     `json:"timezone" example:"UTC"`
	Start    api.Time   `json:"start"`
	End      api.Time   `json:"end"`
	Metrics  []string   `json:"metrics" example:"[\"delivered\"]"`
	Series   []timeline `json:"series"`
}

type timeline struct {
	Metric string  `json:"metric" example:"delivered"`
	Total  int64   `json:"total" example:"12"`
	Points []point `json:"points"`
}

type point struct {
	At    api.Time `json:"t"`
	Value int64    `json:"v" example:"12"`
}

func (s *Service) handleTimeseries(ctx context.Context, caller api.Caller, q seriesQuery) (answer timeseries, err error) {
	zone, err := zoneOf(q.Timezone)
	if err != nil {
		return answer, err
	}
	asked, err := q.span(caller, s.world.Clock.Now(), zone)
	if err != nil {
		return answer, err
	}
	which, err := q.metrics()
	if err != nil {
		return answer, err
	}
	by, err := q.by(asked.period())
	if err != nil {
		return answer, err
	}
	var found series
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		found, err = selectSeries(tx, asked, which, by, zone)
		return err
	})
	answer = timeseries{Object: "stats_timeseries", Interval: by, Timezone: zone.String(), Start: api.Time(asked.from), End: api.Time(asked.until)}
	for _, c := range which {
		answer.Metrics = append(answer.Metrics, c.String())
		answer.Series = append(answer.Series, found.timeline(c))
	}
	return answer, err
}

func (s series) timeline(c Counter) timeline {
	line := timeline{Metric: c.String(), Points: make([]point, len(s.starts))}
	for i, start := range s.starts {
		line.Points[i] = point{api.Time(start), s.counts[i][c]}
		line.Total += s.counts[i][c]
	}
	return line
}

func allCounters() []Counter {
	all := make([]Counter, counters)
	for i := range all {
		all[i] = Counter(i)
	}
	return all
}

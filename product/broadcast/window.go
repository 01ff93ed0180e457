package broadcast

import (
	"fmt"
	"slices"
	"time"
	_ "time/tzdata" // people name time zones; the machine may not know them

	"postrider/platform/api"
)

// Window is when mail may go out, by the clock of a place. The zero Window is always.
type Window struct {
	Start    string `json:"start" doc:"Hour and minute from which mail may go out." example:"09:00"`
	End      string `json:"end" doc:"Hour and minute at which it stops; before start means on the next day." example:"18:00"`
	Timezone string `json:"timezone" doc:"Name of a time zone; UTC if absent." example:"Europe/Berlin"`
	Days     []int  `json:"days" doc:"Days of the week, 1 for Monday to 7 for Sunday; all if empty." example:"[1,2,3,4,5]"`
}

// Always tells that there is no window.
func (w Window) Always() bool { return w.Start == "" && w.End == "" && len(w.Days) == 0 }

// filled puts the defaults where nothing was said.
func (w Window) filled() Window {
	if w.Timezone == "" {
		w.Timezone = "UTC"
	}
	if w.Days == nil {
		w.Days = []int{}
	}
	return w
}

const (
	clockLayout = "15:04"
	maxDays     = 7
)

func (w Window) check(wrong *api.Fields) {
	if w.Always() {
		return
	}
	start, startErr := time.Parse(clockLayout, w.Start)
	end, endErr := time.Parse(clockLayout, w.End)
	if startErr != nil {
		wrong.Add("sending_window.start", "Must be an hour and a minute like 09:00.")
	}
	if endErr != nil {
		wrong.Add("sending_window.end", "Must be an hour and a minute like 18:00.")
	}
	if startErr == nil && endErr == nil && start.Equal(end) {
		wrong.Add("sending_window.end", "Must differ from start.")
	}
	if _, err := time.LoadLocation(w.Timezone); err != nil || w.Timezone == "Local" { // that is where the server stands
		wrong.Add("sending_window.timezone", "Must be the name of a time zone like Europe/Berlin.")
	}
	if len(w.Days) > maxDays {
		wrong.Add("sending_window.days", fmt.Sprintf("At most %d days are allowed.", maxDays))
		return
	}
	for i, day := range w.Days {
		if day < 1 || day > 7 {
			wrong.Add(fmt.Sprintf("sending_window.days[%d]", i), "Must be between 1 for Monday and 7 for Sunday.")
		}
	}
}

// Next returns the first moment from now on at which mail may go out.
func (w Window) Next(now time.Time) time.Time {
	if w.Always() {
		return now
	}
	zone, err := time.LoadLocation(w.Timezone)
	if err != nil {
		zone = time.UTC // it was known when the window was set
	}
	start, _ := time.Parse(clockLayout, w.Start)
	end, _ := time.Parse(clockLayout, w.End)
	local := now.In(zone)
	// A window that began yesterday may still be open; the next one begins within a week.
	for day := -1; day <= 8; day++ {
		// Noon names the day: where summer time begins at midnight, there is no midnight, and Go takes the hour before.
		on := time.Date(local.Year(), local.Month(), local.Day()+day, 12, 0, 0, 0, zone)
		if len(w.Days) > 0 && !slices.Contains(w.Days, weekday(on)) {
			continue
		}
		from := time.Date(on.Year(), on.Month(), on.Day(), start.Hour(), start.Minute(), 0, 0, zone)
		until := time.Date(on.Year(), on.Month(), on.Day(), end.Hour(), end.Minute(), 0, 0, zone)
		if !end.After(start) {
			until = time.Date(on.Year(), on.Month(), on.Day()+1, end.Hour(), end.Minute(), 0, 0, zone)
		}
		if !until.After(from) { // it ends within the hour that clocks leave out
			until = from.Add(end.Sub(start))
		}
		switch {
		case now.Before(from):
			return from.UTC()
		case now.Before(until):
			return now
		}
	}
	return now
}

// weekday is 1 for Monday to 7 for Sunday.
func weekday(t time.Time) int { return (int(t.Weekday())+6)%7 + 1 }

const (
	// handPage is how many mails one transaction hands over.
	handPage = 500
	// throttleBeat is how often a throttled broadcast hands over: often enough to look even, and not a transaction a mail.
	throttleBeat = 10 * time.Second
	// restFor is how long no more is handed over when enough mail waits to be sent.
	restFor = 250 * time.Millisecond
)

// pace returns how many mails are handed over at once, and how long to wait after n of them.
func pace(perHour int64) (page int, wait func(n int) time.Duration) {
	if perHour == 0 {
		return handPage, func(int) time.Duration { return 0 }
	}
	page = int(min(max(perHour*int64(throttleBeat)/int64(time.Hour), 1), handPage))
	return page, func(n int) time.Duration { return time.Duration(n) * time.Hour / time.Duration(perHour) }
}

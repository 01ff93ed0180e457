package stats_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/platform/api"
	"postrider/product/email"
)

const imageProxy = "Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)"

// diary is what a script has done, by day and by provider. It keeps its own books and reads no event.
type diary struct {
	in    *apptest.Installation
	zone  *time.Location
	days  map[string]map[string]float64
	isps  map[string]map[string]float64
	count int
}

func (d *diary) note(isp string, what ...string) {
	day := d.in.Clock.Now().In(d.zone).Format(time.DateOnly)
	for _, name := range what {
		if d.days[day] == nil {
			d.days[day] = map[string]float64{}
		}
		d.days[day][name]++
		if d.isps[isp] == nil {
			d.isps[isp] = map[string]float64{}
		}
		d.isps[isp][name]++
	}
}

// mail sends to somebody whose mood is the beginning of the address, and returns the address.
func (d *diary) mail(t *testing.T, mood, isp string, what ...string) string {
	t.Helper()
	d.count++
	to := fmt.Sprintf("%s%d@%s", mood, d.count, map[string]string{"google": "google.test", "yahoo": "yahoo.test", "microsoft": "outlook.test", "other": "example.net"}[isp])
	send(t, d.in, fields{"to": to, "html": `<p>Hi</p><a href="https://acme.test/start">Go</a>`, "tracking": fields{"opens": true, "clicks": true}})
	d.in.Deliver()
	d.note(isp, append(what, "accepted", "sent")...)
	return to
}

// hours is what the script does at three times of a day. Each day is a little busier than the one before.
func (d *diary) hours(t *testing.T, day int) {
	t.Helper()
	for range 1 + day%3 {
		to := d.mail(t, "ann", "google", "delivered")
		open(d.in, links(t, d.in, to)[1], imageProxy)
		d.note("google", "automated_opens")
	}
	to := d.mail(t, "ben", "yahoo", "delivered")
	pixel := links(t, d.in, to)[1]
	d.in.Clock.Advance(30 * time.Second)
	open(d.in, pixel, firefox)
	open(d.in, pixel, firefox)
	d.note("yahoo", "opened", "opened", "unique_opened")
	if day%2 == 0 {
		d.mail(t, "bounce", "microsoft", "bounced", "bounced_hard")
		open(d.in, links(t, d.in, to)[0], firefox)
		d.note("yahoo", "clicked", "unique_clicked")
	}
	if day%3 == 0 {
		d.mail(t, "block", "other", "bounced", "bounced_block")
		to := d.mail(t, "cat", "other", "delivered")
		told(t, d.in, to, email.Reported{Complaint: &email.Complaint{Type: "abuse", Source: "arf", ArrivedAt: api.Time(d.in.Clock.Now())}})
		d.note("other", "complained")
	}
}

// TestTheNumbersOfAWeekAreWhatTheScriptDid lets a week go by in which the clocks of a zone are changed.
func TestTheNumbersOfAWeekAreWhatTheScriptDid(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		zone, err := time.LoadLocation("Europe/Berlin")
		if err != nil {
			t.Fatal(err)
		}
		_, change := in.Clock.Now().In(zone).ZoneBounds()
		first := time.Date(change.In(zone).Year(), change.In(zone).Month(), change.In(zone).Day()-3, 0, 0, 0, 0, zone)
		if first.Before(in.Clock.Now()) { // the change is so near that the week has begun
			_, change = change.Add(time.Hour).ZoneBounds()
			first = time.Date(change.In(zone).Year(), change.In(zone).Month(), change.In(zone).Day()-3, 0, 0, 0, 0, zone)
		}
		script := &diary{in: in, zone: zone, days: map[string]map[string]float64{}, isps: map[string]map[string]float64{}}
		for day := range 7 {
			for _, hour := range []int{0, 12, 23} { // the first and the last belong to other days elsewhere
				in.Clock.Advance(first.AddDate(0, 0, day).Sub(in.Clock.Now()) + localHours(first.AddDate(0, 0, day), hour))
				script.hours(t, day)
			}
			follow(t, in)
		}
		compareDays(t, script, get(t, in, "/stats/daily", "days", "8", "timezone", "Europe/Berlin"))
		compareProviders(t, script, get(t, in, "/stats/top", "days", "8", "timezone", "Europe/Berlin"))

		start := time.Date(change.In(zone).Year(), change.In(zone).Month(), change.In(zone).Day(), 0, 0, 0, 0, zone)
		series := rows(get(t, in, "/stats/timeseries", "start", start.UTC().Format(time.RFC3339), "end", start.AddDate(0, 0, 1).UTC().Format(time.RFC3339),
			"interval", "hour", "timezone", "Europe/Berlin", "metrics", "sent"), "series")
		points, _ := series[0]["points"].([]any)
		if want := int(start.AddDate(0, 0, 1).Sub(start).Hours()); len(points) != want || want == 24 {
			t.Errorf("the day on which clocks are changed has %d hours, want %d", len(points), want)
		}
		if want := script.days[start.Format(time.DateOnly)]["sent"]; series[0]["total"] != want {
			t.Errorf("%v were sent on that day, want %v", series[0]["total"], want)
		}
	})
}

// localHours is how long after midnight clocks show an hour.
func localHours(midnight time.Time, hour int) time.Duration {
	return time.Date(midnight.Year(), midnight.Month(), midnight.Day(), hour, 10, 0, 0, midnight.Location()).Sub(midnight)
}

func compareDays(t *testing.T, script *diary, answer apptest.Answer) {
	t.Helper()
	seen := map[string]bool{}
	for _, row := range rows(answer, "data") {
		date, _ := row["date"].(string)
		seen[date] = true
		want := fields{}
		for name, n := range script.days[date] {
			want[name] = n
		}
		got := fields{}
		for name, n := range row {
			if _, ok := script.days[date][name]; ok || n != 0.0 {
				got[name] = n
			}
		}
		if numbers(got) != numbers(want) {
			t.Errorf("%s: the statistics say %s, the script did %s", date, numbers(got), numbers(want))
		}
	}
	for date := range script.days {
		if !seen[date] {
			t.Errorf("%s is missing", date)
		}
	}
}

func compareProviders(t *testing.T, script *diary, answer apptest.Answer) {
	t.Helper()
	told := map[string]map[string]any{}
	for _, row := range rows(answer, "isps") {
		told[row["isp"].(string)] = row
	}
	for _, isp := range slices.Sorted(maps.Keys(script.isps)) {
		for _, name := range []string{"sent", "delivered", "bounced", "complained"} {
			if got, want := told[isp][name], script.isps[isp][name]; got != want {
				t.Errorf("%s %s: the statistics say %v, the script did %v", isp, name, got, want)
			}
		}
	}
}

package stats_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"postrider/app/apptest"
)

func at(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return t
}

// received makes a mail arrive at each of the times.
func received(t *testing.T, in *apptest.Installation, times ...string) {
	t.Helper()
	for _, text := range times {
		record(t, in, happened{kind: "email.received", at: at(text)})
	}
	follow(t, in)
}

// points tells the points of the only series of an answer that are not zero, and how many there are.
func points(answer apptest.Answer) string {
	list, _ := rows(answer, "series")[0]["points"].([]any)
	var texts []string
	for _, p := range list {
		if point := p.(map[string]any); point["v"] != 0.0 {
			texts = append(texts, fmt.Sprintf("%s=%v", strings.TrimSuffix(point["t"].(string), ":00.000Z"), point["v"]))
		}
	}
	return fmt.Sprintf("%s of %d", strings.Join(texts, " "), len(list))
}

func TestPointsFollowTheClocksOfTheirZone(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		received(t, in, "2026-03-28T22:59:59Z", "2026-03-28T23:00:00Z", "2026-03-29T21:59:59Z", "2026-03-29T22:00:00Z", // Berlin goes to summer time
			"2026-04-23T21:59:59Z", "2026-04-23T22:00:00Z", "2026-04-24T20:59:59Z", "2026-04-24T21:00:00Z", // Cairo does so at midnight
			"2026-05-01T18:14:59Z", "2026-05-01T18:15:00Z", // midnight in Kathmandu
			"2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z") // both half past two in Berlin
		for _, c := range []struct{ zone, by, start, end, want string }{
			{"Europe/Berlin", "day", "2026-03-27T23:00:00Z", "2026-03-31T22:00:00Z", "2026-03-27T23:00=1 2026-03-28T23:00=2 2026-03-29T22:00=1 of 4"},
			{"Africa/Cairo", "day", "2026-04-22T22:00:00Z", "2026-04-25T21:00:00Z", "2026-04-22T22:00=1 2026-04-23T22:00=2 2026-04-24T21:00=1 of 3"},
			{"Asia/Kathmandu", "day", "2026-04-30T18:15:00Z", "2026-05-02T18:15:00Z", "2026-04-30T18:15=1 2026-05-01T18:15=1 of 2"},
			{"Asia/Kathmandu", "hour", "2026-05-01T17:15:00Z", "2026-05-01T19:15:00Z", "2026-05-01T17:15=1 2026-05-01T18:15=1 of 2"},
			{"Europe/Berlin", "hour", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z", "2026-10-25T00:00=1 2026-10-25T01:00=1 of 25"},
			{"UTC", "week", "2026-03-25T00:00:00Z", "2026-04-06T00:00:00Z", "2026-03-23T00:00=4 of 2"},
			{"Europe/Berlin", "month", "2026-03-01T00:00:00Z", "2026-11-01T00:00:00Z", "2026-02-28T23:00=4 2026-03-31T22:00=4 2026-04-30T22:00=2 2026-09-30T22:00=2 of 9"},
		} {
			got := points(get(t, in, "/stats/timeseries", "start", c.start, "end", c.end, "interval", c.by, "timezone", c.zone, "metrics", "received"))
			if got != c.want {
				t.Errorf("%s by %s from %s: %s, want %s", c.zone, c.by, c.start, got, c.want)
			}
		}
	})
}

func TestDaysOnWhichClocksArePutBackAreToldByHoursToo(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	for _, c := range []struct{ by, start, end, want string }{
		{"hour", "2026-10-15T22:00:00Z", "2026-10-29T23:00:00Z", " of 337"}, // 14 days in Berlin
		{"", "2026-10-24T22:00:00Z", "2026-10-26T23:00:00Z", " of 49"},
		{"", "2026-10-24T22:00:00Z", "2026-10-27T23:00:00Z", " of 3"},
	} {
		got := points(get(t, in, "/stats/timeseries", "start", c.start, "end", c.end, "interval", c.by, "timezone", "Europe/Berlin", "metrics", "received"))
		if got != c.want {
			t.Errorf("by %q from %s: %q, want %q", c.by, c.start, got, c.want)
		}
	}
}

func TestDaysWithoutMailAreThere(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		in.Send("ann@example.net")
		in.Deliver()
		in.Clock.Advance(3 * 24 * time.Hour)
		follow(t, in)
		answer := get(t, in, "/stats/daily", "days", "5", "timezone", "Asia/Kolkata")
		days := rows(answer, "data")
		if len(days) != 5 || answer.Text("timezone") != "Asia/Kolkata" || answer.Text("days") != "5" {
			t.Fatalf("the days are %s", answer.Raw)
		}
		zone, err := time.LoadLocation("Asia/Kolkata")
		if err != nil {
			t.Fatal(err)
		}
		for i, day := range days {
			date := in.Clock.Now().In(zone).AddDate(0, 0, i-4).Format(time.DateOnly)
			want := 0.0
			if i == 1 {
				want = 1
			}
			if day["date"] != date || day["delivered"] != want || day["sent"] != want {
				t.Errorf("day %d is %v, want %s with %v", i, day, date, want)
			}
		}
	})
}

func TestTheTimeBeforeIsCompared(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		for in.Clock.Now().UTC().Day() > 25 { // what is used is that of one month
			in.Clock.Advance(24 * time.Hour)
		}
		in.Send("ann@example.net")
		in.Send("bounce@example.net")
		in.Deliver()
		in.Clock.Advance(2 * 24 * time.Hour)
		in.Send("ben@example.net")
		in.Deliver()
		follow(t, in)
		answer := get(t, in, "/stats/overview", "days", "2")
		today := in.Clock.Now().UTC()
		nextMonth := time.Date(today.Year(), today.Month()+1, 1, 0, 0, 0, 0, time.UTC).Format("2006-01-02T15:04:05.000Z")
		for path, want := range map[string]string{"totals delivered": "1", "totals bounced": "0", "rates delivery_rate": "1", "previous delivered": "1",
			"previous sent": "2", "previous delivery_rate": "0.5", "previous bounce_rate": "0.5", "quota plan": "unlimited", "quota used": "3",
			"quota resets_at": nextMonth, "days": "2"} {
			if got := answer.Text(strings.Fields(path)...); got != want {
				t.Errorf("%s is %s, want %s", path, got, want)
			}
		}
	})
}

package web

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// looking is somebody in a place at a time, who looks at an address.
func looking(address, zone string, now time.Time) *visit {
	return &visit{r: httptest.NewRequest(http.MethodGet, address, nil), now: now, session: session{User: person{Timezone: zone}}}
}

func TestMomentsKnowWhichDayItIsHere(t *testing.T) {
	t.Parallel()
	newYear := time.Date(2026, 1, 1, 3, 30, 0, 0, time.UTC)
	for _, moment := range []struct {
		zone string
		at   time.Time
		want string
	}{
		{"UTC", newYear.Add(-time.Hour), "02:30:00"},
		{"UTC", newYear.Add(-4 * time.Hour), "31 Dec 2025, 23:30"},
		{"America/New_York", newYear.Add(-4 * time.Hour), "18:30:00"}, // there, the old year is not over
		{"America/New_York", newYear.AddDate(0, 0, -1), "30 Dec, 22:30"},
		{"UTC", newYear.AddDate(-1, 0, 0), "1 Jan 2025, 03:30"}, // the same day of another year
		{"Nowhere/At_All", newYear.Add(-time.Hour), "02:30:00"},
		{"UTC", time.Time{}, ""},
	} {
		if got := looking("/", moment.zone, newYear).moment(moment.at).Text; got != moment.want {
			t.Errorf("%s in %s: %q, want %q", moment.at, moment.zone, got, moment.want)
		}
	}
}

func TestNumbersAreWrittenForPeople(t *testing.T) {
	t.Parallel()
	v := looking("/", "UTC", time.Unix(0, 0))
	for _, written := range [][2]string{
		{v.percent(0), "0%"}, {v.percent(1), "100%"}, {v.percent(0.5), "50.0%"}, {v.percent(0.0012), "0.12%"}, {v.percent(0.0123), "1.2%"}, {v.percent(0.9994), "99.9%"}, {v.percent(0.9996), "99.9%"},
		{v.plural(0, "day", "days"), "0 days"}, {v.plural(1, "day", "days"), "1 day"}, {v.plural(1200, "day", "days"), "1,200 days"},
		{duration(999 * time.Millisecond), "999 ms"}, {duration(1500 * time.Millisecond), "1.5 s"}, {duration(59 * time.Second), "59 s"},
		{duration(61 * time.Minute), "1 h 1 min"},
		{duration(2 * time.Hour), "2 h"}, {duration(10*time.Hour + 10*time.Minute), "10 h 10 min"}, {duration(48 * time.Hour), "2 days"},
		{size(999), "999 B"}, {size(1000), "1.0 KB"}, {size(2_500_000), "2.5 MB"},
		{v.compared(5, 3, "May"), "2 more than in May"}, {v.compared(3, 5, "May"), "2 fewer than in May"}, {v.compared(3, 3, "May"), "As many as in May"},
		{v.points(0.5, 0.4), "10.00 points more than before"}, {v.points(0.4, 0.5), "10.00 points less than before"}, {v.points(0.4, 0.4), "As before"},
		{words("soft_bounce"), "Soft bounce"}, {words("API_key"), "API key"}, {words("größe"), "Größe"}, {words("über_uns"), "Über uns"}, {words(""), ""},
	} {
		if written[0] != written[1] {
			t.Errorf("%q, want %q", written[0], written[1])
		}
	}
}

func TestAPageLeadsToThoseBesideIt(t *testing.T) {
	t.Parallel()
	for _, page := range []struct {
		address string
		shown   int
		total   int64
		want    pager
	}{
		{"/l?q=a", 50, 51, pager{Older: "/l?offset=50&q=a", Text: "1 to 50 of 51"}},
		{"/l?q=a&offset=50", 1, 51, pager{Newer: "/l?q=a", Text: "51 to 51 of 51"}},
		{"/l?offset=50", 50, 100, pager{Newer: "/l?", Text: "51 to 100 of 100"}},
		{"/l?offset=100", 0, 100, pager{Newer: "/l?offset=50", First: "/l?", Text: "101 to 100 of 100"}},
		{"/l?offset=-7", 3, 3, pager{Text: "1 to 3 of 3"}},
	} {
		if got := looking(page.address, "UTC", time.Time{}).pager(page.shown, page.total); got != page.want {
			t.Errorf("%s: %+v, want %+v", page.address, got, page.want)
		}
	}
}

func TestAListThatNobodyCountsNamesNoTotal(t *testing.T) {
	t.Parallel()
	got := beside(looking("/l?offset=50", "UTC", time.Time{}), listOf[int]{Data: make([]int, 50), HasMore: true})
	if want := (pager{Newer: "/l?", Older: "/l?offset=100", Text: "51 to 100"}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestAMeterTellsNoneFromNoLimit(t *testing.T) {
	t.Parallel()
	v := looking("/", "UTC", time.Time{})
	limit := func(n int64) *int64 { return &n }
	for _, meter := range []struct {
		used      int64
		allowed   *int64
		unlimited bool
		share     float64
		state     string
	}{{3, nil, true, 0, "delivered"}, {0, limit(0), false, 0, "delivered"}, {2, limit(0), false, 100, "bounced"},
		{79, limit(100), false, 79, "delivered"},
		{80, limit(100), false, 80, "suppressed"}, {100, limit(100), false, 100, "bounced"}, {150, limit(100), false, 100, "bounced"}} {
		if got := v.meter("", meter.used, meter.allowed); got.Unlimited != meter.unlimited || got.Share != meter.share || got.State != meter.state {
			t.Errorf("%d: %+v, want %+v", meter.used, got, meter)
		}
	}
}

func TestABroadcastIsNeverSaidToStandStill(t *testing.T) {
	t.Parallel()
	begun := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	for done, want := range map[int64]string{7200: "2 a second", 120: "2 a minute", 20: "20 an hour", 0: ""} {
		if got := looking("/", "UTC", begun.Add(time.Hour)).rate(broadcastRecord{Status: "sending", StartedAt: &begun}, done); got != want {
			t.Errorf("%d in an hour: %q, want %q", done, got, want)
		}
	}
}

func TestWhatIsCopiedIsTakenAsItIs(t *testing.T) {
	t.Parallel()
	if got, want := shellQuoted(`it's "$HOME"`), `'it'\''s "$HOME"'`; got != want {
		t.Errorf("for a shell: %s, want %s", got, want)
	}
	priority := 10
	got := zoneFile([]dnsRecord{{Type: "TXT", Name: "k._domainkey.a.test", Value: `v="1";\`},
		{Type: "MX", Name: "a.test", Value: "mx.b.test", Priority: &priority},
		{Type: "CNAME", Name: "t.a.test", Value: "b.test"}})
	if want := "k._domainkey.a.test. 3600 IN TXT \"v=\\\"1\\\";\\\\\"\na.test. 3600 IN MX 10 mx.b.test.\nt.a.test. 3600 IN CNAME b.test.\n"; got != want {
		t.Errorf("for a name server: %s, want %s", got, want)
	}
	if got := quotedText(string(make([]byte, 256))); len(got) != 256+len(`"" ""`) {
		t.Errorf("a text of 256 bytes is not cut: %d", len(got))
	}
}

package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/platform/api"
)

func TestTimesAreReadAndWrittenByTheClockOfTheVisitor(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	owner := signedIn(t, in, api.Owner)
	if saved := owner.submit("/you", url.Values{"name": {"Ada"}, "timezone": {"Pacific/Auckland"}}); saved.Code != http.StatusSeeOther {
		t.Fatalf("%d %s", saved.Code, said(saved))
	}
	there, err := time.LoadLocation("Pacific/Auckland")
	if err != nil {
		t.Fatal(err)
	}
	at := in.Clock.Now().In(there).Add(72 * time.Hour).Truncate(time.Minute)
	form := owner.filled(owner.open("/emails/new"), "/emails/new")
	form.Set("to", "ada@example.net")
	form.Set("scheduled_at", at.Format("2006-01-02T15:04"))
	sent := owner.post("/emails/new", form)
	if sent.Code != http.StatusSeeOther {
		t.Fatalf("%d %s", sent.Code, said(sent))
	}
	to := sent.Header().Get("Location")
	email := in.Email(to[strings.LastIndex(to, "/")+1:])
	accepted, err := time.Parse(time.RFC3339, email.Text("created_at"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := time.Parse(time.RFC3339, email.Text("scheduled_at"))
	if err != nil || !got.Equal(at) {
		t.Errorf("it is scheduled for %s, want %s", got, at)
	}
	page := main(owner.ask(http.MethodGet, to, nil).Body.String())
	for _, want := range []string{"Goes out " + at.Format("Mon 2 Jan 2006, 15:04") + " Pacific/Auckland",
		at.UTC().Format("15:04 UTC"), `value="` + at.Format("2006-01-02T15:04") + `"`, accepted.In(there).Format("15:04:05")} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

func TestChartsCountDaysByTheClockOfTheVisitor(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	now := in.Clock.Now().UTC()
	in.Clock.Advance(now.Truncate(24 * time.Hour).Add(35*time.Hour + 30*time.Minute).Sub(now)) // half past eleven in the morning
	owner := signedIn(t, in, api.Owner)
	for _, zone := range []string{"Pacific/Kiritimati", "Pacific/Pago_Pago"} { // tomorrow has begun here, and today there
		if saved := owner.submit("/you", url.Values{"name": {"Ada"}, "timezone": {zone}}); saved.Code != http.StatusSeeOther {
			t.Fatalf("%d %s", saved.Code, said(saved))
		}
		there, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		last := `text-anchor="end">` + in.Clock.Now().In(there).Format("2 Jan") + "</text></svg>"
		for _, path := range []string{"", "/stats"} {
			if page := main(owner.open(path)); !strings.Contains(page, last) {
				t.Errorf("%s in %s does not end with today, %s", path, zone, last)
			}
		}
	}
}

func TestTilesCountTheDaysOfTheChartBesideThem(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	now := in.Clock.Now().UTC()
	in.Clock.Advance(now.Truncate(24 * time.Hour).Add(44 * time.Hour).Sub(now)) // eight in the evening
	in.Send("ada@example.net")
	in.Deliver()
	in.CatchUp(in.App.Followers())
	in.Clock.Advance(29*24*time.Hour + 13*time.Hour) // thirty days later, at nine in the morning
	in.Send("bounce@sandbox.test")
	in.Send("ada@example.net")
	in.Deliver()
	in.CatchUp(in.App.Followers())
	owner := signedIn(t, in, api.Owner)
	both := [3]string{"2 emails<", "66.7%", "33.3%"}
	for zone, delivered := range map[string][3]string{"UTC": {"1 email<", "50.0%", "50.0%"}, "Pacific/Kiritimati": both, "Pacific/Pago_Pago": both} {
		if saved := owner.submit("/you", url.Values{"name": {"Ada"}, "timezone": {zone}}); saved.Code != http.StatusSeeOther {
			t.Fatalf("%d %s", saved.Code, said(saved))
		}
		page := main(owner.open(""))
		for _, want := range []string{delivered[0], `<span>Delivered</span><b class="num">` + delivered[1],
			`<span>Bounced</span><b class="num">` + delivered[2], "</i>" + delivered[0][:1] + " delivered"} {
			if !strings.Contains(page, want) {
				t.Errorf("the overview in %s does not say %q: %s", zone, want, page)
			}
		}
		statistics := main(owner.open("/stats"))
		for _, want := range []string{`<span>Delivered</span><b class="num">` + delivered[1], "</i>" + delivered[0][:1] + " delivered", "example.net"} {
			if !strings.Contains(statistics, want) {
				t.Errorf("the statistics in %s do not say %q: %s", zone, want, statistics)
			}
		}
	}
}

func TestListsThatAreToldOfOtherDaysThanTheTilesSaySo(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	now := in.Clock.Now().UTC()
	in.Clock.Advance(now.Truncate(24 * time.Hour).Add(47 * time.Hour).Sub(now)) // eleven in the evening
	in.Send("bounce@sandbox.test")
	in.Deliver()
	in.CatchUp(in.App.Followers())
	in.Clock.Advance(10 * time.Hour)
	owner := signedIn(t, in, api.Owner)
	yesterday := in.Clock.Now().UTC().AddDate(0, 0, -1).Format("2 Jan")
	for zone, told := range map[string]string{"UTC": "", "Europe/Berlin": "counted by whole days in UTC: " + yesterday + " to "} {
		if saved := owner.submit("/you", url.Values{"name": {"Ada"}, "timezone": {zone}}); saved.Code != http.StatusSeeOther {
			t.Fatalf("%d %s", saved.Code, said(saved))
		}
		page := main(owner.open("/stats?days=1"))
		if told == "" && strings.Contains(page, "whole days") || !strings.Contains(page, told) {
			t.Errorf("in %s: %s", zone, page)
		}
	}
}

func TestATemplateCountsDaysByTheClockOfTheVisitor(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	id := in.Must(http.StatusCreated, http.MethodPost, "/templates", map[string]any{"name": "Hello", "subject": "Hi", "html": "<p>Hi</p>"}).Text("id")
	in.Must(http.StatusOK, http.MethodPost, "/templates/"+id+"/publish", nil)
	now := in.Clock.Now().UTC()
	in.Clock.Advance(now.Truncate(24 * time.Hour).Add(25 * time.Hour).Sub(now)) // one in the morning
	in.Must(http.StatusAccepted, http.MethodPost, "/emails",
		map[string]any{"from": "hello@" + apptest.Domain, "to": "ada@example.net", "template": map[string]any{"id": id}})
	in.Deliver()
	in.CatchUp(in.App.Followers())
	in.Clock.Advance(29*24*time.Hour + 20*time.Hour) // it is the thirtieth day, for those who live where the email was sent
	owner := signedIn(t, in, api.Owner)              // the session of the first day would be over
	for zone, want := range map[string]string{"UTC": `<b class="num">1<`, "Pacific/Kiritimati": `<b class="num">0<`} {
		if saved := owner.submit("/you", url.Values{"name": {"Ada"}, "timezone": {zone}}); saved.Code != http.StatusSeeOther {
			t.Fatalf("%d %s", saved.Code, said(saved))
		}
		_, tile, _ := strings.Cut(owner.open("/templates/"+id), "<span>Accepted</span>")
		if !strings.HasPrefix(tile, want) {
			t.Errorf("in %s it counts %.60s, want %s", zone, tile, want)
		}
	}
}

package broadcast

import (
	"testing"
	"time"

	"postrider/product/email"
)

func TestAWindowOpensByTheClockOfItsPlace(t *testing.T) {
	t.Parallel()
	office := Window{Start: "09:00", End: "17:00", Timezone: "Europe/Berlin", Days: []int{1, 2, 3, 4, 5}}
	night := Window{Start: "22:00", End: "02:00", Timezone: "UTC"}
	sundays := func(zone string) Window { return Window{Start: "09:00", End: "18:00", Timezone: zone, Days: []int{7}} }
	for _, c := range []struct {
		window    Window
		now, want string
	}{
		{Window{}, "2026-11-15T12:00:00Z", "2026-11-15T12:00:00Z"},
		{office, "2026-11-15T12:00:00Z", "2026-11-16T08:00:00Z"}, // a Sunday
		{office, "2026-11-16T08:00:00Z", "2026-11-16T08:00:00Z"},
		{office, "2026-11-16T15:59:59Z", "2026-11-16T15:59:59Z"},
		{office, "2026-11-16T16:00:00Z", "2026-11-17T08:00:00Z"},
		{office, "2026-11-20T16:00:00Z", "2026-11-23T08:00:00Z"}, // over the weekend
		{office, "2026-07-13T07:00:00Z", "2026-07-13T07:00:00Z"}, // in summer
		{night, "2026-11-15T23:00:00Z", "2026-11-15T23:00:00Z"},
		{night, "2026-11-16T01:59:00Z", "2026-11-16T01:59:00Z"},
		{night, "2026-11-16T02:00:00Z", "2026-11-16T22:00:00Z"},
		{sundays("Atlantic/Azores"), "2027-03-28T12:00:00Z", "2027-03-28T12:00:00Z"}, // days that begin at one o'clock
		{sundays("Atlantic/Azores"), "2027-03-28T02:00:00Z", "2027-03-28T09:00:00Z"},
		{sundays("America/Havana"), "2027-03-14T16:00:00Z", "2027-03-14T16:00:00Z"},
		{sundays("America/Santiago"), "2027-09-05T15:00:00Z", "2027-09-05T15:00:00Z"},
		{Window{Start: "01:30", End: "02:30", Timezone: "America/New_York", Days: []int{7}}, "2026-03-08T05:00:00Z", "2026-03-08T06:30:00Z"},
		{Window{Start: "01:30", End: "02:30", Timezone: "America/New_York", Days: []int{7}}, "2026-03-08T06:45:00Z", "2026-03-08T06:45:00Z"}, // there is no half past two
		{Window{Start: "09:00", End: "18:00", Timezone: "Atlantic/Azores"}, "2027-03-28T12:00:00Z", "2027-03-28T12:00:00Z"},
	} {
		now, err := time.Parse(time.RFC3339, c.now)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.window.Next(now).Format(time.RFC3339); got != c.want {
			t.Errorf("%+v at %s: %s, want %s", c.window, c.now, got, c.want)
		}
	}
}

func TestPaceKeepsTheRateWhateverThePage(t *testing.T) {
	t.Parallel()
	for _, perHour := range []int64{1, 7, 359, 360, 720, 3600, 1_000_000, maxThrottle} {
		page, wait := pace(perHour)
		if page < 1 || page > handPage {
			t.Errorf("%d an hour: pages of %d", perHour, page)
		}
		if hour := wait(int(min(perHour, 1_000_000))); perHour <= 1_000_000 && hour != time.Hour {
			t.Errorf("%d an hour take %s", perHour, hour)
		}
	}
	if page, wait := pace(0); page != handPage || wait(1000) != 0 {
		t.Error("without a limit there is nothing to wait for")
	}
}

// Whatever a recipient goes through, each counter is the number of recipients in its states.
func TestCountersFollowStates(t *testing.T) {
	t.Parallel()
	all := append([]email.State{Pending, Skipped}, email.States...)
	for _, from := range all {
		for _, to := range all {
			var c counts
			c.move(from, to, 3)
			for which, in := range follows {
				want := int64(0)
				if in(to) {
					want += 3
				}
				if in(from) {
					want -= 3
				}
				if c[which] != want {
					t.Errorf("%s to %s: %s changed by %d", from, to, counterNames[which], c[which])
				}
			}
		}
	}
	settled := 0
	for _, s := range all {
		for _, in := range []counter{queued, sent, suppressed, skipped, failed, cancelled} {
			if follows[in](s) {
				settled++
			}
		}
	}
	if settled != len(all)-1 { // scheduled is no state of a broadcast's mail
		t.Errorf("%d of %d states are counted exactly once", settled, len(all))
	}
}

func TestOnlyNewsChangesARecipient(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from, to email.State
		want     bool
	}{
		{email.Queued, email.Delivered, true}, {email.Queued, email.Sending, true}, {email.Sending, email.Queued, true}, {email.Delivered, email.Sending, false},
		{email.Delivered, email.Bounced, true}, {email.Opened, email.Bounced, false}, {email.Opened, email.Delivered, false}, {email.Clicked, email.Opened, false},
		{email.Clicked, email.Complained, true}, {email.Bounced, email.Delivered, false}, {email.Cancelled, email.Delivered, false}, {Pending, email.Queued, false},
		{email.Delivered, email.Cancelled, false}, {email.Delivered, email.Delivered, false}, {Skipped, email.Delivered, false},
	} {
		if got := (recipient{State: c.from}).mayBecome(c.to); got != c.want {
			t.Errorf("%s to %s: %v", c.from, c.to, got)
		}
	}
}

func TestAFooterStandsInsideThePage(t *testing.T) {
	t.Parallel()
	for page, want := range map[string]string{"<p>x</p>": "<p>x</p>F", "<BODY><p>x</p></BODY></html>": "<BODY><p>x</p>F</BODY></html>", "İ</body>": "İF</body>"} {
		got := withFooter(page, "L")
		footer := withFooter("", "L")
		if want = replaceOnce(want, footer); got != want {
			t.Errorf("%q: %q", page, got)
		}
	}
}

func replaceOnce(text, footer string) string {
	for i := range text {
		if text[i] == 'F' {
			return text[:i] + footer + text[i+1:]
		}
	}
	return text
}

func TestTextIsMadeFromThePageWithItsVariables(t *testing.T) {
	t.Parallel()
	page := "<h1>Hi {{{FIRST_NAME|there}}}</h1>{{#if plan}}<p>You have {{plan}} &amp; more: <a href=\"{{url}}\">go</a></p>{{/if}}"
	p := &press{broadcast: Broadcast{Subject: "x", HTML: page}}
	if err := p.compile(); err != nil || p.texted == nil {
		t.Fatal(p.texted, err)
	}
	for _, values := range []map[string]any{{"plan": "a < b", "url": "https://acme.test/?a=1&b=2", "FIRST_NAME": "Ann"}, {}} {
		made, err := p.render(values)
		plain, plainErr := p.body.Render(values)
		if err != nil || plainErr != nil || !sameWords(made.Text, plain.Text) || made.HTML != plain.HTML {
			t.Errorf("%v %v\n%s\n%s", err, plainErr, made.Text, plain.Text)
		}
	}
	if p.texted == nil {
		t.Error("the text of every letter would be made for itself")
	}
}

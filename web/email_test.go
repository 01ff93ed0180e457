package web_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/platform/api"
)

func TestAnEmailWithManyAttemptsLeadsToAllOfThem(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	var to []string
	for i := range 30 {
		to = append(to, fmt.Sprintf("defer+%d@sandbox.test", i))
	}
	path := "/emails/" + in.Send(to...)
	in.Deliver()
	in.Clock.Advance(time.Hour)
	in.Deliver()
	owner := signedIn(t, in, api.Owner)
	first := main(owner.open(path))
	for _, want := range []string{"the first 12 of 60 attempts", "These are the first 50 of 60 attempts.", " and 29 others</b>", `SMTP attempts<span class="n">60</span>`} {
		if !strings.Contains(first, want) {
			t.Errorf("the first tab does not say %q", want)
		}
	}
	for tab, mark := range map[string]string{"attempts": "<h2>Attempt ", "events": "<summary>Payload"} {
		page := main(owner.open(path + "?tab=" + tab))
		if strings.Count(page, mark) != 50 || !strings.Contains(page, "1 to 50") || !strings.Contains(page, "?offset=50&amp;tab="+tab) {
			t.Errorf("the tab of %s shows %d and leads to no more", tab, strings.Count(page, mark))
		}
		if next := main(owner.open(path + "?tab=" + tab + "&offset=50")); strings.Count(next, mark) < 10 || !strings.Contains(next, `rel="prev"`) {
			t.Errorf("the second page of %s shows %d", tab, strings.Count(next, mark))
		}
		if past := main(owner.open(path + "?tab=" + tab + "&offset=5000")); !strings.Contains(past, "past the end") {
			t.Errorf("the tab of %s does not lead back from a page past its end", tab)
		}
	}
}

func TestABounceIsToldOnceAndNamesTheOthers(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	path := "/emails/" + in.Send("bounce+ada@sandbox.test", "bounce+bob@sandbox.test")
	in.Deliver()
	page := main(signedIn(t, in, api.Owner).open(path))
	if n := strings.Count(page, `class="note bad"`); n != 1 || !strings.Contains(page, "1 more of the recipients bounced, too.") {
		t.Errorf("%d notes: %.3000s", n, page)
	}
}

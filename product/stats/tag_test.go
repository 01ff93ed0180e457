package stats_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/product/plan"
)

// tagged is mail that was accepted and delivered, one with each value of a tag, numbered from first on.
func tagged(in *apptest.Installation, name string, first, count int) []happened {
	var all []happened
	for n := first; n < first+count; n++ {
		tags := fields{name: fmt.Sprintf("v%04d", n), "category": "orders"}
		for _, kind := range []string{"email.queued", "email.delivered"} {
			data := fields{"tags": tags, "status": kind[len("email."):], "isp": "gmail"}
			if kind == "email.delivered" {
				data["previous_status"] = "queued"
			}
			all = append(all, happened{kind, "ann@example.net", in.Clock.Now(), data})
		}
	}
	return all
}

func deliveredWith(in *apptest.Installation, tag string) string {
	return in.Call(http.MethodGet, "/stats/overview?tag="+tag, nil).Text("totals", "delivered")
}

func TestATagThatIsDifferentInEveryMailIsCountedApartForTheFirstThousand(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		record(t, in, tagged(in, "order", 0, 1000)...)
		follow(t, in)
		before := rowsOf(t, in, "stats_count", "bucket", in.Clock.Now())
		record(t, in, tagged(in, "order", 1000, 500)...)
		record(t, in, tagged(in, "order", 7, 1)...)
		follow(t, in)
		for tag, want := range map[string]string{"order:v0000": "1", "order:v0007": "2", "order:v0999": "1", "order:v1000": "0", "category:orders": "1501"} {
			if got := deliveredWith(in, tag); got != want {
				t.Errorf("%s of %s were delivered, want %s", got, tag, want)
			}
		}
		if after := rowsOf(t, in, "stats_count", "bucket", in.Clock.Now()); after > before+10 {
			t.Errorf("%d rows of counts, %d before", after, before)
		}
	})
}

func TestATagThatIsNotSeenAnyMoreMakesRoom(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		record(t, in, tagged(in, "order", 0, 1001)...)
		follow(t, in)
		sweep := func() {
			t.Helper()
			for range 5 {
				if _, err := in.App.Stats.Workers()[0].Step(context.Background()); err != nil {
					t.Fatal(err)
				}
			}
		}
		in.Clock.Advance(20 * 24 * time.Hour)
		record(t, in, tagged(in, "order", 0, 1)...) // which keeps its place
		follow(t, in)
		in.Clock.Advance(20 * 24 * time.Hour)
		sweep()
		if got := rowsOf(t, in, "stats_tag", "seen_day", in.Clock.Now()); got != 4 {
			t.Errorf("%d places are taken, want those of two tags and a value of each", got)
		}
		record(t, in, tagged(in, "order", 1000, 2)...)
		follow(t, in)
		for tag, want := range map[string]string{"order:v0000": "2", "order:v1000": "1", "order:v1001": "1"} {
			if got := deliveredWith(in, tag+"&days=90"); got != want {
				t.Errorf("%s of %s were delivered, want %s", got, tag, want)
			}
		}
	})
}

func TestNothingIsTakenOutOfATagThatWasNotCountedApart(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		record(t, in, tagged(in, "order", 0, 1000)...)
		follow(t, in)
		in.Clock.Advance(40 * 24 * time.Hour)
		record(t, in, tagged(in, "order", 1000, 1)...) // for which there is no room yet
		follow(t, in)
		fold(t, in)
		in.Clock.Advance(time.Hour)
		record(t, in, happened{"email.bounced", "ann@example.net", in.Clock.Now(), fields{"tags": fields{"order": "v1000"}, "isp": "gmail",
			"status": "bounced", "previous_status": "delivered", "delivered_at": in.Clock.Now().Add(-time.Hour), "bounce": fields{"class": "hard"}}})
		follow(t, in)

		for _, question := range [][]string{{"/stats/overview"}, {"/stats/daily"}, {"/stats/timeseries", "metrics", "sent,delivered,bounced"}, {"/stats/top"}} {
			answer := get(t, in, question[0], append(question[1:], "tag", "order:v1000")...)
			if raw := string(answer.Raw); strings.Contains(raw, ":-") || !strings.Contains(raw, `:1,`) && !strings.Contains(raw, `:1}`) {
				t.Errorf("%s says %s", question[0], raw)
			}
		}
	})
}

func TestEachWorkspaceHasItsOwnPlacesForTags(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		elsewhere, stranger := in.NewWorkspace(plan.Unlimited)
		recordOf(t, in, elsewhere, tagged(in, "order", 0, 1000)...)
		follow(t, in)
		record(t, in, tagged(in, "order", 1000, 1)...)
		follow(t, in)
		if got := deliveredWith(in, "order:v1000"); got != "1" {
			t.Errorf("%s were delivered, want 1: the other has all places", got)
		}
		if got := in.CallAs(stranger, http.MethodGet, "/stats/overview?tag=order:v1000", nil, nil).Text("totals", "delivered"); got != "0" {
			t.Errorf("the other is told of %s", got)
		}

		in.Clock.Advance(20 * 24 * time.Hour)
		record(t, in, tagged(in, "order", 1000, 1)...) // which keeps the place, but not that of the other
		follow(t, in)
		in.Clock.Advance(20 * 24 * time.Hour)
		fold(t, in)
		if got := rowsOf(t, in, "stats_tag", "seen_day", in.Clock.Now()); got != 4 {
			t.Errorf("%d places are taken, want those of two tags and a value of each", got)
		}
	})
}

func TestAWorkspaceHasAHundredTags(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		for n := range 105 {
			record(t, in, tagged(in, fmt.Sprintf("tag%03d", n), 0, 1)...)
			follow(t, in)
		}
		for tag, want := range map[string]string{"tag000:v0000": "1", "tag098:v0000": "1", "tag099:v0000": "0", "tag104:v0000": "0", "category:orders": "105"} {
			if got := deliveredWith(in, tag); got != want {
				t.Errorf("%s of %s were delivered, want %s", got, tag, want)
			}
		}
	})
}

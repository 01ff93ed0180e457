package stats_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/product/email"
	"postrider/product/plan"
)

// fold lets the workers pack and forget what is old.
func fold(t testing.TB, in *apptest.Installation) {
	t.Helper()
	for _, w := range in.App.Stats.Workers() {
		for {
			busy, err := w.Step(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if !busy {
				break
			}
		}
	}
}

// rowsOf counts the rows of a table of statistics that are older than a time.
func rowsOf(t testing.TB, in *apptest.Installation, table, at string, before time.Time) (count int64) {
	t.Helper()
	err := in.App.DB.Read(context.Background(), func(tx *db.Tx) (err error) {
		count, err = db.One(tx, db.Value[int64], `SELECT COUNT(*) FROM `+table+` WHERE `+at+` < $1`, before)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return count
}

func TestPackingADayKeepsWorkspacesApart(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		elsewhere, stranger := in.NewWorkspace(plan.Unlimited)
		for _, domain := range []string{"a@a.test", "b@b.test", "c@c.test"} {
			delivered := happened{"email.delivered", domain, in.Clock.Now(), fields{"previous_status": "queued", "isp": "google"}}
			recordOf(t, in, elsewhere, delivered, delivered)
			record(t, in, delivered)
		}
		follow(t, in)
		told := func() string {
			text := ""
			for _, key := range []string{in.Key, stranger} {
				text += in.CallAs(key, http.MethodGet, "/stats/overview", nil, nil).Text("totals", "delivered")
				top := in.CallAs(key, http.MethodGet, "/stats/top", nil, nil)
				text += fmt.Sprintln("", rows(top, "isps"), rows(top, "status_mix"), rows(top, "recipient_domains"), rows(top, "subjects"))
			}
			return text
		}
		before := told()
		in.Clock.Advance(4 * 24 * time.Hour)
		fold(t, in)
		if after := told(); after != before || before[0] != '3' {
			t.Errorf("%s became\n%s", before, after)
		}
	})
}

func TestPackingADayChangesNoAnswer(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		live(t, in)
		in.Clock.Advance(10 * 24 * time.Hour)
		follow(t, in)
		begin := in.Clock.Now().Add(-12 * 24 * time.Hour)
		all := func() (told []string) {
			for _, question := range [][]string{
				{"/stats/overview"}, {"/stats/overview", "days", "12"}, {"/stats/overview", "tag", "category:news"}, {"/stats/overview", "domain_id", in.DomainID},
				{"/stats/overview", "start", begin.Format(time.RFC3339), "end", begin.Add(31 * time.Hour).Format(time.RFC3339)},
				{"/stats/daily", "timezone", "Asia/Kathmandu"}, {"/stats/timeseries", "interval", "hour", "days", "13", "timezone", "America/New_York"},
				{"/stats/timeseries", "interval", "week", "days", "60"}, {"/stats/top"}, {"/stats/deliverability"},
			} {
				told = append(told, question[0]+" "+string(get(t, in, question[0], question[1:]...).Raw))
			}
			return told
		}
		same := func(before []string) {
			t.Helper()
			for i, after := range all() {
				if after != before[i] {
					t.Errorf("%s\nbecame\n%s", before[i], after)
				}
			}
		}

		before := all()
		fold(t, in)
		same(before)
		for table, at := range map[string]string{"stats_count": "bucket", "stats_isp": "day", "stats_state": "day", "stats_rank": "day"} {
			if n := rowsOf(t, in, table, at, in.Clock.Now().Add(-3*24*time.Hour)); n != 0 {
				t.Errorf("%s has %d old rows", table, n)
			}
		}
		if rowsOf(t, in, "stats_past", "day", in.Clock.Now()) == 0 {
			t.Error("nothing is packed")
		}

		// What comes late is counted beside what is packed, and packed with it.
		told(t, in, "cat@example.net", email.Reported{Complaint: &email.Complaint{Type: "abuse", Source: "arf", ArrivedAt: api.Time(in.Clock.Now())}})
		follow(t, in)
		late := all()
		if late[8] == before[8] {
			t.Error("a complaint about mail of a packed day does not show")
		}
		fold(t, in)
		same(late)
		totals := func() string {
			then := get(t, in, "/stats/overview", "start", begin.Format(time.RFC3339), "end", begin.Add(20*24*time.Hour).Format(time.RFC3339))
			return numbers(then.Body["totals"])
		}
		counted := totals()
		in.Clock.Advance(400 * 24 * time.Hour)
		fold(t, in)
		if got := totals(); got != counted {
			t.Errorf("after a year and a month the totals are %s, not %s", got, counted)
		}
		for _, kind := range []string{"domain", "subject", "tag"} {
			if n := rowsOf(t, in, "stats_past", "kind = '"+kind+"' AND day", in.Clock.Now().Add(-397*24*time.Hour)); n != 0 {
				t.Errorf("%d days of %ss are kept", n, kind)
			}
		}
	})
}

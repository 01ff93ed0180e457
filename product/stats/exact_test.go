package stats_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/mail/report"
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/product/email"
)

const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"

func open(in *apptest.Installation, address, agent string) {
	request := httptest.NewRequest(http.MethodGet, address, nil)
	request.Header.Set("User-Agent", agent)
	request.RemoteAddr = "198.51.100.7:4711"
	in.App.API.ServeHTTP(httptest.NewRecorder(), request)
}

// told makes the recipient's side report something about mail that it has.
func told(t *testing.T, in *apptest.Installation, address string, what email.Reported) {
	t.Helper()
	err := in.App.DB.Write(context.Background(), func(tx *db.Tx) error {
		id, err := db.One(tx, db.Value[string], `SELECT id FROM email_recipient WHERE address = $1`, address)
		if err != nil {
			return err
		}
		said := what
		said.Recipient, said.At = email.RecipientID(id), tx.Now()
		_, err = in.App.Emails.Report(tx, said)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// live makes a week of everything that can happen to mail.
func live(t *testing.T, in *apptest.Installation) {
	t.Helper()
	html := fields{"html": `<p>Hi</p><a href="https://acme.test/start">Go</a>`, "tracking": fields{"opens": true, "clicks": true},
		"tags": []fields{{"name": "category", "value": "news"}}}
	with := func(to ...string) fields {
		all := fields{"to": to}
		for name, value := range html {
			all[name] = value
		}
		return all
	}
	send(t, in, with("ann@google.test", "bounce@yahoo.test", "block@outlook.test"))
	send(t, in, with("ben@example.net"))
	send(t, in, fields{"to": "defer@example.net", "subject": "Later"})
	send(t, in, fields{"to": "busy@example.org", "deliver_within_sec": 7200})
	send(t, in, fields{"to": "late@example.net"})
	send(t, in, fields{"to": "angry@example.net"})
	send(t, in, fields{"to": "read@example.net", "html": html["html"], "tracking": html["tracking"]})
	in.Call(http.MethodPost, "/suppressions", fields{"email": "never@example.net"})
	send(t, in, fields{"to": []string{"never@example.net", "cat@example.net"}})
	cancelled := send(t, in, fields{"to": []string{"a@example.net", "b@example.net"}, "scheduled_at": in.Clock.Now().Add(time.Hour).Format(time.RFC3339)})
	moved := send(t, in, fields{"to": "moved@example.net", "scheduled_at": in.Clock.Now().Add(time.Hour).Format(time.RFC3339)})
	send(t, in, fields{"to": "waits@example.net", "scheduled_at": in.Clock.Now().Add(20 * 24 * time.Hour).Format(time.RFC3339)})
	in.Deliver()
	in.Call(http.MethodPost, "/emails/"+cancelled+"/cancel", nil)
	in.Call(http.MethodPatch, "/emails/"+moved, fields{"scheduled_at": in.Clock.Now().Add(2 * time.Hour).Format(time.RFC3339)})
	follow(t, in) // some is counted before the rest happens

	in.Clock.Advance(time.Minute)
	visited := links(t, in, "ann@google.test")
	pixel := visited[len(visited)-1]
	open(in, pixel, firefox)
	open(in, pixel, firefox)
	open(in, visited[0], firefox)
	open(in, links(t, in, "ben@example.net")[1], "Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)")
	open(in, links(t, in, "read@example.net")[1], firefox)
	for range 8 {
		in.Clock.Advance(20 * time.Minute)
		in.Deliver()
	}
	in.Clock.Advance(26 * time.Hour)
	lateBounce := &email.LateBounce{Class: report.Verdict{Class: report.Hard, Category: report.NoMailbox}, Enhanced: "5.1.1", Message: "gone"}
	told(t, in, "late@example.net", email.Reported{Bounce: lateBounce})
	told(t, in, "read@example.net", email.Reported{Bounce: lateBounce}) // but it was read
	told(t, in, "angry@example.net", email.Reported{Complaint: &email.Complaint{Type: "abuse", Source: "arf", ArrivedAt: api.Time(in.Clock.Now())}})
	follow(t, in)
}

// recounted is what the record of events says when it is read from the first to the last, one recipient at a time.
type recounted struct {
	totals map[string]float64
	state  map[string]string // of each recipient
	isps   map[string]float64
}

type recorded struct {
	kind, subject, recipient string
	data                     struct {
		To    []string `json:"to"`
		ISP   string   `json:"isp"`
		Delay struct {
			First bool `json:"first"`
		} `json:"delay"`
		Bounce struct{ Class string }  `json:"bounce"`
		Failed struct{ Reason string } `json:"failed"`
		Open   struct {
			Automated bool
			Count     int
		}
		Click struct {
			Automated bool
			Count     int
		}
	}
}

// recount reads the whole record, and knows nothing of what events say about earlier states.
func recount(t *testing.T, in *apptest.Installation) recounted {
	t.Helper()
	r := recounted{map[string]float64{}, map[string]string{}, map[string]float64{}}
	err := in.App.DB.Read(context.Background(), func(tx *db.Tx) error {
		all, err := db.All(tx, func(s db.Scanner) (recorded, error) {
			var one recorded
			var raw string
			err := s.Scan(&one.kind, &one.subject, db.Text(&one.recipient), &raw)
			_ = json.Unmarshal([]byte(raw), &one.data)
			return one, err
		}, `SELECT type, subject_id, recipient, data FROM event WHERE workspace_id = $1 ORDER BY seq`, in.Workspace)
		for _, e := range all {
			r.add(e)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (r recounted) add(e recorded) {
	who := e.subject + " " + e.recipient
	visit := func(automated bool, count int, all, unique, programs, state string) {
		if automated {
			r.totals[programs]++
			return
		}
		r.totals[all]++
		if count == 1 {
			r.totals[unique]++
		}
		if s := r.state[who]; s == "delivered" || s == "opened" && state == "clicked" {
			r.state[who] = state
		}
	}
	switch e.kind {
	case "email.queued", "email.scheduled":
		for _, to := range e.data.To {
			if _, known := r.state[e.subject+" "+to]; !known {
				r.totals["accepted"]++
			}
			r.state[e.subject+" "+to] = e.kind[len("email."):]
		}
	case "email.delivered":
		r.totals["delivered"]++
		r.settle(who, "delivered", e.data.ISP)
	case "email.bounced":
		if s := r.state[who]; s == "opened" || s == "clicked" {
			return
		}
		if r.state[who] == "delivered" {
			r.totals["delivered"]--
			r.totals["sent"]--
			r.isps[e.data.ISP]--
		}
		r.totals["bounced"]++
		r.totals["bounced_"+e.data.Bounce.Class]++
		r.settle(who, "bounced", e.data.ISP)
	case "email.failed":
		r.totals["failed"]++
		if r.state[who] = "failed"; e.data.Failed.Reason == "delivery_expired" {
			r.settle(who, "failed", e.data.ISP)
		}
	case "email.suppressed", "email.complained":
		r.totals[e.kind[len("email."):]]++
		r.state[who] = e.kind[len("email."):]
	case "email.cancelled":
		for _, to := range e.data.To {
			r.totals["cancelled"]++
			r.state[e.subject+" "+to] = "cancelled"
		}
	case "email.delivery_delayed":
		if e.data.Delay.First {
			r.totals["delayed"]++
		}
	case "email.opened":
		visit(e.data.Open.Automated, e.data.Open.Count, "opened", "unique_opened", "automated_opens", "opened")
	case "email.clicked":
		visit(e.data.Click.Automated, e.data.Click.Count, "clicked", "unique_clicked", "automated_clicks", "clicked")
	}
}

func (r recounted) settle(who, state, isp string) {
	r.totals["sent"]++
	r.isps[isp]++
	r.state[who] = state
}

func TestCountsAreWhatTheRecordOfEventsSays(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		live(t, in)
		want := recount(t, in)
		for _, must := range []string{"accepted", "sent", "delivered", "delayed", "bounced_hard", "bounced_block", "complained", "suppressed", "failed", "cancelled",
			"opened", "unique_opened", "automated_opens", "clicked", "unique_clicked"} {
			if want.totals[must] == 0 {
				t.Errorf("nothing was %s: the run tells nothing about it", must)
			}
		}
		totals := fields{}
		for name, n := range want.totals {
			totals[name] = n
		}
		got := get(t, in, "/stats/overview", "days", "10")
		if numbers(got.Body["totals"]) != numbers(totals) {
			t.Errorf("totals are %s, the record says %s", numbers(got.Body["totals"]), numbers(totals))
		}
		if want.totals["sent"] != want.totals["delivered"]+want.totals["bounced"]+1 { // one has expired
			t.Errorf("sent is not delivered, bounced and expired together: %v", want.totals)
		}

		mix, isps := map[string]float64{}, map[string]float64{}
		for _, state := range want.state {
			mix[state]++
		}
		top := get(t, in, "/stats/top", "days", "10")
		told := map[string]float64{}
		for _, row := range rows(top, "status_mix") {
			told[row["status"].(string)] = row["count"].(float64)
		}
		if fmt.Sprint(told) != fmt.Sprint(mix) {
			t.Errorf("status mix is %v, the record says %v", told, mix)
		}
		for _, row := range rows(top, "isps") {
			isps[row["isp"].(string)] = row["sent"].(float64)
		}
		if fmt.Sprint(isps) != fmt.Sprint(want.isps) {
			t.Errorf("by provider %v was sent, the record says %v", isps, want.isps)
		}
	})
}

func TestSeriesAddUpToTheTotals(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		live(t, in)
		totals, _ := get(t, in, "/stats/overview", "days", "10").Body["totals"].(map[string]any)
		for _, zone := range []string{"UTC", "Asia/Kathmandu", "America/New_York"} {
			for _, by := range []string{"hour", "day", "week", "month"} {
				series := rows(get(t, in, "/stats/timeseries", "days", "12", "interval", by, "timezone", zone, "metrics", "accepted,sent,delivered,bounced"), "series")
				for _, line := range series {
					sum := 0.0
					for _, p := range line["points"].([]any) {
						sum += p.(map[string]any)["v"].(float64)
					}
					name := line["metric"].(string)
					if sum != totals[name] || line["total"] != totals[name] {
						t.Errorf("%s by %s in %s: points %v, total %v, all in all %v", name, by, zone, sum, line["total"], totals[name])
					}
				}
			}
		}
		day := map[string]float64{}
		for _, row := range rows(get(t, in, "/stats/daily", "days", "10"), "data") {
			for name, n := range row {
				if n, ok := n.(float64); ok {
					day[name] += n
				}
			}
		}
		for name, n := range totals {
			if day[name] != n {
				t.Errorf("%s day by day is %v, all in all %v", name, day[name], n)
			}
		}
	})
}

func TestRatesAreOfWhatWasSentOrDelivered(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		visit := func(which string, count int) fields { return fields{which: fields{"count": count}} }
		for kind, all := range map[string][]fields{
			"email.delivered": make([]fields, 8), "email.bounced": {{"previous_status": "queued"}, {"previous_status": "queued"}},
			"email.opened":  {visit("open", 1), visit("open", 1), visit("open", 1), visit("open", 1), visit("open", 2), {"open": fields{"count": 1, "automated": true}}},
			"email.clicked": {visit("click", 1), visit("click", 1), visit("click", 2)}, "email.complained": make([]fields, 1), "email.unsubscribed": make([]fields, 3),
		} {
			for _, data := range all {
				record(t, in, happened{kind, "ann@example.net", in.Clock.Now(), data})
			}
		}
		follow(t, in)

		want := `{"bounce_rate":0.2,"click_rate":0.25,"complaint_rate":0.125,"delivery_rate":0.8,"open_rate":0.5,"unsubscribe_rate":0.375}`
		if got := numbers(get(t, in, "/stats/overview").Body["rates"]); got != want {
			t.Errorf("rates are %s, want %s", got, want)
		}
	})
}

func TestMailThatFailsBeforeAnyServerIsAskedIsNotSent(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		for _, reason := range []string{"domain_auth_broken", "managed_tenant_paused", "delivery_expired"} {
			record(t, in, happened{"email.failed", "ann@example.net", in.Clock.Now(), fields{"previous_status": "queued", "failed": fields{"reason": reason}}})
		}
		follow(t, in)
		if got := numbers(get(t, in, "/stats/overview").Body["totals"]); got != `{"failed":3,"sent":1}` {
			t.Errorf("totals are %s", got)
		}
	})
}

func TestATimeEndsWithTheQuarterOfItsEnd(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		noon := in.Clock.Now().UTC().Truncate(24 * time.Hour).Add(12 * time.Hour)
		for _, at := range []time.Time{noon.Add(-time.Second), noon, noon.Add(14 * time.Minute), noon.Add(15 * time.Minute)} {
			record(t, in, happened{"email.received", "ann@example.net", at, nil})
		}
		follow(t, in)
		for end, want := range map[time.Time]string{noon.Add(time.Minute): "2", noon.Add(15 * time.Minute): "2", noon.Add(16 * time.Minute): "3"} {
			answer := get(t, in, "/stats/overview", "start", noon.Format(time.RFC3339), "end", end.Format(time.RFC3339))
			if got := answer.Text("totals", "received"); got != want {
				t.Errorf("until %s %s are counted, want %s", end.Format(time.TimeOnly), got, want)
			}
		}
	})
}

func TestTheStatusMixIsOfTheDayMailWasAccepted(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		today := in.Clock.Now().UTC().Truncate(24 * time.Hour).Add(time.Hour)
		yesterday := today.Add(-24 * time.Hour)
		record(t, in, happened{"email.queued", "", yesterday, fields{"status": "queued"}},
			happened{"email.delivered", "ann@example.net", today, fields{"created_at": yesterday, "status": "delivered", "previous_status": "queued"}})
		follow(t, in)
		for day, want := range map[time.Time]string{yesterday: "[map[count:1 share:1 status:delivered]]", today: "[]"} {
			mix := rows(get(t, in, "/stats/top", "start", day.Format(time.RFC3339), "end", day.Add(time.Hour).Format(time.RFC3339)), "status_mix")
			if got := fmt.Sprint(mix); got != want {
				t.Errorf("the mix of %s is %s, want %s", day.Format(time.DateOnly), got, want)
			}
		}
	})
}

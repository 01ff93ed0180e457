package stats_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/mail/report"
	"postrider/product/email"
)

func TestMailOfARelayIsSentAndMayBounceOnce(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		now := in.Clock.Now()
		two := fields{"to": []string{"ann@example.net", "bob@example.net"}}
		record(t, in, happened{"email.queued", "", now, fields{"to": two["to"], "status": "queued"}},
			happened{"email.opened", "ann@example.net", now, fields{"previous_status": "queued", "status": "opened", "open": fields{"count": 1}}}, // before the last is handed over
			happened{"email.sent", "", now, fields{"to": two["to"], "status": "sent", "relayed": 1}},
			happened{"email.bounced", "bob@example.net", now, fields{"previous_status": "sent", "status": "bounced", "bounce": fields{"class": "hard", "asynchronous": true}}})
		follow(t, in)
		if got := numbers(get(t, in, "/stats/overview").Body["totals"]); got != `{"accepted":2,"bounced":1,"bounced_hard":1,"opened":1,"sent":2,"unique_opened":1}` {
			t.Errorf("totals are %s", got)
		}
		mix := map[string]any{}
		for _, row := range rows(get(t, in, "/stats/top"), "status_mix") {
			mix[row["status"].(string)] = row["count"]
		}
		if len(mix) != 2 || mix["opened"] != 1.0 || mix["bounced"] != 1.0 {
			t.Errorf("the mix is %v", mix)
		}
	})
}

func TestMailOfARelayIsNotCountedAtAProvider(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		record(t, in, happened{"email.sent", "", in.Clock.Now(), fields{"status": "sent", "relayed": 1}})
		follow(t, in)
		if top := get(t, in, "/stats/top"); len(rows(top, "isps")) != 0 || len(rows(top, "subjects")) != 1 {
			t.Errorf("it is told as %s", top.Raw)
		}
	})
}

func TestLateBounceIsTakenOutOfTheTimeOfItsDelivery(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		delivered := at("2026-05-01T10:00:00Z")
		record(t, in, happened{"email.delivered", "ann@example.net", delivered, fields{"previous_status": "queued", "isp": "google"}},
			happened{"email.bounced", "ann@example.net", delivered.Add(26 * time.Hour), fields{"previous_status": "delivered", "isp": "google", "delivered_at": delivered,
				"bounce": fields{"class": "hard", "asynchronous": true}}})
		follow(t, in)
		days := rows(get(t, in, "/stats/daily", "start", "2026-05-01T00:00:00Z", "end", "2026-05-03T00:00:00Z"), "data")
		if numbers(days[0]) != "{}" || numbers(days[1]) != `{"bounced":1,"bounced_hard":1,"sent":1}` {
			t.Errorf("the days are %s and %s", numbers(days[0]), numbers(days[1]))
		}
	})
}

func TestLateBounceLeavesTheTimeThatOtherMailTook(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		average := func() any {
			follow(t, in)
			isps := rows(get(t, in, "/stats/top"), "isps")
			if len(isps) != 1 {
				t.Fatalf("the providers are %v", isps)
			}
			return isps[0]["avg_delivery_ms"]
		}
		send(t, in, fields{"to": "ann@example.net"})
		in.Deliver()
		before := average()
		send(t, in, fields{"to": "late@example.net", "scheduled_at": in.Clock.Now().Add(time.Hour).Format(time.RFC3339)})
		in.Clock.Advance(3 * time.Hour) // two of which it waits for us
		in.Deliver()
		if slow := average(); slow == before {
			t.Fatalf("two hours make no difference: %v ms", slow)
		}
		in.Clock.Advance(time.Hour)
		told(t, in, "late@example.net", email.Reported{Bounce: &email.LateBounce{Class: report.Verdict{Class: report.Hard, Category: report.NoMailbox}, Enhanced: "5.1.1", Message: "gone"}})
		if after := average(); after != before {
			t.Errorf("what was delivered took %v ms, and %v ms once the other mail had bounced", before, after)
		}
	})
}

func TestWhoUnsubscribesIsCountedOnce(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		send(t, in, fields{"to": "ann@example.net", "list_unsubscribe": true})
		in.Deliver()
		box := in.Mailbox("ann@example.net")
		raw := strings.ReplaceAll(box[0].Raw, "\r\n ", "")
		link := regexp.MustCompile(`https://[a-z.]+/v1(/unsubscribe/[A-Za-z0-9_.-]+)`).FindStringSubmatch(raw)
		if link == nil {
			t.Fatalf("no link in %s", raw)
		}
		for range 2 {
			if answer := in.CallAs("", http.MethodPost, link[1], fields{}, nil); answer.Status >= 300 {
				t.Fatalf("%s was answered with %d: %s", link[1], answer.Status, answer.Raw)
			}
		}
		follow(t, in)
		answer := get(t, in, "/stats/overview")
		if answer.Text("totals", "unsubscribed") != "1" || answer.Text("rates", "unsubscribe_rate") != "1" {
			t.Errorf("the overview is %s", answer.Raw)
		}
	})
}

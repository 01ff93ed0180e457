package email_test

import (
	"net/http"
	"net/http/httptest"
	"net/mail"
	"strings"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/product/plan"
)

func TestAddressesThatDoNotExistAreNotMailedAgain(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		first := in.Send("bounce@example.net")
		in.Deliver()
		record := in.Email(first)
		bounced, _ := record.Body["recipients"].([]any)[0].(map[string]any)["bounce"].(map[string]any)
		if record.Text("status") != "bounced" || bounced["suppressed"] != true {
			t.Fatalf("%s", record.Raw)
		}
		entry := in.Call(http.MethodGet, "/suppressions/bounce@example.net", nil)
		if entry.Text("reason") != "bounce" || entry.Text("email_id") != first || entry.Text("detail", "category") != "no_mailbox" || entry.Text("domain_id") != in.DomainID {
			t.Fatalf("%s", entry.Raw)
		}

		second := accepted(t, in, fields{"to": []string{"Bounce@EXAMPLE.net"}, "cc": "ann@example.net", "bcc": "bounce+1@example.net"})
		in.Deliver()
		record = in.Email(second)
		states := map[string]string{}
		for _, r := range record.Body["recipients"].([]any) {
			r := r.(map[string]any)
			states[strings.ToLower(r["email"].(string))] = r["status"].(string)
		}
		if states["bounce@example.net"] != "suppressed" || states["ann@example.net"] != "delivered" || states["bounce+1@example.net"] != "bounced" {
			t.Errorf("%v", states)
		}
		if events := in.Call(http.MethodGet, "/emails/"+second+"/events", nil); !strings.Contains(string(events.Raw), `"reason":"previous_bounce"`) {
			t.Errorf("%s", events.Raw)
		}
		if attempts := in.Call(http.MethodGet, "/emails/"+second+"/attempts?recipient=Bounce@example.net", nil); len(rows(attempts)) != 0 {
			t.Errorf("tried nevertheless: %s", attempts.Raw)
		}
		third := in.Email(in.Send("bounce@example.net"))
		in.Deliver()
		if third = in.Email(third.Text("id")); third.Text("status") != "suppressed" || third.Text("failure", "reason") != "previous_bounce" {
			t.Errorf("%s", third.Raw)
		}
		if hits := in.Call(http.MethodGet, "/suppressions/bounce@example.net", nil).Text("hits"); hits != "2" {
			t.Errorf("%s hits", hits)
		}
		if removed := in.Call(http.MethodDelete, "/suppressions/bounce@example.net", nil); removed.Status != http.StatusOK {
			t.Fatalf("%d %s", removed.Status, removed.Raw)
		}
		again := in.Send("bounce@example.net")
		in.Deliver()
		if got := in.Email(again).Text("status"); got != "bounced" {
			t.Errorf("after removal: %s", got)
		}
	})
}

func TestAMailboxThatStaysFullIsNotMailedAnyMore(t *testing.T) {
	t.Parallel()
	for name, within := range map[string]int{"refused in the end": 0, "expired": 300} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
				body := fields{"to": "full@example.net"}
				if within > 0 {
					body["deliver_within_sec"] = within
				}
				for range 5 {
					if list := in.Call(http.MethodGet, "/suppressions", nil); len(rows(list)) != 0 {
						t.Fatalf("on the list too early: %s", list.Raw)
					}
					id := accepted(t, in, body)
					for range 4 {
						in.Deliver()
						in.Clock.Advance(time.Hour)
					}
					if got := in.Email(id).Text("status"); got != "bounced" && got != "failed" {
						t.Fatalf("%s", got)
					}
				}
				entry := in.Call(http.MethodGet, "/suppressions/full@example.net", nil)
				if entry.Text("reason") != "bounce" || entry.Text("detail", "category") != "mailbox_full" || entry.Text("detail", "smtp_code") != "552" {
					t.Fatalf("%s", entry.Raw)
				}
				sixth := accepted(t, in, fields{"to": "full@example.net"})
				in.Deliver()
				if got := in.Email(sixth).Text("status"); got != "suppressed" {
					t.Errorf("the sixth is %s", got)
				}
			})
		})
	}
}

func TestWhatTheListStopsIsNotCounted(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		ws, key := in.NewWorkspace(plan.Free)
		in.VerifiedDomain(ws, "free.test")
		in.CallAs(key, http.MethodPost, "/suppressions", fields{"email": "gone@example.net"}, nil)
		used := func() string {
			answer := in.CallAs(key, http.MethodPost, "/emails", fields{"from": "a@free.test", "to": "gone@example.net", "subject": "x", "text": "x"}, nil)
			in.Deliver()
			return answer.Header.Get("X-Quota-Monthly-Used")
		}
		if first, second := used(), used(); first != "1" || second != "1" {
			t.Errorf("used %s, then %s", first, second)
		}
	})
}

func TestSuppressionWhileMailWaitsStopsIt(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		waiting := in.Send("defer@example.net")
		scheduled := accepted(t, in, fields{"to": "ann@example.net", "scheduled_at": "in 1 hour"})
		in.Deliver()
		for _, address := range []string{"defer@example.net", "ann@example.net"} {
			in.Call(http.MethodPost, "/suppressions", fields{"email": address})
		}
		in.Clock.Advance(3 * time.Hour)
		in.Deliver()
		for _, id := range []string{waiting, scheduled} {
			if record := in.Email(id); record.Text("status") != "suppressed" {
				t.Errorf("%s", record.Raw)
			}
		}
		if got := len(in.Mailbox("defer@example.net")) + len(in.Mailbox("ann@example.net")); got != 0 {
			t.Errorf("%d messages arrived", got)
		}
	})
}

func TestOneClickUnsubscribesFromBulkMailOnly(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		accepted(t, in, fields{"to": []string{"ann@example.net", "bob@example.net"}, "list_unsubscribe": true})
		in.Deliver()
		link := func(to string) string {
			got := in.Mailbox(to)
			if len(got) != 1 || got[0].Authentication["dkim"] != "pass" {
				t.Fatalf("%s: %+v", to, got)
			}
			m, err := mail.ReadMessage(strings.NewReader(got[0].Raw))
			if err != nil {
				t.Fatal(err)
			}
			if m.Header.Get("List-Unsubscribe-Post") != "List-Unsubscribe=One-Click" {
				t.Errorf("%v", m.Header)
			}
			signed := strings.ToLower(strings.Join(strings.Fields(m.Header.Get("Dkim-Signature")), ""))
			if !strings.Contains(signed, "list-unsubscribe:") || !strings.Contains(signed, "list-unsubscribe-post") {
				t.Errorf("not signed: %s", signed)
			}
			return strings.Trim(m.Header.Get("List-Unsubscribe"), "<>")
		}
		ann := link("ann@example.net")
		if ann == link("bob@example.net") {
			t.Error("two people share a link")
		}
		request := httptest.NewRequest(http.MethodPost, strings.TrimPrefix(ann, "https://postrider.test"), strings.NewReader("List-Unsubscribe=One-Click"))
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		recorder := httptest.NewRecorder()
		in.App.API.ServeHTTP(recorder, request)
		if recorder.Code != http.StatusOK {
			t.Fatalf("%d %s", recorder.Code, recorder.Body)
		}
		bulk := accepted(t, in, fields{"to": "ann@example.net", "list_unsubscribe": true})
		plain := accepted(t, in, fields{"to": "ann@example.net", "subject": "Password reset"})
		in.Deliver()
		if got := in.Email(bulk).Text("status"); got != "suppressed" {
			t.Errorf("bulk mail is %s", got)
		}
		if got := in.Email(plain).Text("status"); got != "delivered" {
			t.Errorf("a password reset is %s", got)
		}
	})
}

func TestAnUnsubscribeHeaderIsGivenOnce(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	answer := send(in, fields{"list_unsubscribe": true, "headers": fields{"list-unsubscribe": "<https://acme.test/u>"}})
	if problems(answer)["list_unsubscribe"] == "" {
		t.Errorf("%d %s", answer.Status, answer.Raw)
	}
}

package logs_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/smtp"
	"slices"
	"strings"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/platform/space"
	"postrider/product/email"
	"postrider/product/plan"
)

// post lets webhooks be posted.
func post(t *testing.T, in *apptest.Installation) {
	t.Helper()
	in.CatchUp(in.App.Webhooks.Followers())
	in.Finish(in.App.Webhooks.Step)
}

func TestPostsToWebhooksAreOnTheTape(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		status := http.StatusInternalServerError
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		t.Cleanup(server.Close)
		if answer := in.Call(http.MethodPost, "/webhooks", fields{"url": server.URL + "/sesame", "events": []string{"email.queued"}}); answer.Status != http.StatusCreated {
			t.Fatalf("webhook was answered with %s", answer.Raw)
		}
		id := in.Send("ann@example.net")
		post(t, in)
		status = http.StatusOK
		in.Send("bob@example.net")
		post(t, in)
		settle(t, in)
		host := strings.TrimPrefix(server.URL, "http://")
		if got := messages(list(t, in, "kind=webhook")); got != "email.queued: 200 from "+host+"; email.queued: 500 from "+host {
			t.Errorf("the tape says %s", got)
		}
		if failed := list(t, in, "kind=webhook&status=retrying"); len(failed) != 1 || failed[0]["level"] != "warning" {
			t.Errorf("what failed is %v", failed)
		}
		tape := string(get(t, in, id).Raw)
		if !strings.Contains(tape, `"type":"webhook.retrying"`) || strings.Contains(tape, "sesame") {
			t.Errorf("the tape of the mail is %s", tape)
		}
	})
}

func TestPostsOfOneMomentAreAlwaysToldInTheOrderOfTheirEvents(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		t.Cleanup(server.Close)
		in.Must(http.StatusCreated, http.MethodPost, "/webhooks", fields{"url": server.URL, "events": []string{"email.delivered"}})
		id := in.Send("ann@example.net", "bob@example.net", "cay@example.net", "dan@example.net", "eve@example.net")
		in.Deliver()
		post(t, in)
		settle(t, in)
		var delivered, posted []string
		for _, e := range rows(get(t, in, id), "events") {
			switch e["type"] {
			case "email.delivered":
				delivered = append(delivered, fmt.Sprint(e["recipient"]))
			case "webhook.delivered":
				posted = append(posted, fmt.Sprint(e["recipient"]))
			}
		}
		if len(posted) != 5 || !slices.Equal(posted, delivered) {
			t.Errorf("delivered to %v, told of %v", delivered, posted)
		}
	})
}

func TestTheAddressOfAWebhookThatIsGoneIsNotOnTheTape(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) }))
		t.Cleanup(server.Close)
		in.Must(http.StatusCreated, http.MethodPost, "/webhooks", fields{"url": server.URL + "/sesame", "events": []string{"email.queued"}})
		in.Send("ann@example.net")
		post(t, in)
		settle(t, in)
		if got, want := messages(list(t, in, "kind=webhook&status=disabled")), "webhook.disabled "+strings.TrimPrefix(server.URL, "http://"); got != want {
			t.Errorf("the tape says %q, want %q", got, want)
		}
	})
}

// submitter returns a program that may submit mail over SMTP.
func submitter(t *testing.T, in *apptest.Installation) *smtp.Client {
	t.Helper()
	client, err := smtp.Dial(in.Submission(false))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	if err := client.StartTLS(&tls.Config{InsecureSkipVerify: true}); err != nil {
		t.Fatal(err)
	}
	if err := client.Auth(smtp.PlainAuth("", "postrider", in.Key, "127.0.0.1")); err != nil {
		t.Fatal(err)
	}
	return client
}

// begin begins a message to Ann.
func begin(t *testing.T, client *smtp.Client) io.WriteCloser {
	t.Helper()
	for _, step := range []func() error{func() error { return client.Mail("hello@acme.test") }, func() error { return client.Rcpt("ann@example.net") }} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	w, err := client.Data()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func write(t *testing.T, w io.Writer, text string) {
	t.Helper()
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
}

func TestMailThatTookLongToComeStandsWhereItWasThere(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		w := begin(t, submitter(t, in))
		write(t, w, "From: hello@acme.test\r\nTo: ann@example.net\r\nSubject: Slow\r\n\r\n")
		write(t, w, strings.Repeat(strings.Repeat("x", 62)+"\r\n", 12<<20/64)) // more than sockets hold: the server is reading
		in.Clock.Advance(10 * time.Minute)
		in.Send("bob@example.net")
		before := in.Clock.Now()
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		settle(t, in)
		found := list(t, in, "kind=email&since="+before.Format(time.RFC3339Nano))
		if messages(found) != "Slow to ann@example.net" {
			t.Fatalf("since it has come the tape says %q", messages(found))
		}
		if got := messages(list(t, in, "kind=email")); got != "Slow to ann@example.net; Hello to bob@example.net" {
			t.Errorf("newest first the tape says %q", got)
		}
		for query, want := range map[string]string{"after": "Hello to bob@example.net", "before": "", "order=asc&before": "Hello to bob@example.net", "search=example&after": "Hello to bob@example.net"} {
			if got := messages(list(t, in, fmt.Sprintf("kind=email&%s=%v", query, found[0]["email_id"]))); got != want {
				t.Errorf("%s its mail the tape says %q, want %q", query, got, want)
			}
		}
		in.Deliver()
		settle(t, in)
		if entry := get(t, in, found[0]["email_id"]); entry.Text("status") != "delivered" || entry.Text("id") != found[0]["id"] {
			t.Errorf("the entry of the mail is %s", entry.Raw)
		}
	})
}

func TestMailThatWasReadHasNotBounced(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		in.Send("opened@simulator.mail.postrider.test")
		in.Deliver()
		settle(t, in)
		err := in.App.DB.Write(context.Background(), func(tx *db.Tx) error {
			id, err := db.One(tx, db.Value[email.RecipientID], `SELECT id FROM email_recipient WHERE state = 'opened'`)
			if err != nil {
				return err
			}
			_, err = in.App.Emails.Report(tx, email.Reported{Recipient: id, At: tx.Now(), Bounce: &email.LateBounce{Enhanced: "5.1.1", Message: "gone"}})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		settle(t, in)
		if entry := list(t, in, "kind=email")[0]; entry["status"] != "opened" || entry["level"] != "info" {
			t.Errorf("the mail is %v", entry)
		}
	})
}

func TestWhatSomebodyShouldLookAtHasAHigherLevel(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		want := map[string]string{"contact.created": "info", "guardrail.lifted": "info", "domain.failed": "warning", "managed_tenant.paused": "warning",
			"suppression.added": "warning", "guardrail.warned": "warning", "guardrail.throttled": "warning", "guardrail.paused": "error", "webhook.disabled": "error",
			"broadcast.failed": "error", "automation.run.failed": "error", "import.failed": "error"}
		err := in.App.DB.Write(context.Background(), func(tx *db.Tx) error {
			for kind := range want {
				id := in.App.World.NewID()
				if err := event.Append(tx, event.Event{ID: id, Workspace: in.Workspace, Type: kind, Subject: id, OccurredAt: tx.Now(), Data: []byte(`{}`)}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		caller := api.Caller{Principal: api.Principal{Workspace: in.Workspace, KeyID: in.DomainID}}
		for status, level := range map[int]string{399: "info", 400: "warning", 499: "warning", 500: "error"} {
			want[fmt.Sprintf("GET /domains %d", status)] = level
			in.App.Logs.Request(api.Finished{At: in.Clock.Now(), Caller: caller, Method: "GET", Path: "/domains", Route: "/domains", Status: status})
		}
		settle(t, in)
		levels := map[string]any{}
		for _, e := range list(t, in, "limit=200") {
			levels[fmt.Sprint(e["message"])] = e["level"]
		}
		for what, level := range want {
			if levels[what] != level {
				t.Errorf("the level of %s is %v, want %s", what, levels[what], level)
			}
		}
	})
}

func TestMailsOfManyWorkspacesAreBroughtUpToDateAtOnce(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		elsewhere, stranger := in.NewWorkspace(plan.Unlimited)
		mails := map[space.ID]string{in.Workspace: in.App.World.NewID(), elsewhere: in.App.World.NewID()}
		for _, told := range []struct{ kind, data string }{
			{"email.queued", `{"to":["ann@example.net"],"status":"queued"}`},
			{"email.delivered", `{"to":["ann@example.net"],"status":"delivered","previous_status":"queued"}`},
		} {
			err := in.App.DB.Write(context.Background(), func(tx *db.Tx) error {
				for ws, mail := range mails {
					if err := event.Append(tx, event.Event{ID: in.App.World.NewID(), Workspace: ws, Type: told.kind, Subject: mail, OccurredAt: tx.Now(), Data: []byte(told.data)}); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			settle(t, in)
		}
		for _, key := range []string{in.Key, stranger} {
			if found := rows(in.CallAs(key, http.MethodGet, "/logs?kind=email", nil, nil), "data"); len(found) != 1 || found[0]["status"] != "delivered" {
				t.Errorf("the mail is %v", found)
			}
		}
	})
}

func TestMailOverSMTPIsOnTheTape(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		client := submitter(t, in)
		submit := func(body string) {
			t.Helper()
			w := begin(t, client)
			write(t, w, body)
			_ = w.Close() // a refusal is what the second message is for
		}
		submit("From: hello@acme.test\r\nTo: ann@example.net\r\nSubject: Over SMTP\r\n\r\nHi\r\n")
		submit("From: hello@elsewhere.test\r\nTo: ann@example.net\r\nSubject: Forged\r\n\r\nHi\r\n")
		in.Deliver()
		settle(t, in)
		taken, refused := list(t, in, "kind=smtp_submission&level=info"), list(t, in, "kind=smtp_submission&level=warning")
		if len(taken) != 1 || taken[0]["status"] != "delivered" || taken[0]["domain_id"] != in.DomainID || taken[0]["api_key_id"] == nil {
			t.Errorf("what was taken is %v", taken)
		}
		if len(refused) != 1 || refused[0]["status"] != "refused" || refused[0]["email_id"] != nil || !strings.Contains(refused[0]["message"].(string), "550") {
			t.Errorf("what was refused is %v", refused)
		}
	})
}

func TestTheTapeSaysWhatASenderWasToldAboutAMessageThatCannotBe(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		w := begin(t, submitter(t, in))
		write(t, w, "From: hello@acme.test\r\nTo: ann@example.net\r\nSubject: Nothing\r\n\r\nHi\x00\r\n")
		if told := w.Close(); told == nil || !strings.Contains(told.Error(), "5.6.0 NUL in message") {
			t.Fatalf("told %v", told)
		}
		settle(t, in)
		refused := list(t, in, "kind=smtp_submission&level=warning")
		if len(refused) != 1 || refused[0]["message"] != "Message to 1 recipient: 550 5.6.0 NUL in message" {
			t.Errorf("the tape says %v", refused)
		}
	})
}

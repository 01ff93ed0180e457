package logs_test

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"net/smtp"
	"strings"
	"testing"

	"postrider/app/apptest"
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

func TestMailOverSMTPIsOnTheTape(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		client, err := smtp.Dial(in.Submission(false))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		submit := func(body string) {
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
			if _, err := w.Write([]byte(body)); err != nil {
				t.Fatal(err)
			}
			_ = w.Close() // a refusal is what the second message is for
		}
		if err := client.StartTLS(&tls.Config{InsecureSkipVerify: true}); err != nil {
			t.Fatal(err)
		}
		if err := client.Auth(smtp.PlainAuth("", "postrider", in.Key, "127.0.0.1")); err != nil {
			t.Fatal(err)
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

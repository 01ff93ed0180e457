package email_test

import (
	"net/http"
	"strings"
	"testing"

	"postrider/app/apptest"
)

func TestWhoOptedOutOfATopicGetsNoMailAboutIt(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		topic := in.Call(http.MethodPost, "/topics", fields{"name": "Offers", "default_subscription": "opt_in"}).Text("id")
		contact := in.Call(http.MethodPost, "/contacts", fields{"email": "ann@example.net"}).Text("id")
		if answer := in.Call(http.MethodPatch, "/contacts/"+contact+"/topics", fields{"topics": []fields{{"id": topic, "subscription": "opt_out"}}}); answer.Status/100 != 2 {
			t.Fatalf("%d %s", answer.Status, answer.Raw)
		}
		about := accepted(t, in, fields{"to": []string{"Ann@Example.net", "bob@example.net"}, "topic_id": topic})
		plain := accepted(t, in, fields{"to": "ann@example.net"})
		in.Deliver()
		if len(in.Mailbox("bob@example.net")) != 1 || len(in.Mailbox("ann@example.net")) != 1 {
			t.Errorf("ann has %d mails, bob %d", len(in.Mailbox("ann@example.net")), len(in.Mailbox("bob@example.net")))
		}
		record := in.Email(about)
		if record.Text("topic_id") != topic || !strings.Contains(string(record.Raw), `"status":"suppressed"`) || in.Email(plain).Text("status") != "delivered" {
			t.Errorf("%s", record.Raw)
		}
	})
}

func TestATopicThatDoesNotExistIsRefused(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	for _, topic := range []string{"offers", "0193a1f5-0000-7000-8000-000000000331"} {
		if answer := send(in, fields{"topic_id": topic}); problems(answer)["topic_id"] != "There is no such topic." {
			t.Errorf("%s: %d %s", topic, answer.Status, answer.Raw)
		}
	}
}

package app_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"postrider/app"
	"postrider/app/apptest"
	"postrider/mail/address"
)

func TestForgottenPasswordsAreAnsweredByMail(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			in := apptest.New(t, engine, func(s *app.Settings) {
				s.NoticesFrom = address.Address{Name: "Postrider", Local: "no-reply", Domain: apptest.Domain}
			})
			owner := in.Owner()
			if answer := in.Browse(http.MethodPost, "/auth/password/forgot", map[string]any{"email": owner}); answer.Status != http.StatusAccepted {
				t.Fatalf("%d %s", answer.Status, answer.Raw)
			}
			for _, w := range in.App.Accounts.Workers() {
				if _, err := w.Step(context.Background()); err != nil {
					t.Fatal(err)
				}
			}
			in.Deliver()
			received := in.Mailbox(owner)
			if len(received) != 1 || received[0].Authentication["dkim"] != "pass" || !strings.Contains(received[0].Raw, "https://postrider.test/") {
				t.Fatalf("%+v", received)
			}
			list, _ := in.Call(http.MethodGet, "/emails", nil).Body["data"].([]any)
			notice, _ := list[0].(map[string]any)
			id, _ := notice["id"].(string)
			if shown := in.Email(id); shown.Text("text") != "" || shown.Text("html") != "" {
				t.Errorf("the workspace can read a link that signs somebody in: %s", shown.Raw)
			}
			if raw := in.Call(http.MethodGet, "/emails/"+id+"/raw", nil); raw.Status != http.StatusNotFound {
				t.Errorf("the raw notice: %d", raw.Status)
			}
		})
	}
}

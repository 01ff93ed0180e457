package email_test

import (
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/mail/address"
	"postrider/platform/api"
	"postrider/product/email"
)

// A mistake of ours that shows in one email must not keep all that follow from being stored.
func TestAPanicOverOneEmailDoesNotStopTheNext(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	emails := email.New(in.App.World, in.App.DB, email.Parts{Domains: in.App.Domains, Tenants: in.App.Tenants}) // without plans to count for
	to, err := address.Parse("ann@example.net")
	if err != nil {
		t.Fatal(err)
	}
	from, err := address.Parse("hello@" + apptest.Domain)
	if err != nil {
		t.Fatal(err)
	}
	sender := email.Sender{Workspace: in.Workspace, Source: email.SourceAPI}
	draft := email.Draft{From: from, To: []address.Address{to}, Subject: "Hello"}
	for range 2 {
		panicked := make(chan any, 1)
		go func() {
			defer func() { panicked <- recover() }()
			_, _, _ = emails.Accept(t.Context(), sender, draft, api.Idempotency{})
		}()
		select {
		case p := <-panicked:
			if p == nil {
				t.Fatal("it was accepted without a plan")
			}
		case <-time.After(20 * time.Second):
			t.Fatal("it waits for what never comes")
		}
	}
}

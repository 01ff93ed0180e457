package client_test

import (
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/client"
)

// dial returns a client of an installation, over a real connection.
func dial(t *testing.T, in *apptest.Installation) *client.Client {
	t.Helper()
	server := httptest.NewServer(in.App.Handler())
	t.Cleanup(server.Close)
	return client.New(server.URL, in.Key, client.WithRetries(0))
}

func must[T any](t *testing.T) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func TestAnEmailIsSentOnceFollowedAndFound(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		c, ctx := dial(t, in), t.Context()
		body := client.EmailSendBody{From: "hello@acme.test", To: []string{"ann@example.net"}, Subject: "Hello", Text: new("Hi"),
			Attachments: []client.EmailFileBody{{Filename: "a.txt", Content: []byte("content")}}}
		sent := must[*client.EmailSendAnswer](t)(c.Emails.Send(ctx, body, client.IdempotencyKey("order-12345")))
		again := must[*client.EmailSendAnswer](t)(c.Emails.Send(ctx, body, client.IdempotencyKey("order-12345")))
		if sent.ID == "" || sent.ID != again.ID {
			t.Fatalf("sent %q and %q", sent.ID, again.ID)
		}
		in.Deliver()
		email := must[*client.EmailRecord](t)(c.Emails.Get(ctx, sent.ID))
		if email.Status != "delivered" || email.DeliveredAt.IsZero() || email.To[0] != "ann@example.net" || email.AttachmentCount != 1 {
			t.Errorf("%+v", email)
		}
		attempts := must[*client.Page[client.EmailAttemptRecord]](t)(c.Emails.ListAttempts(ctx, sent.ID, client.ListEmailAttemptsParams{}))
		if len(attempts.Data) != 1 {
			t.Errorf("%d attempts", len(attempts.Data))
		}
		batch := must[*client.EmailBatchAnswer](t)(c.Emails.SendBatch(ctx, []client.EmailSendBody{
			{From: "hello@acme.test", To: []string{"b@example.net"}, Subject: "2", Text: new("x")}, {From: "hello@acme.test", To: []string{"c@example.net"}, Subject: "3", Text: new("x")}}))
		if len(batch.Data) != 2 {
			t.Fatalf("%+v", batch)
		}
		found := 0
		for _, err := range c.Emails.All(ctx, client.ListEmailsParams{Limit: 2, Since: time.Unix(1, 0)}) {
			if err != nil {
				t.Fatal(err)
			}
			found++
		}
		if found != 3 {
			t.Errorf("the list has %d emails", found)
		}
	})
}

func TestAScheduledEmailIsMovedAndCancelled(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		c, ctx := dial(t, in), t.Context()
		sent := must[*client.EmailSendAnswer](t)(c.Emails.Send(ctx, client.EmailSendBody{From: "hello@acme.test", To: []string{"ann@example.net"}, Subject: "Later", Text: new("x"), ScheduledAt: "in 1 hour"}))
		must[*client.EmailRecord](t)(c.Emails.Update(ctx, sent.ID, client.UpdateEmailBody{ScheduledAt: "in 2 hours"}))
		if _, err := c.Emails.Cancel(ctx, sent.ID); err != nil {
			t.Fatal(err)
		}
		if email := must[*client.EmailRecord](t)(c.Emails.Get(ctx, sent.ID)); !strings.HasPrefix(email.Status, "cancel") {
			t.Errorf("status %q", email.Status)
		}
		if _, err := c.Emails.Cancel(ctx, sent.ID); client.CodeOf(err) == "" {
			t.Errorf("cancelled twice: %v", err)
		}
	})
}

func TestPeopleTemplatesAndSuppressionsAreKept(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		c, ctx := dial(t, in), t.Context()
		for _, address := range []string{"a@example.net", "b@example.net", "c@example.net"} {
			must[*client.AudienceUpsertRecord](t)(c.Contacts.Create(ctx, client.AudienceContactBody{Email: address, FirstName: new("A")}))
		}
		var addresses []string
		for contact, err := range c.Contacts.All(ctx, client.ListContactsParams{Limit: 2}) {
			if err != nil {
				t.Fatal(err)
			}
			addresses = append(addresses, contact.Email)
		}
		if strings.Join(addresses, " ") != "c@example.net b@example.net a@example.net" {
			t.Errorf("contacts %v", addresses)
		}
		made := must[*client.TemplateRecord](t)(c.Templates.Create(ctx, client.TemplateNewTemplate{Name: "Welcome", Subject: new("Hi {{name}}"), HTML: new("<p>Hi {{name}}</p>")}))
		preview := must[*client.TemplateRenderRecord](t)(c.Templates.Preview(ctx, made.ID, client.PreviewTemplateBody{Variables: map[string]any{"name": "Ann"}}))
		if preview.Subject != "Hi Ann" {
			t.Errorf("%+v", preview)
		}
		must[*client.SuppressionAddedRecord](t)(c.Suppressions.Create(ctx, client.SuppressionNewEntry{Email: "a+b@example.net"}))
		if entry := must[*client.SuppressionRecord](t)(c.Suppressions.Get(ctx, "a+b@example.net")); entry.Email != "a+b@example.net" {
			t.Errorf("%+v", entry)
		}
		if _, err := c.Suppressions.Get(ctx, "nobody@example.net"); client.CodeOf(err) != "not_found" {
			t.Errorf("%v", err)
		}
	})
}

func TestDomainsWebhooksStatisticsAndLogsAreRead(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		c, ctx := dial(t, in), t.Context()
		domain := must[*client.DomainRecord](t)(c.Domains.Get(ctx, in.DomainID))
		if domain.Name != apptest.Domain || domain.Status != "verified" || len(domain.Records) == 0 {
			t.Errorf("%+v", domain)
		}
		if _, err := c.Domains.Create(ctx, client.DomainRegistration{Name: "not a domain"}); client.CodeOf(err) != "validation_error" {
			t.Errorf("%v", err)
		}
		hook := must[*client.WebhookSecretRecord](t)(c.Webhooks.Create(ctx, client.WebhookNewEndpoint{URL: "https://hooks.example.com/x", Events: []string{"email.delivered"}}))
		for h, err := range c.Webhooks.All(ctx, client.ListWebhooksParams{}) {
			if err != nil || h.ID != hook.ID {
				t.Errorf("%+v %v", h, err)
			}
		}
		must[*client.APIDeleted](t)(c.Webhooks.Delete(ctx, hook.ID))
		overview := must[*client.StatsOverview](t)(c.Stats.GetOverview(ctx, client.GetStatsOverviewParams{Days: 7}))
		limits := must[*client.AccountPlanLimits](t)(c.Limits.Get(ctx))
		logs := must[*client.Page[client.LogsRow]](t)(c.Logs.List(ctx, client.ListLogsParams{Limit: 5}))
		if overview == nil || limits == nil || logs.Limit != 5 {
			t.Errorf("%v %v %v", overview, limits, logs)
		}
	})
}

func TestContactsAreDownloaded(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		c := dial(t, in)
		must[*client.AudienceUpsertRecord](t)(c.Contacts.Create(t.Context(), client.AudienceContactBody{Email: "a@example.net"}))
		file := must[io.ReadCloser](t)(c.Audience.GetContactsExport(t.Context(), client.GetAudienceContactsExportParams{}))
		defer file.Close()
		text := make([]byte, 1<<10)
		n, _ := file.Read(text)
		if !strings.Contains(string(text[:n]), "email") {
			t.Errorf("%q", text[:n])
		}
	})
}

package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"postrider/client"
)

// answers serves one answer after another and keeps what was asked.
type answers struct {
	*httptest.Server
	asked []*http.Request
}

func serve(t *testing.T, list ...http.HandlerFunc) *answers {
	t.Helper()
	a := &answers{}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.asked = append(a.asked, r)
		list[min(len(a.asked), len(list))-1](w, r)
	}))
	t.Cleanup(a.Close)
	return a
}

func say(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

func refusal(code string) string {
	return fmt.Sprintf(`{"error":{"code":%q,"message":"No.","request_id":"r1"}}`, code)
}

func TestRequestsThatCameTooSoonAreMadeAgainWhenTheServerSaysSo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		status int
		header []string
		want   time.Duration
	}{
		{"seconds", 429, []string{"Retry-After", "7"}, 7 * time.Second},
		{"a date", 503, []string{"Retry-After", "Sun, 15 Nov 2026 10:00:09 GMT", "Date", "Sun, 15 Nov 2026 10:00:00 GMT"}, 9 * time.Second},
		{"nothing said", 503, nil, time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := serve(t, say(c.status, refusal("x"), c.header...), say(202, `{"id":"e1"}`))
			var waited []time.Duration
			sent, err := client.New(server.URL, "k", client.WithWait(func(_ context.Context, d time.Duration) error {
				waited = append(waited, d)
				return nil
			})).Emails.Send(t.Context(), client.EmailSendBody{Subject: "x"})
			if err != nil || sent.ID != "e1" || len(waited) != 1 || waited[0] != c.want {
				t.Fatalf("%v %v, waited %v", sent, err, waited)
			}
			first, second := server.asked[0].Header.Get("Idempotency-Key"), server.asked[1].Header.Get("Idempotency-Key")
			if first == "" || first != second {
				t.Errorf("keys %q and %q", first, second)
			}
		})
	}
}

func TestARequestIsNotMadeAgainWhenThatCouldDoItTwice(t *testing.T) {
	t.Parallel()
	server := serve(t, say(503, refusal("service_unavailable")))
	c := client.New(server.URL, "k", client.WithWait(func(context.Context, time.Duration) error { return nil }))
	_, err := c.Domains.Create(t.Context(), client.DomainRegistration{})
	if client.CodeOf(err) != "service_unavailable" || len(server.asked) != 1 {
		t.Errorf("%v after %d requests", err, len(server.asked))
	}
	if _, err := c.Domains.Update(t.Context(), "d", client.DomainUpdate{}); err == nil || len(server.asked) != 1+1 {
		t.Errorf("a change: %v after %d requests", err, len(server.asked))
	}
	if _, err := c.Domains.Get(t.Context(), "d"); err == nil || len(server.asked) != 1+1+4 {
		t.Errorf("%v after %d requests", err, len(server.asked))
	}
}

func TestPatienceAndTheContextBoundTheWaiting(t *testing.T) {
	t.Parallel()
	server := serve(t, say(429, refusal("rate_limit_exceeded"), "Retry-After", "3600"))
	_, err := client.New(server.URL, "k").Limits.Get(t.Context())
	var refused *client.Error
	if !errors.As(err, &refused) || refused.RetryAfter != time.Hour || len(server.asked) != 1 {
		t.Errorf("%v after %d requests", err, len(server.asked))
	}
	never := serve(t, say(429, refusal("rate_limit_exceeded"), "Retry-After", "9999999999"))
	if _, err := client.New(never.URL, "k").Limits.Get(t.Context()); err == nil || len(never.asked) != 1 {
		t.Errorf("in centuries: %v after %d requests", err, len(never.asked))
	}
	ctx, cancel := context.WithCancel(t.Context())
	hasty := client.New(server.URL, "k", client.WithPatience(2*time.Hour), client.WithWait(func(ctx context.Context, _ time.Duration) error {
		cancel()
		return ctx.Err()
	}))
	if _, err := hasty.Limits.Get(ctx); !errors.Is(err, context.Canceled) || client.CodeOf(err) != "rate_limit_exceeded" {
		t.Errorf("%v", err)
	}
}

func TestARefusalTellsCodeFieldsAndRequest(t *testing.T) {
	t.Parallel()
	server := serve(t, say(400, `{"error":{"code":"validation_error","message":"The request has 1 invalid field.","request_id":"r9","details":{"fieldErrors":{"to[1]":["Must be an address."]}}}}`),
		say(502, "<html>", "X-Request-Id", "p1"))
	c := client.New(server.URL, "k")
	_, err := c.Emails.Send(t.Context(), client.EmailSendBody{})
	var refused *client.Error
	if !errors.As(err, &refused) || refused.Fields["to[1]"][0] != "Must be an address." || refused.RequestID != "r9" || !errors.Is(err, &client.Error{Code: "validation_error"}) {
		t.Errorf("%#v", err)
	}
	if want := "The request has 1 invalid field. (validation_error, status 400); to[1]: Must be an address.; request r9"; err.Error() != want {
		t.Errorf("says %q", err)
	}
	if _, err := c.Emails.Get(t.Context(), "x"); client.CodeOf(err) != "unexpected_answer" || !errors.As(err, &refused) || refused.Status != 502 || refused.RequestID != "p1" {
		t.Errorf("%#v", err)
	}
}

func TestAKeyGoesToNobodyElse(t *testing.T) {
	t.Parallel()
	elsewhere := serve(t, say(200, "{}"))
	server := serve(t, say(302, `{"url":"x"}`, "Location", elsewhere.URL))
	if _, err := client.New(server.URL, "secret").Links.Get(t.Context(), "token"); err != nil {
		t.Fatal(err)
	}
	if len(elsewhere.asked) != 0 || server.asked[0].Header.Get("Authorization") != "Bearer secret" {
		t.Errorf("%d requests elsewhere, %v", len(elsewhere.asked), server.asked[0].Header)
	}
}

func TestBeingSentElsewhereIsNoAnswer(t *testing.T) {
	t.Parallel()
	server := serve(t, say(308, "", "Location", "https://mail.example.com/v1/emails"))
	sent, err := client.New(server.URL, "k").Emails.Send(t.Context(), client.EmailSendBody{Subject: "x"})
	var refused *client.Error
	if !errors.As(err, &refused) || refused.Status != 308 || !strings.Contains(err.Error(), "https://mail.example.com/v1/emails") {
		t.Errorf("%+v %v", sent, err)
	}
	if _, err := client.New(server.URL, "k").Call(t.Context(), http.MethodPost, "/v1/emails", nil); client.CodeOf(err) != "unexpected_answer" {
		t.Errorf("any call: %v", err)
	}
}

func TestAListIsReadToItsEndAndNoFurther(t *testing.T) {
	t.Parallel()
	server := serve(t, say(200, `{"data":[{"id":"a"},{"id":"b"}],"has_more":true,"next_cursor":"c1"}`), say(200, `{"data":[{"id":"c"}],"has_more":true,"next_cursor":"c2"}`),
		say(404, refusal("not_found")))
	c := client.New(server.URL, "k")
	var ids string
	var last error
	for email, err := range c.Emails.All(t.Context(), client.ListEmailsParams{Limit: 2, Status: []string{"sent", "bounced"}}) {
		ids, last = ids+email.ID, err
	}
	if ids != "abc" || client.CodeOf(last) != "not_found" || server.asked[1].URL.RawQuery != "cursor=c1&limit=2&status=sent%2Cbounced" {
		t.Errorf("%q, %v, asked %s", ids, last, server.asked[1].URL)
	}
	stuck := serve(t, say(200, `{"data":[],"has_more":true,"next_cursor":"c1"}`), say(404, refusal("not_found")))
	for range client.New(stuck.URL, "k").Emails.All(t.Context(), client.ListEmailsParams{}) {
		t.Error("a page without rows has a next one")
	}
	counted := serve(t, say(200, `{"data":[{"id":"a"},{"id":"b"}],"has_more":true}`), say(200, `{"data":[{"id":"c"}],"has_more":false}`))
	list := client.New(counted.URL, "k").Domains.All(t.Context(), client.ListDomainsParams{Offset: 4})
	for range 2 {
		for domain, err := range list {
			if err != nil {
				t.Fatal(err)
			}
			ids += domain.ID
		}
	}
	if len(counted.asked) < 2 || counted.asked[1].URL.Query().Get("offset") != "6" || ids != "abcabcc" {
		t.Errorf("%q %v", ids, counted.asked[1].URL)
	}
}

func TestAnEmptyIDIsNotTakenForTheWholeList(t *testing.T) {
	t.Parallel()
	server := serve(t, say(200, `{"object":"list","data":[]}`))
	c := client.New(server.URL, "k")
	for name, ask := range map[string]func() error{
		"at the end": func() error { _, err := c.Emails.Get(t.Context(), ""); return err },
		"in the middle": func() error {
			_, err := c.Templates.TestSend(t.Context(), "", client.TestSendTemplateBody{})
			return err
		},
		"by hand": func() error { _, err := c.Call(t.Context(), http.MethodDelete, "/v1/webhooks/", nil); return err },
	} {
		if err := ask(); err == nil || !strings.Contains(err.Error(), "empty") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(server.asked) != 0 {
		t.Errorf("%d requests were made", len(server.asked))
	}
}

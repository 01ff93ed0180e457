package email_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"postrider/app"
	"postrider/app/apptest"
	"postrider/mail/spam"
	"postrider/product/plan"
)

func TestAGoodEmailIsSendableAndSpamIsNot(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		good := in.Call(http.MethodPost, "/emails/spam-check", fields{"from": "Acme <hello@acme.test>", "subject": "Your receipt for order 4711",
			"html": "<p>Hi Ann,</p><p>thank you for your order. You find the receipt <a href=\"https://acme.test/r/4711\">in your account</a>.</p>",
			"text": "Hi Ann,\n\nthank you for your order. You find the receipt in your account: https://acme.test/r/4711\n"})
		if good.Status != http.StatusOK || good.Body["sendable"] != true || good.Text("verdict") != "ok" || good.Text("engine") != "builtin" {
			t.Errorf("%d %s", good.Status, good.Raw)
		}
		if got := good.Text("authentication"); got != "map[dkim:pass dmarc:pass domain:acme.test spf:pass verified:true]" {
			t.Errorf("authentication is %s", got)
		}
		bad := in.Call(http.MethodPost, "/emails/spam-check", fields{"from": "hello@acme.test", "subject": "!!! FREE MONEY WINNER !!! ACT NOW $$$",
			"html": `<form action="http://203.0.113.5/x"><a href="http://203.0.113.5/">https://your-bank.com</a> CLICK HERE, you have been selected for a free casino bonus</form><script>x()</script>`})
		if bad.Status != http.StatusOK || bad.Body["sendable"] != false || bad.Text("verdict") != "spam" {
			t.Errorf("%d %s", bad.Status, bad.Raw)
		}
		for _, list := range []string{"rules", "recommendations"} {
			if items, _ := bad.Body[list].([]any); len(items) < 3 {
				t.Errorf("%s: %s", list, bad.Raw)
			}
		}
		_, stranger := in.NewWorkspace(plan.Unlimited)
		foreign := in.CallAs(stranger, http.MethodPost, "/emails/spam-check", fields{"from": "hello@acme.test", "subject": "Hi", "text": "Hi"}, nil)
		if foreign.Body["sendable"] != false || foreign.Text("authentication", "verified") != "false" || foreign.Text("authentication", "spf") != "none" {
			t.Errorf("a stranger learns about the domain: %s", foreign.Raw)
		}
	})
}

func TestWhatCannotBeJudgedIsRefused(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	for field, body := range map[string]fields{
		"from":    {"subject": "x", "text": "x"},
		"html":    {"from": "a@acme.test", "subject": "x"},
		"text":    {"from": "a@acme.test", "text": strings.Repeat("x", 5<<20+1)},
		"subject": {"from": "a@acme.test", "text": "x", "subject": "a\nb"},
	} {
		answer := in.Call(http.MethodPost, "/emails/spam-check", body)
		refused(t, answer, 400, "validation_error")
		if problems(answer)[field] == "" {
			t.Errorf("%s: %s", field, answer.Raw)
		}
	}
}

// absent is a daemon that nobody started.
type absent struct{}

func (absent) Check(context.Context, spam.Message) (spam.Result, error) {
	return spam.Result{}, spam.ErrDaemon
}

func TestWithoutItsDaemonTheBuiltInEngineAnswers(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite", func(settings *app.Settings) { settings.Spam = absent{} })
	answer := in.Call(http.MethodPost, "/emails/spam-check", fields{"from": "hello@acme.test", "subject": "Hi", "text": "Hi"})
	if answer.Status != http.StatusOK || answer.Text("engine") != "builtin" {
		t.Errorf("%d %s", answer.Status, answer.Raw)
	}
}

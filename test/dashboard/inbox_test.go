package dashboard

import (
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/smtp"
	"strings"
	"testing"
)

const hostileHTML = `<script>alert(1);fetch("http://evil.test/a")</script><img src="http://evil.test/pixel.png" onerror="alert(2)"><svg onload="alert(3)"></svg>` +
	`<form action="http://evil.test/steal"><input name="x"></form><a href="javascript:alert(4)">click</a><style>body{background:url(http://evil.test/bg)}</style>` +
	`<iframe src="http://evil.test/frame"></iframe><meta http-equiv="refresh" content="0;url=http://evil.test/away"><base href="http://evil.test/"><p>Hello</p>`

// domain returns the id of the domain that every installation on a laptop begins with.
func (o *tour) domain() string {
	o.t.Helper()
	return o.call("GET", "/domains", nil)["data"].([]any)[0].(map[string]any)["id"].(string)
}

// deliver brings a message to the receiver as a server on the internet would.
func (o *tour) deliver(from, to, raw string) {
	o.t.Helper()
	client, err := smtp.Dial(o.ready.MX)
	if err != nil {
		o.t.Fatal(err)
	}
	defer client.Close()
	if err := errors.Join(client.Hello("evil.test"), client.StartTLS(&tls.Config{InsecureSkipVerify: true}), client.Mail(from), client.Rcpt(to)); err != nil {
		o.t.Fatal(err)
	}
	body, err := client.Data()
	if err != nil {
		o.t.Fatal(err)
	}
	_, err = io.WriteString(body, raw)
	if err := errors.Join(err, body.Close(), client.Quit()); err != nil {
		o.t.Fatal(err)
	}
}

func TestInboxIsTriedReadAndMarked(t *testing.T) {
	t.Parallel()
	o := begin(t)
	o.look("inbox-empty", "/inbox")
	o.call("POST", "/domains/"+o.domain()+"/receiving", map[string]any{"enabled": false})
	o.look("inbox-off", "/inbox")
	o.open("/inbox")
	o.See("Receiving is off for all your domains.")
	o.Press("Try it with a test message")
	o.See("Is anybody there?")
	page := strings.TrimPrefix(o.Path(), o.path(""))
	o.look("inbox-message", page)
	o.look("inbox-text", page+"?tab=text")
	o.open(page + "?tab=text")
	o.Wait(`!document.querySelector(".letter details").open`)
	o.Press("Quoted text")
	o.See("We read everything.")
	for i := range 3 {
		o.call("POST", "/emails/receiving", map[string]any{"from": fmt.Sprintf("Reader %d <reader%d@example.net>", i, i), "to": []string{"support@acme.test"}, "subject": fmt.Sprintf("Question %d", i),
			"text": "Hi", "attachments": []map[string]any{{"filename": "photo.txt", "content": base64.StdEncoding.EncodeToString([]byte("a picture"))}}})
	}
	o.look("inbox", "/inbox")
	o.open("/inbox")
	o.Wait(`document.querySelectorAll("tr.unread").length === 3`)
	o.Click(`button.star[value="star"]`)
	o.Wait(`document.querySelectorAll(".star.on").length === 1`)
	o.Set("only", "starred")
	o.Wait(`document.querySelectorAll("[data-rows] tbody tr").length === 1`)
	o.open("/inbox?only=unread")
	o.Click("[data-rows] tbody td a")
	o.See("photo.txt")
	o.Press("Mark as unread")
	o.See("Marked as unread.")
	o.Wait(`document.querySelectorAll("tr.unread").length === 3 && location.search === "?only=unread"`)
	o.Click("[data-rows] tbody td a")
	o.Press("Delete message")
	o.Press("Yes, delete it")
	o.See("Message deleted.")
	o.Wait(`document.querySelectorAll("tr.unread").length === 2 && location.search === "?only=unread"`)
}

func TestWhatCameWhileTheListWasOutOfSightIsTold(t *testing.T) {
	t.Parallel()
	o := begin(t)
	o.open("/inbox")
	o.Wait(`document.querySelector("#news")`)
	sight := func(hidden bool) {
		o.Eval(fmt.Sprintf(`(() => { Object.defineProperty(document, "hidden", {value: %t, configurable: true}); document.dispatchEvent(new Event("visibilitychange")); })()`, hidden))
	}
	sight(true)
	o.call("POST", "/emails/receiving", map[string]any{"from": "reader@example.net", "to": []string{"support@acme.test"}, "subject": "Question", "text": "Hi"})
	sight(false)
	o.See("1 new. Show it")
}

func TestHostileMessageThatCameOverSMTPShowsNothingButItsPixelsAndIsAnswered(t *testing.T) {
	t.Parallel()
	o := begin(t)
	raw := "From: \"<img src=x onerror=alert(6)>\" <mallory@evil.test>\r\nTo: support@acme.test\r\nSubject: =?utf-8?q?<img_src=3Dx_onerror=3Dalert(5)>=E2=80=AEtxt?=\r\n" +
		"Message-ID: <1@evil.test>\r\nX-Evil: <script>alert(7)</script>\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n" +
		"--b\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + hostileHTML + "\r\n--b\r\nContent-Type: text/html; name=\"<b>a.html\"\r\nContent-Disposition: attachment; filename=\"<b>a.html\"\r\n\r\n<script>alert(8)</script>\r\n--b--\r\n"
	o.open("/inbox")
	o.Wait(`document.querySelector("#news")`)
	o.deliver("mallory@evil.test", "support@acme.test", raw)
	o.Wait(`!document.querySelector("#news").hidden`)
	o.Click("#news")
	o.Click("[data-rows] tbody td a")
	o.See("Without scripts, forms and remote pictures")
	page := strings.TrimPrefix(o.Path(), o.path(""))
	for _, tab := range []string{"", "?tab=text", "?tab=headers"} {
		o.look("inbox-hostile"+strings.TrimPrefix(tab, "?tab="), page+tab)
	}
	o.Visit(o.path(page + "/body"))
	o.See("Hello")
	if n := o.Dialogs(); n != 0 {
		t.Errorf("%d dialogs", n)
	}
	for _, asked := range o.Strangers() {
		t.Errorf("asked %s", asked)
	}
	o.open(page)
	o.Press("Send answer")
	o.See("One of text and html is required.")
	o.Fill("text", "No, thank you.")
	o.Fill("to", "ada@example.net")
	o.Press("Send answer")
	o.See("Answer accepted.")
	o.Wait(`document.querySelector("#state .st-delivered")`)
}

func TestForwardingRuleIsAddedChangedAndRemoved(t *testing.T) {
	t.Parallel()
	o := begin(t)
	o.look("forwarding-empty", "/inbox/forwarding")
	o.open("/inbox/forwarding")
	o.Fill("address", "support@nowhere.test")
	o.Fill("forward_to", "team@example.net")
	o.Press("Add rule")
	o.Wait(`document.querySelector(".note.bad, .wrong")`)
	o.Fill("address", "support@acme.test")
	o.Press("Add rule")
	o.See("Mail to support@acme.test is passed on from now on.")
	o.look("forwarding", "/inbox/forwarding")
	o.open("/inbox/forwarding")
	o.Press("support@acme.test")
	o.See("Remove this rule")
	o.look("forwarding-rule", strings.TrimPrefix(o.Path(), o.path("")))
	o.Fill("forward_to", "desk@example.net, boss@example.net")
	o.Set("enabled", "false")
	o.Press("Save rule")
	o.See("Rule saved.")
	o.See("desk@example.net, boss@example.net")
	o.See("Disabled")
	o.Press("support@acme.test")
	o.Press("Remove rule")
	o.Press("Yes, remove it")
	o.See("No rule yet")
}

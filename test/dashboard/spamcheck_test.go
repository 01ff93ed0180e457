package dashboard

import (
	"strings"
	"testing"
)

func TestMessageIsCheckedForSpamAndMended(t *testing.T) {
	t.Parallel()
	o := begin(t)
	o.look("spam-check", "/emails/check")
	o.open("/emails/check")
	o.Press("Check")
	o.See("One of html and text is required.")
	o.Fill("subject", "FREE MONEY!!! ACT NOW")
	o.Fill("html", `<p>CLICK HERE to claim your prize. <a href="http://192.0.2.1/win">http://bank.example/</a></p>`)
	o.Press("Check")
	o.Wait(`document.querySelector(".verdict.st-bounced, .verdict.st-suppressed")`)
	o.See("The subject is written in capital letters.")
	o.See("Write a short, plain subject in normal case")
	o.See("spam begins at 5.0")
	before := o.score()
	sent := o.call("POST", "/emails", map[string]any{"from": "hello@acme.test", "to": "ada@example.net", "subject": "FREE MONEY!!! ACT NOW",
		"html": `<p>CLICK HERE to claim your prize. <a href="http://192.0.2.1/win">http://bank.example/</a></p>`})["id"].(string)
	o.look("spam-check-result", "/emails/check?email="+sent)
	o.open("/emails/check?email=" + sent)
	o.Fill("subject", "Your receipt of November")
	o.Set("html", "<p>Dear Ada, thank you for your order. Your receipt is below.</p>")
	o.Fill("text", "Dear Ada, thank you for your order. Your receipt is below.")
	o.Press("Check again")
	o.Wait(`document.querySelector(".verdict.st-delivered")`)
	if after := o.score(); after >= before {
		t.Errorf("the score went from %s to %s", before, after)
	}
}

// score is what the page says a message came to.
func (o *tour) score() string {
	return o.Eval(`document.querySelector(".verdict .score b").textContent`)
}

func TestSpamCheckIsReachedFromEverythingThatIsWritten(t *testing.T) {
	t.Parallel()
	o := begin(t)
	o.open("/emails/new")
	o.Fill("to", "ada@example.net")
	o.Fill("subject", "WIN WIN WIN!!!")
	o.Set("cc", "grace@example.net")
	o.Press("Check for spam")
	o.See("What was found")
	o.Fill("subject", "Your receipt")
	o.Press("Back to the email")
	o.Wait(`document.querySelector("#f-to")?.value === "ada@example.net" && document.querySelector("#f-cc").value === "grace@example.net"`)
	if subject := o.Eval(`document.querySelector("[name=subject]").value`); subject != "Your receipt" {
		t.Errorf("the subject came back as %q", subject)
	}
	o.Press("Send email")
	o.See("Accepted. What happens to it appears below.")
	o.Press("Check for spam")
	o.See("the email “Your receipt”")

	made := o.call("POST", "/templates", map[string]any{"name": "Welcome", "subject": "Hi {{FIRST_NAME}}", "html": "<p>BUY NOW, {{FIRST_NAME}}</p>"})["id"].(string)
	o.open("/templates/" + made + "/edit")
	o.Press("Check for spam")
	o.See("with sample values")
	o.Wait(`document.querySelector("[name=subject]").value === "Hi Ada"`)

	list := o.people()
	o.open("/broadcasts/new?list_id=" + list)
	o.Fill("subject", "What is new")
	o.Set("html", "<p>Hi {{{FIRST_NAME|there}}}, three things are new.</p>")
	o.Press("Check for spam")
	o.See("Saved. Nothing is sent yet.")
	o.See("the broadcast “What is new”")
	o.Wait(`document.querySelector("[name=bulk]").checked && !document.querySelector("[name=html]").value.includes("FIRST_NAME")`)
	o.look("spam-check-broadcast", strings.TrimPrefix(o.Path(), o.path("")))

	o.open("")
	o.Control("k")
	o.Wait(`document.getElementById("palette").open`)
	o.Keys("spam check\r")
	o.Wait(`location.pathname.endsWith("/emails/check")`)
}

func TestHostileMessageIsCheckedAsText(t *testing.T) {
	t.Parallel()
	o := begin(t)
	o.open("/emails/check")
	o.Set("from", `"</textarea><script>alert(1)</script>" <hello@acme.test>`)
	o.Set("subject", `<img src=x onerror=alert(2)>`)
	o.Set("html", `</textarea><script>alert(3);fetch("http://evil.test/a")</script><img src="http://evil.test/p.png">`)
	o.Press("Check")
	o.See("What was found")
	if n := o.Dialogs(); n != 0 {
		t.Errorf("%d dialogs", n)
	}
	for _, asked := range o.Strangers() {
		t.Errorf("asked %s", asked)
	}
}

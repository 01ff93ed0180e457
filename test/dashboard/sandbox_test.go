package dashboard

import (
	"strings"
	"testing"
)

func TestSandboxMailboxShowsWhatWasSentAndWhatWasRefused(t *testing.T) {
	t.Parallel()
	o := begin(t)
	o.look("sandbox-empty", "/sandbox")
	o.open("/sandbox")
	o.Click(`button[value="bounce"]`)
	o.See("Accepted. What happens to it appears below.")
	o.Wait(`document.querySelector("#state .st-bounced")`)
	o.call("POST", "/emails", map[string]any{"from": "hello@acme.test", "to": "grace@example.net", "subject": "Your receipt", "html": hostileHTML, "text": "Hello",
		"attachments": []map[string]any{{"filename": "receipt.txt", "content": "aGVsbG8="}}})
	o.open("/sandbox")
	o.See("Refused")
	o.Wait(`document.querySelector("[data-rows] tbody tr")`)
	o.look("sandbox", "/sandbox")
	o.open("/sandbox")
	o.Press("grace@example.net")
	o.See("Verified with the key that the domain publishes.")
	page := strings.TrimPrefix(o.Path(), o.path(""))
	for _, tab := range []string{"", "?tab=text", "?tab=source", "?tab=headers"} {
		o.look("sandbox-message"+strings.TrimPrefix(tab, "?tab="), page+tab)
	}
	if n := o.Dialogs(); n != 0 {
		t.Errorf("%d dialogs", n)
	}
	o.open(page)
	o.Wait(`document.querySelector(".verdicts")?.innerText.match(/DKIM\s+Pass/)`)
	o.See("receipt.txt")
	o.Press("View its timeline")
	o.See("Accepted by remote MX")
	o.open("/sandbox")
	o.Press("Empty")
	o.Press("Yes, empty it")
	o.See("Emptied: 1 message.")
}

package dashboard

import (
	"testing"
)

func TestPersonWhoseMailBouncedIsFoundAndReleased(t *testing.T) {
	t.Parallel()
	o := begin(t)
	o.look("suppressions-empty", "/suppressions")
	o.look("person-unknown", "/people/nobody@example.net")
	sent := o.call("POST", "/emails", map[string]any{"from": "hello@acme.test", "to": "bounced@sandbox.test", "subject": "Your receipt", "text": "Hi"})
	o.open("/emails/" + sent["id"].(string))
	o.Wait(`document.querySelector("#state .st-bounced")`)
	o.Click("[data-palette]")
	o.Eval(`(e => { e.value = "bounced@sandbox.test"; e.dispatchEvent(new Event("input", {bubbles: true})); e.form.requestSubmit(); })(document.getElementById("palette-q"))`)
	o.See("Mail to this address is held back")
	o.See("Your receipt")
	o.See("550 5.1.1")
	o.look("person", "/people/bounced@sandbox.test")
	o.look("suppressions", "/suppressions")
	o.open("/people/bounced@sandbox.test")
	o.Press("Remove suppression")
	o.See("Mail goes to bounced@sandbox.test again.")
	o.See("Can be mailed")
}

func TestAddressesAreSuppressedAndReleased(t *testing.T) {
	t.Parallel()
	o := begin(t)
	o.look("suppression-new", "/suppressions/new")
	o.open("/suppressions/new")
	o.Fill("emails", "ann@example.net, no address")
	o.Press("Suppress addresses")
	o.See("no address: Not an email address")
	o.Fill("emails", "ann@example.net, bob@example.org")
	o.Fill("note", "Asked by phone")
	o.Press("Suppress addresses")
	o.See("2 addresses are on the list")
	o.See("Asked by phone")
	o.Fill("q", "example.org")
	o.Wait(`document.querySelectorAll("#results tbody tr").length === 1`)
	o.Press("Remove")
	o.See("Mail goes to bob@example.org again.")
}

func TestSearchGoesToWhatATextNames(t *testing.T) {
	t.Parallel()
	o := begin(t)
	sent := o.call("POST", "/emails", map[string]any{"from": "hello@acme.test", "to": "ada@example.net", "subject": "Hi", "text": "Hi"})
	domains := o.call("GET", "/domains", nil)["data"].([]any)
	domain := domains[0].(map[string]any)
	for text, page := range map[string]string{
		sent["id"].(string):   "/emails/" + sent["id"].(string),
		"ada@example.net":     "/people/ada@example.net",
		"acme.test":           "/domains/" + domain["id"].(string),
		domain["id"].(string): "/domains/" + domain["id"].(string),
	} {
		o.open("/find?q=" + text)
		if at := o.Path(); at != o.path(page) {
			t.Errorf("%s leads to %s", text, at)
		}
	}
	o.open("/find?q=" + o.ready.APIKey[:18])
	o.See("What it may do")
	o.look("find-nothing", "/find?q=nothing-like-this")
	o.See("Nothing found")
}

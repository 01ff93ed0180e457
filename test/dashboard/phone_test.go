package dashboard

import (
	"strings"
	"testing"
)

// phone is as wide as the screens that most people carry.
const phone = 390

func TestListsAndChartsAreReadOnAPhone(t *testing.T) {
	t.Parallel()
	o := begin(t)
	const subject = "Your order has been shipped and arrives tomorrow before noon"
	for _, to := range []string{"ada.with.a.long.name@example.net", "bounced@sandbox.test"} {
		o.call("POST", "/emails", map[string]any{"from": "hello@acme.test", "to": to, "subject": subject, "text": "Hi"})
	}
	o.call("POST", "/emails/receiving", map[string]any{"from": "Reader <reader@example.net>", "to": []string{"support@acme.test"}, "subject": subject, "text": "Hi"})
	o.call("POST", "/suppressions", map[string]any{"email": "gone.with.a.long.name@example.net"})
	o.call("POST", "/audience/contacts", map[string]any{"email": "ada.with.a.long.name@example.net", "first_name": "Ada"})
	const long = "extraordinarily.long.local.part.of.an.address@subdomain.of.a.very.long.domain.example.net"
	contact := o.call("POST", "/audience/contacts", map[string]any{"email": long})["id"].(string)
	for path, body := range map[string]map[string]any{"/broadcasts": {"name": "News", "subject": subject}, "/automations": {"name": "Welcome"}, "/topics": {"name": subject[:40], "default_subscription": "opt_in"},
		"/contact-properties": {"key": "a_property_with_a_long_key", "type": "string", "fallback_value": "none"}, "/segments": {"name": subject, "type": "manual"},
		"/domains": {"name": "a-really-long-domain-name.marketing.example.com"}} {
		o.call("POST", path, body)
	}
	template := o.call("POST", "/templates", map[string]any{"name": subject, "subject": subject, "text": "Hi"})["id"].(string)
	o.openUntil("/sandbox", subject)
	o.Resize(phone)
	for path, tells := range map[string]bool{"": true, "/emails": true, "/people/ada.with.a.long.name@example.net": true, "/inbox": true, "/sandbox": true,
		"/suppressions": false, "/audience": false, "/logs": false, "/broadcasts": true, "/automations": false, "/domains": false, "/keys": false,
		"/audience/topics": false, "/audience/properties": false, "/audience/segments": true, "/settings/members": false, "/settings/audit": false,
		"/stats/deliverability": false, "/templates/" + template: true} {
		o.open(path)
		if beyond := o.Eval(`[...document.querySelectorAll(".scroll")].filter(e => e.scrollWidth > e.clientWidth + 1).length`); beyond != "0" {
			t.Errorf("%s: a list has to be moved sideways", path)
		}
		if rows := o.Eval(`document.querySelectorAll(".scroll > .tbl tbody tr").length`); rows == "0" {
			t.Errorf("%s: there is no list", path)
		}
		whole := `[...document.querySelectorAll(".scroll > .tbl tbody :is(td, span, a)")].some(e => e.innerText.trim() === "` + subject + `" && e.scrollWidth <= e.clientWidth + 1)`
		if tells && o.Eval(whole) != "true" {
			t.Errorf("%s: the subject is cut", path)
		}
	}
	o.Resize(768) // a tablet held upright
	o.open("/stats/deliverability")
	if beyond := o.Eval(`[...document.querySelectorAll(".scroll")].filter(e => e.scrollWidth > e.clientWidth + 1).length`); beyond != "0" {
		t.Error("on a tablet, the domains have to be moved sideways")
	}
	o.Resize(phone)
	o.open("/audience/topics")
	if said := o.Eval(`getComputedStyle(document.querySelector(".scroll td.num"), "::before").content`); !strings.Contains(said, "Readers") {
		t.Errorf("nothing says what a number counts: %s", said)
	}
	o.open("/audience/contacts/" + contact)
	if o.Eval("document.documentElement.scrollWidth > innerWidth") == "true" {
		t.Error("a long address sticks out of the screen")
	}
	for _, path := range []string{"", "/stats"} {
		o.open(path)
		if low := o.Eval(`[...document.querySelectorAll("svg.chart")].some(e => e.getBoundingClientRect().height < 150) || !document.querySelector("svg.chart")`); low != "false" {
			t.Errorf("%s: a chart is too low to be read", path)
		}
	}
	o.Resize(1440)
}

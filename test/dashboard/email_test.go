package dashboard

import (
	"fmt"
	"testing"
)

func TestFirstEmailIsSentAndWatchedUntilItIsDelivered(t *testing.T) {
	t.Parallel()
	o := begin(t)
	o.look("overview-empty", "")
	o.look("emails-empty", "/emails")
	o.open("/emails/new")
	o.Fill("to", "ada@example.net")
	o.Fill("subject", "Reset your password")
	o.Fill("text", "Here is your link.")
	o.Press("Send email")
	o.See("Accepted by remote MX")
	o.See("250 2.0.0")
	o.Wait(`document.querySelector("#state .st-delivered")`)
	for _, tab := range []string{"", "preview", "source", "attempts", "events"} {
		page := o.Eval("location.pathname")[len(o.path("")):]
		if tab != "" {
			page += "?tab=" + tab
		}
		o.look("email-"+tab, page)
	}
	o.look("email-new", "/emails/new")
	o.look("overview", "")
}

func TestAnOpenPageOfAnEmailShowsWhatHappensToIt(t *testing.T) {
	t.Parallel()
	o := begin(t)
	id := o.call("POST", "/emails", map[string]any{"from": "hello@acme.test", "to": "grace@example.net", "subject": "Later", "text": "Hello", "scheduled_at": "in 2 hours"})["id"].(string)
	o.open("/emails/" + id)
	o.Wait(`document.querySelector("#state .st-scheduled")`)
	o.Wait(`performance.getEntriesByType("resource").some((entry) => entry.name === location.href)`) // it has read itself again: it listens
	o.call("POST", "/emails/"+id+"/cancel", nil)
	o.Wait(`document.querySelector("#state .st-cancelled")`)
	// Once when it began to listen, once for the event, and once more for what follows from it.
	o.Wait(`performance.getEntriesByType("resource").filter((entry) => entry.name === location.href).length >= 3`)
}

func TestListFiltersWhileTypingAndTellsOfNewEmails(t *testing.T) {
	t.Parallel()
	o := begin(t)
	for i := range 60 {
		o.call("POST", "/emails", map[string]any{"from": "hello@acme.test", "to": fmt.Sprintf("reader%d@example.net", i), "subject": fmt.Sprintf("Letter %d", i), "text": "Hi"})
	}
	o.look("emails", "/emails")
	o.open("/emails")
	o.Eval(`(link => { link.click(); link.click(); return ""; })(document.querySelector("a[data-more]"))`) // somebody presses twice
	o.Wait(`!document.querySelector("a[data-more]")`)
	if rows := o.Eval(`document.querySelectorAll("#rows tr").length`); rows != "60" {
		t.Errorf("there are %s rows for 60 emails", rows)
	}
	o.Fill("q", "reader17")
	o.Wait(`document.querySelectorAll("#rows tr").length === 1 && location.search.includes("reader17")`)
	if focus := o.Eval("document.activeElement.id"); focus != "q" {
		t.Errorf("the focus went to %q", focus)
	}
	o.open("/emails")
	o.Wait(`!document.querySelector("[data-live-state][data-off]")`)
	o.call("POST", "/emails", map[string]any{"from": "hello@acme.test", "to": "late@example.net", "subject": "Late", "text": "Hi"})
	o.Wait(`!document.getElementById("news").hidden`)
	o.Keys("j")
	if tag := o.Eval("document.activeElement.closest('[data-rows]') !== null"); tag != "true" {
		t.Error("j does not go to the first row")
	}
}

func TestHostileMailShowsNothingButItsPixels(t *testing.T) {
	t.Parallel()
	o := begin(t)
	hostile := `<script>alert(1);fetch("http://evil.test/a")</script><img src="http://evil.test/pixel.png" onerror="alert(2)"><svg onload="alert(3)"></svg>` +
		`<form action="http://evil.test/steal"><input name="x"></form><a href="javascript:alert(4)">click</a><style>body{background:url(http://evil.test/bg)}</style>` +
		`<iframe src="http://evil.test/frame"></iframe><meta http-equiv="refresh" content="0;url=http://evil.test/away"><base href="http://evil.test/"><p>Hello</p>`
	sent := o.call("POST", "/emails", map[string]any{"from": "hello@acme.test", "to": "ada@example.net", "subject": `<img src=x onerror=alert(5)>\u202etxt`, "html": hostile})
	page := "/emails/" + sent["id"].(string)
	for _, tab := range []string{"", "?tab=preview", "?tab=source", "?tab=attempts", "?tab=events"} {
		o.open(page + tab)
		o.Wait(`document.readyState === "complete"`)
	}
	o.Visit(o.path(page + "/body"))
	o.See("Hello")
	if n := o.Dialogs(); n != 0 {
		t.Errorf("%d dialogs", n)
	}
	for _, asked := range o.Strangers() {
		t.Errorf("asked %s", asked)
	}
}

func TestWhatAReaderHasOpenedStaysOpenWhileThePageGoesOn(t *testing.T) {
	t.Parallel()
	o := begin(t)
	id := o.call("POST", "/emails", map[string]any{"from": "hello@acme.test", "to": "grace@example.net", "subject": "Later", "text": "Hello", "scheduled_at": "in 2 hours"})["id"].(string)
	o.open("/emails/" + id + "?tab=events")
	o.Wait(`!document.querySelector("[data-live-state][data-off]") && performance.getEntriesByType("resource").some((entry) => entry.name === location.href)`)
	o.Eval(`[...document.querySelectorAll("#events li")].find(e => e.innerText.includes("email.scheduled")).querySelector("details").open = true`)
	o.call("POST", "/emails/"+id+"/cancel", nil)
	o.See("email.cancelled")
	if opened := o.Eval(`[...document.querySelectorAll("#events li:has(details[open])")].map(e => e.querySelector("code").innerText).join()`); opened != "email.scheduled" {
		t.Errorf("open is %q", opened)
	}
}

func TestWhatWasTypedStaysWhileThePageGoesOn(t *testing.T) {
	t.Parallel()
	o := begin(t)
	id := o.call("POST", "/emails", map[string]any{"from": "hello@acme.test", "to": "grace@example.net", "subject": "Later", "text": "Hello", "scheduled_at": "in 2 hours"})["id"].(string)
	o.open("/emails/" + id)
	o.Wait(`!document.querySelector("[data-live-state][data-off]") && performance.getEntriesByType("resource").some((entry) => entry.name === location.href)`)
	o.Set("scheduled_at", "2033-05-04T10:30")
	before := o.Eval(`document.querySelector("#notes b").innerText`)
	o.call("PATCH", "/emails/"+id, map[string]any{"scheduled_at": "in 3 hours"})
	o.Wait(fmt.Sprintf(`document.querySelector("#notes b").innerText !== %q`, before))
	if typed := o.Eval(`document.querySelector("[name=scheduled_at]").value`); typed != "2033-05-04T10:30" {
		t.Errorf("the new time is %q", typed)
	}
	o.call("POST", "/emails/"+id+"/cancel", nil)
	o.Wait(`!document.querySelector("[name=scheduled_at]")`)
}

package dashboard

import (
	"fmt"
	"testing"
)

func TestBroadcastIsWrittenReviewedSentAndWatched(t *testing.T) {
	t.Parallel()
	o := begin(t)
	o.look("broadcasts-empty", "/broadcasts")
	list := o.people()
	o.call("POST", "/audience/contacts", map[string]any{"email": "gone@example.net", "list_id": list, "unsubscribed": true})
	o.call("POST", "/audience/contacts", map[string]any{"email": "bounced@sandbox.test", "first_name": "Bo", "list_id": list})
	o.look("broadcast-new", "/broadcasts/new")
	o.open("/broadcasts/new")
	o.Set("list_id", list)
	o.Wait(`document.getElementById("people")?.innerText.includes("unsubscribed")`)
	o.Fill("from", "Acme <news@acme.test>")
	o.Fill("subject", "What is new in November")
	o.Set("html", `<h1>Hi {{{FIRST_NAME|there}}}</h1><p>Three things are new.</p><p><a href="https://acme.test/news">Read more</a> or <a href="{{{UNSUBSCRIBE_URL}}}">unsubscribe</a>.</p>`)
	o.Press("Save draft")
	o.See("Saved. Nothing is sent yet.")
	draft := o.Eval("location.pathname")[len(o.path("")):]
	o.look("broadcast-edit", draft)
	o.open(draft)
	o.Press("Send test")
	o.See("Test sent to")
	o.See("A test was sent")
	o.Press("Review and send")
	o.See("Send to 7 people")
	o.See("A test was sent")
	review := o.Path()[len(o.path("")):]
	o.look("broadcast-review", review)
	o.open(review)
	o.Press("Send to 7 people")
	o.See("7 of 7 people")
	o.Wait(`document.querySelector("#now .st-sent")`)
	o.See("bounce")
	page := o.Eval("location.pathname")[len(o.path("")):]
	o.look("broadcast", page)
	o.look("broadcast-recipients", page+"/recipients")
	o.look("broadcast-message", page+"/message")
	o.open(page + "/recipients")
	o.Set("status", "bounced")
	o.Wait(`document.querySelectorAll("#results tbody tr").length === 1`)
	o.open(page)
	o.Press("Duplicate")
	o.See("This is a copy.")
	o.look("broadcasts", "/broadcasts")
	o.open("/broadcasts?status=draft")
	o.Press("What is new in November (copy)")
	o.Press("Delete draft")
	o.Press("Delete broadcast")
	o.See("Broadcast deleted.")
}

func TestScheduledBroadcastShowsItsTimeInZonesAndIsCancelled(t *testing.T) {
	t.Parallel()
	o := begin(t)
	o.Visit("/you")
	o.Fill("timezone", "Europe/Rome")
	o.Press("Save")
	o.Wait(`document.querySelector(".notice")`)
	list := o.people()
	o.call("PATCH", "/broadcasts/"+o.call("POST", "/broadcasts", map[string]any{"name": "Later", "from": "news@acme.test", "subject": "Later", "text": "Hello {{FIRST_NAME}}", "audience_id": list})["id"].(string), map[string]any{"preview_text": "Soon"})
	o.open("/broadcasts")
	o.Press("Later")
	o.See("Without a fallback: FIRST_NAME")
	o.Eval(`document.querySelector("[name=when][value=later]").click()`)
	when := o.Eval(`(d => { d.setDate(d.getDate() + 3); return d.toISOString().slice(0, 11) + "09:30" })(new Date())`)
	o.Set("scheduled_at", when)
	o.Wait(`/09:30 Europe\/Rome · 0[78]:30 UTC · in [23] days/.test(document.getElementById("zones")?.innerText)`)
	o.Press("Review and send")
	o.See("Schedule for 6 people")
	o.look("broadcast-review-scheduled", o.Path()[len(o.path("")):])
	o.Press("Schedule for 6 people")
	o.See("Scheduled. You can change or cancel it until then.")
	page := o.Eval("location.pathname")[len(o.path("")):]
	o.look("broadcast-scheduled", page)
	o.look("broadcast-cancel", page+"/cancel")
	o.open(page)
	o.Press("Cancel")
	o.Press("Cancel the rest")
	o.Wait(`document.querySelector("#now .st-cancelled")`)
}

func TestBroadcastIsHeldWhileItGoesOutAndGoesOn(t *testing.T) {
	t.Parallel()
	o := begin(t)
	list := o.people()
	for i := range 40 {
		o.call("POST", "/audience/contacts", map[string]any{"email": fmt.Sprintf("reader%d@example.net", i), "list_id": list})
	}
	id := o.call("POST", "/broadcasts", map[string]any{"name": "Slowly", "from": "news@acme.test", "subject": "Slowly", "html": "<p>Hi</p>", "audience_id": list, "throttle_per_hour": 3600, "send": true})["id"].(string)
	o.open("/broadcasts/" + id)
	o.Wait(`/[1-9]\d* of 46 people/.test(document.getElementById("now").innerText)`)
	o.Press("Pause")
	o.See("Paused.")
	o.look("broadcast-paused", "/broadcasts/"+id)
	o.open("/broadcasts/" + id)
	o.Press("Resume")
	o.See("It goes on.")
	o.Press("Cancel")
	o.See("That cannot be taken back.")
	o.Press("Cancel the rest")
	o.Wait(`document.querySelector("#now .st-cancelled")`)
}

func TestHostilePeopleAndBroadcastsShowNothingButText(t *testing.T) {
	t.Parallel()
	o := begin(t)
	const hostile = `<img src="http://evil.test/x" onerror="alert(1)"><script>alert(2)</script>` + "\u202e"
	list := o.call("POST", "/audience/lists", map[string]any{"name": "L" + hostile, "description": hostile})["id"].(string)
	o.call("POST", "/contact-properties", map[string]any{"key": "note", "type": "string", "label": hostile})
	contact := o.call("POST", "/audience/contacts", map[string]any{"email": "ada@example.net", "first_name": hostile, "list_id": list, "properties": map[string]any{"note": hostile}})["id"].(string)
	segment := o.call("POST", "/segments", map[string]any{"name": "S" + hostile, "filter": map[string]any{"type": "rule", "field": "properties.note", "operator": "contains", "value": hostile}})["id"].(string)
	broadcast := o.call("POST", "/broadcasts", map[string]any{"name": "B" + hostile[:60], "from": "news@acme.test", "subject": "Hi", "html": "<p>Hello</p>" + hostile + `<form action="http://evil.test/"><button>x</button></form>`, "audience_id": list})["id"].(string)
	for _, page := range []string{"/audience", "/audience/contacts/" + contact, "/audience/contacts/" + contact + "/edit", "/audience/lists", "/audience/lists/" + list, "/audience/properties",
		"/audience/segments/" + segment, "/audience/segments/" + segment + "/edit", "/broadcasts", "/broadcasts/" + broadcast + "/edit", "/broadcasts/" + broadcast + "/review", "/broadcasts/" + broadcast + "/message"} {
		o.open(page)
		o.Wait(`document.readyState === "complete"`)
	}
	o.open("/broadcasts/" + broadcast + "/body?as=" + contact)
	o.See("Hello")
	if n := o.Dialogs(); n != 0 {
		t.Errorf("%d dialogs", n)
	}
	for _, asked := range o.Strangers() {
		t.Errorf("asked %s", asked)
	}
}

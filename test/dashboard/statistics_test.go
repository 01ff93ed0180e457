package dashboard

import (
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"testing"
)

func TestStatisticsTellWhatBecameOfMail(t *testing.T) {
	t.Parallel()
	o := begin(t)
	o.call("POST", "/domains", map[string]any{"domain": "a-long-name-of-a-department.of-a-company-with-a-long-name.example"}) // which the filters must bear on a phone
	o.look("stats-empty", "/stats")
	o.look("deliverability-empty", "/stats/deliverability")
	for i := range 12 {
		o.call("POST", "/emails", map[string]any{"from": "hello@acme.test", "to": fmt.Sprintf("reader%d@example.net", i), "subject": fmt.Sprintf("Letter %d", i%3), "text": "Hi",
			"tags": []map[string]string{{"name": "category", "value": "news"}}})
	}
	o.call("POST", "/emails", map[string]any{"from": "hello@acme.test", "to": "bounced@sandbox.test", "subject": "Back", "text": "Hi"})
	o.open("/stats?days=7")
	for o.Eval(`document.querySelector("#numbers .st-bounced b")?.innerText`) == "0%" { // the counts follow the events
		o.open("/stats?days=7")
	}
	o.See("Where recipients stand now")
	o.See("category: news")
	o.Set("by", "hour")
	o.Wait(`location.search.includes("by=hour") && document.querySelectorAll("#numbers svg.chart .col").length > 300`)
	o.Press("Show as a table")
	o.Wait(`[...document.querySelectorAll("#numbers .astable[open] td")].length > 100`)
	o.open("/stats")
	o.Fill("tag", "without a colon")
	o.Wait(`document.querySelector("#numbers [role=alert]")`)
	o.Complaints()
	o.look("stats", "/stats?days=14")
	o.look("deliverability", "/stats/deliverability")
	o.open("/stats/deliverability")
	o.See("What to do, in order of effect")
	o.Press("acme.test")
	o.Wait(`location.pathname.includes("/domains/")`)
}

func TestOperatorsHoldAndReleaseMail(t *testing.T) {
	t.Parallel()
	o := begin(t)
	o.lookAt("system-nodes", "/system")
	o.lookAt("system-queue-empty", "/system/queue")
	o.call("POST", "/emails", map[string]any{"from": "hello@acme.test", "to": "ada@example.net", "subject": "Hello", "text": "Hi"})
	o.Visit("/system/queue")
	for o.Eval(`document.querySelectorAll(".path").length`) == "0" { // a way appears with its first mail
		o.Visit("/system/queue")
	}
	o.Fill("reason", "their postmaster asked for it")
	o.Press("Hold")
	o.See("stopped by an operator until")
	o.See("their postmaster asked for it")
	o.call("POST", "/emails", map[string]any{"from": "hello@acme.test", "to": "ada@example.net", "subject": "Later", "text": "Hi"})
	o.lookAt("system-queue", "/system/queue")
	o.Visit("/system/queue")
	o.Press("Override limits")
	o.Eval(`document.querySelector("details [name=reason]").value = "they are slow"`)
	o.Press("Set limits")
	o.See("Say how many connections")
	o.Wait(`document.querySelector("details[open] [name=reason]")?.value === "they are slow"`)
	o.Fill("max_connections", "2")
	o.Press("Set limits")
	o.See("The limits hold from now on")
	o.Press("Release")
	o.See("is tried again now")
	o.Press("Override limits")
	o.Press("Take them back")
	o.See("The limits are as before")
	o.open("/emails?q=Later")
	o.Wait(`document.querySelector("#rows .st-delivered") || (location.reload(), false)`)
}

func TestWhatCanBeDoneInTheQueueFollowsWhatHappens(t *testing.T) {
	t.Parallel()
	o := begin(t)
	send := func() {
		o.call("POST", "/emails", map[string]any{"from": "hello@acme.test", "to": "ada@example.net", "subject": "Hello", "text": "Hi"})
	}
	send()
	o.Visit("/system/queue")
	for o.Eval(`document.querySelectorAll(".path").length`) == "0" { // a way appears with its first mail
		o.Visit("/system/queue")
	}
	elsewhere := func(order, answer string) {
		t.Helper()
		o.Eval(`fetch("/system/queue/` + order + `", {method: "POST", body: new URLSearchParams({site: document.querySelector("[name=site]").value,
			source: document.querySelector("[name=source]").value, for: "1h", max_connections: "2"})}).then(() => { document.title = "` + order + `" })`)
		o.Wait(`document.title === "` + order + `"`)
		send()
		o.Wait(answer)
	}
	const header, orders = `document.querySelector(".path header").innerText`, `document.querySelector(".path footer").textContent`
	elsewhere("hold", header+`.includes("Ends") && `+orders+`.includes("Release")`)
	elsewhere("release", `!`+header+`.includes("Ends") && !`+orders+`.includes("Release")`)
	elsewhere("limits", header+`.includes("Ends") && `+orders+`.includes("Take them back")`)
}

func TestSystemPagesAreThereForOperatorsOnly(t *testing.T) {
	t.Parallel()
	ready := install(t)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	form := url.Values{"name": {"Eve"}, "email": {"eve@example.net"}, "password": {"a long enough password"}, "workspace_name": {"Eve"}}
	signUp(t, client, ready.HTTP+"/signup", form)
	for _, path := range []string{"/system", "/system/queue"} {
		answer, err := client.Get(ready.HTTP + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusNotFound {
			t.Errorf("%s: status %d", path, answer.StatusCode)
		}
	}
	answer, err := client.PostForm(ready.HTTP+"/system/queue/hold", url.Values{"site": {"sandbox"}, "for": {"1h"}})
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusNotFound {
		t.Errorf("hold: status %d", answer.StatusCode)
	}
}

func signUp(t *testing.T, client *http.Client, address string, form url.Values) {
	t.Helper()
	answer, err := client.PostForm(address, form)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode >= 400 {
		t.Fatalf("sign up: status %d", answer.StatusCode)
	}
}

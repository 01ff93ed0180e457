package dashboard

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// here is the path of the page below the workspace.
func (o *tour) here() string { return strings.TrimPrefix(o.Eval("location.pathname"), o.path("")) }

func TestAutomationIsMadeFromAStarterPublishedAndWatched(t *testing.T) {
	t.Parallel()
	o := begin(t)
	o.look("automations-empty", "/automations")
	o.open("/automations")
	o.Press("Begin with Welcome series")
	o.See("Never published")
	made := o.here()

	// With the keyboard: to the first step, to the plus below it, and a wait is added that has the focus.
	o.Eval(`document.querySelector("#n-start").focus()`)
	o.Keys(kb.ArrowDown)
	o.Wait(`document.activeElement.id === "n-welcome"`)
	o.Keys(kb.Tab)
	if label := o.Eval("document.activeElement.getAttribute('aria-label')"); !strings.HasPrefix(label, "Add a step between Welcome and") {
		t.Fatalf("after a step comes %q", label)
	}
	o.Keys(kb.Enter)
	o.Wait(`document.activeElement.id === "pick-0"`)
	o.Keys(kb.Tab + kb.Enter)
	o.Wait(`document.activeElement.id === "n-wait_2"`)
	o.Fill("c.duration", "5")
	o.Set("c.duration.unit", "minute")
	o.Wait(`document.querySelector("#n-wait_2 b").innerText === "Wait 5 minutes"`)

	// It can be taken back, and taken back again.
	o.Press("Undo")
	o.Wait(`!document.querySelector("#n-wait_2 b")?.innerText.includes("5 minutes")`)
	o.Press("Redo")
	o.Wait(`document.querySelector("#n-wait_2 b")?.innerText === "Wait 5 minutes"`)
	o.look("automation-build", made+"?step=opened")
	o.look("automation-add", made+"?add=welcome:default:")
	o.look("automation-mail", made+"?step=welcome")
	o.look("automation-trigger", made+"?step=start")

	o.open(made)
	o.Press("Publish and enable")
	o.See("Version 1 is live")
	o.call("POST", "/events", map[string]any{"name": "user.signed_up", "schema": map[string]string{"plan": "string"}, "sample_payload": map[string]any{"plan": "pro"}})
	o.open("/events")
	o.Press("user.signed_up")
	o.Fill("email", "ada@example.net")
	o.Press("Send event")
	o.See("1 run began")
	o.Press("Run 1")
	o.See("Step by step")
	o.Wait(`document.querySelector("#n-wait_2 .badge")?.innerText === "Waiting"`)
	o.look("automation-run", o.here())
	o.look("automation-runs", made+"/runs")
	o.look("automations", "/automations")
	o.open(made + "/runs")
	o.Press("ada@example.net")
	o.Press("Stop run")
	o.Press("Yes, stop it")
	o.See("The run is stopped")
	o.Wait(`document.querySelector("#state .st-cancelled")`)
}

func TestAutomationWithoutStepsBeginsWithATrigger(t *testing.T) {
	t.Parallel()
	o := begin(t)
	made := "/automations/" + o.call("POST", "/automations", map[string]any{"name": "Empty"})["id"].(string)
	o.look("automation-empty", made)
	o.open(made)
	o.See("Nothing begins it yet. Choose a trigger.")
	o.Set("kind", "system:contact.created")
	o.Press("Add trigger")
	o.Wait(`document.activeElement.id === "n-trigger"`)
	o.See("Nothing is missing.")
	o.Click("#tree .add")
	o.Wait(`document.activeElement.id === "pick-0"`)
}

func TestAutomationIsTestedAndRolledBack(t *testing.T) {
	t.Parallel()
	o := begin(t)
	o.open("/automations/new")
	o.look("automation-new", "/automations/new")
	o.open("/automations/new")
	o.Fill("name", "Back again")
	o.Set("starter", "reengage")
	o.Eval(`document.querySelector("[value=reengage]").click()`)
	o.Press("Create draft")
	o.See("Back again")
	made := o.here()
	o.look("automation-forks", made)
	o.open(made)
	o.Press("Check now")
	o.See("Nothing is wrong with it.")
	o.See("Never published")
	o.open(made)
	o.Press("Test run")
	o.look("automation-try", made+"/try")
	o.open(made + "/try")
	o.Press("Run test")
	o.See("Nothing was changed")
	o.Wait(`document.querySelector("#n-back .badge") && document.querySelector("#n-done .badge")`)
	o.look("automation-test", o.here())

	o.open(made)
	o.Press("Publish and enable")
	o.See("Version 1 is live")
	o.open(made + "?step=last")
	o.Fill("c.subject", "This was our last mail")
	o.Press("Save step")
	o.See("The draft has changes")
	o.Press("Publish version 2")
	o.See("Version 2 is live")
	o.look("automation-versions", made+"/versions")
	o.open(made + "/versions")
	o.Press("Roll back")
	o.See("Version 1 again")
	o.See("Version 3")
	o.look("automation-version", made+"/versions/1")
	o.look("automation-settings", made+"/settings")
	o.open(made + "/settings")
	o.Press("Duplicate")
	o.See("Back again (copy)")
	o.open(made + "/settings")
	o.Press("Archive automation")
	o.Press("Yes, archive it")
	o.See("Its runs are stopped")
}

func TestWhatIsWrongWithAStepIsShownAtIt(t *testing.T) {
	t.Parallel()
	o := begin(t)
	o.open("/automations")
	o.Press("Begin with Welcome series")
	o.See("Never published")
	made := o.here()
	for _, step := range []string{"tips", "again"} {
		o.open(made + "?step=" + step)
		o.Fill("c.subject", " ")
		o.Press("Save step")
		o.Wait(fmt.Sprintf(`document.querySelector("#n-%s b").innerText === "Mail without a subject"`, step))
	}
	o.open(made)
	o.Press("Check now")
	o.See("A mail without a template needs a sender and a subject.")
	o.See("Never published")
	o.open(made)
	o.Press("Publish and enable")
	o.See("A mail without a template needs a sender and a subject.")
	o.Wait(`document.querySelectorAll(".node.wrongly").length === 2`)
	o.Press("Go there")
	o.Wait(`document.querySelector("#f-step [name=key]").value === "tips" && document.querySelectorAll(".node.wrongly").length === 2`)
	o.Fill("c.subject", "Three tips")
	o.Press("Save step")
	o.Wait(`document.querySelectorAll(".node.wrongly").length === 1`)

	// A fork goes with all that is in it, and comes back.
	o.open(made)
	o.Eval(`document.querySelector("#n-opened").focus()`)
	o.Keys(kb.Delete)
	o.See("with 2 steps in its ways")
	o.Wait(`!document.querySelector("#n-opened") && document.activeElement.id === "n-wait"`)
	o.Press("Undo")
	o.Wait(`document.querySelector("#n-opened")`)

	// The same steps as text, with what cannot be read said and kept.
	o.open(made)
	o.Press("Steps as JSON")
	o.Fill("definition", "{")
	o.Press("Save draft")
	o.See("The steps could not be read")
	o.Wait(`document.querySelector("#f-definition").value === "{"`)
	o.Complaints()
}

func TestCredentialsAreAddedTriedAndDeletedWithoutShowingTheirSecret(t *testing.T) {
	t.Parallel()
	o := begin(t)
	o.look("credentials-empty", "/credentials")
	o.look("credential-new", "/credentials/new")
	o.open("/credentials/new")
	o.Fill("secret", "a-secret-that-nobody-sees")
	o.Fill("name", "CRM")
	o.Fill("allowed_hosts", "127.0.0.1:1")
	o.Press("Add credential")
	o.See("The secret is kept encrypted")
	one := o.here()
	o.Fill("url", "http://127.0.0.1:1/")
	o.Press("Test")
	o.See("Tested.")
	o.Fill("secret", "another-secret-of-theirs")
	o.Press("Replace secret")
	o.See("The secret is replaced")
	o.look("credential", one)
	o.look("credentials", "/credentials")
	o.open(one)
	for _, secret := range []string{"nobody-sees", "secret-of-theirs"} {
		if o.Eval(fmt.Sprintf("document.documentElement.outerHTML.includes(%q)", secret)) == "true" {
			t.Error("a secret is on the page")
		}
	}
	o.Press("Delete credential")
	o.Press("Yes, delete it")
	o.See("The credential is deleted")
}

func TestEventsAreDefinedChangedAndDeleted(t *testing.T) {
	t.Parallel()
	o := begin(t)
	o.look("events-empty", "/events")
	o.look("event-new", "/events/new")
	o.open("/events/new")
	o.Fill("name", "order.paid")
	o.Fill("key", "total")
	o.Set("kind", "number")
	o.Fill("sample_payload", `{"total": 12}`)
	o.Press("Define event")
	o.See("Send it from your program")
	one := o.here()
	o.Fill("payload", `{"total": "twelve"}`)
	o.Press("Send event")
	o.See("Must be a number.")
	o.Fill("payload", `{"total": 12}`)
	o.Press("Send event")
	o.See("0 runs began")
	o.look("event", one)
	o.look("events", "/events")
	o.open(one)
	o.Press("Delete event")
	o.Press("Yes, delete it")
	o.See("The event is deleted")
}

func TestBuilderWorksWithoutScripts(t *testing.T) {
	t.Parallel()
	ready := install(t)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	post := func(path string, form url.Values) (string, string) {
		t.Helper()
		answer, err := client.PostForm(ready.HTTP+path, form)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		page, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode >= 400 {
			t.Fatalf("%s: %d %v", path, answer.StatusCode, err)
		}
		return answer.Request.URL.RequestURI(), string(page)
	}
	post("/signin", url.Values{"email": {ready.Owner.Email}, "password": {ready.Owner.Password}})
	made, page := post("/w/"+ready.WorkspaceID+"/automations/new", url.Values{"name": {"By hand"}})
	if !strings.Contains(page, `name="add" value="start:default:"`) {
		t.Fatal("there is no place to add a step")
	}
	at, page := post(made+"/add", url.Values{"gap": {"start:default:"}, "type": {"condition"}})
	if at != made+"?step=ask" || !strings.Contains(page, `id="n-ask"`) {
		t.Fatalf("the step is not there, at %s", at)
	}
	post(made+"/add", url.Values{"gap": {"ask:condition_met:"}, "type": {"delay"}})
	at, page = post(made+"/step", url.Values{"key": {"wait"}, "c.duration": {"3"}, "c.duration.unit": {"hour"}})
	if at != made+"?step=wait" || !strings.Contains(page, "Wait 3 hours") {
		t.Fatalf("the step is not changed, at %s", at)
	}
	if _, page = post(made+"/remove", url.Values{"key": {"ask"}}); strings.Contains(page, `id="n-ask"`) || strings.Contains(page, `id="n-wait"`) {
		t.Fatal("the fork is still there")
	}
}

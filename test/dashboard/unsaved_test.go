package dashboard

import (
	"strings"
	"testing"
)

// leaving goes away from a page and returns how often the browser asked whether to.
func (o *tour) leaving() int {
	o.t.Helper()
	o.Wait(`document.readyState === "complete"`) // its scripts have run
	o.Keys("x\b")                                // browsers ask only those who did something
	o.Visit("/docs")
	o.See("Documentation")
	return o.Warnings()
}

func TestTheBrowserAsksBeforeUnsavedTextIsLost(t *testing.T) {
	t.Parallel()
	o := begin(t)
	template := "/templates/" + o.call("POST", "/templates", map[string]any{"name": "Hello", "subject": "Hi", "html": "<p>Hi</p>"})["id"].(string) + "/edit"
	broadcast := "/broadcasts/" + o.call("POST", "/broadcasts", map[string]any{"name": "News"})["id"].(string) + "/edit"
	for _, editor := range []struct{ path, field string }{{template, "subject"}, {broadcast, "subject"}, {"/broadcasts/new", "html"}, {"/emails/new", "text"},
		{"/audience/segments/new", "name"}, {"/suppressions/new", "emails"}} {
		o.open(editor.path)
		o.Eval(`document.querySelector("main [name=` + editor.field + `]").focus()`)
		o.Keys("x\b") // what is typed and taken back is no change
		if asked := o.leaving(); asked != 0 {
			t.Errorf("%s asks though nothing was changed", editor.path)
		}
		o.open(editor.path)
		o.Fill(editor.field, "Something new")
		if asked := o.leaving(); asked != 1 {
			t.Errorf("%s asked %d times before the text was lost", editor.path, asked)
		}
	}

	o.open(template)
	o.write("html", "<p>Good day</p>")
	if asked := o.leaving(); asked != 1 {
		t.Errorf("the editor of templates asked %d times before its source was lost", asked)
	}
	o.open(template)
	o.write("samples", "7")
	o.Wait(`document.querySelector("textarea[name=samples]").value.includes("7")`)
	if asked := o.leaving(); asked != 0 {
		t.Error("samples are asked about, though nothing saves them")
	}
	o.open(template)
	o.Fill("subject", "Good day")
	o.Press("Save draft")
	o.See("Draft saved.")
	if asked := o.leaving(); asked != 0 {
		t.Error("what was saved is asked about")
	}

	o.open("/emails/new")
	o.Fill("to", "nobody")
	o.Fill("text", "A long letter")
	o.Press("Send email")
	o.Wait(`document.querySelector("main .note.bad")`)
	if asked := o.leaving(); asked != 1 {
		t.Errorf("a letter that was refused is lost; asked %d times", asked)
	}

	o.open("/emails/new")
	o.Fill("text", "A long letter")
	o.Eval(`fetch("/signout", {method: "POST", body: new URLSearchParams()}).then(() => { document.title = "out" })`)
	o.Wait(`document.title === "out"`)
	o.Press("Send email")
	o.See("Your session has ended.")
	if asked := o.leaving(); asked != 1 {
		t.Errorf("a letter whose session has ended is lost; asked %d times", asked)
	}
	o.Visit("/signin")
	o.Fill("email", o.ready.Owner.Email)
	o.Fill("password", o.ready.Owner.Password)
	o.Press("Sign in")
	o.See("Overview")

	list := o.people()
	o.open("/broadcasts/new")
	o.Set("list_id", list)
	o.Wait(`!document.getElementById("people")?.innerText.includes("Choose")`)
	if asked := o.leaving(); asked != 1 {
		t.Errorf("a choice that was drawn anew is lost; asked %d times", asked)
	}
	for _, complaint := range o.Complaints() {
		if !strings.Contains(complaint, "/emails/new") { // which answered that it was refused
			t.Error(complaint)
		}
	}
}

func TestTheBuilderSavesWhatWasTypedLastOnTheWayOut(t *testing.T) {
	t.Parallel()
	o := begin(t)
	o.open("/automations")
	o.Press("Begin with Welcome series")
	o.See("Never published")
	made := o.here()
	o.open(made + "?step=welcome")
	o.Fill("c.subject", "Typed at the last moment")
	if asked := o.leaving(); asked != 0 {
		t.Error("the builder asks about what it saves by itself")
	}
	subject := ""
	for range 20 { // the request may outlive the page by a moment
		o.open(made + "?step=welcome")
		if subject = o.Eval(`document.querySelector("main [name='c.subject']").value`); subject == "Typed at the last moment" {
			break
		}
	}
	if subject != "Typed at the last moment" {
		t.Errorf("the subject that was typed last is lost: %q", subject)
	}

	o.Eval(`document.querySelector("details.fold").open = true`)
	o.Fill("definition", "{")
	if asked := o.leaving(); asked != 1 {
		t.Errorf("steps written as JSON are lost; asked %d times", asked)
	}
	o.open(made)
	o.Eval(`document.querySelector("details.fold").open = true`)
	o.Fill("definition", "{")
	o.Eval(`document.querySelector("#f-draft").requestSubmit()`)
	o.See("The steps could not be read")
	if asked := o.leaving(); asked != 1 {
		t.Errorf("steps that were refused are lost; asked %d times", asked)
	}
}

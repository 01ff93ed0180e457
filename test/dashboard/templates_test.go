package dashboard

import (
	"strings"
	"testing"
)

// write types into an editor of the template's page, in place of what is there.
func (o *tour) write(part, text string) {
	o.t.Helper()
	o.chooseAll(part)
	o.Keys(text)
}

func (o *tour) chooseAll(part string) {
	o.t.Helper()
	content := `document.querySelector('.source[data-part="` + part + `"] .cm-host')?.shadowRoot.querySelector(".cm-content")`
	o.Wait(content)
	o.Eval(`(e => { e.focus(); getSelection().selectAllChildren(e); e.ownerDocument.execCommand("selectAll"); })(` + content + `)`)
}

func TestTemplateIsWrittenWithALivePreviewComparedAndPublished(t *testing.T) {
	t.Parallel()
	o := begin(t)
	o.look("templates-empty", "/templates")
	o.look("template-new", "/templates/new")
	o.open("/templates")
	o.Click(`button[value="welcome"]`)
	o.See("Publish version 1")
	o.Wait(`document.querySelector("#rendered-text")?.textContent.includes("Welcome, Ada")`)
	edit := o.Path()
	page := strings.TrimSuffix(strings.TrimPrefix(edit, o.path("")), "/edit")
	o.look("template-editor", page+"/edit")

	o.open(page + "/edit")
	visits := o.Eval("history.length")
	o.write("html", "<p>Good day, {{FIRST_NAME}}")
	o.Wait(`document.querySelector("#stage iframe:not([data-coming])")?.name.startsWith("preview-")`)
	o.Wait(`document.querySelector("textarea[name=html]").value.includes("Good day")`)
	o.Press("Text")
	o.Fill("subject", "Hello {{FIRST_NAME}}")
	o.Wait(`document.querySelector("#headline").innerText.includes("Hello Ada")`)
	if now := o.Eval("history.length"); now != visits {
		t.Errorf("typing made %s entries in the history out of %s", now, visits)
	}
	o.Press("HTML")
	o.write("html", "<p>{{#if X}}never closed")
	o.Wait(`document.querySelector("#checks").innerText.includes("Line 1, column")`)
	o.Wait(`document.querySelector('.source[data-part="html"] .cm-host').shadowRoot.querySelector(".cm-lint-marker-error")`)
	if complaints := o.Complaints(); len(complaints) > 0 {
		t.Errorf("the editor breaks the rules of the page: %v", complaints)
	}
	o.write("html", "<h1>Good day, {{FIRST_NAME}}</h1>")
	o.Wait(`!document.querySelector("#stage").classList.contains("stale")`)
	o.Press("Save draft")
	o.See("Draft saved.")

	o.Press("Publish version 1")
	o.See("Nothing is live yet.")
	o.look("template-publish-first", page+"/publish")
	o.open(page + "/publish")
	o.Press("Publish version 1")
	o.See("Version 1 is live.")

	o.open(page + "/edit")
	o.write("html", "<h1>Good evening, {{FIRST_NAME}}</h1>")
	o.Wait(`document.querySelector("textarea[name=html]").value.includes("evening")`)
	o.Press("Publish version 2")
	o.Wait(`document.querySelector(".diff .added")?.innerText.includes("Good evening") && document.querySelector(".diff .removed")?.innerText.includes("Good day")`)
	o.look("template-publish", page+"/publish")
	o.open(page + "/publish")
	o.Press("Publish version 2")
	o.See("Version 2 is live.")
	o.look("template", page)
	for _, tab := range []string{"", "?tab=rendered", "?tab=changes"} {
		o.look("template-version"+strings.TrimPrefix(tab, "?tab="), page+"/versions/1"+tab)
	}
	o.open(page + "/versions/1")
	o.Press("Publish this version")
	o.See("Version 1 is live.")
}

func TestTemplateIsTestedNamedDuplicatedAndArchived(t *testing.T) {
	t.Parallel()
	o := begin(t)
	o.call("POST", "/templates", map[string]any{"name": "Receipt", "alias": "receipt", "subject": "Receipt {{NUMBER}}", "html": "<p>{{NUMBER}}</p>"})
	made := o.call("POST", "/templates", map[string]any{"name": "Hello", "subject": "Hi {{FIRST_NAME|there}}", "html": "<p>Hi {{FIRST_NAME|there}}<img src='https://example.net/a.png'></p>"})
	page := "/templates/" + made["id"].(string)
	o.look("templates", "/templates")
	o.open("/templates")
	o.Fill("q", "receipt")
	o.Wait(`document.querySelectorAll("[data-rows] tbody tr").length === 1`)

	o.open(page + "/edit")
	o.See("Images without alt text: 1")
	o.Eval(`document.querySelector("[popovertarget=test]").click()`)
	o.Fill("to", "ada@example.net")
	o.Press("Save and send")
	o.See("Test sent to ada@example.net.")
	o.Press("See what becomes of it")
	o.See("[Test] Hi Ada")

	o.open(page)
	o.Fill("alias", "receipt")
	o.Press("Save")
	o.Wait(`document.querySelector("#e-alias, .note.bad")`)
	o.Fill("alias", "hello")
	o.Press("Save")
	o.See("Saved.")
	o.Wait(`document.querySelector("pre.code").innerText.includes('"id": "hello"')`)
	o.Press("Duplicate")
	o.See("This is the copy.")
	o.Press("Archive this template")
	o.Press("Yes, archive it")
	o.See("Archived.")
	o.open("/templates?status=archived")
	o.Wait(`document.querySelectorAll("[data-rows] tbody tr").length === 1`)
	o.Click("[data-rows] tbody a")
	o.See("This template is archived.")
}

func TestTemplateOfAStrangerRunsNothingInItsPreview(t *testing.T) {
	t.Parallel()
	o := begin(t)
	hostile := `<script>alert(1);fetch("http://evil.test/a")</script><img src="http://evil.test/pixel.png" onerror="alert(2)"><form action="http://evil.test/steal"><button>x</button></form>` +
		`<iframe src="http://evil.test/frame"></iframe><meta http-equiv="refresh" content="0;url=http://evil.test/away"><p>Hello</p>`
	made := o.call("POST", "/templates", map[string]any{"name": "<img src=x onerror=alert(3)>", "subject": "</textarea><script>alert(4)</script>", "html": hostile})
	page := "/templates/" + made["id"].(string)
	for _, path := range []string{"/templates", page, page + "/versions/1", page + "/versions/1?tab=rendered", page + "/publish", page + "/edit"} {
		o.open(path)
		o.Wait(`document.readyState === "complete"`)
	}
	o.chooseAll("html")
	o.Paste(hostile + "<b>pasted</b>")
	o.Wait(`document.querySelector("#rendered-text")?.textContent.includes("pasted")`)
	o.Wait(`document.querySelector("#stage iframe:not([data-coming])")?.name.startsWith("preview-")`)
	if n := o.Dialogs(); n != 0 {
		t.Errorf("%d dialogs", n)
	}
	for _, asked := range o.Strangers() {
		t.Errorf("asked %s", asked)
	}
}

func TestTemplateEditorWorksWithoutScripts(t *testing.T) {
	t.Parallel()
	o := begin(t)
	made := o.call("POST", "/templates", map[string]any{"name": "Plain", "subject": "Hi", "html": "<p>Hi {{FIRST_NAME}}</p>"})
	page := "/templates/" + made["id"].(string)
	o.Scripts(false)
	o.open(page + "/edit")
	o.Fill("html", "<p>Bye {{FIRST_NAME}}</p>")
	o.Press("Update preview")
	o.Fill("subject", "Bye")
	o.Press("Publish version 2")
	o.See("Back to the editor")
	o.Press("Publish version 2")
	o.See("Version 2 is live.")
}

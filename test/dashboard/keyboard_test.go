package dashboard

import (
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// maxTabs is how often Tab is pressed in search of something; more would be no way to work.
const maxTabs = 60

// tabTo presses Tab until the focus is on the element that is called this, by its label or by what it says. On the way, every
// stop has to be one that is seen.
func (o *tour) tabTo(name string) {
	o.t.Helper()
	const called = `(e => (e.labels?.[0]?.innerText || e.getAttribute("aria-label") || e.innerText || "").trim())(document.activeElement)`
	for range maxTabs {
		o.Keys(kb.Tab)
		if seen := o.Eval(`(e => e === document.body || e.tagName === "IFRAME" || getComputedStyle(e).outlineStyle !== "none" && parseFloat(getComputedStyle(e).outlineWidth) >= 2)(document.activeElement)`); seen != "true" {
			o.t.Errorf("the focus on %q at %s cannot be seen", o.Eval(called), o.Path())
		}
		if o.Eval(called) == name {
			return
		}
	}
	o.t.Fatalf("Tab does not lead to %q at %s", name, o.Path())
}

// typeOver types into what has the focus, in place of what is there.
func (o *tour) typeOver(text string) {
	o.t.Helper()
	o.Control("a")
	o.Keys(text)
}

func TestFirstEmailIsSentWithTheKeyboardAlone(t *testing.T) {
	t.Parallel()
	o := begin(t)
	o.open("")
	o.Control("k")
	o.Wait(`document.activeElement.id === "palette-q"`)
	o.Keys("new email" + kb.Enter)
	o.See("Write it here")
	o.tabTo("Skip to content")
	o.Keys(kb.Enter)
	o.Wait(`document.activeElement.id === "main"`)
	o.tabTo("To")
	o.Keys("ada@example.net")
	o.tabTo("Subject")
	o.typeOver("By hand")
	o.tabTo("Text")
	o.typeOver("Written without a mouse.")
	o.tabTo("Copies, time, tags and tracking")
	o.Keys(kb.Enter)
	o.tabTo("Tags")
	o.Keys("kind = keyboard")
	o.tabTo("Send email")
	o.Keys(kb.Enter)
	o.See("Accepted. What happens to it appears below.")
	o.See("kind = keyboard")
	o.open("/emails")
	o.Keys("j" + kb.Enter)
	o.See("Where the time went")
}

func TestDomainIsAddedWithTheKeyboardAlone(t *testing.T) {
	t.Parallel()
	o := begin(t)
	o.open("/domains")
	o.tabTo("Add domain")
	o.Keys(kb.Enter)
	o.Wait(`location.pathname.endsWith("/domains/new")`)
	o.tabTo("Domain")
	o.Keys("mail.keyboard.test" + kb.Enter)
	o.See("Publish the records below")
	o.tabTo("Check now")
	o.Keys(kb.Enter)
	o.Wait(`document.querySelector(".notice, .note")`)
}

func TestKeyWithSecondFactorIsMadeWithTheKeyboardAlone(t *testing.T) {
	t.Parallel()
	o := begin(t)
	code := o.person().enableTwoFactor()
	o.open("/keys")
	o.tabTo("Create key")
	o.Keys(kb.Enter)
	o.Wait(`location.pathname.endsWith("/keys/new")`)
	o.tabTo("Name")
	o.Keys("Keyboard")
	o.tabTo("Create key")
	o.Keys(kb.Enter)
	o.See("Confirm that it is you")
	o.Wait(`document.activeElement.name === "confirm_code"`)
	o.Keys(code() + kb.Enter)
	o.See("Copy it now")
	o.tabTo("I saved it")
	o.Keys(kb.Enter)
	o.See("Send emails")
}

func TestFocusComesBackFromDialogsAndMenus(t *testing.T) {
	t.Parallel()
	o := begin(t)
	o.open("/emails")
	o.tabTo("Search")
	o.Keys(kb.Enter)
	o.Wait(`document.activeElement.id === "palette-q"`)
	o.Keys(kb.Escape)
	o.Wait(`!document.getElementById("palette").open && document.activeElement.matches("[data-palette]")`)
	o.open("/emails")
	o.Eval(`document.querySelector(".ws").focus()`)
	o.Keys(kb.Enter)
	o.Wait(`document.getElementById("ws-menu").matches(":popover-open")`)
	o.tabTo("Your account")
	o.Keys(kb.Escape)
	o.Wait(`!document.getElementById("ws-menu").matches(":popover-open") && document.activeElement.matches(".ws")`)
	o.Keys("/")
	o.Wait(`document.activeElement.id === "q"`)
}

package dashboard

import (
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// unnamed lists what somebody who cannot see a page would not be told: what a control is for, the hint under it, what a table or a menu is
// about, and which page of the navigation is open.
const unnamed = `(() => {
	const out = [], here = (e) => e.outerHTML.slice(0, 120);
	const said = (e, name) => (e.getAttribute(name) ?? "").split(" ").map((id) => document.getElementById(id)?.textContent ?? "").join(" ").trim();
	const label = (e) => (e.getAttribute("aria-label") || said(e, "aria-labelledby") || e.labels?.[0]?.textContent || "").trim();
	for (const e of document.querySelectorAll("a[href], button, summary")) if (!label(e) && !e.textContent.trim()) out.push("no name: " + here(e));
	for (const e of document.querySelectorAll("input:not([type=hidden]), select, textarea, iframe:not([title]), [popover], dialog")) if (!label(e)) out.push("no label: " + here(e));
	for (const field of document.querySelectorAll(".field")) {
		const inputs = field.querySelectorAll("input:not([type=hidden], [type=checkbox]), select, textarea"), hint = field.querySelector(":scope > .hint, :scope > .wrong");
		if (hint && inputs.length === 1 && !said(inputs[0], "aria-describedby").includes(hint.textContent.trim())) out.push("hint of its own: " + here(inputs[0]));
	}
	for (const e of document.querySelectorAll("table")) if (!e.caption || !e.querySelector("th[scope]")) out.push("no heads: " + here(e));
	if (document.querySelectorAll(".side nav [aria-current=page]").length !== 1) out.push("no page of the navigation is open");
	return out.join("\n");
})()`

func TestEverythingOnAPageIsCalledSomething(t *testing.T) {
	t.Parallel()
	o := begin(t)
	for _, page := range append(o.furnish(), "/emails/new", "/broadcasts/new", "/templates/new", "/keys/new", "/domains/new", "/suppressions/new", "/customers/new",
		"/audience/import", "/audience/segments/new", "/inbox/forwarding", "/settings/connections", "/settings/audit", "/stats/deliverability") {
		o.open(page)
		if found := o.Eval(unnamed); found != "" {
			t.Errorf("%s:\n%s", page, found)
		}
	}
}

func TestTheMenuOfAPhoneTakesTheFocusAndGivesItBack(t *testing.T) {
	t.Parallel()
	o := begin(t)
	o.Resize(phone)
	o.open("/emails")
	o.tabTo("Menu")
	o.Keys(kb.Enter)
	o.Wait(`document.activeElement.closest("#side") && document.querySelector("[data-menu]").ariaExpanded === "true"`)
	o.tabTo("Overview")
	o.Keys(kb.Escape)
	o.Wait(`document.activeElement.matches("[data-menu][aria-expanded=false]") && !document.getElementById("side").checkVisibility()`)
	o.Resize(1440)
}

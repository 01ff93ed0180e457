// @ts-check
// The builder of automations. The server draws the tree and the forms; this posts the forms without leaving the page, keeps the focus
// where the work is, goes back and forth between changes, and lets arrows and Delete do what they say. Without it all still works.

const small = matchMedia("(max-width: 900px)"), stacked = matchMedia("(max-width: 1100px)");
let asList = sessionStorage.getItem("flow-list") === "1", zoom = Number(sessionStorage.getItem("flow-zoom") ?? 0);
/** The form about a step as the server has it. */
let stored = "", leaving = false;
/** How many forms wait for an answer. */
let running = 0;
/** Drafts before and after the one on the page. @type {string[]} */
const before = [], after = [];
let last = Promise.resolve();
let timer = 0;

/** @template {Element} [T=HTMLElement] @param {string} selector @returns {T | null} */
const one = (selector) => /** @type {T | null} */ (document.querySelector(selector));
const draft = () => /** @type {HTMLTextAreaElement | null} */ (one("#f-definition"))?.defaultValue ?? "";

/** Tells how the saving goes. @param {string} text */
function say(text) { const mark = one("[data-saved]"); if (mark) mark.textContent = text; }

/** Tells how the saving went; what was not saved is asked about before the page is left. @param {boolean} ok @param {string} text */
function ended(ok, text) {
  const form = one("#f-draft");
  if (form) form.dataset.unsaved = ok ? "" : "changed";
  say(text);
}

/** Makes what has just been drawn work. */
function dress() {
  const tools = one(".ftools"), list = one("[data-view]"), area = one(".fcanvas"), narrow = asList || small.matches;
  area?.classList.toggle("aslist", narrow);
  scale(area, sessionStorage.getItem("flow-zoom") === null ? fitting(area) : zoom);
  if (!tools) return;
  tools.hidden = false;
  for (const [name, pile] of /** @type {[string, string[]][]} */ ([["[data-undo]", before], ["[data-redo]", after]])) {
    const button = /** @type {HTMLButtonElement | null} */ (one(name));
    if (button) button.disabled = pile.length === 0;
  }
  list?.setAttribute("aria-pressed", String(asList));
  if (list) list.hidden = small.matches;
  for (const button of /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll("[data-zoom]"))) {
    button.hidden = narrow;
    button.disabled = zoom === (button.dataset.zoom === "1" ? 0 : 3);
  }
}

/** Draws the tree in one of four sizes. @param {HTMLElement | null} area @param {number} size */
function scale(area, size) {
  zoom = size;
  for (const level of [1, 2, 3]) area?.classList.toggle(`z${level}`, level === size);
}

/** The largest size, but not the smallest, in which the tree can be seen whole. @param {HTMLElement | null} area */
function fitting(area) {
  scale(area, 0);
  const tree = area?.querySelector(".flow"), room = area?.querySelector(".fscroll");
  if (!tree || !room) return 0;
  const share = (room.clientWidth - 48) / tree.getBoundingClientRect().width;
  return share >= 1 ? 0 : share >= 0.85 ? 1 : 2;
}

/** @param {FormData} data */
const written = (data) => new URLSearchParams(/** @type {any} */ (data)).toString();
const stepForm = () => /** @type {HTMLFormElement | null} */ (one("#f-step"));
/** Notes that the form about a step is as the server has it. */
function note() { const form = stepForm(); stored = form ? written(new FormData(form)) : ""; }

/** Puts the answer of the server in place of what is there. @param {Document} page @param {string[]} ids */
function swap(page, ids) {
  const tree = one("#tree"), scroll = [tree?.scrollLeft ?? 0, tree?.scrollTop ?? 0];
  for (const id of ids) {
    const old = document.getElementById(id), fresh = page.getElementById(id);
    if (old && fresh) old.replaceWith(document.adoptNode(fresh));
  }
  document.querySelector("p.notice")?.remove();
  const notice = page.querySelector("p.notice");
  if (notice) one("#main")?.prepend(document.adoptNode(notice));
  dress();
  one("#tree")?.scrollTo(scroll[0], scroll[1]);
}

/** Submits a form and shows the answer. Forms are posted one after the other.
 * @param {HTMLFormElement} form @param {FormData} data @param {{quiet?: boolean, redraw?: boolean, history?: boolean}} how */
function submit(form, data, how = {}) {
  const url = new URL(form.action), post = form.method === "post", was = draft();
  if (!post) url.search = new URLSearchParams(/** @type {any} */ (data)).toString();
  const saves = post && form.id !== "f-go" && form.id !== "f-check";
  if (saves) say("Saving");
  running++;
  last = last.then(async () => {
    const body = post ? written(data) : undefined, headers = { "Content-Type": "application/x-www-form-urlencoded" };
    // Browsers finish a request with keepalive when the page is gone, if it is short.
    const response = await fetch(url, { method: post ? "POST" : "GET", body, headers, keepalive: (body?.length ?? 0) < 60_000 });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const builder = page.getElementById("builder");
    if (!builder || new URL(response.url).pathname === "/signin") { leave(response, page); return; }
    const focused = document.activeElement?.id ?? "";
    if (how.quiet && response.ok && !how.redraw) swap(page, ["head", "tree", "checks"]);
    else { swap(page, how.quiet ? ["head", "tree", "checks", "inspector"] : ["builder"]); note(); }
    const text = /** @type {HTMLTextAreaElement | null} */ (page.getElementById("f-definition") ?? one("#f-definition"));
    remember(was, how.quiet ? takeDraft(text) : draft(), how.history ?? false);
    if (response.ok) history.replaceState(null, "", response.url);
    if (saves) ended(response.ok, response.ok ? "Saved" : "Not saved");
    const goal = how.quiet ? document.getElementById(focused) : document.getElementById(one("#builder")?.dataset.focus ?? "") ?? one("#tree");
    goal?.focus({ preventScroll: true });
    if (how.quiet) return;
    if (stacked.matches) one("#inspector")?.scrollIntoView();
    else goal?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }).catch(() => {
    const text = "Not saved: the server could not be reached";
    if (saves) ended(false, text); else say(text);
  }).finally(() => { running--; });
  return last;
}

/** Keeps the draft that the server has now in the form that holds it. @param {HTMLTextAreaElement | null} text */
function takeDraft(text) {
  const ours = /** @type {HTMLTextAreaElement | null} */ (one("#f-definition"));
  if (ours && text) ours.defaultValue = ours.value = text.defaultValue;
  return ours?.defaultValue ?? "";
}

/** Shows an answer that is another page. @param {Response} response @param {Document} page */
function leave(response, page) {
  const main = page.getElementById("main");
  if (response.ok || !main) location.assign(response.url);
  else one("#main")?.replaceWith(document.adoptNode(main));
}

/** Remembers a draft that has become another. @param {string} was @param {string} now @param {boolean} travelled */
function remember(was, now, travelled) {
  if (was !== now && !travelled) { before.push(was); after.length = 0; }
  dress();
}

/** Goes to an earlier or a later draft. @param {string[]} from @param {string[]} to */
function travel(from, to) {
  const form = /** @type {HTMLFormElement | null} */ (one("#f-draft")), goal = from.pop();
  if (!form || goal === undefined) return;
  to.push(draft());
  const data = new FormData();
  data.set("definition", goal);
  data.set("quiet", "1");
  data.set("step", /** @type {HTMLInputElement | null} */ (one("#f-step [name=key]"))?.value ?? "");
  submit(form, data, { history: true });
}

/** Saves the form about a step, soon. @param {boolean} redraw */
function saveSoon(redraw) {
  clearTimeout(timer);
  timer = window.setTimeout(() => saveStep(redraw), redraw ? 0 : 250);
}

/** Saves the form about a step, if there is something to save. @param {boolean} redraw */
function saveStep(redraw) {
  const form = stepForm();
  if (!form || !one("#f-step footer")) return false;
  const data = new FormData(form);
  if (written(data) === stored) return false;
  stored = written(data);
  submit(form, data, { quiet: true, redraw });
  return true;
}

// What was typed last is sent on the way out. Behind a form that still waits for its answer it would come too late.
window.addEventListener("beforeunload", (event) => {
  clearTimeout(timer);
  const waits = running > 0;
  if (saveStep(false) && waits) event.preventDefault();
});

/** Submits a form that leads away, or the one that was drawn in its place. @param {HTMLFormElement} form */
function go(form) {
  const now = form.isConnected ? form : /** @type {HTMLFormElement | null} */ (one(`#head form[action="${form.getAttribute("action")}"]`));
  leaving = true;
  now?.requestSubmit(now.querySelector("button"));
}

document.addEventListener("submit", (event) => {
  const form = /** @type {HTMLFormElement} */ (event.target);
  if (!form.closest("#builder") || leaving) return;
  event.preventDefault();
  clearTimeout(timer);
  if (form.id !== "f-step") saveStep(false); // what was just typed comes first
  if (form.closest(".acts")) last.then(() => go(form));
  else submit(form, new FormData(form, /** @type {HTMLElement | null} */ (event.submitter)));
});

document.addEventListener("change", (event) => {
  const input = /** @type {HTMLElement} */ (event.target);
  if (input.closest("#f-step")) saveSoon(input.hasAttribute("data-redraw"));
});

document.addEventListener("click", (event) => {
  const target = /** @type {Element} */ (event.target);
  if (target.closest("[data-undo]")) travel(before, after);
  if (target.closest("[data-redo]")) travel(after, before);
  const sized = target.closest("[data-zoom]");
  if (sized) { zoom = Math.max(0, Math.min(3, zoom - Number(sized.getAttribute("data-zoom")))); sessionStorage.setItem("flow-zoom", String(zoom)); dress(); }
  if (target.closest("[data-view]")) { asList = !asList; sessionStorage.setItem("flow-list", asList ? "1" : "0"); dress(); }
});

/** The step above, below or beside another. @param {Element} node @param {string} key */
function neighbour(node, key) {
  const all = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("#tree .node")]), at = all.indexOf(/** @type {HTMLElement} */ (node));
  if (key === "ArrowDown" || key === "ArrowUp") {
    const way = node.closest(".fway"), down = key === "ArrowDown";
    const next = all[at + (down ? 1 : -1)];
    const other = next?.closest(".fway");
    if (!way || !other || other === way || way.contains(other) || other.contains(way)) return next;
    // The next step in the list stands in the way beside: go to the step after the ways, or before them.
    const fork = way.closest(".ffork"), steps = fork ? all.filter((step) => !fork.contains(step)) : [];
    return down ? steps.find((step) => all.indexOf(step) > at) : steps.reverse().find((step) => all.indexOf(step) < at);
  }
  const way = node.closest(".fway"), beside = key === "ArrowRight" ? way?.nextElementSibling : way?.previousElementSibling;
  return /** @type {HTMLElement | null | undefined} */ (beside?.querySelector(".node, .add"));
}

document.addEventListener("keydown", (event) => {
  const target = /** @type {HTMLElement} */ (event.target), typing = target.closest("input, textarea, select");
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z" && !typing) {
    event.preventDefault();
    if (event.shiftKey) travel(after, before); else travel(before, after);
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || typing) return;
  const node = target.closest("#tree .node");
  if (!node) return;
  if (event.key.startsWith("Arrow")) { const next = neighbour(node, event.key); if (next) { event.preventDefault(); next.focus(); } }
  const form = /** @type {HTMLFormElement | null} */ (one("#f-remove"));
  if ((event.key === "Delete" || event.key === "Backspace") && form && one(".add")) {
    event.preventDefault();
    const data = new FormData(form);
    data.set("key", node.getAttribute("value") ?? "");
    submit(form, data);
  }
});

small.addEventListener("change", dress);
dress();
note();

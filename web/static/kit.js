// @ts-check
// Small helps for pages that work without them. Attributes only ever make GET requests of this site; changes are real forms.

/** Reads a page of this site; fails where the server could not answer. @param {string} url @param {AbortSignal} [signal] */
async function read(url, signal) {
  const response = await fetch(url, { signal, headers: { "X-Requested-By": "kit" } });
  if (response.redirected && new URL(response.url).pathname === "/signin") location.assign(response.url);
  if (response.status === 429 || response.status >= 500) throw new Error(`The server answered ${response.status}.`);
  return new DOMParser().parseFromString(await response.text(), "text/html");
}

/** The controls of an element, each by what tells it from the others on every drawing of the page. @param {Element} part */
function controls(part) {
  const found = /** @type {Map<string, any>} */ (new Map());
  for (const control of /** @type {NodeListOf<any>} */ (part.querySelectorAll("input:not([type=hidden]), textarea, select"))) {
    const form = [control.form?.getAttribute("action"), ...[...control.form?.querySelectorAll("input[type=hidden]") ?? []].map((one) => one.value)];
    found.set([...form, control.name, /^(checkbox|radio)$/.test(control.type) ? control.value : ""].join("\n"), control);
  }
  return found;
}

/** Takes what was typed or chosen in a part over to a newer drawing of it. @param {Element} old @param {Element} fresh */
function keepTyped(old, fresh) {
  const now = controls(fresh);
  for (const [key, was] of controls(old)) {
    const is = now.get(key);
    if (!is || is.tagName !== was.tagName || is.type !== was.type) continue;
    if (was.tagName === "SELECT") {
      const drawn = [...was.options].findIndex((option) => option.defaultSelected), at = [...is.options].findIndex((option) => option.value === was.value);
      if (was.selectedIndex !== Math.max(drawn, 0) && at >= 0) is.selectedIndex = at;
    } else if (was.checked !== was.defaultChecked) is.checked = was.checked;
    else if (was.value !== was.defaultValue && was.type !== "file") is.value = was.value;
  }
}

/** Puts the element of another page in the place of ours with the same id. @param {Document} page @param {string} id */
function replace(page, id) {
  const old = document.getElementById(id), fresh = page.getElementById(id);
  if (!old || !fresh || old.contains(document.activeElement) && document.activeElement?.matches("input, textarea, select")) return;
  const opened = [...old.querySelectorAll("details[open]")].map((one) => one.textContent); // by the reader, who goes on reading
  for (const one of fresh.querySelectorAll("details")) if (opened.includes(one.textContent)) one.open = true;
  if (old.innerHTML === fresh.innerHTML) return;
  keepTyped(old, fresh);
  old.replaceWith(document.adoptNode(fresh));
}

// Forms with data-filter="id" show their result as you type; the address follows, so that it can be shared.
for (const form of /** @type {NodeListOf<HTMLFormElement>} */ (document.querySelectorAll("form[data-filter]"))) {
  let timer = 0, running = new AbortController();
  const run = () => {
    running.abort();
    running = new AbortController();
    const url = new URL(form.action), values = new FormData(form);
    for (const [name, value] of values) if (value) url.searchParams.append(name, String(value));
    history.replaceState(null, "", url);
    const id = form.dataset.filter ?? "";
    read(url.href, running.signal).then((page) => {
      if (!page.getElementById(id)) { location.assign(url); return; } // it says why
      replace(page, id);
      const shown = document.querySelectorAll(`#${id} tbody tr`).length;
      spoken.textContent = shown ? `${shown} shown` : "Nothing matches";
    }, () => {});
  };
  form.addEventListener("input", () => { clearTimeout(timer); timer = window.setTimeout(run, 200); });
  form.addEventListener("submit", (event) => { event.preventDefault(); clearTimeout(timer); run(); });
}

// Links with data-more="id" add the rows of the next page to the element with that id.
document.addEventListener("click", async (event) => {
  const link = /** @type {Element} */ (event.target).closest?.("a[data-more]");
  if (!(link instanceof HTMLAnchorElement) || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  if (link.dataset.asked) return; // pressed twice
  link.dataset.asked = "yes";
  const id = link.dataset.more ?? "", page = await read(link.href).catch(() => null), more = page?.getElementById(id);
  if (!link.isConnected) return; // the list is another one by now
  if (!page || !more) { location.assign(link.href); return; } // which says what is wrong
  const first = more.querySelector("a");
  document.getElementById(id)?.append(...document.adoptNode(more).children);
  replace(page, "more");
  first?.focus();
});

// Elements with data-live are read again when something happens in the workspace; with data-live="id", when it happens to that.
const lively = document.querySelector("[data-live], [data-news]");
if (lively) {
  let stream = /** @type {EventSource | null} */ (null), timer = 0, news = 0, reading = false, again = 0, last = 0, later = /** @type {number[]} */ ([]);
  // One reading at a time: where the server takes longer than the next event, a steady stream would else never let it answer.
  const refresh = async () => {
    if (reading) { again = 500; return; }
    const url = location.href;
    reading = true;
    again = 0;
    try {
      const page = await read(url);
      if (location.href !== url) again = 500; // the filter was changed meanwhile; this is the answer to the one before
      else for (const element of document.querySelectorAll("[data-live]")) replace(page, element.id);
    } catch {
      again = 2000; // no further event may come to make up for it
    }
    reading = false;
    last = Date.now();
    if (again) soon(again);
  };
  const soon = (/** @type {number} */ wait) => { if (!timer) timer = window.setTimeout(() => { timer = 0; refresh(); }, wait); };
  const bars = () => /** @type {HTMLElement[]} */ ([...document.querySelectorAll("[data-news]")]);
  const tell = (/** @type {HTMLElement} */ bar) => {
    bar.hidden = false;
    bar.textContent = news === 1 ? "1 new. Show it" : `${news} new. Show them`;
  };
  const rows = (/** @type {Document} */ page) => [...page.querySelectorAll("#results tbody tr")].map((row) => row.querySelector("a[href]")?.getAttribute("href"));
  // What came before we listened, while the page was on its way or out of sight, is in the list as it is now and not in ours.
  const missed = async () => {
    const url = location.href, page = await read(url).catch(() => null), shown = new Set(rows(document));
    if (!page || location.href !== url) return;
    const more = rows(page).filter((row) => !shown.has(row)).length;
    if (more <= news) return;
    news = more;
    bars().forEach(tell);
  };
  const heard = (/** @type {MessageEvent} */ event) => {
    for (const bar of bars()) {
      if (!bar.dataset.news?.split(" ").some((type) => event.data.includes(`"${type}"`))) continue;
      news++;
      tell(bar);
    }
    const wanted = [...document.querySelectorAll("[data-live]")].some((element) => event.data.includes(element.getAttribute("data-live") ?? ""));
    if (!wanted) return;
    soon(Date.now() - last < 1000 ? 1000 : 250); // a steady stream must not put it off, nor ask without end
    later.forEach(clearTimeout); // what follows from an event, such as a webhook or a count, is written a moment after it
    later = [2000, 10000].map((wait) => window.setTimeout(refresh, wait));
  };
  const state = (/** @type {boolean} */ on) => { for (const mark of document.querySelectorAll("[data-live-state]")) mark.toggleAttribute("data-off", !on); };
  const open = () => {
    stream?.close();
    stream = new EventSource("/v1/events/stream");
    stream.onopen = () => {
      state(true);
      if (document.querySelector("[data-live]")) refresh(); // what happened before we listened
      if (bars().length) missed();
    };
    stream.onerror = () => {
      state(false);
      if (stream?.readyState === EventSource.CLOSED) setTimeout(() => { if (!document.hidden) open(); }, 5000); // refused, after which browsers do not try again
    };
    stream.onmessage = heard;
    for (const type of (document.body.dataset.events ?? "").split(" ")) if (type) stream.addEventListener(type, heard);
  };
  document.addEventListener("visibilitychange", () => { if (document.hidden) stream?.close(); else open(); });
  window.addEventListener("pagehide", () => stream?.close());
  if (!document.hidden) open();
}

// Where a row of tabs does not fit, the one that is open is in sight.
for (const open of document.querySelectorAll(".tabs [aria-current], .chapters [aria-current]")) {
  const row = open.closest("ul, nav");
  row?.scrollBy(open.getBoundingClientRect().right - row.getBoundingClientRect().right, 0);
}

const spoken = Object.assign(document.createElement("div"), { className: "sr", role: "status" });
document.body.append(spoken);

document.addEventListener("click", (event) => {
  const target = /** @type {Element} */ (event.target), copy = target.closest?.("[data-copy]");
  if (copy) navigator.clipboard.writeText(copy.getAttribute("data-copy") ?? "").then(() => { spoken.textContent = "Copied"; });
  if (target.closest?.("[data-theme-toggle]")) toggleTheme();
  if (target.closest?.("[data-palette]")) openPalette();
  if (target.closest?.("[data-menu]")) showMenu(!side?.classList.contains("open"));
});

// On small screens the navigation lies over the page. It stands before its button, so the focus is taken there and back.
const side = document.getElementById("side");
/** @param {boolean} open */
function showMenu(open) {
  const button = /** @type {HTMLElement | null} */ (document.querySelector("[data-menu]"));
  side?.classList.toggle("open", open);
  button?.setAttribute("aria-expanded", String(open));
  (open ? /** @type {HTMLElement | null | undefined} */ (side?.querySelector("a, button")) : button)?.focus();
}
document.addEventListener("focusin", (event) => {
  if (side?.classList.contains("open") && /** @type {Element} */ (event.target).closest("main")) showMenu(false);
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && side?.classList.contains("open") && !side.querySelector(":popover-open")) showMenu(false);
});

function toggleTheme() {
  const root = document.documentElement, now = root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  root.dataset.theme = now === "dark" ? "light" : "dark";
  document.cookie = `theme=${root.dataset.theme};path=/;max-age=31536000;samesite=lax`;
}

// The palette offers the pages of the navigation and what people often begin, and asks the server about everything else.
const palette = /** @type {HTMLDialogElement | null} */ (document.getElementById("palette"));
function openPalette() {
  if (!palette || palette.open) return;
  palette.showModal();
  suggest("");
}

/** @param {string} words */
function suggest(words) {
  const list = document.getElementById("palette-list");
  const more = /** @type {HTMLTemplateElement | null} */ (document.getElementById("palette-more"))?.content.querySelectorAll("a") ?? [];
  const pages = [...document.querySelectorAll(".side nav a"), ...more].filter((a) => a.textContent?.toLowerCase().includes(words.toLowerCase()));
  list?.replaceChildren(...pages.map((a) => { const item = document.createElement("li"); item.append(a.cloneNode(true)); return item; }));
}

palette?.querySelector("input")?.addEventListener("input", (event) => suggest(/** @type {HTMLInputElement} */ (event.target).value));
palette?.querySelector("form")?.addEventListener("submit", (event) => {
  const first = /** @type {HTMLAnchorElement | null} */ (palette.querySelector("li a"));
  if (first) { event.preventDefault(); location.assign(first.href); }
});
palette?.addEventListener("click", (event) => { if (event.target === palette) palette.close(); });

// Keys: Ctrl K searches; j and k walk through the rows of a list.
document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") { event.preventDefault(); openPalette(); return; }
  const typing = /** @type {Element} */ (event.target).closest?.("input, textarea, select, [contenteditable], dialog");
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/") { const search = /** @type {HTMLElement | null} */ (document.querySelector("main input[type=search]")); if (search) { event.preventDefault(); search.focus(); } }
  if (event.key !== "j" && event.key !== "k") return;
  const links = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("[data-rows] tbody tr")].map((row) => row.querySelector("a")).filter(Boolean));
  const at = links.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  links[Math.max(0, Math.min(links.length - 1, at + (event.key === "j" ? 1 : -1)))]?.focus();
});

// A chart says under it what the pointer is on. Charts come and go with the parts of pages, so the document listens.
let tip = /** @type {Element | null | undefined} */ (null);
document.addEventListener("pointerover", (event) => {
  const target = /** @type {Element} */ (event.target), mine = target.closest?.("svg.chart")?.parentElement?.querySelector(".tip");
  if (tip && tip !== mine) tip.textContent = "";
  tip = mine;
  if (tip) tip.textContent = target.closest(".col")?.getAttribute("data-tip") ?? "";
});

// @ts-check
// Forms with data-redraw="ids" let the server draw these parts anew, without saving: when a button named "do" is pressed, and when a
// control with data-redraw changes, which may name the parts itself. Without this script the same buttons reload the page.

/** @typedef {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} Control */

/** The controls of an element that can be told from each other. @param {Element} part @returns {Control[]} */
const controls = (part) => [...part.querySelectorAll("input[id], textarea[id], select[id]")].map((control) => /** @type {Control} */ (control));

/** Puts a fresh part in the place of an old one. What was typed since the question was asked stays. @param {Element} old @param {Element} fresh @param {Map<string, string>} asked */
function swap(old, fresh, asked) {
  const typed = controls(old).filter((control) => asked.has(control.id) && asked.get(control.id) !== control.value);
  const active = document.activeElement, inside = active && old.contains(active) ? active.id : "";
  const place = active instanceof HTMLInputElement && active.type === "text" ? active.selectionStart : null;
  old.replaceWith(document.adoptNode(fresh));
  for (const was of typed) {
    const now = /** @type {Control | null} */ (document.getElementById(was.id));
    if (now?.tagName === was.tagName) now.value = was.value;
  }
  const next = fresh.querySelector("[autofocus]") ?? (inside ? document.getElementById(inside) : null);
  if (next instanceof HTMLElement) next.focus();
  if (place !== null && next instanceof HTMLInputElement && next.type === "text") next.setSelectionRange(place, place);
}

for (const form of /** @type {NodeListOf<HTMLFormElement>} */ (document.querySelectorAll("form[data-redraw]"))) {
  let running = new AbortController(), pressed = Promise.resolve();
  /** What is to be drawn anew, also for questions that were given up for a newer one. @type {Set<string>} */
  const owed = new Set();

  /** @param {HTMLElement | null} button @param {string} parts */
  const redraw = async (button, parts) => {
    running.abort();
    running = new AbortController();
    for (const id of parts.split(" ")) owed.add(id);
    if ("unsaved" in form.dataset) form.dataset.unsaved = "changed"; // the parts that come back look as if they had always been so
    const values = new URLSearchParams(/** @type {any} */ (new FormData(form, button)));
    if (!button) values.set("do", "redraw");
    const asked = new Map(controls(form).map((control) => [control.id, control.value]));
    const response = await fetch(form.action, { method: "POST", body: values, signal: running.signal, headers: { "X-Requested-By": "kit" } });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    for (const id of owed) {
      const old = document.getElementById(id), fresh = page.getElementById(id);
      if (old && fresh) swap(old, fresh, asked);
    }
    owed.clear();
  };
  const quietly = (/** @type {Promise<void>} */ done) => done.catch(() => {}); // a newer wish, or a server that is away: the form still works

  form.addEventListener("submit", (event) => {
    const button = event.submitter;
    if (!(button instanceof HTMLButtonElement) || button.name !== "do") return;
    event.preventDefault();
    pressed = quietly(redraw(button, form.dataset.redraw ?? ""));
  });
  form.addEventListener("change", async (event) => {
    const control = /** @type {HTMLElement} */ (event.target);
    if (!control.matches("[data-redraw]")) return;
    for (let press; press !== pressed; ) await (press = pressed); // a button that was pressed does what it says first
    quietly(redraw(null, control.dataset.redraw || form.dataset.redraw || ""));
  });
}

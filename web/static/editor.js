// @ts-check
// The template editor: CodeMirror over the fields of the form, and a preview that follows what is typed. Without this file the
// page is a form with text fields, and "Update preview" shows the mail.

const form = /** @type {HTMLFormElement} */ (document.querySelector("form[data-editor]"));
const stage = /** @type {HTMLElement} */ (document.getElementById("stage"));
/** The editors, by the name of their field. @type {Map<string, any>} */
const views = new Map();
const kept = `samples:${form.dataset.editor}`;

// Sample values are not part of a template. They stay as long as the tab is open.
const samples = /** @type {HTMLTextAreaElement} */ (form.elements.namedItem("samples"));
const earlier = sessionStorage.getItem(kept);
const restored = earlier !== null && earlier !== samples.value;
if (restored && earlier !== null) samples.value = earlier;

// Who types waits for nobody: the preview is asked for 150 ms after the last key, and an answer that comes too late is dropped.
let timer = 0, running = new AbortController();
form.addEventListener("input", () => { sessionStorage.setItem(kept, samples.value); later(150); });
/** @param {number} wait */
function later(wait) { clearTimeout(timer); timer = window.setTimeout(check, wait); }

async function check() {
  running.abort();
  running = new AbortController();
  const body = new URLSearchParams();
  for (const [name, value] of new FormData(form)) body.append(name, String(value));
  let response, text;
  try {
    response = await fetch(form.dataset.check ?? "", { method: "POST", body, signal: running.signal });
    text = await response.text();
  } catch { return; }
  if (response.status === 429) return later(1000 * Number(response.headers.get("Retry-After") ?? 1) || 1000);
  const page = new DOMParser().parseFromString(text, "text/html");
  const rendered = page.getElementById("rendered");
  if (!(rendered instanceof HTMLFormElement)) return;
  const broken = "broken" in rendered.dataset;
  for (const id of broken ? ["checks"] : ["checks", "headline", "rendered-text"]) take(page, id);
  stage.classList.toggle("stale", broken); // the last mail that could be made stays, paler
  mark();
  if (!broken) show(rendered);
}

/** Puts a part of the report into this page. @param {Document} page @param {string} id */
function take(page, id) {
  const old = document.getElementById(id), fresh = page.getElementById(id);
  if (old && fresh && old.innerHTML !== fresh.innerHTML) old.replaceChildren(...document.adoptNode(fresh).childNodes);
}

// A mail is shown by posting it into a frame, so that the frame gets the rules of that answer and none of ours. The new frame takes
// the place of the old one when it has loaded. A frame is used once: its first page leaves nothing in the history of the tab.
let shown = 0;
/** @param {HTMLFormElement} rendered */
function show(rendered) {
  for (const waiting of stage.querySelectorAll("iframe[data-coming]")) waiting.remove();
  const frame = /** @type {HTMLIFrameElement} */ (stage.querySelector("iframe")?.cloneNode());
  frame.name = `preview-${++shown}`;
  frame.removeAttribute("src");
  frame.dataset.coming = "";
  stage.append(frame);
  const posted = document.adoptNode(rendered);
  posted.target = frame.name;
  posted.hidden = true;
  document.body.append(posted);
  frame.addEventListener("load", () => {
    if (!frame.isConnected) return;
    for (const old of stage.querySelectorAll("iframe")) if (old !== frame) old.remove();
    delete frame.dataset.coming;
  }, { once: true });
  posted.submit();
  posted.remove();
}

// Groups of buttons of which one is pressed.
for (const group of /** @type {NodeListOf<HTMLElement>} */ (form.querySelectorAll("[data-show]"))) {
  group.hidden = false;
  group.addEventListener("click", (event) => {
    const chosen = /** @type {Element} */ (event.target).closest("button");
    if (!chosen) return;
    for (const button of group.querySelectorAll("button")) button.setAttribute("aria-pressed", String(button === chosen));
    if (group.dataset.show === "part") part(chosen.value); else look(chosen.value);
  });
}

/** @param {string} name */
function part(name) {
  for (const box of /** @type {NodeListOf<HTMLElement>} */ (form.querySelectorAll(".source"))) {
    if (box.dataset.part !== "samples") box.hidden = box.dataset.part !== name;
  }
  views.get(name)?.requestMeasure();
}

/** @param {string} how */
function look(how) {
  stage.classList.toggle("phone", how === "phone");
  stage.hidden = how === "text";
  const text = document.getElementById("text-view");
  if (text) text.hidden = how !== "text";
}
part("html");

form.addEventListener("keydown", (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "s") return;
  event.preventDefault();
  form.requestSubmit(form.querySelector("button[value=save]"));
});

/** What a part says is wrong is marked at its line. */
let marks = (/** @type {string} */ _name, /** @type {any[]} */ _wrong) => {};
function mark() {
  const lines = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("#checks [data-line]")]);
  for (const name of views.keys()) marks(name, lines.filter((line) => line.dataset.part === name));
}

/** Who types over a selection has it replaced by us: browsers keep its look with inline styles, which the content policy refuses.
 * @param {InputEvent} event @param {any} editor */
function replaceSelection(event, editor) {
  if (event.inputType !== "insertText" || !event.data || editor.composing || editor.state.selection.main.empty) return false;
  event.preventDefault();
  editor.dispatch(editor.state.update(editor.state.replaceSelection(event.data), { userEvent: "input.type", scrollIntoView: true }));
  return true;
}

/** Puts CodeMirror over the fields. @param {any} cm */
function dress(cm) {
  const view = cm.EditorView;
  const look = view.theme({
    "&": { height: "460px", fontSize: "12.5px", color: "var(--text)", backgroundColor: "var(--surface)" },
    "&.cm-focused": { outline: "none" },
    "&.cm-focused::after": { content: '""', position: "absolute", inset: "0", border: "2px solid var(--accent)", borderRadius: "4px", pointerEvents: "none", zIndex: "300" },
    ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6" },
    ".cm-content": { caretColor: "var(--text)" },
    ".cm-cursor": { borderLeftColor: "var(--text)" },
    ".cm-gutters": { backgroundColor: "var(--sunken)", color: "var(--text-3)", border: "0" },
    ".cm-activeLine": { backgroundColor: "color-mix(in oklab, var(--text) 4%, transparent)" },
    ".cm-activeLineGutter": { backgroundColor: "color-mix(in oklab, var(--text) 8%, transparent)", color: "var(--text-2)" },
    "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "color-mix(in oklab, var(--accent) 24%, transparent)" },
    "&.cm-focused .cm-matchingBracket": { backgroundColor: "color-mix(in oklab, var(--accent) 22%, transparent)" },
    ".cm-tooltip": { backgroundColor: "var(--surface)", color: "var(--text)", border: "1px solid var(--line)" },
    ".cm-value": { color: "light-dark(#855600, #f2c55c)", fontWeight: "600" },
  });
  const tags = cm.tags;
  const colours = cm.HighlightStyle.define([
    { tag: [tags.tagName, tags.propertyName], color: "light-dark(#1d5fc4, #8fbcff)" },
    { tag: [tags.attributeName, tags.keyword], color: "light-dark(#6d3fc0, #c3a6f7)" },
    { tag: [tags.attributeValue, tags.string], color: "light-dark(#12703a, #67d98f)" },
    { tag: [tags.number, tags.bool, tags.null], color: "light-dark(#a83a0b, #ffab80)" },
    { tag: [tags.comment, tags.angleBracket, tags.documentMeta, tags.punctuation], color: "var(--text-3)" },
  ]);
  const finder = new cm.MatchDecorator({ regexp: /\{\{\{?[^{}]*\}?\}\}/g, decoration: cm.Decoration.mark({ class: "cm-value" }) });
  const values = cm.ViewPlugin.define((/** @type {any} */ v) => ({
    decorations: finder.createDeco(v),
    update(/** @type {any} */ change) { this.decorations = finder.updateDeco(change, this.decorations); },
  }), { decorations: (/** @type {any} */ v) => v.decorations });

  for (const field of /** @type {NodeListOf<HTMLTextAreaElement>} */ (form.querySelectorAll("textarea[data-language]"))) {
    const host = document.createElement("div");
    host.className = "cm-host";
    const root = host.attachShadow({ mode: "open" }); // its styles are adopted there, which the content policy allows
    const language = field.dataset.language === "html" ? cm.html({ autoCloseTags: false }) : field.dataset.language === "json" ? cm.json() : [];
    const lower = field.name === "samples" ? view.theme({ "&": { height: "190px" } }) : [];
    field.hidden = true;
    field.after(host);
    views.set(field.name, new view({
      root, parent: root,
      state: cm.EditorState.create({
        doc: field.value,
        extensions: [
          cm.lineNumbers(), cm.highlightActiveLine(), cm.highlightActiveLineGutter(), cm.drawSelection(), cm.history(), cm.bracketMatching(),
          cm.closeBrackets(), cm.indentOnInput(), cm.lintGutter(), language, values, cm.syntaxHighlighting(colours), lower, look,
          field.dataset.language === "json" ? [] : view.lineWrapping,
          cm.keymap.of([...cm.closeBracketsKeymap, ...cm.defaultKeymap, ...cm.historyKeymap, cm.indentWithTab]),
          view.contentAttributes.of({ "aria-label": field.labels?.[0]?.textContent ?? field.name, spellcheck: "false", tabindex: "0" }),
          view.domEventHandlers({ beforeinput: replaceSelection }),
          view.updateListener.of((/** @type {any} */ change) => {
            if (!change.docChanged) return;
            field.value = change.state.doc.toString();
            field.dispatchEvent(new Event("input", { bubbles: true }));
          }),
        ],
      }),
    }));
  }
  for (const hint of /** @type {NodeListOf<HTMLElement>} */ (form.querySelectorAll("[data-keys]"))) hint.hidden = false;
  marks = (name, wrong) => {
    const editor = views.get(name), text = editor.state.doc;
    editor.dispatch(cm.setDiagnostics(editor.state, wrong.map((line) => {
      const at = text.line(Math.min(Math.max(1, Number(line.dataset.line)), text.lines));
      const from = Math.min(at.from + Number(line.dataset.column) - 1, at.to);
      return { from, to: Math.max(from, at.to), severity: "error", message: line.textContent ?? "" };
    })));
  };
  mark();
  if (restored) check();
}

// On a phone the plain fields stay: its own keyboard suits them better, and CodeMirror would keep its processor busy for a second.
if (!matchMedia("(pointer: coarse) and (max-width: 900px)").matches) import(form.dataset.codemirror ?? "").then(dress);
else if (restored) check();

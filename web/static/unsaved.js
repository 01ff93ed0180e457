// @ts-check
// The browser asks before a page is left whose forms with data-unsaved hold what nobody has saved: something typed or chosen since the
// page was drawn, or, with data-unsaved="changed", what was drawn or refused that way. What stands in data-loose is part of no record.

/** Tells whether a control says something else than the page did. @param {any} control */
function touched(control) {
  if (control.closest("[data-loose]")) return false;
  if (control.type === "checkbox" || control.type === "radio") return control.checked !== control.defaultChecked;
  if (!(control instanceof HTMLSelectElement)) return control.value !== control.defaultValue && control.defaultValue !== undefined;
  const drawn = [...control.options].findIndex((option) => option.defaultSelected);
  return control.selectedIndex !== Math.max(drawn, 0);
}

/** The form that leaves the page with what it holds. @type {EventTarget | null} */
let sent = null;
document.addEventListener("submit", (event) => { if (!event.defaultPrevented) sent = event.target; });

window.addEventListener("beforeunload", (event) => {
  const forms = /** @type {HTMLFormElement[]} */ ([...document.querySelectorAll("form[data-unsaved]")]);
  if (forms.some((form) => form !== sent && (form.dataset.unsaved || [...form.elements].some(touched)))) event.preventDefault();
});

// @ts-check
// Passkeys: the buttons appear where the browser can use them, and the answers of the device go to the API as they are.

const area = /** @type {HTMLElement | null} */ (document.querySelector("[data-passkey]"));
const able = typeof PublicKeyCredential === "function" && "parseRequestOptionsFromJSON" in PublicKeyCredential && !/^[\d.]+$|^\[/.test(location.hostname);

/** Asks the API. @param {string} path @param {unknown} body */
async function ask(path, body) {
  const headers = { "Content-Type": "application/json", "X-CSRF-Token": area?.dataset.csrf ?? "" };
  const response = await fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
  const answer = await response.json();
  if (!response.ok) throw Object.assign(new Error(answer.error?.message ?? "That did not work."), { code: answer.error?.code });
  return answer;
}

async function add() {
  const name = /** @type {HTMLInputElement} */ (area?.querySelector("[name=passkey_name]")).value || "Passkey";
  const { ceremony, options } = await ask("/account/passkeys/begin", {});
  const credential = /** @type {PublicKeyCredential} */ (await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options.publicKey) }));
  await ask("/account/passkeys", { ceremony, name, response: credential.toJSON() });
  location.reload();
}

/** @param {string} path */
async function prove(path) {
  const { ceremony, options } = await ask("/auth/passkey/begin", {});
  const credential = /** @type {PublicKeyCredential} */ (await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options.publicKey) }));
  return ask(path, { ceremony, response: credential.toJSON() });
}

const actions = {
  add,
  signin: async () => { await prove("/auth/passkey"); location.assign(area?.dataset.next || "/"); },
  // The form that was interrupted goes on without a code: the session is fresh now.
  confirm: async () => { await prove("/auth/2fa/passkey"); /** @type {HTMLFormElement} */ (area?.closest("form")).querySelectorAll("[required]").forEach((input) => input.removeAttribute("required")); /** @type {HTMLFormElement} */ (area?.closest("form")).requestSubmit(); },
};

if (area && able) {
  area.hidden = false;
  area.querySelector("button")?.addEventListener("click", async (event) => {
    event.preventDefault();
    const said = area.querySelector("[role=alert]");
    try {
      await actions[/** @type {keyof typeof actions} */ (area.dataset.passkey)]();
    } catch (error) {
      if (area instanceof HTMLFormElement && ["two_factor_required", "reauthentication_required"].includes(/** @type {any} */ (error).code)) return area.submit(); // to a page that asks for it
      if (said) said.textContent = /** @type {Error} */ (error).name === "NotAllowedError" ? "Nothing was chosen." : /** @type {Error} */ (error).message;
    }
  });
}

// @ts-check
// Tells why a signature does not match. Everything stays in the browser.

/** @param {string} id */
const value = (id) => /** @type {HTMLInputElement} */ (document.getElementById(id)).value;

/** @param {string} text */
const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

/** Says what a look at the five values shows. @returns {Promise<string>} */
async function judge() {
  const id = value("f-vid").trim(), stamp = value("f-vstamp").trim(), given = value("f-vsig").trim(), secret = value("f-vsecret").trim(), body = value("f-vbody");
  if (!id || !stamp || !given || !secret || !body) return "Fill in all five.";
  if (!secret.startsWith("whsec_")) return "The secret does not begin with whsec_. Is it another one?";
  if (!/^\d+$/.test(stamp)) return "The timestamp is not a number of seconds.";
  let raw;
  try {
    raw = bytes(secret.slice("whsec_".length));
  } catch {
    return "The secret is not complete: the part after whsec_ is no Base64.";
  }
  const key = await crypto.subtle.importKey("raw", raw, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const sign = async (/** @type {string} */ text) => {
    const mac = new Uint8Array(await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(`${id}.${stamp}.${text}`)));
    return "v1," + btoa(String.fromCharCode(...mac));
  };
  const all = given.split(/\s+/);
  if (all.includes(await sign(body))) {
    const age = Math.round(Math.abs(Date.now() / 1000 - Number(stamp)) / 60);
    return age > 5 ? `The signature is right, but the request is ${age} minutes old. A check should refuse it.` : "The signature is right.";
  }
  if (all.includes(await sign(body.trim()))) return "The signature is right without the spaces or line breaks around the body. Do not add any.";
  try {
    if (all.includes(await sign(JSON.stringify(JSON.parse(body))))) return "The signature is right for the same JSON without spaces. Check the raw body, not one that was parsed and written again.";
  } catch {
    return "The body is no JSON. Was it cut off?";
  }
  return "The signature does not match. The usual causes: the secret of another webhook, or a body that was parsed and written again.";
}

const box = document.getElementById("verifier"), verdict = document.getElementById("verdict");
if (box && verdict && crypto.subtle) {
  box.hidden = false;
  box.addEventListener("input", async () => { verdict.textContent = await judge(); });
}

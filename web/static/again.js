// @ts-check
// Elements with data-again are read again every so many milliseconds, as long as they have it and somebody looks: for what no
// event of the stream tells. The fresh element decides whether it goes on.

/** How often at most: a page that was forgotten in a tab must not ask for ever. */
const rounds = 400;

/** @param {HTMLElement} element @param {number} left */
function later(element, left) {
  if (left > 0 && element.dataset.again) setTimeout(() => round(element.id, left), Number(element.dataset.again));
}

/** @param {string} id @param {number} left */
async function round(id, left) {
  const old = document.getElementById(id);
  if (!old) return;
  if (document.hidden) return later(old, left);
  let fresh = null;
  try {
    const response = await fetch(location.href, { headers: { "X-Requested-By": "kit" } });
    if (response.ok && !response.redirected) fresh = new DOMParser().parseFromString(await response.text(), "text/html").getElementById(id);
  } catch {
    // the next round may reach the server
  }
  const now = document.getElementById(id);
  if (fresh && now && now.innerHTML !== fresh.innerHTML) now.replaceWith(document.adoptNode(fresh));
  const shown = document.getElementById(id);
  if (shown) later(shown, left - 1);
}

for (const element of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-again]"))) later(element, rounds);

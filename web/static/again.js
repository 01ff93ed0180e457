// @ts-check
// Elements with data-again are read again every so many milliseconds, as long as they have it and somebody looks: for what no
// event of the stream tells. The fresh element decides whether it goes on.

/** How often at most: a page that was forgotten in a tab must not ask for ever. */
const rounds = 400;

/** @param {HTMLElement} element @param {number} left */
function later(element, left) {
  if (left > 0 && element.dataset.again) setTimeout(() => round(element.id, left), Number(element.dataset.again));
}

/** The page as it is now, or null if it cannot be read. Elements whose time is the same share one reading. @type {Promise<Document | null> | null} */
let page = null;
const look = () => page ??= fetch(location.href, { headers: { "X-Requested-By": "kit" } })
  .then(async (response) => response.ok && !response.redirected ? new DOMParser().parseFromString(await response.text(), "text/html") : null, () => null)
  .finally(() => { page = null; });

/** @param {string} id @param {number} left */
async function round(id, left) {
  const old = document.getElementById(id);
  if (!old) return;
  if (document.hidden) return later(old, left);
  const url = location.href, fresh = (await look().catch(() => null))?.getElementById(id); // else the next round may reach the server
  const now = document.getElementById(id);
  if (fresh && now && location.href === url && now.outerHTML !== fresh.outerHTML) now.replaceWith(document.adoptNode(fresh));
  const shown = document.getElementById(id);
  if (shown) later(shown, left - 1);
}

for (const element of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-again]"))) later(element, rounds);

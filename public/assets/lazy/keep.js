// Keeps the conversations that are opened in this browser, so that they can be read while the server cannot be reached. installed.js loads
// this script only where the user has switched that on, on the account page (keep-switch.js). What is kept is the page of a conversation as
// the server renders it, without scripts, and its style sheets. offline-worker.js answers with it, and removes it at sign-out.

/** The cache; the same name is in installed.js, keep-switch.js and offline-worker.js. */
const KEPT = "cw-kept";
/** The entry of the cache that lists the pages: `{ reader, pages: [{ url, title, at, size }] }`, the page that was kept last at the end. */
const INDEX = "/assets/lazy/kept.json";
const MOST_PAGES = 50;
const MOST_BYTES = 20_000_000;
/** A page is removed this long after it was kept last: 30 days. The same time is in offline-worker.js. */
const MAX_AGE_MS = 30 * 86_400_000;
const LOOK_MS = 2000;

/** The files of a page that has no scripts but the one that sets the theme. */
const FILES = ["/assets/theme.js", "/assets/favicon.svg"];
let hasFiles = false;

/** The nonce of this document's policy. Kept pages have it as well: what the parser creates here must follow this policy. */
const nonce = document.querySelector("script[nonce]")?.nonce ?? "";

const own = () => document.querySelector("meta[name=reader]")?.content;

/** Runs `act` with the cache and its index while no other tab changes them. Returns false if nothing is to be kept any more. */
const change = (act) =>
  navigator.locks.request(KEPT, async () => {
    if (!(await caches.has(KEPT))) return false;
    const cache = await caches.open(KEPT);
    const index = await (await cache.match(INDEX))?.json();
    // Without the index, sign-out has just removed the cache. What another user kept is not for this one.
    if (!index || (index.reader !== null && index.reader !== own())) {
      await caches.delete(KEPT);
      return false;
    }
    index.reader = own();
    await act(cache, index);
    await cache.put(INDEX, Response.json(index));
    return true;
  });

/** The address of the conversation that is shown, without what else the query has; null if none is. */
const shown = () => {
  const id = new URLSearchParams(location.search).get("conversation");
  return id === null ? null : `${location.pathname}?conversation=${encodeURIComponent(id)}`;
};

/** The text of the bar of a kept page. In another language, it begins with what the app says there. */
const bar = (page) => {
  const lang = page.documentElement.lang;
  const day = { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  const time = new Intl.DateTimeFormat(lang === "en" ? "en-GB" : lang, day).format();
  const text = page.getElementById("cw-stopped")?.dataset.offline;
  return text ? `${text} (${time})` : `Offline: as it was read on ${time}`;
};

/** Removes what needs the app, and makes everything inert that would ask the server. */
const still = (page) => {
  const scripts = "script:not([src='/assets/theme.js']), noscript, link[rel=modulepreload], link[rel=preload], link[rel=manifest]";
  for (const element of page.querySelectorAll(scripts)) element.remove();
  for (const field of page.querySelectorAll("button, input, textarea, select")) field.disabled = true;
  const style = page.createElement("style");
  style.setAttribute("nonce", nonce);
  // Nothing can be sent from here. The bar takes the place of the composer.
  style.textContent = `form.cw-composer { visibility: hidden; }
    .cw-kept { position: fixed; z-index: 6; inset: auto 0 0; margin: 0; padding: 4px 16px; text-align: center; font-size: 13px;
    color: var(--cw-muted); background: var(--cw-raised); border-block-start: 1px solid var(--cw-border); }`;
  page.head.append(style);
  const line = Object.assign(page.createElement("p"), { className: "cw-kept", textContent: bar(page) });
  line.setAttribute("role", "status");
  page.body.append(line);
};

/** The kept page as an answer. Its policy allows no script but that of the theme, no request and no form. */
const answer = (page) => {
  const html = `<!DOCTYPE html>${page.documentElement.outerHTML}`;
  const policy = `default-src 'none'; script-src ${location.origin}/assets/theme.js; style-src 'self' 'nonce-${nonce}'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
  const body = new Blob([html]);
  const headers = { "content-type": "text/html; charset=utf-8", "content-security-policy": policy, "referrer-policy": "same-origin" };
  return { size: body.size, response: new Response(body, { headers }) };
};

const keepFiles = async (cache, page) => {
  // They are gone if the user has signed out, or switched it off, in another tab.
  if (hasFiles && (await cache.match(FILES[0]))) return;
  const styles = [...page.querySelectorAll("link[rel=stylesheet]")].map((link) => link.getAttribute("href"));
  // Other origins' files are not the page's own.
  await cache.addAll([...styles.filter((path) => path.startsWith("/pkg/")), ...FILES]);
  hasFiles = true;
};

/** Removes the pages that were kept first, until the rest is within the limits of age, number and size. */
const shrink = async (cache, index) => {
  let size = index.pages.reduce((sum, page) => sum + page.size, 0);
  const isOld = () => index.pages[0]?.at < Date.now() - MAX_AGE_MS;
  while (index.pages.length > MOST_PAGES || size > MOST_BYTES || isOld()) {
    const oldest = index.pages.shift();
    size -= oldest.size;
    await cache.delete(oldest.url);
  }
};

const keep = async (url) => {
  const response = await fetch(url, { redirect: "manual", cache: "no-store", headers: { accept: "text/html" } });
  const isGone = response.status === 404;
  if (!response.ok && !isGone) return;
  const theirs = /'nonce-([^']+)'/.exec(response.headers.get("content-security-policy"))?.[1];
  const html = await response.text();
  const page = new DOMParser().parseFromString(theirs ? html.replaceAll(theirs, nonce) : html, "text/html");
  // Signed out, or signed in as another user, in another tab. That tab's page removes what was kept.
  if (page.querySelector("meta[name=reader]")?.content !== own()) return;
  await change(async (cache, index) => {
    index.pages = index.pages.filter((other) => other.url !== url);
    await cache.delete(url);
    if (isGone) return;
    await keepFiles(cache, page);
    still(page);
    const { size, response: kept } = answer(page);
    index.pages.push({ url, title: page.title, at: Date.now(), size });
    await shrink(cache, index);
    if (index.pages.at(-1)?.url === url) await cache.put(url, kept);
  });
};

/** What is shown: it changes with the address, and while an answer arrives. */
const state = () => {
  const url = shown();
  return url && `${url} ${document.querySelector("[role=log]")?.textContent.length ?? 0}`;
};

/** The state at the last look, and the one that was kept. */
let seen = null;
let kept = null;
let isBusy = false;

const look = async () => {
  const now = state();
  const isStill = now === seen;
  seen = now;
  if (!now || !isStill || now === kept || isBusy || !navigator.onLine) return;
  kept = now;
  isBusy = true;
  // Without the server, or without space, what was kept before stays.
  await keep(shown()).catch(() => {});
  isBusy = false;
};

if (await change(shrink)) setInterval(look, LOOK_MS);

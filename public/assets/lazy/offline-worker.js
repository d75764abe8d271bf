// The service worker of installed pages (installed.js). While the server cannot be reached, it answers the opening of a page with the
// document below, or with the page of a conversation that the user let this browser keep (keep.js). It keeps nothing by itself: no answer of
// the server and no page.

/** The texts of the page's locale (installed.js); none in English. */
const texts = new URL(self.location.href).searchParams;
const escaped = (text) => text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);
const say = (name, english) => escaped(texts.get(name) || english);

/** The cache of what this browser keeps, and its index, as in keep.js. */
const KEPT = "cw-kept";
const INDEX = "/assets/lazy/kept.json";
/** A page is not shown this long after it was kept last, as in keep.js: 30 days. */
const MAX_AGE_MS = 30 * 86_400_000;
const isOld = ({ at }) => at < Date.now() - MAX_AGE_MS;

/** The list of the conversations that are kept, the one that was read last first; empty if none is. */
const list = (pages) => {
  const items = pages.map(({ url, title }) => `<li><a href="${escaped(url)}" dir="auto">${escaped(title)}</a></li>`).reverse();
  if (!items.length) return "";
  return `${texts.has("text") ? "" : "<h2>Kept on this device</h2>"}<ul>${items.join("")}</ul>`;
};

const documentWith = (pages) => `<!DOCTYPE html>
<html lang="${say("lang", "en")}" dir="${say("dir", "ltr")}">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${say("text", "The server cannot be reached")}</title>
    <link rel="icon" href="data:,">
    <style>
      body { display: grid; place-content: center; min-block-size: 100dvh; margin: 0; padding: 24px; box-sizing: border-box; text-align: center; font: 16px/1.5 system-ui, sans-serif; background: light-dark(#f5f5f2, #131517); color: light-dark(#1d1f21, #e9eaeb); }
      a { color: light-dark(#0d6b61, #5cc9b7); }
      h1 { margin: 0 0 8px; font-size: 20px; }
      p { margin: 0 0 16px; }
      h2 { margin: 32px 0 8px; font-size: 16px; }
      ul { margin: 0 auto; padding: 0; max-inline-size: 480px; list-style: none; overflow-wrap: anywhere; }
      li a { display: inline-block; padding-block: 8px; }
      main > a { display: inline-block; padding: 10px 20px; border-radius: 8px; background: light-dark(#0d6b61, #5cc9b7); color: light-dark(#fff, #06241f); text-decoration: none; }
    </style>
  </head>
  <body>
    <main>
      <h1>${say("text", "The server cannot be reached")}</h1>
      ${texts.has("text") ? "" : "<p>Your drafts are kept in this browser.</p>"}
      <a href="">${say("again", "Try again")}</a>
      ${list(pages)}
    </main>
  </body>
</html>`;

// Without an icon of its own, Firefox and WebKit ask the server for one, which the policy forbids.
const HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};

/** Returns what is kept at this address; undefined if nothing is. `match` does not create the cache, which would switch the keeping on. */
const find = (url) => caches.match(url, { cacheName: KEPT });

const conversationOf = (url) => new URL(url, self.location.origin).searchParams.get("conversation");

/** The answer to the opening of a page while the server cannot be reached. */
const withoutServer = async (url) => {
  const index = await (await find(INDEX))?.json();
  const pages = (index?.pages ?? []).filter((page) => !isOld(page));
  const conversation = url.searchParams.get("conversation");
  const wanted = conversation !== null && `${url.pathname}?conversation=${encodeURIComponent(conversation)}`;
  const page = pages.some((kept) => kept.url === wanted) ? await find(wanted) : undefined;
  return page ?? new Response(documentWith(pages), { status: 503, headers: HEADERS });
};

/** Removes the pages for which `isGone` returns true. */
const forget = (isGone) =>
  navigator.locks.request(KEPT, async () => {
    if (!(await caches.has(KEPT))) return;
    // If sign-out removes the cache meanwhile, all of this happens in the removed one, and nothing is stored again.
    const cache = await caches.open(KEPT);
    const index = await (await cache.match(INDEX))?.json();
    if (!index) {
      await caches.delete(KEPT);
      return;
    }
    const gone = index.pages.filter(isGone);
    if (!gone.length) return;
    for (const page of gone) await cache.delete(page.url);
    index.pages = index.pages.filter((page) => !gone.includes(page));
    await cache.put(INDEX, Response.json(index));
  });

/** Returns the conversations that a request deletes. */
const deletedBy = async (request, { pathname }) => {
  if (request.method === "DELETE") {
    const id = /^\/api\/conversations\/([^/]+)$/.exec(pathname)?.[1];
    return id ? [decodeURIComponent(id)] : [];
  }
  // The list of conversations deletes with this (app/src/api/change.rs).
  if (request.method !== "POST" || pathname !== "/ui/change") return [];
  const { ids, change } = await request.clone().json();
  return change.deleted ? ids : [];
};

const forgetDeleted = async (request, url) => {
  const deleted = await deletedBy(request, url);
  if (deleted.length) await forget((page) => deleted.includes(conversationOf(page.url)));
};

/** Returns whether the opening of this page means that nobody is signed in, or will not be for long. */
const endsSession = ({ method, mode }, { pathname }) =>
  mode === "navigate" && (pathname === "/auth/sign-in" || (method === "POST" && pathname === "/auth/sign-out"));

/** The files of a kept page; the index is none of them. */
const isFile = ({ destination }, { pathname }) =>
  (destination === "style" && pathname.startsWith("/pkg/")) || pathname === "/assets/theme.js" || pathname === "/assets/favicon.svg";

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (url.origin !== self.location.origin) return;
  if (endsSession(request, url)) event.waitUntil(caches.delete(KEPT));
  event.waitUntil(forgetDeleted(request, url));
  if (request.method !== "GET") return;
  // Not frames, scripts and requests of the app, which know themselves what to do without an answer.
  if (request.mode === "navigate" && request.destination === "document") {
    const answer = () => {
      event.waitUntil(forget(isOld));
      return withoutServer(url);
    };
    event.respondWith(fetch(request).catch(answer));
  } else if (isFile(request, url)) {
    event.respondWith(fetch(request).catch(async () => (await find(url.href)) ?? Response.error()));
  }
});

// The service worker of installed pages (installed.js). While the server cannot be reached, it answers the opening of a page with the
// document below. It keeps nothing: no answer of the server and no page.

/** The texts of the page's locale (installed.js); none in English. */
const texts = new URL(self.location.href).searchParams;
const escaped = (text) => text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);
const say = (name, english) => escaped(texts.get(name) || english);

const DOCUMENT = `<!DOCTYPE html>
<html lang="${say("lang", "en")}" dir="${say("dir", "ltr")}">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${say("text", "The server cannot be reached")}</title>
    <link rel="icon" href="data:,">
    <style>
      body { display: grid; place-content: center; min-block-size: 100dvh; margin: 0; padding: 24px; box-sizing: border-box; text-align: center; font: 16px/1.5 system-ui, sans-serif; }
      h1 { margin: 0 0 8px; font-size: 20px; }
      p { margin: 0 0 16px; }
      a { display: inline-block; padding: 8px 20px; border-radius: 8px; background: light-dark(#0d6b61, #5cc9b7); color: light-dark(#fff, #06241f); text-decoration: none; }
    </style>
  </head>
  <body>
    <main>
      <h1>${say("text", "The server cannot be reached")}</h1>
      ${texts.has("text") ? "" : "<p>Your drafts are kept in this browser.</p>"}
      <a href="">${say("again", "Try again")}</a>
    </main>
  </body>
</html>`;

// Without an icon of its own, Firefox and WebKit ask the server for one, which the policy forbids.
const HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("fetch", (event) => {
  const { request } = event;
  // Not frames, scripts, files and requests of the app, which know themselves what to do without an answer.
  if (request.mode !== "navigate" || request.destination !== "document" || request.method !== "GET") return;
  event.respondWith(fetch(request).catch(() => new Response(DOCUMENT, { status: 503, headers: HEADERS })));
});

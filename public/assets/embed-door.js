// The doorkeeper of a chat on another site's page: the outer of two frames, without any data. It hears the site (and only the one that the
// server has allowed), keeps its token in memory, and opens the page with the chat in the inner frame. See server/src/routes/embed.rs.
const { host } = document.currentScript.dataset;
const KEPT = "chatwright-visitor";
// A token that ends so soon is renewed before it is used, in seconds.
const SOON = 15;
const PATIENCE_MS = 20_000;

let port;
let token = "";
let theme = "";
let renewal;
let inner;
let visitor = "";
const settled = [];

const sheet = new CSSStyleSheet();
sheet.replaceSync("html, body, iframe { display: block; inline-size: 100%; block-size: 100%; margin: 0; border: 0; background: none }");
document.adoptedStyleSheets = [sheet];

// Some browsers forbid storage in frames where they forbid cookies, or empty it at once: then the page around keeps who a visitor is.
function kept() {
  try {
    return localStorage.getItem(KEPT) || visitor;
  } catch {
    return visitor;
  }
}

function endsSoon() {
  try {
    const claims = JSON.parse(atob(token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/")));
    return claims.exp - Date.now() / 1000 < SOON;
  } catch {
    return false;
  }
}

// What the inner frame uses: both are of this server, so it may.
window.chatwright = {
  tell: (message) => port.postMessage(message),
  theme: () => theme,
  keep(name) {
    visitor = name;
    try {
      return localStorage.setItem(KEPT, name);
    } catch {
      // As above.
    }
    port.postMessage({ type: "keep", visitor: name });
  },
  /** The token as it is good now; empty without one. */
  async token() {
    if (token && endsSoon()) await this.renew();
    return token;
  },
  /** Asks the site for another token; whether there is one. */
  renew() {
    if (!token) return Promise.resolve(false);
    renewal ??= new Promise((resolve) => {
      const timer = setTimeout(() => settle(false), PATIENCE_MS);
      const settle = (renewed) => {
        clearTimeout(timer);
        renewal = undefined;
        resolve(renewed);
      };
      settled.push(settle);
      port.postMessage({ type: "renew" });
    });
    return renewal;
  },
  now: () => token,
};

function enter() {
  inner?.remove();
  inner = document.createElement("iframe");
  // Into a frame that is new, the form leads without an entry in the history of the page around.
  inner.name = `chat-${Math.random().toString(36).slice(2)}`;
  inner.title = "Chat";
  inner.allow = "microphone; clipboard-write";
  const form = document.createElement("form");
  Object.assign(form, { method: "post", action: location.href, target: inner.name, hidden: true });
  for (const [name, value] of Object.entries({ token, visitor: kept() })) {
    form.append(Object.assign(document.createElement("input"), { type: "hidden", name, value }));
  }
  document.body.append(inner, form);
  form.submit();
  form.remove();
}

// Whom a token names, for this page only; the server looks for itself.
function subject(of) {
  try {
    return JSON.parse(atob(of.split(".")[1].replaceAll("-", "+").replaceAll("_", "/"))).sub;
  } catch {
    return undefined;
  }
}

function heard({ data }) {
  if (data.type === "token") {
    const renewed = typeof data.token === "string" && data.token !== "";
    const before = token;
    if (renewed || data.ended) token = data.token;
    settled.splice(0).forEach((settle) => settle(renewed));
    // Somebody else: nothing of who was there before stays.
    if (inner && subject(before) !== subject(token)) enter();
    return;
  }
  if (data.type === "enter") return enter();
  if (data.type === "theme") theme = data.theme;
  inner?.contentWindow?.hear?.(data);
}

addEventListener("message", (event) => {
  if (event.source !== parent || event.origin !== host || event.data?.chatwright !== "enter" || port) return;
  [port] = event.ports;
  token = event.data.token ?? "";
  theme = event.data.theme ?? "";
  visitor = event.data.visitor ?? "";
  port.onmessage = heard;
  enter();
});

// Not before this page has loaded: come upon by the way back, browsers look for what it asks until then in their caches only, and what a
// form asks is never there.
addEventListener("load", () => setTimeout(() => parent.postMessage({ chatwright: "open" }, host)));

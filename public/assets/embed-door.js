// The outer of the two frames of an embedded chat. It contains no data. It accepts messages only from the host page's origin, which the
// server has checked, keeps the host's token in memory, and opens the page with the chat in the inner frame. See
// server/src/routes/embed.rs.
const { host } = document.currentScript.dataset;
/** The key in local storage of an anonymous visitor's id. */
const VISITOR_KEY = "chatwright-visitor";
/** A token that expires within this time is renewed before it is used, in seconds. */
const RENEW_BEFORE_S = 15;
/** How long the host page may take to provide a new token, in milliseconds. */
const RENEW_TIMEOUT_MS = 20_000;

let port;
let token = "";
let theme = "";
/** The look that the host page has chosen, by name; embed-frame.js checks it. */
let look = {};
/** The promise of the renewal in progress. */
let renewal;
let inner;
/** The visitor's id that the host page has stored. */
let visitor = "";
/** Callbacks that resolve the renewal in progress. */
const renewalCallbacks = [];

const sheet = new CSSStyleSheet();
sheet.replaceSync("html, body, iframe { display: block; inline-size: 100%; block-size: 100%; margin: 0; border: 0; background: none }");
document.adoptedStyleSheets = [sheet];

// Some browsers block storage in third-party frames, or clear it soon. The host page then stores the visitor's id.
function visitorId() {
  try {
    return localStorage.getItem(VISITOR_KEY) || visitor;
  } catch {
    return visitor;
  }
}

/** Returns whether the token expires soon; false for a token that is not a JWT. */
function expiresSoon() {
  try {
    const claims = JSON.parse(atob(token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/")));
    return claims.exp - Date.now() / 1000 < RENEW_BEFORE_S;
  } catch {
    return false;
  }
}

// The interface for the inner frame (embed-frame.js), which has the same origin.
window.chatwright = {
  tell: (message) => port.postMessage(message),
  theme: () => theme,
  look: () => look,
  keep(name) {
    visitor = name;
    try {
      return localStorage.setItem(VISITOR_KEY, name);
    } catch {
      // Storage is blocked.
    }
    port.postMessage({ type: "keep", visitor: name });
  },
  /** Returns a token that does not expire soon; empty if the host page has given none. */
  async token() {
    if (token && expiresSoon()) await this.renew();
    return token;
  },
  /** Asks the host page for a new token, and returns whether it gave one. */
  renew() {
    if (!token) return Promise.resolve(false);
    renewal ??= new Promise((resolve) => {
      const timer = setTimeout(() => settle(false), RENEW_TIMEOUT_MS);
      const settle = (renewed) => {
        clearTimeout(timer);
        renewal = undefined;
        resolve(renewed);
      };
      renewalCallbacks.push(settle);
      port.postMessage({ type: "renew" });
    });
    return renewal;
  },
  /** The current token, without a renewal. */
  now: () => token,
};

/** Opens the page with the chat in a new inner frame. */
function enter() {
  inner?.remove();
  inner = document.createElement("iframe");
  // The form targets a frame that was just created, so that it adds no entry to the history of the host page.
  inner.name = `chat-${Math.random().toString(36).slice(2)}`;
  inner.title = "Chat";
  inner.allow = "microphone; clipboard-write";
  const form = document.createElement("form");
  Object.assign(form, { method: "post", action: location.href, target: inner.name, hidden: true });
  for (const [name, value] of Object.entries({ token, visitor: visitorId() })) {
    form.append(Object.assign(document.createElement("input"), { type: "hidden", name, value }));
  }
  document.body.append(inner, form);
  form.submit();
  form.remove();
}

/** Returns the subject of a token, to notice that the user has changed. The server verifies tokens; this frame does not. */
function subject(of) {
  try {
    return JSON.parse(atob(of.split(".")[1].replaceAll("-", "+").replaceAll("_", "/"))).sub;
  } catch {
    return undefined;
  }
}

function onHostMessage({ data }) {
  if (data.type === "token") {
    const renewed = typeof data.token === "string" && data.token !== "";
    const before = token;
    if (renewed || data.ended) token = data.token;
    renewalCallbacks.splice(0).forEach((settle) => settle(renewed));
    // Another user: the chat is opened anew, so that nothing of the previous user remains.
    if (inner && subject(before) !== subject(token)) enter();
    return;
  }
  if (data.type === "enter") return enter();
  if (data.type === "theme") {
    theme = data.theme;
    look = data.look ?? {};
  }
  inner?.contentWindow?.hear?.(data);
}

addEventListener("message", (event) => {
  if (event.source !== parent || event.origin !== host || event.data?.chatwright !== "enter" || port) return;
  [port] = event.ports;
  token = event.data.token ?? "";
  theme = event.data.theme ?? "";
  look = event.data.look ?? {};
  visitor = event.data.visitor ?? "";
  port.onmessage = onHostMessage;
  enter();
});

// Tells the host page that this frame is ready, but not before it has loaded: when the user navigates back, browsers answer requests made
// during loading from their cache only, and the response to a POST form is never cached.
addEventListener("load", () => setTimeout(() => parent.postMessage({ chatwright: "open" }, host)));

// Runs in the inner frame of an embedded chat, before the app. It adds the user's token or the visitor's id to all requests to the server,
// and passes messages between the chat and the host page through the outer frame (embed-door.js). See app/src/agent_chat/embedded.rs.
const outer = parent === window ? undefined : parent.chatwright;
const { visitor, code, message } = document.currentScript.dataset;

/** The functions that a colour of the host page may have. Others could read other properties, or load something. */
const COLOUR_FUNCTIONS = ["rgb", "rgba", "hsl", "hsla", "hwb", "lab", "lch", "oklab", "oklch", "color", "color-mix", "light-dark"];
/** A family of a font list: a name, or one in quotes. */
const FONT_FAMILY = /^(?:[\w -]{1,60}|(["'])[\p{L}\p{N}_ .-]{1,60}\1)$/u;
/** Keywords that are valid for each property, and would take a value from elsewhere. */
const KEYWORDS = /\b(?:inherit|initial|unset|revert|revert-layer|currentcolor)\b/i;
/** A length, which is applied up to 32 pixels. */
const LENGTH = /^\d{1,2}(?:\.\d{1,3})?(?:px|rem|em)$/;
/** The factors of the distances, by density. */
const DENSITIES = { compact: 0.75, normal: 1, spacious: 1.25 };
/** The distances of style/tokens.css in `rem`, by number. */
const SPACES = { 1: 0.25, 2: 0.5, 3: 0.75, 4: 1, 5: 1.5, 6: 2 };

/** Whether each parenthesis is closed. CSS closes the others at the end of a value, and the values below go on after it. */
const isClosed = (value) => value.split("(").length === value.split(")").length;

const isColour = (value) =>
  /^[\w#.,%()\s/+-]{1,120}$/.test(value) &&
  isClosed(value) &&
  !KEYWORDS.test(value) &&
  [...value.matchAll(/([\w-]*)\s*\(/g)].every(([, name]) => COLOUR_FUNCTIONS.includes(name.toLowerCase())) &&
  CSS.supports("color", value);

const isFontList = (value) =>
  value.length <= 300 &&
  !KEYWORDS.test(value) &&
  value.split(",").every((family) => FONT_FAMILY.test(family.trim())) &&
  CSS.supports("font-family", value);

/** The CSS variables (style/tokens.css) that follow from each part of a look; none for a value that is not valid. */
const VARIABLES = {
  accent: (value) =>
    isColour(value) && {
      "--cw-accent": value,
      "--cw-focus": value,
      "--cw-accent-hover": `color-mix(in oklab, ${value} 85%, var(--cw-text))`,
      "--cw-accent-soft": `color-mix(in oklab, ${value} 18%, var(--cw-surface))`,
      // White on dark colours, black on light ones.
      "--cw-accent-text": `oklch(from ${value} clamp(0, (0.58 - l) * 1000, 1) 0 0)`,
    },
  "accent-text": (value) => isColour(value) && { "--cw-accent-text": value },
  background: (value) =>
    isColour(value) && {
      "--cw-surface": value,
      "--cw-raised": value,
      "--cw-bg": `color-mix(in oklab, ${value} 97%, var(--cw-text))`,
      "--cw-hover": `color-mix(in oklab, ${value} 93%, var(--cw-text))`,
      "--cw-selected": `color-mix(in oklab, ${value} 88%, var(--cw-accent))`,
      "--cw-border": `color-mix(in oklab, ${value} 87%, var(--cw-text))`,
      "--cw-border-strong": `color-mix(in oklab, ${value} 50%, var(--cw-text))`,
      "--cw-muted": `color-mix(in oklab, ${value} 25%, var(--cw-text))`,
    },
  text: (value) => isColour(value) && { "--cw-text": value },
  radius: (value) =>
    LENGTH.test(value) && { "--cw-radius": `min(${value}, 32px)`, "--cw-radius-small": `min(${value} * 0.6, 20px)` },
  font: (value) => isFontList(value) && { "--cw-font": value },
  density: (value) =>
    Object.hasOwn(DENSITIES, value) &&
    Object.fromEntries(Object.entries(SPACES).map(([number, rem]) => [`--cw-space-${number}`, `${rem * DENSITIES[value]}rem`])),
};

/** Rounds what has a radius of its own in style/agent_chat.css in proportion to the chosen radius. */
const rounded = new CSSStyleSheet();
rounded.replaceSync(`
  .cw-composer-box { border-radius: calc(var(--cw-radius) * 2.4); }
  .cw-message-user .cw-message-body {
    border-radius: calc(var(--cw-radius) * 1.8);
    border-end-end-radius: var(--cw-radius-small);
  }
`);

/** Applies the look of the host page, and warns about values that are not valid. */
function applyLook(look) {
  const root = document.documentElement.style;
  for (const name of [...root].filter((name) => name.startsWith("--cw-"))) root.removeProperty(name);
  for (const [part, read] of Object.entries(VARIABLES)) {
    const value = look[part];
    if (value === undefined) continue;
    const variables = typeof value === "string" && read(value);
    if (!variables) console.warn(`agent-chat: \`${part}\` is not valid`, value);
    for (const [name, value] of Object.entries(variables || {})) {
      // An older browser may not know how to derive a colour from another one.
      if (!value.startsWith("oklch(from") || CSS.supports("color", value)) root.setProperty(name, value);
    }
  }
  document.adoptedStyleSheets = root.getPropertyValue("--cw-radius") ? [rounded] : [];
}

if (outer) {
  const applyTheme = () => {
    const theme = outer.theme();
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
    applyLook(outer.look());
  };
  applyTheme();
  if (visitor) outer.keep(visitor);
  if (code) outer.tell({ type: "closed", code, message });

  window.hear = (data) => {
    if (data.type === "theme") return applyTheme();
    dispatchEvent(new CustomEvent("chatwright-in", { detail: JSON.stringify(data) }));
  };
  addEventListener("chatwright-out", (event) => outer.tell(JSON.parse(event.detail)));

  const isOurs = (url) => url.origin === location.origin && /^\/(api|ui)\//.test(url.pathname);
  const visitorHeader = visitor ? ["x-chatwright-visitor", visitor] : undefined;
  const nativeFetch = window.fetch;
  const fetchWithCredentials = async (request) => {
    const token = await outer.token();
    if (!token) {
      if (visitorHeader) request.headers.set(...visitorHeader);
      return nativeFetch(request);
    }
    request.headers.set("authorization", `Bearer ${token}`);
    // Without cookies: the session of a user who is signed in on this server must not take the place of the token.
    return nativeFetch(new Request(request, { credentials: "omit" }));
  };
  window.fetch = async (resource, options) => {
    const request = new Request(resource, options);
    if (!isOurs(new URL(request.url))) return nativeFetch(request);
    // A request can be sent only once, so a retry needs a copy.
    const copy = request.clone();
    const response = await fetchWithCredentials(request);
    if (response.status === 401 && (await outer.renew())) return fetchWithCredentials(copy);
    return response;
  };
  // File uploads use XMLHttpRequest. `send` is synchronous, so an expired token cannot be renewed first; the next attempt has a new one.
  const send = XMLHttpRequest.prototype.send;
  XMLHttpRequest.prototype.send = function (body) {
    const token = outer.now();
    if (token) this.setRequestHeader("authorization", `Bearer ${token}`);
    else if (visitorHeader) this.setRequestHeader(...visitorHeader);
    send.call(this, body);
  };

  // Images and links send no authorization header. A file that was refused to an image, or that a link points to, is fetched here instead.
  const fetchFile = async (url) => {
    const response = await fetch(url);
    return response.ok ? URL.createObjectURL(await response.blob()) : undefined;
  };
  const isFile = (url) => url?.startsWith(`${location.origin}/api/files/`);
  addEventListener(
    "error",
    async ({ target }) => {
      if (!(target instanceof HTMLImageElement) || !isFile(target.src) || target.dataset.fetched) return;
      target.dataset.fetched = "";
      const blobUrl = await fetchFile(target.src);
      if (!blobUrl) return;
      target.addEventListener("load", () => URL.revokeObjectURL(blobUrl), { once: true });
      target.src = blobUrl;
    },
    true,
  );
  addEventListener(
    "click",
    async (event) => {
      const link = event.target instanceof Element ? event.target.closest("a[href]") : undefined;
      if (!link || !isFile(link.href)) return;
      event.preventDefault();
      event.stopPropagation();
      const copy = await fetchFile(link.href);
      if (!copy) return;
      Object.assign(document.createElement("a"), { href: copy, download: link.download || link.textContent.trim() || "file" }).click();
      setTimeout(() => URL.revokeObjectURL(copy), 60_000);
    },
    true,
  );

  // Escape closes the host's drawer, unless something in the chat has used it.
  addEventListener("keydown", (event) => {
    const isUnused = event.key === "Escape" && !event.defaultPrevented && !document.querySelector(":popover-open, dialog[open]");
    if (isUnused) outer.tell({ type: "escape" });
  });
}

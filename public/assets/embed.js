// The custom element <agent-chat page="…" agent="…">: a chat of the server that this script is loaded from, on a page of any site. See
// docs/embedding.md.
//
// The element shows an iframe of that server in a shadow root, so styles and scripts of the two sides are isolated from each other. They
// communicate through a MessageChannel. The iframe gets its port only if it has the server's origin, and the server lets itself be
// framed only by the sites in its config.

const HOME = new URL(import.meta.url).origin;
/** The time limit for loading the iframe, and for a new token, in milliseconds. */
const LOAD_TIMEOUT_MS = 20_000;
/** The time limit for the iframe's "open" message after its load event, in milliseconds. Without the message, what has loaded is an error
 * page of the browser. */
const OPEN_TIMEOUT_MS = 3_000;
/** The time limit for the server's answer to whether it lists the site, in milliseconds. */
const CHECK_TIMEOUT_MS = 5_000;
/** The time limit of a method call, in milliseconds. */
const CALL_TIMEOUT_MS = 30_000;
/** The width of the drawer without the attribute `width`, in pixels. */
const DEFAULT_WIDTH = 400;
/** The parts of the look that the host page may set: as attributes, or as the CSS variables `--agent-chat-…`. The iframe checks them. */
const LOOK = ["accent", "accent-text", "background", "text", "radius", "font", "density"];
/** The chat's methods that the element has as well. */
const METHODS = ["sendMessage", "setInput", "focus", "stop", "regenerate", "deleteMessage", "newConversation", "setMessages", "clearError", "scrollToBottom"];

const sheet = new CSSStyleSheet();
// Sizes are in pixels, because `rem` depends on the host page's font size.
sheet.replaceSync(`
  :host { display: block; block-size: 576px; min-inline-size: 0; }
  :host([hidden]) { display: none; }
  :host([display="drawer"]) { display: contents; }
  :host([display="page"]) { position: fixed; inset: 0; z-index: 2147483000; block-size: auto; }
  * { box-sizing: border-box; }
  [hidden] { display: none !important; }
  iframe { display: block; inline-size: 100%; block-size: 100%; border: 0; color-scheme: normal; }
  .open {
    position: fixed; inset-block-end: max(24px, env(safe-area-inset-bottom)); inset-inline-end: 24px; z-index: 2147483000;
    min-block-size: 48px; padding: 0 20px; border: 0; border-radius: 24px; cursor: pointer;
    background: var(--agent-chat-accent, #0d6b61); color: var(--agent-chat-accent-text, #fff);
    font: 500 16px/1.25 var(--agent-chat-font, system-ui, sans-serif); box-shadow: 0 1px 2px rgb(20 22 24 / 12%), 0 8px 28px rgb(20 22 24 / 18%);
  }
  @supports (color: oklch(from red l c h)) {
    /* White on dark colours, black on light ones. */
    .open { color: var(--agent-chat-accent-text, oklch(from var(--agent-chat-accent, #0d6b61) clamp(0, (0.58 - l) * 1000, 1) 0 0)); }
  }
  .open[data-placement="left"] { inset-inline: 24px auto; }
  .badge {
    position: absolute; inset-block-start: -6px; inset-inline-end: -4px; min-inline-size: 22px; padding: 2px 6px; border-radius: 11px;
    background: #b3261e; color: #fff; box-shadow: 0 0 0 2px #fff; font-size: 13px; line-height: 18px; text-align: center;
  }
  .panel {
    position: fixed; inset-block: 0; inset-inline: auto 0; z-index: 2147483001; flex-direction: column;
    inline-size: min(var(--width, 400px), 100vw); block-size: 100dvh; max-inline-size: none; max-block-size: none;
    margin: 0; padding: 0; border: 0; border-inline-start: 1px solid light-dark(#e1e1db, #2d3237); overflow: hidden;
    background: var(--agent-chat-background, light-dark(#ffffff, #1a1d20)); color: var(--agent-chat-text, light-dark(#1d1f21, #e9eaeb));
    font: 16px/1.25 var(--agent-chat-font, system-ui, sans-serif); box-shadow: 0 8px 28px rgb(20 22 24 / 18%);
  }
  .panel[data-placement="left"] { inset-inline: 0 auto; border-inline: 0; border-inline-end: 1px solid light-dark(#e1e1db, #2d3237); }
  .panel:popover-open { display: flex; }
  .panel[data-theme="light"] { color-scheme: light; }
  .panel[data-theme="dark"] { color-scheme: dark; }
  .panel:not([data-theme]) { color-scheme: light dark; }
  .head { display: flex; align-items: center; justify-content: space-between; flex: none; min-block-size: 52px; padding-inline: 16px 8px; border-block-end: 1px solid light-dark(#e1e1db, #2d3237); }
  .head button { inline-size: 40px; block-size: 40px; border: 0; border-radius: 6px; background: none; color: inherit; font-size: 20px; cursor: pointer; }
  .failed { margin: 0; padding: 24px; font: 16px/1.5 system-ui, sans-serif; text-align: center; }
  .room { flex: 1; min-block-size: 0; block-size: 100%; }
  button:focus-visible { outline: 2px solid var(--agent-chat-accent, #0d6b61); outline-offset: 2px; }
  .head button:focus-visible { outline-color: currentColor; }
  @media (width < 600px) { .panel, .panel[data-placement="left"] { inline-size: 100vw; border: 0; } }
`);

// The id of an anonymous visitor. It is stored in the host page's local storage if the browser blocks storage in the iframe.
const loadVisitor = (server) => {
  try {
    return localStorage.getItem(`agent-chat ${server}`) ?? "";
  } catch {
    return "";
  }
};
const saveVisitor = (server, visitor) => {
  try {
    localStorage.setItem(`agent-chat ${server}`, visitor);
  } catch {
    // Storage is blocked here, too: the visitor is a new one on each page load.
  }
};

const systemTheme = matchMedia("(prefers-color-scheme: dark)");

const make = (name, properties, attributes = {}) => {
  const element = Object.assign(document.createElement(name), properties);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
};

class AgentChatElement extends HTMLElement {
  static observedAttributes = ["page", "agent", "server", "conversation", "theme", "token", "display", "placement", "width", "label", "style", "class", ...LOOK];

  #root = this.attachShadow({ mode: "open" });
  #frame;
  #port;
  #button;
  #panel;
  #token = "";
  #getToken;
  #isClosed = false;
  #state = {};
  // The keys of the shared state that the chat's page declares, once the iframe has sent them.
  #keys;
  #conversation;
  #isConnected = false;
  #isReady = false;
  #entered = false;
  #waiting = [];
  #calls = new Map();
  // The handlers of the host page's tools, by name.
  #tools = new Map();
  #count = 0;
  #retried = false;
  #timer;
  #tokenWanted;
  #badge;
  #unread = 0;

  constructor() {
    super();
    this.#root.adoptedStyleSheets = [sheet];
  }

  connectedCallback() {
    this.#upgrade("getToken", "state", "token");
    addEventListener("message", this.#onOpen);
    // The host page's CSS variables may depend on the system's theme.
    systemTheme.addEventListener("change", this.#showTheme);
    this.#isConnected = true;
    this.#build();
  }

  disconnectedCallback() {
    removeEventListener("message", this.#onOpen);
    systemTheme.removeEventListener("change", this.#showTheme);
    this.#isConnected = false;
    this.#end();
  }

  attributeChangedCallback(name, before, now) {
    if (before === now) return;
    if (name === "token") this.token = now;
    if (!this.#isConnected) return;
    if (["page", "agent", "server", "display", "placement", "width", "label"].includes(name)) this.#build();
    if (["theme", "style", "class", ...LOOK].includes(name)) this.#showTheme();
    if (name === "conversation" && (now || undefined) !== this.#conversation) {
      this.#post({ type: "conversation", id: now || null });
    }
  }

  /** The state that the host page shares with the agent: the keys that the chat's page declares. Setting it merges the values. */
  get state() {
    return structuredClone(this.#state);
  }

  set state(values) {
    const plain = this.#declared(structuredClone(values ?? {}));
    Object.assign(this.#state, plain);
    this.#post({ type: "state", values: plain });
  }

  /** Returns the values whose keys the chat's page declares, and warns about others. */
  #declared(values) {
    if (!this.#keys) return values;
    const unknown = Object.keys(values).filter((key) => !this.#keys.includes(key));
    if (unknown.length) console.warn("agent-chat: the chat's page does not declare these keys of the state", unknown);
    return Object.fromEntries(Object.entries(values).filter(([key]) => this.#keys.includes(key)));
  }

  /** Sets the token that identifies the user, signed by the host page's server. */
  set token(token) {
    this.#token = token ?? "";
    this.#tokenWanted?.(this.#token);
    if (this.#token) this.#renewed(this.#token);
    else this.#post({ type: "token", token: "", ended: true });
  }

  /** The callback that gets a token from the host page's server, called at the start and whenever a token has expired:
   * `({renew}) => string | Promise<string>`. */
  get getToken() {
    return this.#getToken;
  }

  set getToken(ask) {
    this.#getToken = ask;
    if (this.#isClosed) this.#closed({ code: "unauthenticated" });
  }

  /** The id of the open conversation; undefined before the first message of a new one. */
  get conversation() {
    return this.#conversation;
  }

  set conversation(id) {
    if (id) this.setAttribute("conversation", id);
    else this.removeAttribute("conversation");
  }

  /** The number of answers that were completed while the drawer was closed, since it was last open. */
  get unread() {
    return this.#unread;
  }

  /** Registers the handler of a tool that the chat's page declares with `host: true`. `handler(input)` returns the result or a promise of
   * it; the model gets the message of an error that it throws. Without a function, the handler is removed. */
  registerTool(name, handler) {
    if (typeof handler === "function") this.#tools.set(name, handler);
    else this.#tools.delete(name);
  }

  /** Begins a new conversation. */
  clear() {
    return this.newConversation();
  }

  /** Shows the drawer. */
  open() {
    if (!this.#panel || this.#panel.matches(":popover-open")) return;
    this.#start();
    this.#panel.showPopover();
    this.#showUnread(0);
    this.#button.setAttribute("aria-expanded", "true");
    this.#frame.focus();
    this.#call("focus", []).catch(() => {});
  }

  /** Hides the drawer. A running answer continues. */
  close() {
    if (!this.#panel?.matches(":popover-open")) return;
    this.#panel.hidePopover();
    this.#button.setAttribute("aria-expanded", "false");
    this.#button.focus();
  }

  // Passes properties to their setters that the host page set before the element was defined.
  #upgrade(...names) {
    for (const name of names) {
      if (!Object.hasOwn(this, name) || this[name] === undefined) continue;
      const value = this[name];
      delete this[name];
      this[name] = value;
    }
  }

  /** The origin of the chat's server. */
  get #server() {
    return this.getAttribute("server") ? new URL(this.getAttribute("server"), location.href).origin : HOME;
  }

  /** Creates the content of the element anew from its attributes. */
  #build() {
    this.#end();
    this.#root.replaceChildren();
    if (!this.getAttribute("page")) return;
    const label = this.getAttribute("label") || "Chat";
    const room = make("div", { className: "room" }, { part: "room" });
    if (this.getAttribute("display") !== "drawer") {
      this.#root.append(room);
      this.#start();
      return;
    }
    const placement = this.getAttribute("placement") === "left" ? "left" : "right";
    const attributes = { part: "button", "aria-haspopup": "dialog", "aria-expanded": "false", "data-placement": placement };
    this.#button = make("button", { type: "button", className: "open", textContent: label }, attributes);
    this.#button.onclick = () => this.open();
    this.#badge = make("span", { className: "badge", hidden: true }, { part: "badge", "aria-hidden": "true" });
    this.#button.append(this.#badge);
    this.#panel = make("div", { className: "panel" }, { part: "panel", popover: "manual", role: "dialog", "aria-label": label, "data-placement": placement });
    this.#panel.style.setProperty("--width", `${Number(this.getAttribute("width")) || DEFAULT_WIDTH}px`);
    const close = make("button", { type: "button", textContent: "✕", title: "Close (Escape)" }, { "aria-label": "Close" });
    close.onclick = () => this.close();
    const head = make("div", { className: "head" }, { part: "head" });
    head.append(make("strong", { textContent: label }), close);
    this.#panel.append(head, room);
    this.#panel.onkeydown = (event) => event.key === "Escape" && this.close();
    this.#root.append(this.#button, this.#panel);
    this.#showTheme();
  }

  /** Creates the iframe unless it exists. */
  #start() {
    if (this.#frame) return;
    const [page, agent] = ["page", "agent"].map((name) => this.getAttribute(name));
    const address = new URL(`/embed/${[page, agent].filter(Boolean).map(encodeURIComponent).join("/")}`, this.#server);
    address.searchParams.set("host", location.origin);
    if (this.getAttribute("conversation")) address.searchParams.set("conversation", this.getAttribute("conversation"));
    this.#frame = make("iframe", { title: this.getAttribute("label") || "Chat", allow: "microphone; clipboard-write", src: address.href });
    this.#frame.onload = () => this.#expect(OPEN_TIMEOUT_MS);
    this.#root.querySelector(".room").append(this.#frame);
    this.#expect(LOAD_TIMEOUT_MS);
  }

  /** Shows an error unless the iframe sends its "open" message within this time. */
  #expect(ms) {
    if (this.#entered) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#fail(), ms);
  }

  /** Shows that there is no chat here, and fires `error` with the cause. */
  async #fail() {
    const frame = this.#frame;
    frame.hidden = true;
    this.#root.querySelector(".failed")?.remove();
    frame.after(make("p", { className: "failed", textContent: "The chat is not available here." }, { part: "message", role: "alert" }));
    const [code, message] = await this.#findCause();
    // The iframe may have sent its "open" message late.
    if (frame !== this.#frame || this.#entered) return;
    console.error(message);
    this.#dispatch("error", { code, message });
  }

  /** Returns the code and the text of why the iframe did not open. Browsers do not tell, so the server is asked whether it lists this site:
   * by a module, which the site's content security policy allows like this script, while it may forbid `fetch`. */
  async #findCause() {
    const server = this.#server;
    const timeout = new Promise((_, reject) => setTimeout(reject, CHECK_TIMEOUT_MS));
    try {
      // The time in the URL makes the browser ask again if the module was loaded before. The URL also contains the site, because
      // Firefox sends no `Origin` from the server's own pages, such as the preview in the console.
      const query = new URLSearchParams({ at: Date.now(), host: location.origin });
      const { default: isListed } = await Promise.race([import(`${server}/embed-check.js?${query}`), timeout]);
      if (!isListed) return ["not_listed", `The server ${server} does not list this site. Add ${location.origin} to embed.origins in its config.`];
      return ["blocked", `The server ${server} lists this site (${location.origin}), but the frame did not open. This page's content security policy must allow the server in frame-src.`];
    } catch {
      return ["unavailable", `The server ${server} cannot be reached.`];
    }
  }

  /** Removes the iframe, rejects open calls and resets the element. */
  #end() {
    clearTimeout(this.#timer);
    this.#port?.close();
    this.#calls.forEach(({ reject }) => reject(new Error("The chat has gone.")));
    this.#calls.clear();
    this.#frame?.remove();
    this.#frame = this.#port = this.#button = this.#panel = this.#badge = undefined;
    this.#keys = undefined;
    this.#isReady = this.#isClosed = this.#entered = this.#retried = false;
    this.#waiting = [];
    if (this.#unread) {
      this.#unread = 0;
      this.#dispatch("unreadchange", { count: 0 });
    }
  }

  // Handles the iframe's "open" message: sends it a port of the channel if the message is from this element's iframe and the server.
  #onOpen = async (event) => {
    if (event.source === null || event.source !== this.#frame?.contentWindow || event.origin !== this.#server) return;
    if (event.data?.chatwright !== "open" || this.#entered) return;
    clearTimeout(this.#timer);
    this.#entered = true;
    const frame = this.#frame;
    // The timeout may have hidden the frame already.
    frame.hidden = false;
    this.#root.querySelector(".failed")?.remove();
    const token = await this.#askForToken(false);
    if (frame !== this.#frame) return;
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    port1.onmessage = ({ data }) => this.#onMessage(data);
    const message = { chatwright: "enter", token, theme: this.getAttribute("theme") ?? "", look: this.#look, visitor: loadVisitor(this.#server) };
    frame.contentWindow.postMessage(message, this.#server, [port2]);
  };

  async #askForToken(renew) {
    if (typeof this.getToken !== "function") {
      if (!renew) return this.#token;
      // Without `getToken`, the host page is asked by an event, and sets the property `token`.
      return new Promise((resolve) => {
        const timer = setTimeout(() => resolve(""), LOAD_TIMEOUT_MS);
        this.#tokenWanted = (token) => {
          clearTimeout(timer);
          this.#tokenWanted = undefined;
          resolve(token);
        };
        this.#dispatch("tokenexpired", {});
      });
    }
    try {
      this.#token = (await this.getToken({ renew })) ?? "";
    } catch (error) {
      this.#dispatch("error", { code: "token", message: `No token could be had: ${error?.message ?? error}` });
      this.#token = "";
    }
    return this.#token;
  }

  /** Handles a message from the iframe. */
  async #onMessage(message) {
    switch (message.type) {
      case "ready":
        this.#isReady = true;
        this.#retried = this.#isClosed = false;
        this.#state = this.#declared(this.#state);
        this.#port.postMessage({ type: "state", values: this.#state });
        for (const message of this.#waiting.splice(0)) this.#port.postMessage(message);
        return this.#dispatch("ready", {});
      case "event":
        if (message.name === "onMessageComplete" && !message.detail?.isAbort) this.#countUnread();
        return this.#dispatch(message.name.slice(2).toLowerCase(), message.detail);
      case "ask": {
        const ok = this.#dispatch(message.name.slice(2).toLowerCase(), message.detail, true);
        return this.#port.postMessage({ type: "answer", number: message.number, ok });
      }
      case "state":
        if (!this.#isReady) {
          if (!message.open) this.#keys = Object.keys(message.values);
          this.#state = { ...message.values, ...this.#state };
          return;
        }
        Object.assign(this.#state, message.values);
        return this.#dispatch("statechange", { values: message.values, state: this.state });
      case "refused":
        return console.warn("agent-chat: the state does not fit what the chat's page declares", message.refused);
      case "conversation":
        if (this.#conversation === (message.id ?? undefined)) return;
        this.#conversation = message.id ?? undefined;
        return this.#dispatch("conversationchange", { conversationId: message.id });
      case "result": {
        const call = this.#calls.get(message.number);
        this.#calls.delete(message.number);
        if (message.error) call?.reject(new Error(message.error));
        else call?.resolve();
        return;
      }
      case "tool":
        return this.#run(message);
      case "keep":
        return saveVisitor(this.#server, message.visitor);
      case "renew": {
        const token = await this.#askForToken(true);
        return this.#port?.postMessage({ type: "token", token });
      }
      case "closed":
        return this.#closed(message);
      case "escape":
        return this.close();
    }
  }

  /** Counts an answer, unless the chat is in view. */
  #countUnread() {
    if (this.#panel && !this.#panel.matches(":popover-open")) this.#showUnread(this.#unread + 1);
  }

  /** Shows the number of unread answers on the button of the drawer. */
  #showUnread(count) {
    if (count === this.#unread) return;
    this.#unread = count;
    const label = this.getAttribute("label") || "Chat";
    this.#badge.hidden = !count;
    this.#badge.textContent = count > 99 ? "99+" : String(count);
    if (count) this.#button.setAttribute("aria-label", `${label}, ${count} unread ${count === 1 ? "answer" : "answers"}`);
    else this.#button.removeAttribute("aria-label");
    this.#dispatch("unreadchange", { count });
  }

  /** Runs a tool for the agent. The iframe sends each call only once. */
  async #run({ number, name, input }) {
    const port = this.#port;
    const answer = { type: "toolresult", number };
    try {
      const handler = this.#tools.get(name);
      if (!handler) throw new Error("This page has not registered the tool.");
      const done = await handler(input);
      try {
        answer.output = done === undefined ? { ok: true } : JSON.parse(JSON.stringify(done));
      } catch {
        // The handler has succeeded. After an error, the agent could call the tool again.
        answer.output = { ok: true, note: "The result cannot be passed on." };
      }
    } catch (error) {
      answer.error = String(error?.message ?? error);
    }
    port?.postMessage(answer);
  }

  /** Handles a refusal by the server: tries once more with a new token if `getToken` returns one; otherwise fires `error`. */
  async #closed({ code, message }) {
    this.#isClosed = code === "unauthenticated";
    if (this.#isClosed && !this.#retried && typeof this.getToken === "function") {
      this.#retried = true;
      const token = await this.#askForToken(true);
      if (token) return this.#renewed(token);
    }
    this.#dispatch("error", { code, message });
  }

  /** Sends a new token to the iframe. If the server had refused the previous one, the chat is opened again. */
  #renewed(token) {
    this.#port?.postMessage({ type: "token", token });
    if (this.#isClosed && token) this.#port?.postMessage({ type: "enter" });
  }

  /** Dispatches an event, and returns false if a listener has prevented its default. */
  #dispatch(type, detail, cancelable = false) {
    return this.dispatchEvent(new CustomEvent(type, { detail, cancelable }));
  }

  /** Sends a message to the iframe. Before it is ready, calls are queued and other messages are dropped; the state is sent when it is ready. */
  #post(message) {
    if (this.#isReady) this.#port.postMessage(message);
    else if (message.type === "call") this.#waiting.push(message);
  }

  /** Calls a method of the chat in the iframe. */
  #call(method, args) {
    this.#start();
    if (!this.#frame) return Promise.reject(new Error("This chat has no `page`."));
    const number = ++this.#count;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#calls.delete(number);
        reject(new Error("The chat did not answer."));
      }, CALL_TIMEOUT_MS);
      const end = (settle) => (value) => {
        clearTimeout(timer);
        settle(value);
      };
      this.#calls.set(number, { resolve: end(resolve), reject: end(reject) });
      this.#post({ type: "call", number, method, args });
    });
  }

  /** The look that the host page has chosen, by name. An attribute takes precedence over the CSS variable. */
  get #look() {
    const style = getComputedStyle(this);
    const values = LOOK.map((name) => [name, (this.getAttribute(name) ?? style.getPropertyValue(`--agent-chat-${name}`)).trim()]);
    return Object.fromEntries(values.filter(([, value]) => value));
  }

  // Applies theme and look to the drawer, and sends them to the iframe.
  #showTheme = () => {
    const theme = this.getAttribute("theme") ?? "";
    if (this.#panel) {
      if (theme === "light" || theme === "dark") this.#panel.dataset.theme = theme;
      else delete this.#panel.dataset.theme;
      for (const name of LOOK) {
        const value = this.getAttribute(name)?.trim();
        const isValid = value && CSS.supports(name === "font" ? "font-family" : "color", value);
        for (const part of [this.#button, this.#panel]) {
          if (isValid) part.style.setProperty(`--agent-chat-${name}`, value);
          else part.style.removeProperty(`--agent-chat-${name}`);
        }
      }
    }
    this.#port?.postMessage({ type: "theme", theme, look: this.#look });
  };

  static {
    for (const method of METHODS) {
      Object.defineProperty(this.prototype, method, {
        configurable: true,
        writable: true,
        value(...args) {
          return this.#call(method, args.map((arg) => structuredClone(arg)));
        },
      });
    }
  }
}

if (!customElements.get("agent-chat")) customElements.define("agent-chat", AgentChatElement);

// <agent-chat page="…" agent="…">: a chat of the server that this script comes from, on any page. See docs/embedding.md.
//
// What is shown is a frame of that server in a shadow root: neither side's style or script reaches the other. They talk through one
// message channel, which the frame gets only if it is of that server, and only if the server lets this site have one.

const HOME = new URL(import.meta.url).origin;
const PATIENCE_MS = 20_000;
// A frame of the server announces itself as soon as it has loaded. What has loaded and says nothing is the browser's own error page.
const SILENCE_MS = 3_000;
const CALL_MS = 30_000;
const USUAL_WIDTH = 400;
const METHODS = ["sendMessage", "setInput", "focus", "stop", "regenerate", "deleteMessage", "newConversation", "setMessages", "clearError", "scrollToBottom"];

const sheet = new CSSStyleSheet();
// In pixels: the size of the page's own letters is not ours to depend on.
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
    background: var(--agent-chat-accent, #0d6b61); color: var(--agent-chat-accent-text, #fff); font: 500 16px/1.25 system-ui, sans-serif;
    box-shadow: 0 1px 2px rgb(20 22 24 / 12%), 0 8px 28px rgb(20 22 24 / 18%);
  }
  .open[data-placement="left"] { inset-inline: 24px auto; }
  .panel {
    position: fixed; inset-block: 0; inset-inline: auto 0; z-index: 2147483001; flex-direction: column;
    inline-size: min(var(--width, 400px), 100vw); block-size: 100dvh; max-inline-size: none; max-block-size: none;
    margin: 0; padding: 0; border: 0; border-inline-start: 1px solid light-dark(#e1e1db, #2d3237); overflow: hidden;
    background: light-dark(#ffffff, #1a1d20); color: light-dark(#1d1f21, #e9eaeb); font: 16px/1.25 system-ui, sans-serif; box-shadow: 0 8px 28px rgb(20 22 24 / 18%);
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

// Who nobody in particular is, where the browser lets the frame keep nothing: then this page keeps it.
const kept = (server) => {
  try {
    return localStorage.getItem(`agent-chat ${server}`) ?? "";
  } catch {
    return "";
  }
};
const keep = (server, visitor) => {
  try {
    localStorage.setItem(`agent-chat ${server}`, visitor);
  } catch {
    // Nor here: then he is somebody new each time.
  }
};

const make = (name, properties, attributes = {}) => {
  const element = Object.assign(document.createElement(name), properties);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
};

class AgentChatElement extends HTMLElement {
  static observedAttributes = ["page", "agent", "server", "conversation", "theme", "token", "display", "placement", "width", "label"];

  #root = this.attachShadow({ mode: "open" });
  #frame;
  #port;
  #button;
  #panel;
  #token = "";
  #getToken;
  #isClosed = false;
  #state = {};
  // The keys that the page of the chat declares, once they are known.
  #keys;
  #conversation;
  #isThere = false;
  #isReady = false;
  #entered = false;
  #waiting = [];
  #calls = new Map();
  // What this page does for the agent, by the names that the chat's page declares.
  #tools = new Map();
  #count = 0;
  #retried = false;
  #timer;
  #tokenWanted;

  constructor() {
    super();
    this.#root.adoptedStyleSheets = [sheet];
  }

  connectedCallback() {
    this.#upgrade("getToken", "state", "token");
    addEventListener("message", this.#opened);
    this.#isThere = true;
    this.#build();
  }

  disconnectedCallback() {
    removeEventListener("message", this.#opened);
    this.#isThere = false;
    this.#end();
  }

  attributeChangedCallback(name, before, now) {
    if (before === now) return;
    if (name === "token") this.token = now;
    if (!this.#isThere) return;
    if (["page", "agent", "server", "display", "placement", "width", "label"].includes(name)) this.#build();
    if (name === "theme") this.#showTheme();
    if (name === "conversation" && (now || undefined) !== this.#conversation) {
      this.#post({ type: "conversation", id: now || null });
    }
  }

  /** What the agent shares with this page: the keys that the page of the chat declares. Set, it is merged into what is there. */
  get state() {
    return structuredClone(this.#state);
  }

  set state(values) {
    const plain = this.#declared(structuredClone(values ?? {}));
    Object.assign(this.#state, plain);
    this.#post({ type: "state", values: plain });
  }

  #declared(values) {
    if (!this.#keys) return values;
    const unknown = Object.keys(values).filter((key) => !this.#keys.includes(key));
    if (unknown.length) console.warn("agent-chat: the chat's page does not declare these keys of the state", unknown);
    return Object.fromEntries(Object.entries(values).filter(([key]) => this.#keys.includes(key)));
  }

  /** Who the user is, signed by this page's server. */
  set token(token) {
    this.#token = token ?? "";
    this.#tokenWanted?.(this.#token);
    if (this.#token) this.#renewed(this.#token);
    else this.#post({ type: "token", token: "", ended: true });
  }

  /** Asks this page's server for a token; called at first and whenever one has ended. `({renew}) => string | Promise<string>` */
  get getToken() {
    return this.#getToken;
  }

  set getToken(ask) {
    this.#getToken = ask;
    if (this.#isClosed) this.#closed({ code: "unauthenticated" });
  }

  /** The conversation that is open; none before the first message of a new one. */
  get conversation() {
    return this.#conversation;
  }

  set conversation(id) {
    if (id) this.setAttribute("conversation", id);
    else this.removeAttribute("conversation");
  }

  /** What this page does when the agent calls a tool that the chat's page declares with `host: true`: `handler(input)` gives the result, or a
   * promise of it; what it throws is what the model reads. Without a handler the tool is taken away. */
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
    this.#button.setAttribute("aria-expanded", "true");
    this.#frame.focus();
    this.#call("focus", []).catch(() => {});
  }

  /** Hides the drawer; the chat goes on. */
  close() {
    if (!this.#panel?.matches(":popover-open")) return;
    this.#panel.hidePopover();
    this.#button.setAttribute("aria-expanded", "false");
    this.#button.focus();
  }

  // What a page has set before this script came.
  #upgrade(...names) {
    for (const name of names) {
      if (!Object.hasOwn(this, name) || this[name] === undefined) continue;
      const value = this[name];
      delete this[name];
      this[name] = value;
    }
  }

  get #server() {
    return this.getAttribute("server") ? new URL(this.getAttribute("server"), location.href).origin : HOME;
  }

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
    this.#panel = make("div", { className: "panel" }, { part: "panel", popover: "manual", role: "dialog", "aria-label": label, "data-placement": placement });
    this.#panel.style.setProperty("--width", `${Number(this.getAttribute("width")) || USUAL_WIDTH}px`);
    const close = make("button", { type: "button", textContent: "✕", title: "Close (Escape)" }, { "aria-label": "Close" });
    close.onclick = () => this.close();
    const head = make("div", { className: "head" }, { part: "head" });
    head.append(make("strong", { textContent: label }), close);
    this.#panel.append(head, room);
    this.#panel.onkeydown = (event) => event.key === "Escape" && this.close();
    this.#root.append(this.#button, this.#panel);
    this.#showTheme();
  }

  /** Loads the frame, once. */
  #start() {
    if (this.#frame) return;
    const [page, agent] = ["page", "agent"].map((name) => this.getAttribute(name));
    const address = new URL(`/embed/${[page, agent].filter(Boolean).map(encodeURIComponent).join("/")}`, this.#server);
    address.searchParams.set("host", location.origin);
    if (this.getAttribute("conversation")) address.searchParams.set("conversation", this.getAttribute("conversation"));
    this.#frame = make("iframe", { title: this.getAttribute("label") || "Chat", allow: "microphone; clipboard-write", src: address.href });
    this.#frame.onload = () => this.#expect(SILENCE_MS);
    this.#root.querySelector(".room").append(this.#frame);
    this.#expect(PATIENCE_MS);
  }

  /** Reports the chat as missing unless its frame announces itself within this time. */
  #expect(ms) {
    if (this.#entered) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      const text = `The chat at ${this.#server} did not answer. Its config must list this site (${location.origin}) in embed.origins; if it does not, the server's log names the site. This page's content security policy must allow the server in frame-src.`;
      console.error(text);
      this.#frame.hidden = true;
      this.#frame.after(make("p", { className: "failed", textContent: "The chat is not available here." }, { part: "message", role: "alert" }));
      this.#tell("error", { code: "unavailable", message: text });
    }, ms);
  }

  #end() {
    clearTimeout(this.#timer);
    this.#port?.close();
    this.#calls.forEach(({ reject }) => reject(new Error("The chat has gone.")));
    this.#calls.clear();
    this.#frame?.remove();
    this.#frame = this.#port = this.#button = this.#panel = undefined;
    this.#keys = undefined;
    this.#isReady = this.#isClosed = this.#entered = this.#retried = false;
    this.#waiting = [];
  }

  // The frame is there: it is given its end of the channel, if it is who it should be.
  #opened = async (event) => {
    if (event.source === null || event.source !== this.#frame?.contentWindow || event.origin !== this.#server) return;
    if (event.data?.chatwright !== "open" || this.#entered) return;
    clearTimeout(this.#timer);
    this.#entered = true;
    const frame = this.#frame;
    // It may have been given up too early.
    frame.hidden = false;
    this.#root.querySelector(".failed")?.remove();
    const token = await this.#askForToken(false);
    if (frame !== this.#frame) return;
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    port1.onmessage = ({ data }) => this.#heard(data);
    const message = { chatwright: "enter", token, theme: this.getAttribute("theme") ?? "", visitor: kept(this.#server) };
    frame.contentWindow.postMessage(message, this.#server, [port2]);
  };

  async #askForToken(renew) {
    if (typeof this.getToken !== "function") {
      if (!renew) return this.#token;
      // The page hears that it is time for another one.
      return new Promise((resolve) => {
        const timer = setTimeout(() => resolve(""), PATIENCE_MS);
        this.#tokenWanted = (token) => {
          clearTimeout(timer);
          this.#tokenWanted = undefined;
          resolve(token);
        };
        this.#tell("tokenexpired", {});
      });
    }
    try {
      this.#token = (await this.getToken({ renew })) ?? "";
    } catch (error) {
      this.#tell("error", { code: "token", message: `No token could be had: ${error?.message ?? error}` });
      this.#token = "";
    }
    return this.#token;
  }

  async #heard(told) {
    switch (told.type) {
      case "ready":
        this.#isReady = true;
        this.#retried = this.#isClosed = false;
        this.#state = this.#declared(this.#state);
        this.#port.postMessage({ type: "state", values: this.#state });
        for (const message of this.#waiting.splice(0)) this.#port.postMessage(message);
        return this.#tell("ready", {});
      case "event":
        return this.#tell(told.name.slice(2).toLowerCase(), told.detail);
      case "ask": {
        const ok = this.#tell(told.name.slice(2).toLowerCase(), told.detail, true);
        return this.#port.postMessage({ type: "answer", number: told.number, ok });
      }
      case "state":
        if (!this.#isReady) {
          this.#keys = Object.keys(told.values);
          this.#state = { ...told.values, ...this.#state };
          return;
        }
        Object.assign(this.#state, told.values);
        return this.#tell("statechange", { values: told.values, state: this.state });
      case "refused":
        return console.warn("agent-chat: the state does not fit what the chat's page declares", told.refused);
      case "conversation":
        if (this.#conversation === (told.id ?? undefined)) return;
        this.#conversation = told.id ?? undefined;
        return this.#tell("conversationchange", { conversationId: told.id });
      case "result": {
        const call = this.#calls.get(told.number);
        this.#calls.delete(told.number);
        if (told.error) call?.reject(new Error(told.error));
        else call?.resolve();
        return;
      }
      case "tool":
        return this.#run(told);
      case "keep":
        return keep(this.#server, told.visitor);
      case "renew": {
        const token = await this.#askForToken(true);
        return this.#port?.postMessage({ type: "token", token });
      }
      case "closed":
        return this.#closed(told);
      case "escape":
        return this.close();
    }
  }

  /** Runs a tool for the agent. The frame sees to it that each call comes once. */
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
        // It has run: a failure would have the agent do it again.
        answer.output = { ok: true, note: "The result cannot be passed on." };
      }
    } catch (error) {
      answer.error = String(error?.message ?? error);
    }
    port?.postMessage(answer);
  }

  /** The server has not let the frame in: once more with another token, if there can be one. */
  async #closed({ code, message }) {
    this.#isClosed = code === "unauthenticated";
    if (this.#isClosed && !this.#retried && typeof this.getToken === "function") {
      this.#retried = true;
      const token = await this.#askForToken(true);
      if (token) return this.#renewed(token);
    }
    this.#tell("error", { code, message });
  }

  /** There is another token: whoever was not let in tries again. */
  #renewed(token) {
    this.#port?.postMessage({ type: "token", token });
    if (this.#isClosed && token) this.#port?.postMessage({ type: "enter" });
  }

  /** Whether nobody has forbidden it. */
  #tell(type, detail, cancelable = false) {
    return this.dispatchEvent(new CustomEvent(type, { detail, cancelable }));
  }

  #post(message) {
    if (this.#isReady) this.#port.postMessage(message);
    else if (message.type === "call") this.#waiting.push(message);
  }

  #call(method, args) {
    this.#start();
    if (!this.#frame) return Promise.reject(new Error("This chat has no `page`."));
    const number = ++this.#count;
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        this.#calls.delete(number);
        reject(new Error("The chat did not answer."));
      }, CALL_MS);
      const end = (settle) => (value) => {
        clearTimeout(late);
        settle(value);
      };
      this.#calls.set(number, { resolve: end(resolve), reject: end(reject) });
      this.#post({ type: "call", number, method, args });
    });
  }

  #showTheme() {
    const theme = this.getAttribute("theme") ?? "";
    if (this.#panel) {
      if (theme === "light" || theme === "dark") this.#panel.dataset.theme = theme;
      else delete this.#panel.dataset.theme;
    }
    this.#port?.postMessage({ type: "theme", theme });
  }

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

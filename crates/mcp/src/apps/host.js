// The host of an app (MCP Apps, revision 2026-01-26): it answers what the app asks over `postMessage`, and asks the user before anything
// leaves the app. The app's frame has an opaque origin, so messages are recognised by their source.
const PROTOCOL = "2026-01-26";
const HEIGHT = { least: 40, most: 800 };
/** The most characters of a text for the message field. */
const MAX_TEXT = 10_000;
/** The most calls that run at once, and that begin in a minute. */
const CALLS = { atOnce: 4, perMinute: 60 };
/** How long the buttons of a question wait, in milliseconds: an app must not show it under the pointer just before a click. */
const DELAY = 500;
const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;
const REFUSED = -32000;

const data = JSON.parse(document.getElementById("app").textContent);
const { texts } = data;
const frame = document.querySelector("iframe");
const question = document.getElementById("question");

class RpcError extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

const send = (message) => frame.contentWindow?.postMessage({ jsonrpc: "2.0", ...message }, "*");
const notify = (method, params) => send({ method: `ui/notifications/${method}`, params });
const refuse = (message) => {
  throw new RpcError(REFUSED, message);
};

const dark = matchMedia("(prefers-color-scheme: dark)");
const theme = () => document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light");
let shownTheme = theme();
function followTheme() {
  if (theme() === shownTheme) return;
  shownTheme = theme();
  if (isInitialized) notify("host-context-changed", { theme: shownTheme });
}
dark.addEventListener("change", followTheme);
addEventListener("storage", ({ key, newValue }) => {
  if (key !== "theme") return;
  if (newValue === "light" || newValue === "dark") document.documentElement.dataset.theme = newValue;
  else delete document.documentElement.dataset.theme;
  followTheme();
});

/** Characters that are not seen, and those that change the direction of a text, as their code points. */
const visible = (text) => text.replace(/[\p{Cf}\p{Zl}\p{Zp}]/gu, (sign) => `\\u{${sign.codePointAt(0).toString(16)}}`);

/** Asks the user, and returns whether they agree. There is one question at a time. */
function ask(words, detail, label) {
  if (!question.hidden) refuse("The user is asked something else.");
  return new Promise((resolve) => {
    const [text, shown, yes, no] = question.children;
    text.textContent = words;
    shown.textContent = visible(detail);
    yes.textContent = label;
    for (const button of [yes, no]) {
      button.disabled = true;
      button.onclick = () => {
        question.hidden = true;
        resolve(button === yes);
      };
    }
    question.hidden = false;
    setTimeout(() => [yes, no].forEach((button) => (button.disabled = false)), DELAY);
  });
}

function initialize() {
  return {
    protocolVersion: PROTOCOL,
    hostInfo: { name: "chatwright", version: data.version },
    hostCapabilities: { openLinks: {}, serverTools: {}, message: { text: {} } },
    hostContext: {
      toolInfo: { tool: { name: data.tool, title: data.title, inputSchema: { type: "object" } } },
      theme: shownTheme,
      locale: data.language ?? navigator.language,
      timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      displayMode: "inline",
      availableDisplayModes: ["inline"],
      containerDimensions: { width: frame.clientWidth, maxHeight: HEIGHT.most },
      platform: "web",
      userAgent: `chatwright/${data.version}`,
    },
  };
}

async function openLink({ url } = {}) {
  const address = URL.canParse(url) ? new URL(url) : null;
  if (!address || !/^https?:$/.test(address.protocol) || address.username || address.password) {
    throw new RpcError(INVALID_PARAMS, "Only addresses with http or https are opened.");
  }
  if (!(await ask(texts.askLink, address.href, texts.open))) refuse("The user refused to open the address.");
  window.open(address.href, "_blank", "noopener,noreferrer");
  return {};
}

/** Puts a text into the message field. The user sends it, or does not. */
function addMessage({ role, content } = {}) {
  const blocks = [content].flat();
  const text = blocks.map((block) => (block?.type === "text" ? block.text : null));
  if (role !== "user" || blocks.length === 0 || !text.every((part) => typeof part === "string")) {
    throw new RpcError(INVALID_PARAMS, "Only text of the user can be added.");
  }
  const joined = text.join("\n");
  if (joined.length > MAX_TEXT) throw new RpcError(INVALID_PARAMS, "The text is too long.");
  // The page around this one is of the same site, or there is none.
  if (!window.frameElement) refuse("There is no message field.");
  window.frameElement.dispatchEvent(new CustomEvent("app-message", { detail: joined, bubbles: true }));
  return {};
}

const begun = [];
let running = 0;

async function call({ name, arguments: given = {} } = {}) {
  if (typeof name !== "string" || given === null || typeof given !== "object" || Array.isArray(given)) {
    throw new RpcError(INVALID_PARAMS, "A call has a name, and an object as its arguments.");
  }
  const now = Date.now();
  while (begun.length > 0 && begun[0] <= now - 60_000) begun.shift();
  if (running >= CALLS.atOnce || begun.length >= CALLS.perMinute) refuse("There are too many calls.");
  begun.push(now);
  running += 1;
  try {
    let outcome = await request({ tool: name, arguments: given });
    // A tool may change while the user is asked.
    for (let asked = 0; outcome.status === "needsApproval"; asked += 1) {
      if (asked === 3) refuse("The tool changes too often.");
      const words = texts.askCall.replace("{1}", () => visible(name));
      const approved = await ask(words, JSON.stringify(given, null, 2), texts.approve);
      outcome = await request({ tool: name, arguments: given, decision: { approved, fingerprint: outcome.fingerprint } });
    }
    return outcome.status === "done" ? outcome.result : refuse(outcome.message);
  } finally {
    running -= 1;
  }
}

async function request(body) {
  const headers = { "content-type": "application/json" };
  const response = await fetch(data.calls, { method: "POST", headers, body: JSON.stringify(body) }).catch(() => null);
  const answer = await response?.json().catch(() => null);
  return response?.ok && answer ? answer : refuse(answer?.error?.message ?? texts.failed);
}

const METHODS = {
  ping: () => ({}),
  "ui/initialize": initialize,
  "ui/open-link": openLink,
  "ui/message": addMessage,
  "ui/request-display-mode": () => ({ mode: "inline" }),
  "tools/call": call,
};

let isInitialized = false;
const NOTIFICATIONS = {
  "ui/notifications/initialized"() {
    if (isInitialized) return;
    isInitialized = true;
    notify("tool-input", { arguments: data.input });
    notify("tool-result", data.result);
  },
  "ui/notifications/size-changed"({ height } = {}) {
    if (Number.isFinite(height)) frame.style.height = `${Math.min(Math.max(height, HEIGHT.least), HEIGHT.most)}px`;
  },
};

addEventListener("message", async ({ source, data: message }) => {
  if (source !== frame.contentWindow) return;
  if (message?.artifactFrame === "unsupported") document.body.textContent = texts.unsafe;
  if (message?.jsonrpc !== "2.0" || typeof message.method !== "string") return;
  const { id, method } = message;
  const params = message.params && typeof message.params === "object" ? message.params : undefined;
  if (id === undefined) {
    if (Object.hasOwn(NOTIFICATIONS, method)) NOTIFICATIONS[method](params);
    return;
  }
  if (typeof id !== "string" && !Number.isSafeInteger(id)) return;
  try {
    if (!Object.hasOwn(METHODS, method)) throw new RpcError(METHOD_NOT_FOUND, "The host does not have this method.");
    send({ id, result: await METHODS[method](params) });
  } catch (error) {
    const { code, message } = error instanceof RpcError ? error : new RpcError(REFUSED, texts.failed);
    send({ id, error: { code, message } });
  }
});

addEventListener("pagehide", () => {
  if (isInitialized) send({ id: "teardown", method: "ui/resource-teardown", params: {} });
});

// The height of this page is that of its frame in the chat.
new ResizeObserver(() => {
  if (window.frameElement) window.frameElement.style.height = `${Math.ceil(document.body.getBoundingClientRect().height)}px`;
}).observe(document.body);

// What is above may be needed by the app's first message, so its frame is loaded now.
frame.src = data.frame;

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
const [head, question, offer] = ["head", "question", "offer"].map((id) => document.getElementById(id));

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
const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

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

/** The modes that the app says it can be shown in. */
let declaredModes;

function initialize({ appCapabilities } = {}) {
  const declared = appCapabilities?.availableDisplayModes;
  declaredModes = Array.isArray(declared) ? declared : undefined;
  showHead();
  return {
    protocolVersion: PROTOCOL,
    hostInfo: { name: "chatwright", version: data.version },
    hostCapabilities: {
      openLinks: {},
      serverTools: {},
      ...(data.readsResources ? { serverResources: {} } : {}),
      ...(outer ? { message: { text: {} }, updateModelContext: { text: {}, structuredContent: {} } } : {}),
      logging: {},
    },
    hostContext: {
      toolInfo: { id: data.callId, tool: { name: data.tool, title: data.title, inputSchema: { type: "object" } } },
      theme: shownTheme,
      styles: { variables: styleVariables() },
      locale: data.language ?? navigator.language,
      timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      displayMode: displayMode(),
      availableDisplayModes: displayModes(declaredModes),
      containerDimensions: dimensions(frame, HEIGHT.most),
      platform: "web",
      userAgent: `chatwright/${data.version}`,
      deviceCapabilities: { touch: navigator.maxTouchPoints > 0, hover: matchMedia("(hover: hover)").matches },
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

/** The texts of content blocks, if there is nothing else. */
function textsOf(content) {
  const read = [content].flat().map((block) => (block?.type === "text" ? block.text : null));
  if (!read.every((text) => typeof text === "string")) throw new RpcError(INVALID_PARAMS, "Only text can be added.");
  return read;
}

/** Puts a text into the message field. The user sends it, or does not. */
function addText(text) {
  if (!outer) refuse("There is no message field.");
  if (text.length > MAX_TEXT) throw new RpcError(INVALID_PARAMS, "The text is too long.");
  outer.dispatchEvent(new CustomEvent("app-message", { detail: text, bubbles: true }));
}

function addMessage({ role, content } = {}) {
  const added = textsOf(content);
  if (role !== "user" || added.length === 0) throw new RpcError(INVALID_PARAMS, "Only text of the user can be added.");
  addText(added.join("\n"));
  return {};
}

/** Offers the user what the app wants the model to know. It is sent only if they put it into their message; a newer one replaces it. */
function offerContext({ content = [], structuredContent } = {}) {
  const parts = textsOf(content);
  if (structuredContent !== undefined) {
    if (!isObject(structuredContent)) throw new RpcError(INVALID_PARAMS, "Structured content is an object.");
    parts.push(JSON.stringify(structuredContent, null, 2));
  }
  const text = visible(parts.join("\n").trim());
  const [details, insert] = offer.children;
  const offered = `${data.heading}:\n${text}`;
  if (offered.length > MAX_TEXT) throw new RpcError(INVALID_PARAMS, "The context is too long.");
  details.querySelector("pre").textContent = text;
  insert.onclick = async () => {
    offer.hidden = true;
    // In the chat the message field is seen.
    await setDisplayMode("inline");
    addText(offered);
  };
  offer.hidden = text === "" || !outer;
  return {};
}

const begun = [];
let running = 0;

/** Makes a call, for which the user may be asked with its name and what it is about. */
async function gated(address, body, [name, about]) {
  const now = Date.now();
  while (begun.length > 0 && begun[0] <= now - 60_000) begun.shift();
  if (running >= CALLS.atOnce || begun.length >= CALLS.perMinute) refuse("There are too many calls.");
  begun.push(now);
  running += 1;
  try {
    let outcome = await request(address, body);
    // A tool may change while the user is asked.
    for (let asked = 0; outcome.status === "needsApproval"; asked += 1) {
      if (asked === 3) refuse("The tool changes too often.");
      const words = texts.askCall.replace("{1}", () => visible(name));
      const approved = await ask(words, JSON.stringify(about, null, 2), texts.approve);
      outcome = await request(address, { ...body, decision: { approved, fingerprint: outcome.fingerprint } });
    }
    return outcome.status === "done" ? outcome.result : refuse(outcome.message);
  } finally {
    running -= 1;
  }
}

function call({ name, arguments: given = {} } = {}) {
  if (typeof name !== "string" || !isObject(given)) {
    throw new RpcError(INVALID_PARAMS, "A call has a name, and an object as its arguments.");
  }
  return gated(data.calls, { tool: name, arguments: given }, [name, given]);
}

function readResource({ uri } = {}) {
  if (typeof uri !== "string") throw new RpcError(INVALID_PARAMS, "A resource has an address.");
  return gated(`${data.calls}/resource`, { uri }, ["resources/read", { uri }]);
}

async function request(address, body) {
  const headers = { "content-type": "application/json" };
  const response = await fetch(address, { method: "POST", headers, body: JSON.stringify(body) }).catch(() => null);
  const answer = await response?.json().catch(() => null);
  return response?.ok && answer ? answer : refuse(answer?.error?.message ?? texts.failed);
}

/** The browser wants an act of the user for the whole screen. Any act on this site counts for it; here it has to be one in the app. */
function requestDisplayMode({ mode } = {}) {
  const isInApp = document.activeElement === frame && document.hasFocus();
  const isAllowed = displayModes(declaredModes).includes(mode) && (isInApp || mode === "inline");
  return isAllowed ? setDisplayMode(mode) : { mode: displayMode() };
}

const METHODS = {
  ping: () => ({}),
  "ui/initialize": initialize,
  "ui/open-link": openLink,
  "ui/message": addMessage,
  "ui/update-model-context": offerContext,
  "ui/request-display-mode": requestDisplayMode,
  "tools/call": call,
  ...(data.readsResources ? { "resources/read": readResource } : {}),
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
  // For whoever writes the app: other than what it says itself, this is shown with the name of its server.
  "notifications/message": ({ level, data: said } = {}) => console.debug(data.heading, level, said),
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

/** Tells the app what has changed around it. */
const contextChanged = (change) => {
  if (isInitialized) notify("host-context-changed", change);
};

let shownTheme = theme();
watchTheme(() => {
  if (theme() === shownTheme) return;
  shownTheme = theme();
  contextChanged({ theme: shownTheme });
});
watchDimensions(frame, () => contextChanged({ containerDimensions: dimensions(frame, HEIGHT.most) }));
watchDisplayMode(() => {
  showHead();
  contextChanged({ displayMode: displayMode(), containerDimensions: dimensions(frame, HEIGHT.most) });
});

/** Shows above the app whose it is, with the button to enlarge it: if it says that it can be, and always while it is. */
function showHead() {
  const enlarged = isEnlarged();
  document.documentElement.dataset.mode = displayMode();
  head.hidden = !enlarged && !(declaredModes && displayModes(declaredModes).includes("fullscreen"));
  const button = head.querySelector("button");
  button.textContent = enlarged ? texts.close : texts.enlarge;
  button.onclick = () => setDisplayMode(enlarged ? "inline" : "fullscreen");
}

addEventListener("pagehide", () => {
  if (isInitialized) send({ id: "teardown", method: "ui/resource-teardown", params: {} });
});

// The height of this page is that of its frame in the chat.
new ResizeObserver(() => {
  if (outer && !isEnlarged()) outer.style.height = `${Math.ceil(document.body.getBoundingClientRect().height)}px`;
}).observe(document.body);

// What is above may be needed by the app's first message, so its frame is loaded now.
frame.src = data.frame;

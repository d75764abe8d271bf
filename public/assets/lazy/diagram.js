// Renders Mermaid diagrams, one at a time, in a sandboxed iframe. The iframe has an opaque origin, and its content security policy lets
// it load only the renderer. The SVG that it returns is shown as an image, so no scripts or links in it work.

const RENDERER_URL = "/assets/lazy/mermaid/frame.html";
/** A longer diagram source is shown as code, in characters. */
const MAX_LENGTH = 20_000;
/** The time limit for one diagram, in milliseconds. */
const RENDER_TIMEOUT_MS = 10_000;
/** The time limit for starting the iframe, in milliseconds. */
const START_TIMEOUT_MS = 60_000;

let renderer;
let queue = Promise.resolve();

/** Creates the iframe, and resolves with it when it is ready to render. */
function start() {
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts");
  frame.setAttribute("aria-hidden", "true");
  frame.setAttribute("tabindex", "-1");
  frame.className = "cw-diagram-drawer";
  frame.title = "Drawer of diagrams";
  frame.src = RENDERER_URL;
  const ready = nextMessage(frame, (message) => message.ready, START_TIMEOUT_MS).then(() => frame);
  document.body.append(frame);
  return ready.catch((error) => {
    frame.remove();
    renderer = undefined;
    throw error;
  });
}

/** Resolves with the iframe's next message for which `accepts` returns true; rejects after `timeout` milliseconds. */
function nextMessage(frame, accepts, timeout) {
  return new Promise((resolve, reject) => {
    const done = (settle, value) => {
      removeEventListener("message", onMessage);
      clearTimeout(timer);
      settle(value);
    };
    const onMessage = ({ source, data }) => {
      if (source === frame.contentWindow && data && accepts(data)) done(resolve, data);
    };
    const timer = setTimeout(() => done(reject, new Error("the renderer does not answer")), timeout);
    addEventListener("message", onMessage);
  });
}

let number = 0;

/** Renders one diagram in the iframe. */
async function render(text, dark) {
  const frame = await (renderer ??= start());
  number += 1;
  const id = number;
  const rendered = nextMessage(frame, (message) => message.number === id, RENDER_TIMEOUT_MS);
  frame.contentWindow.postMessage({ number: id, text, dark }, "*");
  try {
    return await rendered;
  } catch (error) {
    // The iframe hangs: the next diagram gets a new one.
    frame.remove();
    renderer = undefined;
    throw error;
  }
}

const isDark = () => getComputedStyle(document.documentElement).colorScheme === "dark" ||
  (!document.documentElement.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);

/** The code blocks with diagrams that were in view. */
const shown = new Set();
/** The code blocks that were not in view yet. */
const awaited = new WeakSet();
/** The text and theme from which the diagram of a code block was rendered last. */
const sources = new WeakMap();

/**
 * Renders the diagram of a code block once it is in view, and again when it is called for a block whose text has changed. If
 * rendering fails, the code stays visible.
 */
export function draw(block) {
  if (shown.has(block)) return redraw(block);
  if (awaited.has(block)) return;
  awaited.add(block);
  new IntersectionObserver((entries, observer) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    observer.disconnect();
    shown.add(block);
    redraw(block);
  }, { rootMargin: "50% 0%" }).observe(block);
}

function redraw(block) {
  queue = queue.then(() => show(block)).catch(() => showCode(block));
}

/** Shows the code instead of the diagram, because the text cannot be drawn. */
function showCode(block) {
  block.removeAttribute("data-drawn");
  block.setAttribute("data-undrawn", "");
}

async function show(block) {
  const text = block.querySelector("code")?.textContent ?? "";
  // An empty block may still get its text.
  if (!block.isConnected || text.trim() === "") return;
  const dark = isDark();
  const source = `${dark}\n${text}`;
  if (sources.get(block) === source) return;
  sources.set(block, source);
  if (text.length > MAX_LENGTH) return showCode(block);
  const { svg, width, height } = await render(text, dark);
  if (!svg) return showCode(block);
  let image = block.querySelector(".cw-diagram");
  if (!image) {
    image = Object.assign(document.createElement("img"), { className: "cw-diagram" });
    block.append(image);
  }
  // The source is the text alternative of the diagram.
  image.alt = `Diagram: ${text.trim()}`;
  image.width = width;
  image.height = height;
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  block.removeAttribute("data-undrawn");
  block.setAttribute("data-drawn", "");
}

/** Renders all diagrams again when the theme changes: their colours are part of the image. */
function redrawAll() {
  for (const block of shown) {
    if (!block.isConnected) shown.delete(block);
    else redraw(block);
  }
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
new MutationObserver(redrawAll).observe(document.documentElement, { attributeFilter: ["data-theme"] });

// Draws diagrams (Mermaid), one after the other, with a frame that can do nothing but that: it has no origin, its own policy lets it
// load nothing but the drawer, and what it answers with is shown as an image, in which nothing runs and nothing leads anywhere.

const DRAWER = "/assets/lazy/mermaid/frame.html";
/** Longer descriptions stay code, in characters. */
const LONGEST = 20_000;
/** How long one drawing may take, and starting the drawer, in milliseconds. */
const PATIENCE = 10_000;
const START_PATIENCE = 60_000;

let drawer;
let queue = Promise.resolve();

/** The frame, once it can draw. */
function start() {
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts");
  frame.setAttribute("aria-hidden", "true");
  frame.setAttribute("tabindex", "-1");
  frame.className = "cw-diagram-drawer";
  frame.title = "Drawer of diagrams";
  frame.src = DRAWER;
  const ready = answer(frame, (message) => message.ready, START_PATIENCE).then(() => frame);
  document.body.append(frame);
  return ready.catch((error) => {
    frame.remove();
    drawer = undefined;
    throw error;
  });
}

/** What the frame says next that is meant. */
function answer(frame, isMeant, patience) {
  return new Promise((resolve, reject) => {
    const done = (settle, value) => {
      removeEventListener("message", hear);
      clearTimeout(timer);
      settle(value);
    };
    const hear = ({ source, data }) => {
      if (source === frame.contentWindow && data && isMeant(data)) done(resolve, data);
    };
    const timer = setTimeout(() => done(reject, new Error("the drawer does not answer")), patience);
    addEventListener("message", hear);
  });
}

let number = 0;

async function drawing(text, dark) {
  const frame = await (drawer ??= start());
  number += 1;
  const mine = number;
  const answered = answer(frame, (message) => message.number === mine, PATIENCE);
  frame.contentWindow.postMessage({ number: mine, text, dark }, "*");
  try {
    return await answered;
  } catch (error) {
    // It hangs: the next diagram gets another.
    frame.remove();
    drawer = undefined;
    throw error;
  }
}

const isDark = () => getComputedStyle(document.documentElement).colorScheme === "dark" ||
  (!document.documentElement.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);

const shown = new Set();

/** Draws the code block once it is in view; where that cannot be done, the code stays what is seen. */
export function draw(block) {
  new IntersectionObserver((entries, observer) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    observer.disconnect();
    shown.add(block);
    redraw(block);
  }, { rootMargin: "50% 0%" }).observe(block);
}

function redraw(block) {
  queue = queue.then(() => show(block)).catch(() => block.setAttribute("data-undrawn", ""));
}

async function show(block) {
  const text = block.querySelector("code")?.textContent ?? "";
  if (!block.isConnected || text.length > LONGEST) return;
  const { svg, width, height } = await drawing(text, isDark());
  if (!svg) {
    block.setAttribute("data-undrawn", "");
    return;
  }
  let image = block.querySelector(".cw-diagram");
  if (!image) {
    image = Object.assign(document.createElement("img"), { className: "cw-diagram" });
    block.append(image);
  }
  // Read aloud, a diagram is what it was described with.
  image.alt = `Diagram: ${text.trim()}`;
  image.width = width;
  image.height = height;
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  block.setAttribute("data-drawn", "");
}

/** Colours are part of a drawing: another theme needs another. */
function again() {
  for (const block of shown) {
    if (!block.isConnected) shown.delete(block);
    else if (block.hasAttribute("data-drawn")) redraw(block);
  }
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
new MutationObserver(again).observe(document.documentElement, { attributeFilter: ["data-theme"] });

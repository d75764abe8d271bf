// Says that the page has stopped, and what can be done: after a panic nothing of the WASM answers any more, so its half of the app cannot.
// Where it happens again at once in the same conversation, the rest is still within reach: the conversation as a plain page of the server, or
// a new one. The words come with the document, see app/src/shell.rs.
const KEY = "cw-stopped";
const AT_ONCE = 60_000;
const framed = location.pathname.startsWith("/embed/");
let shown = false;

/** A panic ends in a trap; a stack that is full is the script's own error, in the WASM: in Firefox an `InternalError`. */
const isEnd = (error) =>
  error instanceof WebAssembly.RuntimeError ||
  ((error instanceof RangeError || error?.name === "InternalError") && /wasm/.test(error.stack ?? ""));

const addressed = () => new URLSearchParams(location.search).get("conversation");
/** Without one in the address, the one that the page itself names. */
const conversation = () =>
  addressed() ?? document.querySelector(".cw-chat[data-conversation]")?.dataset.conversation ?? null;

/** Whether this conversation stopped the page a moment ago, too. What cannot be kept is not known. */
function isAgain() {
  const place = conversation();
  try {
    const last = JSON.parse(sessionStorage.getItem(KEY) ?? "{}");
    sessionStorage.setItem(KEY, JSON.stringify({ place, at: Date.now() }));
    return place !== null && last.place === place && Date.now() - last.at < AT_ONCE;
  } catch {
    return false;
  }
}

function show() {
  const template = document.getElementById(KEY);
  if (shown || !template) return;
  shown = true;
  // In a frame a link would come without what tells who asks.
  const when = isAgain() && !framed ? "again" : "once";
  const box = template.content.firstElementChild.cloneNode(true);
  for (const part of box.querySelectorAll("[data-when]")) if (part.dataset.when !== when) part.remove();
  const to = {
    again: location.pathname + location.search,
    read: `/api/conversations/${encodeURIComponent(conversation())}/export?format=html`,
    new: location.pathname,
  };
  for (const link of box.querySelectorAll("[data-to]")) link.href = to[link.dataset.to];
  // A page that names the conversation itself would show the same one again.
  if (addressed() === null) box.querySelector('[data-to="new"]')?.remove();
  // What is left of the app may still listen, and would take a link as one within the page.
  box.addEventListener("click", (event) => event.stopPropagation());
  // What is not in an open modal dialog cannot be reached, above it or not.
  for (const dialog of document.querySelectorAll("dialog:modal")) dialog.close();
  document.body.append(box);
  // Above a drawer, which is in the browser's top layer.
  box.popover = "manual";
  box.showPopover?.();
}

const look = (error) => {
  if (isEnd(error)) show();
};
addEventListener("error", (event) => look(event.error));
addEventListener("unhandledrejection", (event) => look(event.reason));

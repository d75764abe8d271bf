// Shows a message when the app has crashed. After a panic the WASM module no longer works, so this is plain JavaScript. The message offers
// to reload the page. If the same conversation crashes the page again within a minute, it also offers the conversation as an HTML export and
// a new conversation. The message is a <template> in the document (app/src/shell.rs).
const KEY = "cw-stopped";
/** Two crashes within this time count as repeated, in milliseconds. */
const REPEAT_MS = 60_000;
const framed = location.pathname.startsWith("/embed/");
let shown = false;

/** Returns whether the error has ended the app: a panic traps (`RuntimeError`); a stack overflow in WASM is a `RangeError`, in Firefox an
 * `InternalError`. */
const isFatal = (error) =>
  error instanceof WebAssembly.RuntimeError ||
  ((error instanceof RangeError || error?.name === "InternalError") && /wasm/.test(error.stack ?? ""));

const addressed = () => new URLSearchParams(location.search).get("conversation");
/** The conversation in the URL, or else the one that the page's state selects (`data-conversation`). */
const conversation = () =>
  addressed() ?? document.querySelector(".cw-chat[data-conversation]")?.dataset.conversation ?? null;

/** Returns whether the page crashed with this conversation a moment ago, too; false if session storage is not available. */
function isAgain() {
  const conversationId = conversation();
  try {
    const last = JSON.parse(sessionStorage.getItem(KEY) ?? "{}");
    sessionStorage.setItem(KEY, JSON.stringify({ conversation: conversationId, at: Date.now() }));
    return conversationId !== null && last.conversation === conversationId && Date.now() - last.at < REPEAT_MS;
  } catch {
    return false;
  }
}

function show() {
  const template = document.getElementById(KEY);
  if (shown || !template) return;
  shown = true;
  // The links do not work in an embedded chat: a navigation does not send the visitor's token or id.
  const when = isAgain() && !framed ? "again" : "once";
  const box = template.content.firstElementChild.cloneNode(true);
  for (const part of box.querySelectorAll("[data-when]")) if (part.dataset.when !== when) part.remove();
  const to = {
    again: location.pathname + location.search,
    read: `/api/conversations/${encodeURIComponent(conversation())}/export?format=html`,
    new: location.pathname,
  };
  for (const link of box.querySelectorAll("[data-to]")) link.href = to[link.dataset.to];
  // Without a conversation in the URL, the page's state selects it, and the link would open the same one again.
  if (addressed() === null) box.querySelector('[data-to="new"]')?.remove();
  // The router's click listener may still be attached, and would handle the link as a navigation within the app.
  box.addEventListener("click", (event) => event.stopPropagation());
  // Everything outside of an open modal dialog is inert, including this box.
  for (const dialog of document.querySelectorAll("dialog:modal")) dialog.close();
  document.body.append(box);
  // A popover, to be above a drawer, which is in the top layer.
  box.popover = "manual";
  box.showPopover?.();
}

const check = (error) => {
  if (isFatal(error)) show();
};
addEventListener("error", (event) => check(event.error));
addEventListener("unhandledrejection", (event) => check(event.reason));

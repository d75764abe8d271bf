// Switches on the account page (crates/accounts/src/keep_view.rs) whether this browser keeps the conversations that are opened (keep.js).
// The choice is the cache itself: without it, nothing is kept.
const part = document.querySelector(".cw-keep");
/** The cache and its index, as in keep.js. */
const KEPT = "cw-kept";
const INDEX = "/assets/lazy/kept.json";

const buttons = Object.fromEntries(["on", "off"].map((act) => [act, part.querySelector(`[data-act=${act}]`)]));

/** Shows the text of a state, and the button that changes it. */
const show = (state) => {
  for (const text of part.querySelectorAll("[data-state]")) text.hidden = text.dataset.state !== state;
  buttons.on.hidden = !["off", "failed"].includes(state);
  buttons.off.hidden = state !== "on";
};

const turnOn = async () => {
  // An installed page has registered the worker already, with the texts of its locale.
  if (!(await navigator.serviceWorker.getRegistration("/"))) {
    await navigator.serviceWorker.register("/assets/lazy/offline-worker.js", { scope: "/" });
  }
  await navigator.serviceWorker.ready;
  await navigator.locks.request(KEPT, async () => {
    // Another tab may have switched it on already, and kept pages that would not be in the new index.
    await caches.delete(KEPT);
    const cache = await caches.open(KEPT);
    // The first page of the app that is opened enters its reader.
    await cache.put(INDEX, new Response(JSON.stringify({ reader: null, pages: [] }), { headers: { "content-type": "application/json" } }));
  });
  show("on");
};

const turnOff = async () => {
  await caches.delete(KEPT);
  show("off");
};

const guarded = (act) => async () => {
  for (const button of Object.values(buttons)) button.disabled = true;
  await act().catch((error) => {
    console.error(error);
    show("failed");
  });
  for (const button of Object.values(buttons)) button.disabled = false;
};

const begin = async () => {
  if (!window.isSecureContext) return show("insecure");
  if (!("serviceWorker" in navigator && "caches" in window && "locks" in navigator)) return show("unsupported");
  show((await caches.has(KEPT)) ? "on" : "off");
};

buttons.on.addEventListener("click", guarded(turnOn));
buttons.off.addEventListener("click", guarded(turnOff));
begin().catch((error) => {
  console.error(error);
  show("failed");
});

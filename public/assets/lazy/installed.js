// For pages that were added to a home screen or installed as an app, and for browsers that keep what was read; changes.js loads it there only.

// The icon shows how much waits for the user, as the title does (app/src/pages/page.rs).
const showBadge = () => navigator.setAppBadge?.(/^\((\d+)\) /.exec(document.title)?.[1] ?? 0).catch(() => {});
new MutationObserver(showBadge).observe(document.head, { childList: true, subtree: true });
showBadge();

// The worker shows a page of its own while the server cannot be reached. If the config has a locale, the address of the worker has its
// texts (app/src/shell.rs).
const { lang, dir } = document.documentElement;
const template = document.getElementById("cw-stopped");
const text = template?.dataset.offline;
const again = template?.content.querySelector("[data-to=again]")?.textContent.trim();
const texts = text && again ? `?${new URLSearchParams({ lang, dir, text, again })}` : "";
navigator.serviceWorker?.register(`/assets/lazy/offline-worker.js${texts}`, { scope: "/" }).catch(() => {});

// Off unless the user has switched it on, on the account page (keep-switch.js).
globalThis.caches?.has("cw-kept").then((isOn) => isOn && import("./keep.js")).catch(() => {});

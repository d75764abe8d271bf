// For pages that were added to a home screen or installed as an app; changes.js loads it there only.

// The icon shows how much waits for the user, as the title does (app/src/pages/page.rs).
const showBadge = () => navigator.setAppBadge?.(/^\((\d+)\) /.exec(document.title)?.[1] ?? 0).catch(() => {});
new MutationObserver(showBadge).observe(document.head, { childList: true, subtree: true });
showBadge();

// The worker shows a page of its own while the server cannot be reached.
navigator.serviceWorker?.register("/assets/lazy/offline-worker.js", { scope: "/" }).catch(() => {});

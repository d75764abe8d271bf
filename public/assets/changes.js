// Polls the state of the config. Shows a notice when the config of the open page has changed, and the problems of a changed config
// that could not be loaded. It is independent of the app, so that it also works on a page whose app has failed. The notice is a
// <template> in the document (app/src/shell.rs); server/src/reload.rs watches the config's files.
/** A developer's machine: polls more often. */
const developing = ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);
/** The version with which each page was first seen, by page id. */
const versions = new Map();
/** The state that is shown, to update the notice only when it changes. */
let shown;

const element = (name, className, text) => Object.assign(document.createElement(name), { className, textContent: text ?? "" });

/** The live region. Screen readers announce changes only in a region that is in the document already. */
const region = element("div", "cw-changed-place");
region.setAttribute("role", "status");
document.body.append(region);

/** The page's id, from the URL; empty for the first page. */
const page = () => decodeURIComponent(location.pathname.split("/")[1] ?? "");

/** The button of the notice about a changed page, in its language. */
const dismissButton = () => document.getElementById("cw-changed")?.content.querySelector("[data-do=dismiss]")?.cloneNode(true);

function problemNotice(problems) {
  const box = element("section", "cw-changed cw-changed-wrong");
  box.setAttribute("role", "alert");
  const dismiss = dismissButton();
  dismiss?.addEventListener("click", () => box.remove());
  box.append(element("strong", "", "The config was changed and has errors. The previous one stays in use."), element("pre", "", problems));
  if (dismiss) box.append(dismiss);
  return box;
}

function changeNotice() {
  const box = document.getElementById("cw-changed")?.content.firstElementChild.cloneNode(true);
  box?.querySelector("[data-do=reload]").addEventListener("click", () => location.reload());
  box?.querySelector("[data-do=dismiss]").addEventListener("click", () => box.remove());
  return box;
}

async function check() {
  if (document.hidden) return;
  try {
    const id = page();
    const response = await fetch(`/api/config/status?page=${encodeURIComponent(id)}`);
    if (!response.ok || id !== page()) return;
    const status = await response.json();
    if (!versions.has(id)) versions.set(id, status.page);
    const state = status.problems ?? (status.page === versions.get(id) ? "" : `page ${id} ${status.page}`);
    if (state === (shown ?? "")) return;
    shown = state;
    const box = status.problems ? problemNotice(status.problems) : state && changeNotice();
    region.replaceChildren(...(box ? [box] : []));
  } catch {
    // The server is unreachable. The chat reports that.
  }
}

if (matchMedia("(display-mode: standalone)").matches || navigator.serviceWorker?.controller) import("./lazy/installed.js");
check();
setInterval(check, developing ? 1500 : 60000);
document.addEventListener("visibilitychange", check);

// Tells the reader of an open page that the config has changed what it shows, and its developer what is wrong with a new config.
// A script of its own, so that it works when a page does not. The words come with the document, see app/src/shell.rs; how a change is
// noticed, server/src/reload.rs.
const developing = ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);
/** The version of each page that was opened, by its id. */
const known = new Map();
let shown;

const element = (name, className, text) => Object.assign(document.createElement(name), { className, textContent: text ?? "" });

/** What is said stands in a region that is there before, so that it is read out. */
const place = element("div", "cw-changed-place");
place.setAttribute("role", "status");
document.body.append(place);

/** The page's id, as the address has it; empty for the first page. */
const page = () => decodeURIComponent(location.pathname.split("/")[1] ?? "");

function wrong(problems) {
  const box = element("section", "cw-changed cw-changed-wrong");
  box.setAttribute("role", "alert");
  box.append(element("strong", "", "The config was changed and has errors. The previous one stays in use."), element("pre", "", problems));
  return box;
}

function changed() {
  const box = document.getElementById("cw-changed")?.content.firstElementChild.cloneNode(true);
  box?.querySelector("[data-do=reload]").addEventListener("click", () => location.reload());
  box?.querySelector("[data-do=dismiss]").addEventListener("click", () => box.remove());
  return box;
}

async function look() {
  if (document.hidden) return;
  try {
    const id = page();
    const response = await fetch(`/api/config/status?page=${encodeURIComponent(id)}`);
    if (!response.ok || id !== page()) return;
    const status = await response.json();
    if (!known.has(id)) known.set(id, status.page);
    const state = status.problems ?? (status.page === known.get(id) ? "" : `page ${id} ${status.page}`);
    if (state === (shown ?? "")) return;
    shown = state;
    const box = status.problems ? wrong(status.problems) : state && changed();
    place.replaceChildren(...(box ? [box] : []));
  } catch {
    // The server is not there; the chat says so.
  }
}

look();
setInterval(look, developing ? 1500 : 60000);
document.addEventListener("visibilitychange", look);

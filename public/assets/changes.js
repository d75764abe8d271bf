// Tells the reader of an open page that the config behind it has changed, and its developer what is wrong with the new one.
// A script of its own, so that it works when a page does not. See server/src/reload.rs.
const developing = ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);
let known;
let shown;

const element = (name, className, text) => Object.assign(document.createElement(name), { className, textContent: text ?? "" });

function bar({ version, problems }) {
  if (problems) {
    const box = element("section", "cw-changed cw-changed-wrong");
    box.setAttribute("role", "alert");
    box.append(element("strong", "", "The config was changed and is wrong. The earlier one stays in use."), element("pre", "", problems));
    return box;
  }
  if (version === known) return undefined;
  const box = element("section", "cw-changed");
  box.setAttribute("role", "status");
  const reload = element("button", "cw-button", "Reload");
  reload.type = "button";
  reload.onclick = () => location.reload();
  box.append(element("span", "", "There is a newer version of this page."), reload);
  return box;
}

async function look() {
  if (document.hidden) return;
  try {
    const response = await fetch("/api/config/status");
    if (!response.ok) return;
    const status = await response.json();
    known ??= status.version;
    const state = JSON.stringify(status);
    if (state === shown) return;
    shown = state;
    document.querySelector(".cw-changed")?.remove();
    const box = bar(status);
    if (box) document.body.append(box);
  } catch {
    // The server is not there; the chat says so.
  }
}

look();
setInterval(look, developing ? 1500 : 60000);
document.addEventListener("visibilitychange", look);

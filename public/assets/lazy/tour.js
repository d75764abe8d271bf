// The tour of the section `guide`: a card for each step. The server adds this script, and the steps in `#cw-tour`, to a page whose
// address has `tour=NUMBER`.

/** The parts of a page that a step can mark. */
const PARTS = {
  conversations: ".cw-region-conversations",
  content: ".cw-region-content",
  chat: ".cw-region-chat",
  composer: "form.cw-composer",
};

// The content security policy forbids style attributes and elements, not sheets that a script of this site makes.
const STYLE = `
.cw-tour { position: fixed; z-index: 6; inset-block-start: 4.25rem; inset-inline-end: 1rem; box-sizing: border-box; inline-size: min(22rem, 100vw - 2rem);
  padding: 1rem; border: 1px solid var(--cw-border); border-radius: var(--cw-radius); background: var(--cw-raised); box-shadow: var(--cw-shadow) }
.cw-tour h2 { margin: 0 0 .5rem; font-size: 1rem }
.cw-tour p { margin: 0 0 .75rem }
.cw-tour div { display: flex; flex-wrap: wrap; align-items: center; gap: .75rem }
.cw-tour span { flex: 1; color: var(--cw-muted) }
.cw-tour-part { outline: 3px solid var(--cw-accent); outline-offset: -3px }`;

/** Returns an element with a text. */
const element = (name, text, properties = {}) => Object.assign(document.createElement(name), { textContent: text, ...properties });

/** Runs the tour from a step on. */
function run({ next, leave, steps }, begin) {
  const before = document.activeElement;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(STYLE);
  document.adoptedStyleSheets.push(sheet);
  const card = element("section", "", { className: "cw-tour", tabIndex: -1, role: "dialog" });
  card.setAttribute("aria-labelledby", "cw-tour-title");
  card.setAttribute("aria-describedby", "cw-tour-text");
  let marked = null;

  const end = () => {
    marked?.classList.remove("cw-tour-part");
    card.remove();
    removeEventListener("keydown", pressed, true);
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((other) => other !== sheet);
    // So that a link to the page that is copied now does not begin the tour again.
    const url = new URL(location.href);
    url.searchParams.delete("tour");
    history.replaceState(history.state, "", url);
    if (before instanceof HTMLElement && before !== document.body) before.focus();
    else document.querySelector("#cw-main")?.focus();
  };
  /** Escape belongs to the tour where nothing else has the focus. */
  const pressed = (event) => {
    const own = card.contains(document.activeElement) || document.activeElement === document.body;
    if (event.key !== "Escape" || !own) return;
    event.preventDefault();
    event.stopPropagation();
    end();
  };
  const show = (number) => {
    const { title, text, at } = steps[number];
    marked?.classList.remove("cw-tour-part");
    marked = at ? document.querySelector(PARTS[at]) : null;
    marked?.classList.add("cw-tour-part");
    const buttons = element("div", "");
    buttons.append(element("span", `${number + 1} / ${steps.length}`));
    buttons.append(element("button", leave, { type: "button", className: "cw-button", onclick: end }));
    const following = steps[number + 1];
    if (following) {
      const goOn = () => {
        if (following.pageId === steps[number].pageId) show(number + 1);
        else location.assign(`/${following.pageId}?tour=${number + 1}`);
      };
      buttons.append(element("button", next, { type: "button", className: "cw-button cw-primary", onclick: goOn }));
    }
    card.replaceChildren(element("h2", title, { id: "cw-tour-title" }), element("p", text, { id: "cw-tour-text" }), buttons);
    // A screen reader reads the title and the text of what gets the focus.
    card.focus();
  };
  addEventListener("keydown", pressed, true);
  document.body.append(card);
  show(begin);
}

const tour = JSON.parse(document.querySelector("#cw-tour").dataset.tour);
const number = Number(new URLSearchParams(location.search).get("tour"));
// A page that is loaded again after the tour was left keeps its address.
const isReload = performance.getEntriesByType("navigation")[0]?.type === "reload";
if (!isReload && Number.isInteger(number) && tour.steps[number]) run(tour, number);

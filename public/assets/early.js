// Handles input before hydration: on a slow connection the page is visible seconds before the app is loaded. When the user sends a
// message, the form is marked with `data-waits`, and the app sends the message once it runs
// (app/src/agent_chat/composer/early_input.rs). The key that sends must not insert a line break until then. A message that was typed
// survives a reload. Clicks on prompts, switches, the page's buttons and the theme, changes of other fields, and forms that were sent
// are repeated once the app runs.
{
  /** Returns the composer that contains the element, or null if the app has taken it over (`data-alive`). */
  const composer = (target) => {
    const form = target instanceof Element ? target.closest("form.cw-composer") : null;
    return form && !form.hasAttribute("data-alive") ? form : null;
  };
  const field = (form) => form.querySelector("textarea");
  const isEmpty = (form) => field(form).value.trim() === "";

  /** Marks the message as to be sent, or not, and shows that to the user. */
  const setWaiting = (form, waits) => {
    form.toggleAttribute("data-waits", waits);
    const line = form.querySelector(".cw-composer-early");
    if (line) line.textContent = waits ? line.dataset.words : "";
    const button = form.querySelector("button[type=submit]");
    if (button) button.disabled = isEmpty(form);
  };

  addEventListener(
    "keydown",
    (event) => {
      const form = event.key === "Enter" && !event.isComposing && event.keyCode !== 229 ? composer(event.target) : null;
      if (!form || event.target !== field(form) || event.altKey) return;
      const sends = event.ctrlKey || event.metaKey || event.shiftKey === form.hasAttribute("data-shift-sends");
      if (!sends) return;
      event.preventDefault();
      if (!isEmpty(form)) setWaiting(form, true);
    },
    true,
  );
  addEventListener(
    "submit",
    (event) => {
      const form = composer(event.target);
      if (!form) return;
      event.preventDefault();
      if (!isEmpty(form)) setWaiting(form, true);
    },
    true,
  );
  // When the user edits the text after sending, the message is no longer to be sent.
  addEventListener(
    "input",
    (event) => {
      const form = composer(event.target);
      if (!form) return;
      setWaiting(form, false);
      keep(field(form).value);
    },
    true,
  );

  /** Keeps the text of this address in the tab; the app keeps drafts by itself (app/src/agent_chat/composer/drafts.rs). */
  const keep = (text) => {
    try {
      if (text) sessionStorage.setItem("cw-early", JSON.stringify([location.href, text]));
      else sessionStorage.removeItem("cw-early");
    } catch {
      // Storage is blocked: the text is lost at a reload.
    }
  };
  const restore = () => {
    try {
      const [address, text] = JSON.parse(sessionStorage.getItem("cw-early") ?? "[]");
      const form = document.querySelector("form.cw-composer:not([data-alive])");
      if (form && address === location.href && isEmpty(form)) field(form).value = text;
    } catch {
      // As above.
    }
  };

  const toggles = ".cw-theme, .cw-switch-button";
  const repeated = `${toggles}, .cw-prompt, .cw-button-row > .cw-button`;
  /** The buttons that were clicked, in order. */
  const clicked = [];
  const early = (event) => {
    const button = event.target instanceof Element ? event.target.closest(repeated) : null;
    if (!button) return;
    // Each click on a switch or on the theme counts; others act once.
    if (button.matches(toggles) || !clicked.includes(button)) clicked.push(button);
    button.setAttribute("aria-busy", "true");
    // The prompts of a group are put into the composer and not sent.
    if (button.matches(".cw-welcome > ul .cw-prompt")) say(true);
  };
  addEventListener("click", early, true);
  const say = (waits) => {
    const line = document.querySelector("form.cw-composer:not([data-waits]) .cw-composer-early");
    if (line) line.textContent = waits ? line.dataset.words : "";
  };

  /** The fields that were changed, with the events that said so and what was entered. */
  const changed = new Map();
  const change = ({ target, type }) => {
    if (!(target instanceof Element) || !target.matches("input, textarea, select") || composer(target)) return;
    const types = changed.get(target)?.types ?? new Set();
    changed.set(target, { types: types.add(type), value: target.value, checked: target.checked });
  };
  addEventListener("input", change, true);
  addEventListener("change", change, true);

  /** The forms that were sent, each with its button. Without the app, the browser would load the page anew. */
  const sent = new Map();
  const send = (event) => {
    const form = event.target;
    if (composer(form) || form.hasAttribute("action") || form.method === "dialog") return;
    event.preventDefault();
    sent.set(form, event.submitter);
  };
  addEventListener("submit", send, true);

  /** The app says that it runs: the events of this page are its own from here on. */
  const begin = () => {
    removeEventListener("click", early, true);
    removeEventListener("input", change, true);
    removeEventListener("change", change, true);
    removeEventListener("submit", send, true);
    keep("");
    if (clicked.length) say(false);
    for (const [field, { types, value, checked }] of changed) {
      // Hydration may have overwritten it. The files of a field cannot be set, and stay.
      if (field.type !== "file" && field.value !== value) field.value = value;
      if (field.checked !== checked) field.checked = checked;
      for (const type of types) field.dispatchEvent(new Event(type, { bubbles: true }));
    }
    changed.clear();
    for (const [form, button] of sent) form.requestSubmit(button);
    sent.clear();
    for (const button of clicked) {
      button.removeAttribute("aria-busy");
      button.click();
    }
    clicked.length = 0;
  };
  document.addEventListener("DOMContentLoaded", () => {
    restore();
    const root = document.documentElement;
    if (root.hasAttribute("data-alive")) return begin();
    const observer = new MutationObserver(() => {
      observer.disconnect();
      begin();
    });
    observer.observe(root, { attributes: true, attributeFilter: ["data-alive"] });
  });
}

// Handles input in the composer before hydration: on a slow connection the composer is visible seconds before the app is loaded. When
// the user sends a message, the form is marked with `data-waits`, and the app sends the message once it runs
// (app/src/agent_chat/composer/early_input.rs). The key that sends must not insert a line break until then.
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
      if (form) setWaiting(form, false);
    },
    true,
  );
}

// Keeps what a reader sends before the page has come to life: on a slow line the composer is there seconds before the code that sends.
// The app takes over what is kept, see app/src/agent_chat/composer/early_input.rs. Until then Enter must not write a line break.
{
  /** The composer around an element, unless the app runs it by now. */
  const composer = (target) => {
    const form = target instanceof Element ? target.closest("form.cw-composer") : null;
    return form && !form.hasAttribute("data-alive") ? form : null;
  };
  const field = (form) => form.querySelector("textarea");
  const isEmpty = (form) => field(form).value.trim() === "";

  const show = (form, waits) => {
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
      if (!isEmpty(form)) show(form, true);
    },
    true,
  );
  addEventListener(
    "submit",
    (event) => {
      const form = composer(event.target);
      if (!form) return;
      event.preventDefault();
      if (!isEmpty(form)) show(form, true);
    },
    true,
  );
  // Who goes on writing does not want it sent as it was.
  addEventListener(
    "input",
    (event) => {
      const form = composer(event.target);
      if (form) show(form, false);
    },
    true,
  );
}

// Keeps the elements with `data-live` of a page of the console up to date: loads the page again while it is visible and replaces those
// that have changed. One that the user works in stays as it is. When the page has no script any more, what it shows has ended.
const EVERY_MS = 4000;

const replace = (current, fresh) => {
  if (current.outerHTML === fresh.outerHTML || current.contains(document.activeElement)) return;
  const open = new Set([...current.querySelectorAll("details[open]")].map((details) => details.dataset.step));
  for (const details of fresh.querySelectorAll("details")) details.open ||= open.has(details.dataset.step);
  const scrolled = current.querySelector(".cw-graph");
  const [left, top] = [scrolled?.scrollLeft, scrolled?.scrollTop];
  current.replaceWith(fresh);
  fresh.querySelector(".cw-graph")?.scrollTo(left ?? 0, top ?? 0);
};

const isEntered = (element) => [...element.querySelectorAll("input:not([type=hidden]), textarea")].some((field) => field.value !== field.defaultValue || field.checked !== field.defaultChecked);

const look = async () => {
  if (document.hidden) return;
  const response = await fetch(location.href, { cache: "no-store" }).catch(() => undefined);
  if (!response?.ok) return;
  const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
  for (const current of document.querySelectorAll("[data-live]")) {
    const other = fresh.querySelector(`[data-live="${current.dataset.live}"]`);
    if (other && !isEntered(current)) replace(current, other);
  }
  if (!fresh.querySelector("script[src='/assets/live.js']")) clearInterval(timer);
};

const timer = setInterval(look, EVERY_MS);

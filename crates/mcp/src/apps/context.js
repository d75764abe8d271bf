// What an app is told of the page around it: theme, colors, fonts, size.

/** Colors of the specification, with those of this site. All of them are given: apps have defaults for missing ones, which would clash. */
const COLORS = {
  background: {
    primary: "surface", secondary: "bg", tertiary: "hover", inverse: "text", info: "accent-soft", danger: "danger-soft",
    warning: "warning-soft", disabled: "hover",
  },
  text: {
    primary: "text", secondary: "muted", tertiary: "muted", inverse: "surface", ghost: "muted", info: "accent", danger: "danger",
    success: "success", warning: "warning", disabled: "border-strong",
  },
  border: {
    primary: "border-strong", secondary: "border", tertiary: "border", inverse: "text", info: "accent", danger: "danger",
    success: "success", warning: "warning", disabled: "border",
  },
  ring: {
    primary: "focus", secondary: "border-strong", inverse: "surface", info: "accent", danger: "danger", success: "success",
    warning: "warning",
  },
};
/** Other variables of the specification; a value that begins with `cw-` is this site's. */
const STYLES = {
  "--color-background-ghost": "transparent",
  "--color-border-ghost": "transparent",
  "--font-sans": "cw-font",
  "--font-mono": "cw-mono",
  "--font-weight-normal": "400",
  "--font-weight-medium": "500",
  "--font-weight-semibold": "600",
  "--font-weight-bold": "700",
  "--font-text-xs-size": "0.75rem",
  "--font-text-sm-size": "cw-small",
  "--font-text-md-size": "0.9375rem",
  "--font-text-lg-size": "1.125rem",
  "--border-radius-xs": "0.25rem",
  "--border-radius-sm": "cw-radius-small",
  "--border-radius-md": "0.5rem",
  "--border-radius-lg": "cw-radius",
  "--border-radius-xl": "0.875rem",
  "--border-radius-full": "9999px",
  "--border-width-regular": "1px",
  "--shadow-sm": "cw-shadow",
  "--shadow-md": "cw-shadow",
  "--shadow-lg": "cw-shadow",
};

/** The variables for the look of apps. Colors for light and dark are both in a value (`light-dark()`). */
function styleVariables() {
  const style = getComputedStyle(document.documentElement);
  const own = (name) => style.getPropertyValue(`--${name}`).trim();
  const entries = Object.entries(STYLES).map(([name, value]) => [name, value.startsWith("cw-") ? own(value) : value]);
  for (const [group, colors] of Object.entries(COLORS)) {
    for (const [name, color] of Object.entries(colors)) entries.push([`--color-${group}-${name}`, own(`cw-${color}`)]);
  }
  const success = `color-mix(in srgb, ${own("cw-success")} 14%, ${own("cw-surface")})`;
  entries.push(["--color-background-success", success], ["--shadow-hairline", `0 0 0 1px ${own("cw-border")}`]);
  return Object.fromEntries(entries.filter(([, value]) => value !== ""));
}

const dark = matchMedia("(prefers-color-scheme: dark)");
const theme = () => document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light");

/** Calls `changed` with the theme, when the user has chosen another one for the system or, in another frame, for the site. */
function watchTheme(changed) {
  dark.addEventListener("change", changed);
  addEventListener("storage", ({ key, newValue }) => {
    if (key !== "theme") return;
    if (newValue === "light" || newValue === "dark") document.documentElement.dataset.theme = newValue;
    else delete document.documentElement.dataset.theme;
    changed();
  });
}

/** The element in the chat with this page. The page around this one is of the same site, or there is none. */
const outer = window.frameElement;
const isEnlarged = () => outer !== null && outer.ownerDocument.fullscreenElement === outer;
const displayMode = () => (isEnlarged() ? "fullscreen" : "inline");

/** What an app may be shown in. `declared` are the modes that it says it can be shown in, if it does. */
function displayModes(declared) {
  const canEnlarge = outer?.ownerDocument.fullscreenEnabled && (declared?.includes("fullscreen") ?? true);
  return canEnlarge ? ["inline", "fullscreen"] : ["inline"];
}

/** Shows the app on the whole screen, or in the chat again. Browsers refuse the first without an act of the user. */
async function setDisplayMode(mode) {
  try {
    if (mode === "fullscreen" && !isEnlarged()) await outer.requestFullscreen();
    if (mode === "inline" && isEnlarged()) await outer.ownerDocument.exitFullscreen();
  } catch {
    // The mode stays.
  }
  return { mode: displayMode() };
}

/** Calls `changed` when the mode has changed, until this page ends. */
function watchDisplayMode(changed) {
  const ended = new AbortController();
  outer?.ownerDocument.addEventListener("fullscreenchange", changed, { signal: ended.signal });
  addEventListener("pagehide", () => ended.abort());
}

/** The room for an app in a frame. In the chat its height is its own. */
function dimensions(frame, mostHeight) {
  const { clientWidth: width, clientHeight: height } = frame;
  return isEnlarged() ? { width, height } : { width, maxHeight: mostHeight };
}

/** Calls `changed` when the room has another size. */
function watchDimensions(frame, changed) {
  let [width, height] = [frame.clientWidth, frame.clientHeight];
  new ResizeObserver(() => {
    const isSame = frame.clientWidth === width && (frame.clientHeight === height || !isEnlarged());
    [width, height] = [frame.clientWidth, frame.clientHeight];
    if (!isSame) changed();
  }).observe(frame);
}

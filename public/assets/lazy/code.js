// Syntax highlighting of code blocks, and rendering of diagrams. Loaded with the first code block; see app/src/markdown/code.rs.
//
// It uses the CSS Custom Highlight API, which does not change the DOM: the app can still append to a block that is streamed. Only
// blocks near the viewport are highlighted, so the cost does not grow with the conversation. Browsers without the API show the code
// in one colour.

/** The names of highlight.js's grammars, with the other names by which users call them. */
const GRAMMARS = {
  bash: "sh zsh", c: "h", clojure: "clj edn", cmake: "", cpp: "c++ cc cxx hpp hxx", csharp: "cs c#", css: "", dart: "", diff: "patch",
  dockerfile: "docker", elixir: "ex exs", erlang: "erl", go: "golang", gradle: "", graphql: "gql", groovy: "", haskell: "hs", http: "",
  ini: "toml cfg conf", java: "", javascript: "js jsx mjs cjs", json: "jsonc json5 jsonl", julia: "jl", kotlin: "kt kts", latex: "tex",
  less: "", lua: "", makefile: "make mk", markdown: "md", nginx: "", nix: "", objectivec: "objc objective-c", ocaml: "ml", perl: "pl",
  php: "", powershell: "ps1 pwsh", properties: "env dotenv", protobuf: "proto", python: "py python3", r: "", ruby: "rb", rust: "rs",
  scala: "", scss: "sass", shell: "console shellsession", sql: "postgresql sqlite mysql", swift: "", typescript: "ts tsx mts cts",
  vim: "", wasm: "wat", xml: "html svg xhtml vue", yaml: "yml",
};
const GRAMMAR_OF = new Map(
  Object.entries(GRAMMARS).flatMap(([grammar, names]) => [grammar, ...names.split(" ")].map((name) => [name, grammar])),
);
/** The grammars that other grammars embed. */
const EMBEDDED = { xml: ["css", "javascript"], markdown: ["xml"] };

/** The colours of code.css, with the highlight.js scopes that have them. */
const COLOURS = {
  keyword: "keyword literal selector-tag template-tag doctag operator",
  string: "string regexp char symbol link code",
  comment: "comment quote",
  number: "number bullet",
  name: "title section name",
  type: "type built_in class",
  attr: "attr attribute property variable template-variable selector-attr selector-class selector-id selector-pseudo",
  meta: "meta",
  added: "addition",
  removed: "deletion",
};
const COLOUR_OF = new Map(Object.entries(COLOURS).flatMap(([colour, names]) => names.split(" ").map((name) => [name, colour])));

/** Longer code is not highlighted, in characters. */
const MAX_LENGTH = 60_000;
/** Longer code is not highlighted while it is streamed, only after a pause, in characters. */
const MAX_STREAMED_LENGTH = 6_000;
/** The minimum interval between two highlightings of code that is streamed, in milliseconds. The browser processes all highlights each time. */
const MIN_INTERVAL_MS = 250;
/** How long a highlighting waits for a DOM change that repaints anyway, in milliseconds. A repaint of its own costs as much again. */
const MAX_DELAY_MS = 100;
/** After this time without a change, the last line counts as complete, in milliseconds. */
const SETTLE_MS = 300;

// Without its style sheet, a diagram would be beside its source.
await new Promise((done) => {
  const href = new URL("./code.css", import.meta.url);
  const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href, onload: done, onerror: done });
  document.head.append(link);
});

const canColour = Boolean(globalThis.CSS?.highlights && globalThis.Highlight && globalThis.StaticRange);
const highlights = new Map();
if (canColour) {
  for (const colour of Object.keys(COLOURS)) {
    const highlight = new Highlight();
    highlights.set(colour, highlight);
    CSS.highlights.set(`cw-code-${colour}`, highlight);
  }
}

const grammars = new Map();
let core;

/** Loads highlight.js with the grammars that a language needs. */
function highlighter(grammar) {
  const load = (name) => {
    if (!grammars.has(name)) {
      const loading = Promise.all([(core ??= import("./highlight/core.js")), import(`./highlight/${name}.js`)]);
      grammars.set(name, loading.then(([core, grammar]) => core.default.registerLanguage(name, grammar.default)));
      loading.catch(() => {
        grammars.delete(name);
        core = undefined;
      });
    }
    return grammars.get(name);
  };
  return Promise.all([grammar, ...(EMBEDDED[grammar] ?? [])].map(load)).then(() => core).then((core) => core.default);
}

/** Returns `[colour, from, to]` for each coloured part of the text. */
function parts(highlighter, text, grammar) {
  // A template's content is inert: no scripts run, and no images are loaded.
  const inert = document.createElement("template");
  inert.innerHTML = highlighter.highlight(text, { language: grammar, ignoreIllegals: true }).value;
  const found = [];
  let at = 0;
  const walk = (node, colour) => {
    if (node.nodeType === Node.TEXT_NODE) {
      if (colour) found.push([colour, at, at + node.length]);
      at += node.length;
      return;
    }
    const name = /^hljs-(\S+)/.exec(node.className ?? "")?.[1];
    const own = name === undefined ? colour : (COLOUR_OF.get(name) ?? (name === "subst" ? undefined : colour));
    for (const child of node.childNodes) walk(child, own);
  };
  walk(inert.content, undefined);
  return found;
}

/** The state of each `<code>` that is near the viewport. */
const shown = new Map();

/** Highlights the code: all of it, or, while it is streamed, all but the last line, which may be incomplete. */
async function paint(code, whole) {
  const known = shown.get(code);
  const grammar = GRAMMAR_OF.get(code.closest(".cw-md-code")?.dataset.language?.toLowerCase());
  if (!known || !grammar) return;
  const highlighter_ = await highlighter(grammar).catch(() => undefined);
  const text = code.firstChild;
  if (!highlighter_ || !shown.has(code) || text?.nodeType !== Node.TEXT_NODE) return;
  const end = whole ? text.length : text.data.lastIndexOf("\n") + 1;
  if (end > MAX_LENGTH || (text === known.text && end === known.end)) return;
  const begun = performance.now();
  const found = parts(highlighter_, text.data.slice(0, end), grammar);
  clear(known);
  for (const [colour, from, to] of found) {
    const range = new StaticRange({ startContainer: text, startOffset: from, endContainer: text, endOffset: to });
    highlights.get(colour).add(range);
    known.ranges.push([colour, range]);
  }
  Object.assign(known, { text, end, cost: performance.now() - begun });
}

/** The action for each `<code>` at the next DOM change: highlight all of it ("whole") or "but its last line", or remove it ("gone"). */
const due = new Map();
/** The timer for the case that no DOM change comes. */
let dueTimer;
function schedule(code, how) {
  if (due.get(code) !== "gone") due.set(code, how);
  dueTimer ??= setTimeout(colour, MAX_DELAY_MS);
}

function colour() {
  clearTimeout(dueTimer);
  dueTimer = undefined;
  const now = [...due];
  due.clear();
  for (const [code, how] of now) how === "gone" ? forget(code) : paint(code, how === "whole");
}

/** Removes the highlights of a `<code>`. */
function clear(known) {
  for (const [colour, range] of known.ranges) highlights.get(colour).delete(range);
  Object.assign(known, { ranges: [], text: undefined });
}

/** Schedules the highlighting of code that has changed. */
function changed(code) {
  const known = shown.get(code);
  if (!known) return;
  // A button for line wrapping is shown if a line is wider than the block.
  measure(code);
  if (!canColour) return;
  clearTimeout(known.rest);
  known.rest = setTimeout(() => {
    clearTimeout(known.soon);
    known.soon = undefined;
    schedule(code, "whole");
  }, SETTLE_MS);
  if (code.textContent.length > MAX_STREAMED_LENGTH) return;
  known.soon ??= setTimeout(() => {
    known.soon = undefined;
    if (due.get(code) !== "whole") schedule(code, "but its last line");
  }, Math.max(MIN_INTERVAL_MS, known.cost * 20));
}

/** The code whose width is measured in the next frame, all at once, to force only one layout. */
const measuring = new Set();
function measure(code) {
  if (measuring.size === 0) {
    requestAnimationFrame(() => {
      const wide = [...measuring].map((code) => [code.closest(".cw-md-code"), code.parentElement]);
      measuring.clear();
      const found = wide.map(([block, pre]) => [block, pre.scrollWidth > pre.clientWidth + 1]);
      for (const [block, isWide] of found) block?.toggleAttribute("data-wide", isWide);
    });
  }
  measuring.add(code);
}

const view = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      const known = shown.get(target);
      if (isIntersecting && !known) {
        shown.set(target, { ranges: [], text: undefined, end: 0, cost: 0, rest: undefined, soon: undefined });
        measure(target);
        if (canColour) schedule(target, "whole");
      } else if (!isIntersecting && known) {
        schedule(target, "gone");
      } else if (isIntersecting && due.get(target) === "gone") {
        due.set(target, "whole");
      }
    }
  },
  { rootMargin: "50% 0%" },
);

function forget(code) {
  const known = shown.get(code);
  if (!known) return;
  clearTimeout(known.rest);
  clearTimeout(known.soon);
  clear(known);
  shown.delete(code);
  if (!code.isConnected) view.unobserve(code);
}

/** Draws the diagram of a code block that is complete, also when its text has changed. */
function diagram(block) {
  if (!block?.hasAttribute("data-diagrams") || block.hasAttribute("data-open")) return;
  if (block.dataset.language?.toLowerCase() !== "mermaid") return;
  // If the script cannot be loaded, the code stays visible.
  import("./diagram.js").then((module) => module.draw(block)).catch(() => undefined);
}

function found(block) {
  const code = block.querySelector("code");
  if (code) view.observe(code);
  diagram(block);
}

const isCode = (node) => node?.nodeName === "CODE" && node.parentNode?.nodeName === "PRE";

new MutationObserver((records) => {
  const again = new Set();
  let hasRemovals = false;
  for (const { type, target, addedNodes, removedNodes } of records) {
    if (type === "attributes") found(target);
    else if (type === "characterData") isCode(target.parentNode) && again.add(target.parentNode);
    else {
      if (isCode(target)) again.add(target);
      hasRemovals ||= removedNodes.length > 0;
      for (const node of addedNodes) {
        if (node.nodeType !== Node.ELEMENT_NODE) continue;
        if (node.matches(".cw-md-code")) found(node);
        else if (node.firstElementChild) node.querySelectorAll(".cw-md-code").forEach(found);
      }
    }
  }
  for (const code of again) {
    changed(code);
    diagram(code.closest(".cw-md-code"));
  }
  // Highlights would keep removed elements in memory.
  if (hasRemovals) [...shown.keys()].filter((code) => !code.isConnected).forEach(forget);
  if (due.size > 0) colour();
}).observe(document.body, {
  childList: true,
  characterData: true,
  subtree: true,
  attributeFilter: ["data-open", "data-language"],
});
document.querySelectorAll(".cw-md-code").forEach(found);

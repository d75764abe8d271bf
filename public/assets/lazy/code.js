// Colours code blocks, and draws those that are diagrams. Loaded with the first code block; see app/src/markdown/code.rs.
//
// The colours are ranges over the text (CSS.highlights): the document stays as it was rendered, so that a block may still grow, and
// nothing has to be taken over. Only what is in view is coloured, so a long conversation costs no more than a short one. A browser
// that cannot do this shows the code in one colour.

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
/** What stands inside of others. */
const WITHIN = { xml: ["css", "javascript"], markdown: ["xml"] };

/** Which of the colours of style/markdown.css a part of the code has, by the name that its grammar gives it. */
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

/** Longer code stays in one colour, in characters; while it grows, from here it is coloured when it rests. */
const LONGEST = 60_000;
const LONG = 6_000;
/** Code that grows is coloured this seldom, in milliseconds: each time the browser looks at all colours. */
const SOON = 250;
/** So long a colour waits for a frame that is drawn anyway, in milliseconds: one more costs as much as the colour. */
const LATEST = 100;
/** Milliseconds without a change after which the last line counts as complete. */
const REST = 300;

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

/** The highlighter with what it needs for a language. */
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
  return Promise.all([grammar, ...(WITHIN[grammar] ?? [])].map(load)).then(() => core).then((core) => core.default);
}

/** `[colour, from, to]` for each coloured part of the text. */
function parts(highlighter, text, grammar) {
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

/** What is known of each `<code>` that is in view. */
const shown = new Map();

async function paint(code, whole) {
  const known = shown.get(code);
  const grammar = GRAMMAR_OF.get(code.closest(".cw-md-code")?.dataset.language?.toLowerCase());
  if (!known || !grammar) return;
  const highlighter_ = await highlighter(grammar).catch(() => undefined);
  const text = code.firstChild;
  if (!highlighter_ || !shown.has(code) || text?.nodeType !== Node.TEXT_NODE) return;
  const end = whole ? text.length : text.data.lastIndexOf("\n") + 1;
  if (end > LONGEST || (text === known.text && end === known.end)) return;
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

/** What is to be coloured with the next change of the document, and how: whole, without its last line, or not any more. */
const due = new Map();
let late;
function soon(code, how) {
  if (due.get(code) !== "gone") due.set(code, how);
  late ??= setTimeout(colour, LATEST);
}

function colour() {
  clearTimeout(late);
  late = undefined;
  const now = [...due];
  due.clear();
  for (const [code, how] of now) how === "gone" ? forget(code) : paint(code, how === "whole");
}

function clear(known) {
  for (const [colour, range] of known.ranges) highlights.get(colour).delete(range);
  Object.assign(known, { ranges: [], text: undefined });
}

/** The code has grown, or is another one. */
function changed(code) {
  const known = shown.get(code);
  if (!known) return;
  // Wrapping is offered where a line is longer than the block.
  measure(code);
  if (!canColour) return;
  clearTimeout(known.rest);
  known.rest = setTimeout(() => {
    clearTimeout(known.soon);
    known.soon = undefined;
    soon(code, "whole");
  }, REST);
  if (code.textContent.length > LONG) return;
  known.soon ??= setTimeout(() => {
    known.soon = undefined;
    if (due.get(code) !== "whole") soon(code, "but its last line");
  }, Math.max(SOON, known.cost * 20));
}

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
        if (canColour) soon(target, "whole");
      } else if (!isIntersecting && known) {
        soon(target, "gone");
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

const drawn = new WeakSet();
function diagram(block) {
  if (block.dataset.language?.toLowerCase() !== "mermaid" || block.hasAttribute("data-open") || drawn.has(block)) return;
  drawn.add(block);
  import("./diagram.js").then((module) => module.draw(block)).catch(() => drawn.delete(block));
}

function found(block) {
  const code = block.querySelector("code");
  if (code) view.observe(code);
  if (block.hasAttribute("data-diagrams")) diagram(block);
}

const isCode = (node) => node?.nodeName === "CODE" && node.parentNode?.nodeName === "PRE";

new MutationObserver((records) => {
  const again = new Set();
  let isLess = false;
  for (const { type, target, addedNodes, removedNodes } of records) {
    if (type === "attributes") found(target);
    else if (type === "characterData") isCode(target.parentNode) && again.add(target.parentNode);
    else {
      if (isCode(target)) again.add(target);
      isLess ||= removedNodes.length > 0;
      for (const node of addedNodes) {
        if (node.nodeType !== Node.ELEMENT_NODE) continue;
        if (node.matches(".cw-md-code")) found(node);
        else if (node.firstElementChild) node.querySelectorAll(".cw-md-code").forEach(found);
      }
    }
  }
  again.forEach(changed);
  // Their colours would keep them in memory.
  if (isLess) [...shown.keys()].filter((code) => !code.isConnected).forEach(forget);
  if (due.size > 0) colour();
}).observe(document.body, {
  childList: true,
  characterData: true,
  subtree: true,
  attributeFilter: ["data-open", "data-language"],
});
document.querySelectorAll(".cw-md-code").forEach(found);

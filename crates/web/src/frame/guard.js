// Runs in the frame of an artifact before everything else, after clean.js. The policy of the document forbids requests and navigations; no
// policy of browsers forbids WebRTC, which could send the artifact's text away. So its constructors are deleted, and nothing can bring them
// back: another document would have its own, so there is no way to make an element that opens one. All HTML passes `cleaned`, because the
// policy demands trusted types, and no second policy can be created. An address `javascript:` would make a document of its
// result, so it is refused.
trustedTypes.createPolicy("default", {
  createHTML: (text) => cleaned(text),
  createScript: (text, _type, sink) => (sink === "Location href" ? null : text),
  createScriptURL: (url) => url,
});

for (const name of Object.getOwnPropertyNames(window)) {
  if (/^(webkit)?RTC/.test(name) || name === "XSLTProcessor") delete window[name];
}

// Those that are known pass `cleaned`. `setHTML` and `parseHTML`, which remove scripts only, and newer functions do not.
const KNOWN = ["innerHTML", "outerHTML", "insertAdjacentHTML", "getHTML", "setHTMLUnsafe", "parseHTMLUnsafe"];
const prototypes = [Element, ShadowRoot, Document, DocumentFragment, Range, Node].map((constructor) => constructor.prototype);
for (const owner of [Document, ...prototypes]) {
  for (const name of Object.getOwnPropertyNames(owner)) {
    if (name.includes("HTML") && !KNOWN.includes(name)) delete owner[name];
  }
}

const define = Object.defineProperty;
/** Replaces a method for good. `make` is given the browser's own. */
function replace(prototype, name, make) {
  define(prototype, name, { value: make(prototype[name]), writable: false, configurable: false, enumerable: true });
}

const nameFrom = (name, at) => {
  if (!isRefused(name, at)) return name;
  return apply(slice, name, [0, at]) + "x-" + apply(slice, name, [at, name.length]);
};

replace(Document.prototype, "createElement", (own) => function createElement(name, options) {
  const safe = nameFrom(`${name}`, 0);
  return options === undefined ? apply(own, this, [safe]) : apply(own, this, [safe, options]);
});
replace(Document.prototype, "createElementNS", (own) => function createElementNS(space, name, options) {
  const text = `${name}`;
  const safe = nameFrom(text, afterPrefix(text, 0));
  return options === undefined ? apply(own, this, [space, safe]) : apply(own, this, [space, safe, options]);
});
replace(Document.prototype, "execCommand", (own) => function execCommand(command, shows, value) {
  return apply(own, this, [command, shows, value === undefined ? "" : cleaned(`${value}`)]);
});
// With options, a class could be an element of another name.
replace(CustomElementRegistry.prototype, "define", (own) => function define(name, constructor) {
  return apply(own, this, [name, constructor]);
});

const { getElementsByTagNameNS } = Document.prototype;
const { remove } = Element.prototype;
replace(DOMParser.prototype, "parseFromString", (own) => function parseFromString(text, type) {
  const kind = `${type}`;
  const parsed = apply(own, this, [`${text}`, kind]);
  if (kind === "text/html") return parsed;
  // The entities of XML can contain elements; what a template contains is not found below.
  const strip = (name) => {
    const found = apply(getElementsByTagNameNS, parsed, ["*", name]);
    while (found.length > 0) apply(remove, found[0], []);
  };
  for (let index = 0; index < REFUSED.length; index += 1) strip(REFUSED[index].lower);
  strip("template");
  return parsed;
});

// The document has no address to which a fragment could be added, and a link to another page leads nowhere.
addEventListener("click", (event) => {
  const link = event.target instanceof Element ? event.target.closest("a[href], area[href]") : null;
  if (!link || event.defaultPrevented) return;
  event.preventDefault();
  const href = link.getAttribute("href");
  if (href.startsWith("#")) document.getElementById(href.slice(1))?.scrollIntoView();
});
// Forms are not sent, and browsers do not even tell their scripts, which may be all that a form is for.
addEventListener("click", (event) => {
  const button = event.target instanceof Element ? event.target.closest("button, input") : null;
  if (!button?.form || button.type !== "submit" || event.defaultPrevented) return;
  event.preventDefault();
  if (!button.form.noValidate && !button.form.reportValidity()) return;
  button.form.dispatchEvent(new SubmitEvent("submit", { bubbles: true, cancelable: true, submitter: button }));
});
// The keys of the page do not hear what is pressed in a frame.
addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !event.defaultPrevented) parent.postMessage({ artifactFrame: "escape" }, "*");
});
document.currentScript.remove();
